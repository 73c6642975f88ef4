"""Who may open, make, close or drop a shelf: one at a time, in the order in which they came."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class _Door:
    """A lock whose waiters pass in the order they came, and how many there are."""

    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0


class Doors:
    """A door for each shelf at which somebody is."""

    def __init__(self) -> None:
        self._doors: dict[str, _Door] = {}

    def __contains__(self, name: str) -> bool:
        """Return whether anybody is at that door."""
        return name in self._doors

    @asynccontextmanager
    async def passed(self, name: str) -> AsyncIterator[None]:
        """Have the door to oneself for the length of a block."""
        door = self._doors.setdefault(name, _Door())
        door.users += 1
        try:
            async with door.lock:
                yield
        finally:
            door.users -= 1
            if not door.users:
                del self._doors[name]
