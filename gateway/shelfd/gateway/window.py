"""How many may be at something at a time, in the order in which they came."""

import asyncio
from collections import deque


class Window:
    """Counts places; who finds none waits in the order of coming.

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
        """Take a place if one is free and nobody waits for it."""
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
                self.leave()  # it was this one's turn just now: somebody else's then
            raise
        finally:
            # Only now: whoever comes between being called and going on would otherwise overtake this one.
            self._waiting.remove(turn)

    def leave(self) -> None:
        """Give a place back: to who waits longest and was not called yet."""
        for turn in self._waiting:
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
