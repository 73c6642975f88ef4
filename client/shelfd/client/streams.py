"""A command's standard streams, whatever the shell has made of them: closed, full, or not UTF-8."""

import os
import sys
from collections.abc import Mapping
from io import TextIOWrapper
from typing import Any, TextIO

_STDIN, _STDOUT, _STDERR = 0, 1, 2


class _Manner:
    """How trouble is told: to a person, or as JSON to a program."""

    is_json = False


def tell_as_json(*, on: bool) -> None:
    """Tell trouble as JSON from now on, one object a line, as ``--json`` asks for; or to a person."""
    _Manner.is_json = on


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


def tells_json() -> bool:
    """Return whether trouble is told as JSON."""
    return _Manner.is_json


def complain(message: str, type_: str = "", *, code: int | None = None, data: Mapping[str, Any] | None = None) -> None:
    """Say on stderr why the command fails.

    Args:
        type_: A name for the kind of trouble, for programs.
        code: Of the daemon's error, if it is one.
        data: What else the daemon said of it.
    """
    if _Manner.is_json:
        error = {"message": message, "data": {"type": type_, **(data or {})}}
        _tell({"error": error if code is None else {"code": code, **error}})
    else:
        _say(message)


def warn(message: str) -> None:
    """Say on stderr what is no reason to fail."""
    if _Manner.is_json:
        _tell({"warning": message})
    else:
        _say(message)


def _tell(what: Mapping[str, Any]) -> None:
    import json  # what speaks to the daemon has it already

    _write(json.dumps(what, separators=(",", ":")))  # in ASCII: nothing that steers a terminal


def _say(message: str) -> None:
    _write(f"shelfd: {message}")


def _write(line: str) -> None:
    """Write *line* to stderr. Where that fails too, the exit status has to do."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        _redirect(_STDERR)


def _redirect(number: int) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, number)
    os.close(nothing)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - stays open; pathlib costs 5 ms here
