"""One lock per shelf name, for opening, creating, closing and dropping it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class NameLocks:
    """Fair locks by name; those that nobody holds or waits for take no memory."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._users: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        """Return whether anybody holds that lock or waits for it."""
        return name in self._locks

    @asynccontextmanager
    async def held(self, name: str) -> AsyncIterator[None]:
        """Hold the lock for the length of a block; waiters get it in the order in which they came."""
        lock = self._locks.setdefault(name, asyncio.Lock())
        self._users[name] = self._users.get(name, 0) + 1
        try:
            async with lock:
                yield
        finally:
            self._users[name] -= 1
            if not self._users[name]:
                del self._locks[name], self._users[name]
