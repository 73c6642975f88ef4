"""The members of a JSON array in a file of any size, one after another: only the one at hand is in memory."""

import json
import re
from collections.abc import Iterator
from typing import IO, Any, Final, NamedTuple

#: A longer member is not read.
LONGEST: Final = 32 * 1024 * 1024
_BLOCK: Final = 1 << 20
#: What opens, closes, separates, or is text in which these mean nothing; a quote by itself is text that goes on.
_SIGN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},"]', re.DOTALL)
#: The rest of a text, behind its beginning.
_REST: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_OPENING, _CLOSING = frozenset({b"[", b"{"}), frozenset({b"]", b"}"})


class Member(NamedTuple):
    """A member of the array, counted from 0: what it holds, or why that cannot be read."""

    number: int
    value: Any
    why: str = ""


def read(file: IO[bytes]) -> Iterator[Member]:
    """Iterate over the members of the array that *file* holds. What follows a broken member is read on.

    A file that ends early ends with a member that says so.
    """
    number = 0
    for piece, is_whole in _pieces(file):
        if piece is None:
            yield Member(number, None, f"is longer than {LONGEST} bytes")
        elif not piece.strip():
            if not is_whole:
                yield Member(number, None, "is cut off: the file ends within it")
            continue
        else:
            yield _parsed(number, piece) if is_whole else Member(number, None, "is cut off: the file ends within it")
        number += 1


def _parsed(number: int, piece: bytes) -> Member:
    try:
        return Member(number, json.loads(piece))
    except (ValueError, RecursionError):
        return Member(number, None, "is not JSON")


def _pieces(file: IO[bytes]) -> Iterator[tuple[bytes | None, bool]]:
    """The text of each member, None for one that is too long, and whether it ends."""
    scan = _Scan()
    while block := file.read(_BLOCK):
        yield from scan.feed(block)
        if scan.has_ended:
            return
    yield scan.rest(), False


class _Scan:
    """Where the scan of a file is: in which member, how deep, and whether within a text that is passed over."""

    def __init__(self) -> None:
        self.has_ended = False
        self._buffer = b""
        self._at = 0  # what is before it was looked at
        self._start = 0  # of the member
        self._depth = 0
        self._is_long = False
        self._in_text = False

    def rest(self) -> bytes | None:
        """Return the member that does not end."""
        return None if self._is_long else self._buffer[self._start :]

    def feed(self, block: bytes) -> Iterator[tuple[bytes | None, bool]]:
        """Look at the next block of the file."""
        self._buffer = self._buffer[self._start :] + block
        self._at, self._start = self._at - self._start, 0
        if self._in_text and not self._pass_over():
            return
        while (sign := _SIGN.search(self._buffer, self._at)) is not None:
            text = sign.group()
            if text == b'"':
                break
            self._at = sign.end()
            if text in _OPENING:
                self._depth += 1
                if self._depth == 1:
                    self._start = self._at
            elif text == b"," and self._depth == 1:
                yield self._member(), True
                self._start, self._is_long = self._at, False
            elif text in _CLOSING:
                self._depth -= 1
                if self._depth == 0:
                    yield self._member(), True
                    self.has_ended = True
                    return
        self._shorten(-1 if sign is None else sign.start())

    def _member(self) -> bytes | None:
        return None if self._is_long else self._buffer[self._start : self._at - 1]

    def _shorten(self, begun: int) -> None:
        """Keep what is needed: of a member that is too long, nothing but how deep it is.

        Args:
            begun: Where a text begins that goes on; -1 if none does.
        """
        self._in_text = begun >= 0
        self._at = begun + 1 if self._in_text else len(self._buffer)
        self._rest_in_text()

    def _pass_over(self) -> bool:
        """Go to the end of the text that goes on; return whether that has come."""
        rest = _REST.match(self._buffer, self._at)
        if rest is None:
            self._rest_in_text()
            return False
        self._at, self._in_text = rest.end(), False
        return True

    def _rest_in_text(self) -> None:
        """Stop at the end of what was read; a sign that stands before another one is looked at once more with that."""
        text = self._buffer[self._at :] if self._in_text else b""
        marks = (len(text) - len(text.rstrip(b"\\"))) % 2
        self._is_long = self._is_long or len(self._buffer) - self._start > LONGEST
        if self._is_long:
            self._buffer, self._at, self._start = b"\\" * marks, 0, 0
        else:
            self._at = len(self._buffer) - marks
