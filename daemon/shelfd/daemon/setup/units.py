"""Puts the installed command into a unit."""

import re
from collections.abc import Sequence

_EXEC_START = re.compile(r"^ExecStart=\S+", re.MULTILINE)


def with_command(unit: str, command: Sequence[str]) -> str:
    """Return *unit* with the first word of its ExecStart replaced by *command*.

    Raises:
        ValueError: If the unit has not exactly one ExecStart, or the command holds characters a unit cannot.
    """
    words = " ".join(_quoted(word) for word in command)
    text, count = _EXEC_START.subn(lambda _: f"ExecStart={words}", unit)
    if count != 1:
        raise ValueError(f"expected one ExecStart line in the unit, found {count}")
    return text


def _quoted(word: str) -> str:
    """Return *word* so that the service manager reads it as it is: no specifier, one word."""
    # It takes no quotes and backslashes in the path of a command, and a dollar is read differently there and behind it.
    if not word.isprintable() or set(word) & set("\"'\\$"):
        raise ValueError(f"{word!r} cannot be written into a unit")
    escaped = word.replace("%", "%%")
    return f'"{escaped}"' if re.search(r"[\s;]", escaped) else escaped
