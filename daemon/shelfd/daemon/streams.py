"""The process's standard streams, whatever it was started with: closed, full, or without a reader."""

import os
import sys
from io import TextIOWrapper
from typing import TextIO


def prepare() -> None:
    """Open closed streams on /dev/null: otherwise a shelf's file would take their number, and messages."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a path need not be text


def say(text: str) -> bool:
    """Write *text* to stdout at once; return False if it could not be written.

    A reader that has closed its end is no failure; a full disk is, and is reported on stderr. Either way, nothing
    more is written to stdout from then on.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon()
    except OSError as error:
        complain(f"cannot write the output: {error.strerror}")
        _abandon()
        return False
    return True


def complain(message: str) -> None:
    """Write *message* to stderr, line by line. Where that fails too, the exit status has to do."""
    try:
        for line in message.splitlines():
            print(f"shelfd: {line}", file=sys.stderr, flush=True)  # noqa: T201 - no logging yet, or none any more
    except OSError:
        pass


def _abandon() -> None:
    # Not by another file object: at exit, Python would still try to write what this one buffers.
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - stays open
