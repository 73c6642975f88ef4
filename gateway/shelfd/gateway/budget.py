"""What callers share: connections, requests at work, and one budget of bytes for what is read and not yet sent.

Each connection has :data:`OWN_BYTES` to itself, so that small traffic never waits for others. What it holds beyond
comes from the common budget, of which a principal gets no more than it leaves to the others: the first to come may have
half, the next a third of the rest and so on, and those that come later find room too.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from shelfd.protocol import Limits


class Window:
    """Counts places; a caller that finds none waits, first come, first served.

    Args:
        size: How many places there are.
    """

    def __init__(self, size: int) -> None:
        self._free = size
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def is_free(self) -> bool:
        """Whether :meth:`take` would take a place."""
        return self._free > 0 and not self._waiting

    def take(self) -> bool:
        """Take a place if one is free and not waited for."""
        if not self.is_free:
            return False
        self._free -= 1
        return True

    async def wait(self) -> None:
        """Take a place as soon as it is this one's turn."""
        if self.take():
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()  # it was given a place just now: pass it on
            raise
        finally:
            # Only now: a caller that comes between the wake-up and here would otherwise overtake this one.
            self._waiting.remove(turn)

    def leave(self) -> None:
        """Give a place back: to the one that has waited longest and was not woken yet."""
        for turn in self._waiting:
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


#: What each connection may hold beside the budget: requests, replies, a line that has begun.
OWN_BYTES: Final = 512 * 1024


class Share:
    """What one principal has.

    Attributes:
        connections: How many are open.
        at_work: Requests of all its connections that were begun and have not ended.
        bytes: What its connections hold of the budget.
        waiting: Called in turn when there is a place for a request again.
    """

    __slots__ = ("_is_waking", "_limit", "at_work", "bytes", "connections", "waiting")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._is_waking = False
        self.connections = 0
        self.at_work = 0
        self.bytes = 0
        self.waiting: deque[Callable[[], None]] = deque()

    def leave(self) -> None:
        """Note the end of a request, and let those begin that wait, in the loop's next turn.

        Many requests end in one turn, when a group of changes is durable. A connection that then begins all of its
        next ones together is also answered together: one system call for many requests instead of one for each.
        """
        self.at_work -= 1
        if self.waiting and not self._is_waking:
            self._is_waking = True
            asyncio.get_running_loop().call_soon(self._wake)

    def _wake(self) -> None:
        self._is_waking = False
        while self.waiting and self.has_place:
            self.waiting.popleft()()

    @property
    def has_place(self) -> bool:
        """Whether one more request may begin; a place that others wait for is theirs."""
        return self.at_work < self._limit and not self._is_waking


class Budget:
    """The bytes of all connections.

    Attributes:
        free: Bytes not held; below zero when replies to changes, which must be sent, took more.
        spare: The place of one answer that is made although there is no room for a large one.
    """

    def __init__(self, limits: Limits) -> None:
        self.free = limits.buffer_bytes
        self.spare = Window(1)
        self._requests_count = limits.principal_requests_count
        self._shares: dict[str, Share] = {}
        self._waiting: list[tuple[Account, int, Callable[[], None]]] = []

    def share(self, principal: str) -> Share:
        """Return what *principal* has."""
        share = self._shares.get(principal)
        if share is None:
            share = self._shares[principal] = Share(self._requests_count)
        return share

    def forget(self, principal: str) -> None:
        """Drop the share of a principal that has nothing any more."""
        share = self._shares.get(principal)
        if share is not None and not (share.connections or share.at_work or share.bytes):
            del self._shares[principal]

    @property
    def is_wanted(self) -> bool:
        """Whether a connection waits for room."""
        return bool(self._waiting)

    def wait(self, account: "Account", size: int, found: Callable[[], None]) -> Callable[[], None]:
        """Call *found* when *account* may hold *size* bytes more; return what ends the wait."""
        entry = (account, size, found)
        self._waiting.append(entry)

        def end() -> None:
            if entry in self._waiting:
                self._waiting.remove(entry)

        return end

    def freed(self) -> None:
        """Let those have room that wait for it, in the order in which they came."""
        for entry in list(self._waiting):
            account, size, found = entry
            if entry in self._waiting and account.fits(size):
                self._waiting.remove(entry)
                found()


class Account:
    """What one connection holds, in bytes."""

    __slots__ = ("_budget", "_share", "held")

    def __init__(self, budget: Budget, share: Share) -> None:
        self._budget = budget
        self._share = share
        self.held = 0

    def fits(self, size: int) -> bool:
        """Return whether there is room for *size* bytes more."""
        more = min(size, self.held + size - OWN_BYTES)
        return more <= 0 or self._share.bytes + more <= self._budget.free - more

    def reserve(self, size: int) -> bool:
        """Take *size* bytes of the budget, whatever is held, if there is room; return whether there was."""
        budget, share = self._budget, self._share
        if share.bytes + size > budget.free - size:
            return False
        budget.free -= size
        share.bytes += size
        return True

    def give_back(self, size: int) -> None:
        """Give back what was reserved."""
        self._budget.free += size
        self._share.bytes -= size
        if self._budget.is_wanted:
            self._budget.freed()

    def hold(self, size: int) -> None:
        """Hold *size* bytes more, or less if negative, whether there is room or not."""
        before = max(0, self.held - OWN_BYTES)
        self.held += size
        more = max(0, self.held - OWN_BYTES) - before
        if more:
            self._budget.free -= more
            self._share.bytes += more
            if more < 0 and self._budget.is_wanted:
                self._budget.freed()
