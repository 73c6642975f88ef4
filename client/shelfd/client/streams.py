"""A command's standard streams, whatever the shell has made of them: closed, full, or not UTF-8."""

import os
import sys
from io import TextIOWrapper
from typing import TextIO

_STDIN, _STDOUT, _STDERR = 0, 1, 2


def prepare() -> bool:
    """Make the standard streams safe to use; return whether there is a stdout at all.

    A closed descriptor is opened on /dev/null: otherwise the next file or connection would take its number.
    What the encoding of stdout does not have is shown as a question mark.
    """
    for number in (_STDIN, _STDOUT, _STDERR):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    has_stdout = sys.stdout is not None
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return has_stdout


def is_unicode() -> bool:
    """Return whether stdout can show every character."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def flush() -> None:
    """Write out what stdout buffers.

    Raises:
        OSError: If it cannot be written.
    """
    sys.stdout.flush()


def abandon() -> None:
    """Write nothing more to stdout, not even what it buffers: it has no reader."""
    _redirect(_STDOUT)


def complain(message: str) -> None:
    """Write *message* to stderr. Where that fails too, the exit status has to do."""
    try:
        print(f"shelfd: {message}", file=sys.stderr, flush=True)
    except OSError:
        _redirect(_STDERR)


def _redirect(number: int) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, number)
    os.close(nothing)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - stays open; pathlib costs 5 ms here
