"""Where a command's text comes from: its words, stdin, or a file; and what a person writes for a time or a value."""

import json
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any, BinaryIO, Final, NoReturn

from typer import BadParameter

from shelfd.client.invocation import fail
from shelfd.client.output import notice

#: No request is longer by contract: reading on would end in a refusal anyway.
MOST_BYTES: Final = 8 * 1024 * 1024


def text_of(words: Sequence[str] | None, file: str | None = None) -> str | None:
    """Return the text that *words* are together, what stdin holds if they are ``-``, or what *file* holds.

    Returns:
        None if neither is given.

    Raises:
        Stop: If it cannot be read, is no UTF-8, or longer than any request may be.
        BadParameter: If both are given.
    """
    if file is not None:
        if words:
            raise BadParameter("give either a text or --file", param_hint="--file")
        return _from_file(file)
    if not words:
        return None
    return from_stdin() if list(words) == ["-"] else " ".join(words)


def needed(words: Sequence[str] | None, file: str | None = None, *, name: str = "TEXT") -> str:
    """Return the text, which has to be given.

    Args:
        name: What it is called in the line of usage.

    Raises:
        Stop: As :func:`text_of`.
        BadParameter: If there is none.
    """
    text = text_of(words, file)
    if text is None:
        also = ", or --file" if name == "TEXT" else ""
        raise BadParameter(f"is missing: words, - for stdin{also}", param_hint=f"'{name}'")
    return text


def from_stdin() -> str:
    """Return what stdin holds.

    Raises:
        Stop: If it is closed, cannot be read, is no UTF-8, or too long.
    """
    if sys.stdin is None:
        fail("stdin is closed", os.EX_NOINPUT, "NoInput")
    if sys.stdin.isatty():
        notice("reading from the terminal; Ctrl-D on a line of its own ends it")
    try:
        return _decoded(sys.stdin.buffer, "stdin")
    except OSError as error:
        fail(f"cannot read stdin: {error.strerror}", os.EX_NOINPUT, "NoInput")


def _from_file(path: str) -> str:
    if path == "-":
        return from_stdin()
    try:
        with open(os.path.expanduser(path), "rb") as file:  # noqa: PTH111, PTH123 - pathlib costs 5 ms here
            return _decoded(file, path)
    except OSError as error:
        fail(f"{path}: {error.strerror}", os.EX_NOINPUT, "NoInput")


def _decoded(source: BinaryIO, name: str) -> str:
    data = source.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        fail(f"{name} is longer than {MOST_BYTES:,} bytes", os.EX_DATAERR, "TooLarge")
    try:
        return data.decode()
    except UnicodeDecodeError:
        fail(f"{name} is not UTF-8 text", os.EX_DATAERR, "NotText")


def moment(text: str | None, option: str) -> str | None:
    """Return a time with its zone; one that was given without is of this machine's zone, a day alone its midnight.

    Raises:
        BadParameter: If it is no time.
    """
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text.strip())
        return text.strip() if found.tzinfo else found.astimezone().isoformat()
    except (ValueError, OverflowError, OSError):
        why = "is no time like 2026-01-31, '2026-01-31 09:00' or 2026-01-31T09:00:00Z"
        raise BadParameter(why, param_hint=option) from None


def fields_of(pairs: Sequence[str] | None, option: str = "--field") -> dict[str, Any] | None:
    """Return what ``NAME=VALUE`` each say; a value that is JSON counts as that, else it is text.

    Raises:
        BadParameter: If one has no equals sign, or no name.
    """
    if not pairs:
        return None
    found: dict[str, Any] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise BadParameter("is not NAME=VALUE", param_hint=option)
        try:
            found[name] = json.loads(value, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and the infinities, which only Python takes for JSON
