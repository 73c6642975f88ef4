"""Files of JSON lines, read one line at a time: they can be long, and lines large."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from shelfd.client.foreign import Unusable

#: A longer line is not read.
LONGEST_LINE: Final = 32 * 1024 * 1024
#: Bytes that are read of a file at once, and those of lines that are looked at together.
_READ: Final = 1 << 17
_BLOCK: Final = 1 << 15


class JsonLine(NamedTuple):
    """A line that is not blank: what it holds, or why that cannot be read."""

    number: int  #: counted from 1
    value: Any  #: bytes if that was cut out of the line, which was not parsed
    why: str = ""


def read(
    path: str, *, may_have: Callable[[bytes], object] = bool, cut: Callable[[bytes], bytes | None] | None = None
) -> Iterator[JsonLine]:
    """Iterate over the lines of the file at *path*.

    Args:
        path: Of the file.
        may_have: Returns whether a line as it is written may be wanted, or any of several lines; others are left out
            without being read.
        cut: Returns all that is wanted of a line as it is written; None if that has to be parsed.

    Raises:
        Unusable: If it cannot be read.
    """
    number = until = 0
    try:
        with Path(path).open("rb", _READ) as file:
            while True:
                if may_have is not bool and file.tell() >= until:
                    skipped, until = _skip(file, may_have)
                    number += skipped
                if not (raw := file.readline(LONGEST_LINE)):
                    break
                number += 1
                if len(raw) == LONGEST_LINE:
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(LONGEST_LINE)
                    yield JsonLine(number, None, f"is longer than {LONGEST_LINE} bytes")
                elif cut is not None and (found := cut(raw)) is not None:
                    yield JsonLine(number, found)
                elif not raw.isspace() and may_have(raw):
                    yield _parsed(number, raw)
    except OSError as error:
        raise Unusable(path, error.strerror or str(error), os.EX_NOINPUT) from error


def _skip(file: BinaryIO, may_have: Callable[[bytes], object]) -> tuple[int, int]:
    """Skip lines as long as none of a block may be wanted; return how many these are, and where the next block ends.

    Of those before the end of the file nobody needs to know how many they are.
    """
    begin = file.tell()
    while block := file.read(_BLOCK):
        rest = file.readline(LONGEST_LINE)
        block += rest
        if len(rest) == LONGEST_LINE or may_have(block):
            end = file.tell()
            file.seek(begin)
            return _count(file, end - len(block) - begin), end
    return 0, file.tell()


def _count(file: BinaryIO, size: int) -> int:
    """Return how many lines end in so many bytes of a file, and leave it behind these."""
    found = 0
    while size > 0 and (block := file.read(min(size, _READ))):
        found += block.count(b"\n")
        size -= len(block)
    return found


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
