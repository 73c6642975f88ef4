"""Framing: one message per line, in bounded memory whatever is sent."""

from collections import deque


class LineReader:
    """Cuts a byte stream into lines.

    Lines end with LF or CR LF; blank ones are skipped. A line longer than *limit* bytes becomes one None, its
    bytes are dropped as they come, and reading goes on behind its end.

    Attributes:
        lines: Whole lines in order; None stands for a too long one. Take them by :meth:`take`.
        lines_bytes: What they amount to.
        part_bytes: What there is of the line that has begun.
    """

    __slots__ = ("_limit", "_part", "_skips", "lines", "lines_bytes", "part_bytes")

    def __init__(self, limit: int) -> None:
        self.lines: deque[bytes | None] = deque()
        self.lines_bytes = 0
        self.part_bytes = 0
        self._limit = limit
        self._part: list[bytes] = []
        self._skips = False  #: inside a line whose bytes are dropped

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
        self._part, self.part_bytes = [], 0
        for line in rest:
            self._add(line)
        if tail:
            self._keep(tail)

    def take(self) -> bytes | None:
        """Return the oldest line; there must be one."""
        line = self.lines.popleft()
        self.lines_bytes -= len(line or b"")
        return line

    def skip(self) -> None:
        """Drop the line that has begun, and what is still to come of it."""
        self._skips = True
        self._part, self.part_bytes = [], 0

    def end(self) -> None:
        """Drop the line that has begun: nothing more will come."""
        self._part, self.part_bytes = [], 0

    def _add(self, line: bytes) -> None:
        if not line or line.isspace():
            return
        if len(line) > self._limit:
            line = line.removesuffix(b"\r")
        if len(line) > self._limit:
            self.lines.append(None)
            return
        self.lines.append(line)
        self.lines_bytes += len(line)

    def _keep(self, part: bytes) -> None:
        if self._skips:
            return
        self._part.append(part)
        self.part_bytes += len(part)
        if self.part_bytes > self._limit + 1:  # one more for a carriage return
            self.lines.append(None)
            self.skip()
