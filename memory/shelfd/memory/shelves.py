"""All shelves of one daemon: opened on demand, closed when idle, refused alone when damaged."""

import asyncio
from datetime import timedelta
from typing import Any

import structlog

from shelfd.memory.access import DEFAULT_SHELF
from shelfd.memory.errors import Conflict, DuplicateShelf, QuotaExceeded, ShelfError, ShuttingDown, StorageCorrupt
from shelfd.memory.ports import Clock, Stores
from shelfd.memory.shelf import MemorySettings, Shelf

log = structlog.get_logger("shelfd.memory")

_SWEEP = timedelta(seconds=60)


class Shelves:
    """Opens and closes shelves, each at most once at a time."""

    def __init__(self, stores: Stores, clock: Clock, settings: MemorySettings) -> None:
        self.settings = settings
        self._stores = stores
        self._clock = clock
        self._open: dict[str, Shelf] = {}
        self._opening: dict[str, asyncio.Future[Shelf]] = {}
        self._closing_shelves: dict[str, asyncio.Future[None]] = {}
        self._failed: dict[str, str] = {}
        self._owners: dict[str, str] = {}
        self._sweeper: asyncio.Task[None] | None = None
        self._closing = False

    async def start(self) -> None:
        """Make sure that shelf ``default`` exists and open it; a damaged one is reported by :meth:`status`."""
        try:
            if not self._stores.exists(DEFAULT_SHELF):
                self._admit(DEFAULT_SHELF, await self._create(DEFAULT_SHELF, owner="shelfd"))
            else:
                await self.get(DEFAULT_SHELF)
        except ShelfError as error:
            log.error("shelf.open_failed", shelf=DEFAULT_SHELF, error=type(error).__name__, message=error.message)
        self._sweeper = asyncio.get_running_loop().create_task(self._sweep(), name="shelfd.shelves.sweep")

    async def close(self) -> None:
        """Close every shelf; what was acknowledged is safe already."""
        self._closing = True
        if self._sweeper is not None:
            self._sweeper.cancel()
            await asyncio.gather(self._sweeper, return_exceptions=True)
        await asyncio.gather(*self._opening.values(), return_exceptions=True)
        results = await asyncio.gather(*(shelf.close() for shelf in self._open.values()), return_exceptions=True)
        self._open.clear()
        for result in results:
            if isinstance(result, BaseException):
                log.error("shelf.close_failed", error=type(result).__name__)

    def opened(self, name: str) -> Shelf | None:
        """Return the shelf if it is open."""
        return self._open.get(name)

    async def get(self, name: str) -> Shelf:
        """Return an open shelf, opening it if need be.

        Raises:
            ShelfNotFound: If there is none.
            StorageCorrupt: If its file is damaged.
        """
        # A shelf that was opened a moment ago still has its future here, so that those who waited for it go on
        # in the order they came, before anybody who comes now.
        opening = self._opening.get(name)
        if opening is not None:
            return await asyncio.shield(opening)
        while name in self._closing_shelves:
            await asyncio.shield(self._closing_shelves[name])
        shelf = self._open.get(name)
        if shelf is not None:
            shelf.last_used = self._clock.monotonic()
            return shelf
        if self._closing:
            raise ShuttingDown
        return await self._open_once(name)

    async def _open_once(self, name: str) -> Shelf:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Shelf] = loop.create_future()
        future.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be waiting
        self._opening[name] = future
        try:
            shelf = self._admit(name, Shelf(name, await self._stores.open(name), self._clock, self.settings))
        except BaseException as error:
            self._failed[name] = type(error).__name__
            future.set_exception(error if isinstance(error, ShelfError) else ShuttingDown())
            raise
        else:
            future.set_result(shelf)
            return shelf
        finally:
            loop.call_soon(self._opening.pop, name, None)

    def _admit(self, name: str, shelf: Shelf) -> Shelf:
        self._failed.pop(name, None)
        self._open[name] = shelf
        shelf.start()
        return shelf

    async def _create(self, name: str, *, owner: str) -> Shelf:
        return Shelf(name, await self._stores.create(name, owner=owner), self._clock, self.settings)

    async def create(self, name: str, *, owner: str) -> None:
        """Make a shelf that belongs to *owner*.

        Raises:
            DuplicateShelf: If the name is taken.
            QuotaExceeded: If there are too many shelves.
        """
        if self._stores.exists(name) or name in self._opening:
            raise DuplicateShelf(name)
        limit = self.settings.shelves_count
        if len(self._stores.names()) >= limit:
            raise QuotaExceeded(f"there are {limit} shelves already", limit=limit)
        future: asyncio.Future[Shelf] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._opening[name] = future
        try:
            future.set_result(self._admit(name, await self._create(name, owner=owner)))
        except BaseException as error:
            future.set_exception(error if isinstance(error, ShelfError) else ShuttingDown())
            raise
        finally:
            asyncio.get_running_loop().call_soon(self._opening.pop, name, None)

    async def drop(self, name: str) -> None:
        """Remove a shelf and its files for good.

        Raises:
            Conflict: For shelf ``default``.
            ShelfNotFound: If there is none.
        """
        if name == DEFAULT_SHELF:
            raise Conflict("shelf 'default' always exists; clear its nuggets instead", shelf=name)
        shelf = self._open.get(name)
        if shelf is not None:
            await self._close_one(name, shelf)
        await self._stores.drop(name)
        self._owners.pop(name, None)
        self._failed.pop(name, None)

    def names(self) -> list[str]:
        """Return the shelves that exist."""
        return self._stores.names()

    def owner(self, name: str) -> str | None:
        """Return the principal a shelf belongs to; None if there is no such shelf or it cannot be read."""
        known = self._owners.get(name)
        if known is None and self._stores.exists(name):
            known = self._stores.owner(name)
            if known is not None:
                self._owners[name] = known
        return known

    def state(self, name: str) -> str:
        """Return ``open``, ``closed``, ``corrupt`` or ``failed``."""
        if name in self._open:
            return "open"
        failure = self._failed.get(name)
        if failure is None:
            return "closed"
        return "corrupt" if failure == StorageCorrupt.__name__ else "failed"

    def status(self) -> list[dict[str, Any]]:
        """Return every shelf that is open or could not be opened: name, state, index state and last sequence number."""
        found = []
        for name in sorted({*self._open, *self._failed}):
            shelf = self._open.get(name)
            found.append(
                {
                    "shelf": name,
                    "state": self.state(name),
                    "index": shelf.index_state()["state"] if shelf else "warming",
                    "seq": shelf.seq if shelf else 0,
                }
            )
        return found

    async def _sweep(self) -> None:
        while True:
            await self._clock.sleep(_SWEEP)
            await self.close_idle()

    async def close_idle(self) -> None:
        """Close shelves that nobody used for a while; ``default`` stays open."""
        limit = self._clock.monotonic() - self.settings.idle_close.total_seconds()
        for name, shelf in list(self._open.items()):
            if name != DEFAULT_SHELF and shelf.is_idle and shelf.last_used < limit:
                log.info("shelf.closed_idle", shelf=name)
                await self._close_one(name, shelf)

    async def _close_one(self, name: str, shelf: Shelf) -> None:
        """Close a shelf; who asks for it meanwhile waits until it is closed and opens it anew."""
        del self._open[name]
        closing = asyncio.ensure_future(shelf.close())
        self._closing_shelves[name] = closing
        try:
            await asyncio.shield(closing)
        finally:
            self._closing_shelves.pop(name, None)
