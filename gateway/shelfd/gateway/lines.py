"""What a connection has read and not begun: one message per line, cut and kept in bounded memory whatever is sent."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from shelfd.gateway.budget import Account, Budget
from shelfd.memory.errors import ShelfError, Unavailable


class LineReader:
    """Cuts a byte stream into lines.

    Lines end with LF or CR LF; blank ones are skipped. A line longer than *limit* bytes becomes one None, its
    bytes are discarded as they come, and reading goes on after its end.

    Attributes:
        lines: Complete lines in order; None stands for one that was too long. Take them by :meth:`take`.
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
        self._skips = False  #: inside a line whose bytes are discarded

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
        """Discard the line that has begun, and the rest of it to come."""
        self._skips = True
        self._part, self.part_bytes = [], 0

    def end(self) -> None:
        """Discard the line that has begun: nothing more will come."""
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


#: From here on a line that has not ended needs room in the budget for the longest one.
LARGE_BYTES: Final = 256 * 1024
#: How long a large line may take, waiting for room included, while others wait for room.
LARGE_LINE_S: Final = 10.0


class Lines:
    """The lines of one client.

    A large line takes room for the longest one before its rest is read. So whatever was begun can be finished: no two
    connections ever wait for the bytes of each other's halves.

    Args:
        limit_bytes: The longest line.
        budget: The bytes of all connections.
        account: This connection's.
        go_on: Called when there is room for a line that waited.
        refuse: Called with the error for a line that is discarded.
    """

    def __init__(
        self,
        limit_bytes: int,
        budget: Budget,
        account: Account,
        *,
        go_on: Callable[[], None],
        refuse: Callable[[ShelfError], None],
    ) -> None:
        self._reader = LineReader(limit_bytes)
        self._limit_bytes = limit_bytes
        self._budget = budget
        self._account = account
        self._go_on = go_on
        self._refuse = refuse
        self._held = 0
        self._has_room = False  #: for the longest line
        self._stop_waiting: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether no more may be read for want of room."""
        return self._stop_waiting is not None

    def __bool__(self) -> bool:
        """Return whether there is a complete line."""
        return bool(self._reader.lines)

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        self._reader.feed(data)

    def take(self) -> bytes | None:
        """Return the oldest line, None for one that was too long."""
        return self._reader.take()

    def end(self) -> None:
        """Discard the line that has begun: nothing more will come."""
        self._reader.end()

    def settle(self, taken_bytes: int) -> None:
        """Hold what there is now, and *taken_bytes* for a line that was taken and not begun."""
        part = self._reader.part_bytes
        if part > LARGE_BYTES:
            if self._timer is None:
                self._begin_large(part)
            if self._has_room:
                part = self._limit_bytes
        elif self._timer is not None:
            self._end_large()
        held = part + self._reader.lines_bytes + taken_bytes
        more, self._held = held - self._held, held
        if more:
            self._account.hold(more)

    def _begin_large(self, part: int) -> None:
        self._watch()
        size = self._limit_bytes - part
        self._has_room = self._account.fits(size)
        if not self._has_room:
            self._stop_waiting = self._budget.wait(self._account, size, self._found_room)

    def _end_large(self) -> None:
        self._has_room = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._stop_waiting is not None:
            self._stop_waiting()
            self._stop_waiting = None

    def _found_room(self) -> None:
        self._stop_waiting = None
        self._has_room = True
        self._go_on()

    def _watch(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(LARGE_LINE_S, self._look)

    def _look(self) -> None:
        """Discard a large line that takes too long for those that wait, or that itself found no room in time."""
        if not self._budget.is_wanted:
            self._watch()
            return
        self._reader.skip()
        self._refuse(Unavailable("line: there is no room for one of this size now; try again", field="line"))
