"""Framing: one message per line, in bounded memory whatever is sent."""

from collections import deque


class LineReader:
    """Cuts a byte stream into lines.

    Lines end with LF or CR LF; blank ones are skipped. A line longer than *limit* bytes becomes one None, its
    bytes are dropped as they come, and reading goes on behind its end.
    """

    __slots__ = ("_limit", "_part", "_part_bytes", "_skips", "lines")

    def __init__(self, limit: int) -> None:
        self.lines: deque[bytes | None] = deque()  #: whole lines in order; None stands for a too long one
        self._limit = limit
        self._part: list[bytes] = []
        self._part_bytes = 0
        self._skips = False  #: inside a line that is too long already

    def feed(self, data: bytes) -> None:
        """Take the stream's next bytes."""
        head, *rest = data.split(b"\n")
        if not rest:
            self._keep(head)
            return
        tail = rest.pop()
        if self._skips:
            self._skips = False
        elif self._part:
            self._part.append(head)
            self._add(b"".join(self._part))
        else:
            self._add(head)
        self._part, self._part_bytes = [], 0
        for line in rest:
            self._add(line)
        if tail:
            self._keep(tail)

    def _add(self, line: bytes) -> None:
        if not line or line.isspace():
            return
        if len(line) > self._limit:
            line = line.removesuffix(b"\r")
        self.lines.append(line if len(line) <= self._limit else None)

    def _keep(self, part: bytes) -> None:
        if self._skips:
            return
        self._part.append(part)
        self._part_bytes += len(part)
        if self._part_bytes > self._limit + 1:  # one more for a carriage return
            self.lines.append(None)
            self._skips = True
            self._part, self._part_bytes = [], 0
