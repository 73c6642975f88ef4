"""Finds the files an installation brings along, and puts its command into a unit.

Units and configuration are the daemon's; the manual page and what completes commands in a shell are the client's.
"""

import re
from collections.abc import Sequence
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]  #: …/shelfd/daemon
_CHECKOUT = _PACKAGE.parents[2]


def directory(component: str, *, checkout: Path = _CHECKOUT, package: Path = _PACKAGE) -> Path:
    """Return where the files of top-level folder *component* are: ``systemd`` or ``config``.

    Beside the code in a checkout, which an editable install is; inside the package in a wheel.
    """
    beside = checkout / component
    # A wheel lies in a site-packages directory, beside which there may be an unrelated folder called "config".
    if (checkout / "pyproject.toml").is_file() and beside.is_dir():
        return beside
    return package / "share" / component


def text(component: str, name: str) -> str:
    """Return the content of file *name*.

    Raises:
        OSError: If the installation is incomplete.
    """
    return (directory(component) / name).read_text(encoding="utf-8")


def for_people(*, checkout: Path = _CHECKOUT, package: Path = _PACKAGE) -> list[tuple[str, str]]:
    """Return what helps a person at a shell: where it belongs below a ``share`` directory, and its text.

    Raises:
        OSError: If the installation is incomplete.
    """
    beside = checkout / "client" / "shelfd" / "client"
    is_checkout = (checkout / "pyproject.toml").is_file() and beside.is_dir()
    source = beside if is_checkout else package.parent / "client"
    return [(place, (source / name).read_text(encoding="utf-8")) for place, name in _FOR_PEOPLE]


#: By its place below a ``share`` directory, where the shells and man look: a file of the client.
_FOR_PEOPLE = (
    ("man/man1/shelfd.1", "man/shelfd.1"),
    ("bash-completion/completions/shelfd", "completions/shelfd.bash"),
    ("zsh/site-functions/_shelfd", "completions/_shelfd"),
    ("fish/vendor_completions.d/shelfd.fish", "completions/shelfd.fish"),
)


def places_for_people(share: Path) -> list[Path]:
    """Return where :func:`for_people` is installed below *share*."""
    return [share / place for place, _ in _FOR_PEOPLE]


def drop_ins() -> list[str]:
    """Return the names of the drop-ins there are, without their ending."""
    return sorted(path.stem for path in (directory("systemd") / "drop-ins").glob("*.conf"))


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
    # It takes no quotes and backslashes in the path of a command, and a dollar is read differently there and after it.
    if not word.isprintable() or set(word) & set("\"'\\$"):
        raise ValueError(f"{word!r} cannot be written into a unit")
    escaped = word.replace("%", "%%")
    return f'"{escaped}"' if re.search(r"[\s;]", escaped) else escaped
