"""Files of JSON lines, read one line at a time: they can be long, and lines large."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from shelfd.client.foreign import Unusable

#: A longer line is not read.
LONGEST_LINE: Final = 32 * 1024 * 1024


class JsonLine(NamedTuple):
    """A line that is not blank: what it holds, or why that cannot be read."""

    number: int  #: counted from 1
    value: Any
    why: str = ""


def read(path: str, *, may_have: Callable[[bytes], object] = bool) -> Iterator[JsonLine]:
    """Iterate over the lines of the file at *path*.

    Args:
        path: Of the file.
        may_have: Returns whether a line as it is written may be wanted; others are left out without being read.

    Raises:
        Unusable: If it cannot be read.
    """
    number = 0
    try:
        with Path(path).open("rb") as file:
            while raw := file.readline(LONGEST_LINE):
                number += 1
                if len(raw) == LONGEST_LINE:
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(LONGEST_LINE)
                    yield JsonLine(number, None, f"is longer than {LONGEST_LINE} bytes")
                elif not raw.isspace() and may_have(raw):
                    yield _parsed(number, raw)
    except OSError as error:
        raise Unusable(path, error.strerror or str(error), os.EX_NOINPUT) from error


def _parsed(number: int, raw: bytes) -> JsonLine:
    try:
        return JsonLine(number, json.loads(raw.removeprefix(b"\xef\xbb\xbf")))
    except (ValueError, RecursionError):
        return JsonLine(number, None, "is not JSON")


def count(path: str) -> int:
    """Return about how many lines the file at *path* has.

    Raises:
        Unusable: If it cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    except OSError as error:
        raise Unusable(path, error.strerror or str(error), os.EX_NOINPUT) from error
