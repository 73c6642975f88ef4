"""What a person's terminal is like: whether there is one, how wide, whether it shows colours, how wide a text is on it.

Whether colours are wanted is said by the environment, which is read here and in :mod:`shelfd.client.endpoint` only.
"""

import json
import os
import re
import sys
from typing import Final, TextIO

_NO_TERMINAL: Final = 1_000_000  #: columns: text that goes into a pipe is not cut
_STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

#: What can do harm where text is shown: controls but for line ends and tabs, what ends a line for some programs only,
#: what turns the order of other signs, halves of signs, notes between the lines, and tags, which nobody sees. Tags that
#: make the flag of a region, in the first group, are none. What has an unusual width or none, such as a space that does
#: not break or a joiner, is a part of many scripts and of emoji.
_HARMFUL: Final = re.compile(
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def is_terminal(stream: TextIO | None = None) -> bool:
    """Return whether *stream*, stdout if none is given, is a terminal that can move its cursor."""
    return (sys.stdout if stream is None else stream).isatty() and os.environ.get("TERM") != "dumb"


def columns_of(stream: TextIO | None = None) -> int:
    """Return how many columns *stream*, stdout if none is given, has."""
    shown: TextIO = sys.stdout if stream is None else stream
    if not shown.isatty():
        return _NO_TERMINAL
    if (named := os.environ.get("COLUMNS", "")).isdecimal() and int(named) > 0:
        return int(named)
    try:
        return os.get_terminal_size(shown.fileno()).columns or 80
    except OSError:
        return 80


def styled(text: str, style: str) -> str:
    """Return *text* in *style*, like ``bold``, where stdout shows styles; for the environment see https://no-color.org."""
    if not style or not text or not is_terminal() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def harmless(text: str) -> str:
    """Return *text* without characters that could steer a terminal, or mislead who reads it; but line ends and tabs."""
    if text.isprintable():
        return text
    return _HARMFUL.sub(lambda found: found[1] or "\N{REPLACEMENT CHARACTER}", text)


def escaped(json_text: str) -> str:
    """Return JSON with escapes for what :func:`harmless` would take out: it says the same."""
    if json_text.isprintable():
        return json_text
    return _HARMFUL.sub(lambda found: found[1] or json.dumps(found[0])[1:-1], json_text)


def cells(text: str) -> int:
    """Return how many columns *text* takes on a terminal."""
    if text.isascii() or not is_terminal():
        return len(text)
    from rich.cells import cell_len  # comes with typer; nothing for a program to wait for

    return cell_len(text)


def cut(text: str, columns: int) -> str:
    """Return *text* with what does not fit into *columns* cut off and an ellipsis in its place."""
    if cells(text) <= columns:
        return text
    if text.isascii():
        return text[: max(0, columns - 1)] + "…"
    from rich.cells import set_cell_size

    return set_cell_size(text, max(0, columns - 1)).rstrip() + "…"


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """Return *text* with blanks that fill *columns*, before it if it is to stand *right*."""
    blanks = " " * (columns - cells(text))
    return blanks + text if right else text + blanks
