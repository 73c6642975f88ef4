"""The process's standard streams, whatever it was started with: closed, full, or with nobody who reads."""

import os
import sys
from io import TextIOWrapper
from typing import TextIO


def prepare() -> None:
    """Open on nothing what was closed: else a shelf's file would take its number, and have messages written into it."""
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
    """Write *text* to stdout at once; return whether it was written, as far as anybody wanted it.

    A reader that has had enough is no trouble; a full disk is, and is said on stderr. Either way, nothing more is
    written to stdout from then on.
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
    """Say on stderr what is wrong, line by line. Where that cannot be written either, the exit status has to say it."""
    try:
        for line in message.splitlines():
            print(f"shelfd: {line}", file=sys.stderr, flush=True)  # noqa: T201 - no logging yet, or none any more
    except OSError:
        pass


def _abandon() -> None:
    # Not by another file object: at its end, Python would still try to write what this one holds back.
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - stays open
