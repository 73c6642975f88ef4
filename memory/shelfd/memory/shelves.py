"""All shelves of one daemon: opened on demand, closed when idle, refused alone when damaged."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

import structlog

from shelfd.memory.access import DEFAULT_SHELF
from shelfd.memory.errors import (
    Conflict,
    DuplicateShelf,
    QuotaExceeded,
    ShelfError,
    ShelfNotFound,
    ShuttingDown,
    StorageCorrupt,
)
from shelfd.memory.ports import Clock, Stores
from shelfd.memory.settings import MemorySettings
from shelfd.memory.shelf import Shelf

log = structlog.get_logger("shelfd.memory")

_SWEEP = timedelta(seconds=60)


class _Door:
    """A lock whose waiters pass in the order they came, and how many there are."""

    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0


class Shelves:
    """Opens and closes shelves, each at most once at a time."""

    def __init__(self, stores: Stores, clock: Clock, settings: MemorySettings) -> None:
        self.settings = settings
        self._stores = stores
        self._clock = clock
        self._open: dict[str, Shelf] = {}
        self._opening: dict[str, asyncio.Task[Shelf]] = {}
        self._ending: dict[asyncio.Future[None], Shelf] = {}
        self._doors: dict[str, _Door] = {}
        self._failed: dict[str, str] = {}
        self._owners: dict[str, str] = {}
        self._on_open: list[Callable[[Shelf], None]] = []
        self._sweeper: asyncio.Task[None] | None = None
        self._resuming: asyncio.Task[None] | None = None
        self.cleaned_up = 0  #: things that an earlier daemon left unfinished and that were removed at start
        self._closing = False

    async def start(self) -> None:
        """Make sure that shelf ``default`` exists and open it; a damaged one is reported by :meth:`status`."""
        try:
            if not self._stores.exists(DEFAULT_SHELF):
                await self.create(DEFAULT_SHELF, owner="shelfd")
            else:
                await self.get(DEFAULT_SHELF)
        except ShelfError as error:
            self._failed[DEFAULT_SHELF] = type(error).__name__  # the daemon goes on: other shelves may be sound
        loop = asyncio.get_running_loop()
        self._sweeper = loop.create_task(self._sweep(), name="shelfd.shelves.sweep")
        self._resuming = loop.create_task(self._resume(), name="shelfd.shelves.resume")

    async def close(self) -> None:
        """Close every shelf; what was acknowledged is safe already."""
        self._closing = True
        for task in (self._sweeper, self._resuming):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        await asyncio.gather(*self._opening.values(), *self._ending, return_exceptions=True)
        results = await asyncio.gather(*(shelf.close() for shelf in self._open.values()), return_exceptions=True)
        self._open.clear()
        for result in results:
            if isinstance(result, BaseException):
                log.error("shelf.close_failed", error=type(result).__name__)

    def opened(self, name: str) -> Shelf | None:
        """Return the shelf if it is open."""
        return self._open.get(name)

    def on_open(self, callback: Callable[[Shelf], None]) -> Callable[[], None]:
        """Call *callback* with each shelf that is opened, before anybody can change it; return what ends that."""
        self._on_open = [*self._on_open, callback]

        def end() -> None:
            self._on_open = [other for other in self._on_open if other is not callback]

        return end

    @asynccontextmanager
    async def visited(self, name: str) -> AsyncIterator[Shelf]:
        """Have a shelf open for the length of a block; behind it, close it unless others want it open.

        Raises:
            ShelfNotFound: If there is none.
            StorageCorrupt: If its file is damaged.
        """
        was_open = name in self._open
        shelf = await self.get(name)
        since = shelf.last_used
        try:
            yield shelf
        finally:
            if not was_open and not self._closing:
                async with self._door(name):
                    if self._open.get(name) is shelf and shelf.is_idle and shelf.last_used == since:
                        await self._close_one(name)

    @asynccontextmanager
    async def _door(self, name: str) -> AsyncIterator[None]:
        """Let one at a time open, make, close or drop a shelf, in the order in which they came."""
        door = self._doors.setdefault(name, _Door())
        door.users += 1
        try:
            async with door.lock:
                yield
        finally:
            door.users -= 1
            if not door.users:
                del self._doors[name]

    def at_hand(self, name: str) -> Shelf | None:
        """Return the shelf if it is open and nobody waits for it, who would have to be let by."""
        shelf = None if name in self._doors else self._open.get(name)
        if shelf is not None:
            shelf.last_used = self._clock.monotonic()
        return shelf

    async def get(self, name: str) -> Shelf:
        """Return an open shelf, opening it if need be. Those who must wait go on in the order they came.

        Raises:
            ShelfNotFound: If there is none.
            StorageCorrupt: If its file is damaged.
        """
        shelf = self.at_hand(name)
        if shelf is None:
            async with self._door(name):
                shelf = self._open.get(name) or await self._opened(name)
        shelf.last_used = self._clock.monotonic()
        return shelf

    async def _opened(self, name: str) -> Shelf:
        """Open a shelf in a task of its own: who asked first may be cancelled, others wait for it too."""
        if self._closing:
            raise ShuttingDown
        task = self._opening.get(name)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._open_one(name), name=f"shelfd.{name}.open")
            task.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be waiting
            self._opening[name] = task
        return await asyncio.shield(task)

    async def _open_one(self, name: str) -> Shelf:
        try:
            return self._admit(name, Shelf(name, await self._stores.open(name), self._clock, self.settings))
        except ShelfNotFound:
            raise
        except ShelfError as error:
            self._failed[name] = type(error).__name__
            log.error("shelf.open_failed", shelf=name, error=type(error).__name__, message=error.message)
            raise
        finally:
            del self._opening[name]

    def _admit(self, name: str, shelf: Shelf) -> Shelf:
        self._failed.pop(name, None)
        self._open[name] = shelf
        shelf.start()
        for callback in self._on_open:
            callback(shelf)
        return shelf

    async def create(self, name: str, *, owner: str) -> None:
        """Make a shelf that belongs to *owner*.

        Raises:
            DuplicateShelf: If the name is taken.
            QuotaExceeded: If there are too many shelves.
        """
        async with self._door(name):
            if self._stores.exists(name):
                raise DuplicateShelf(name)
            limit = self.settings.shelves_count
            if len(self._stores.names()) >= limit:
                raise QuotaExceeded(f"there are {limit} shelves already", limit=limit)
            store = await self._stores.create(name, owner=owner)
            self._admit(name, Shelf(name, store, self._clock, self.settings))

    def check_droppable(self, name: str) -> None:
        """Make sure that a shelf may be dropped.

        Raises:
            Conflict: For shelf ``default``.
        """
        if name == DEFAULT_SHELF:
            raise Conflict("shelf 'default' always exists; clear its nuggets instead", shelf=name)

    async def drop(self, name: str) -> None:
        """Remove a shelf and its files for good.

        Raises:
            Conflict: For shelf ``default``.
            ShelfNotFound: If there is none.
        """
        self.check_droppable(name)
        async with self._door(name):
            if name in self._opening:  # for somebody who was cancelled meanwhile
                await asyncio.wait([self._opening[name]])
            if name in self._open:
                await self._close_one(name)
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
                    "index": shelf.index_state()["state"] if shelf else "none",
                    "seq": shelf.seq if shelf else 0,
                }
            )
        return found

    def stuck(self, seconds: float) -> list[str]:
        """Return shelves, open or closing, whose writer has been at one group of changes for that long."""
        since = asyncio.get_running_loop().time() - seconds
        shelves = (*self._open.values(), *self._ending.values())
        return [shelf.name for shelf in shelves if (shelf.store.writing_since or since) < since]

    async def _resume(self) -> None:
        """Clean up after a daemon that died, and open the shelves whose work it left unfinished: that goes on then."""
        try:
            self.cleaned_up = await self._stores.clean_up()
            if self.cleaned_up:
                log.warning("shelves.cleaned_up", removed=self.cleaned_up)
        except OSError as error:
            log.error("shelves.clean_up_failed", error=type(error).__name__)
        for name in self._stores.names():
            if name not in self._open and self._stores.has_work_left(name):
                with suppress(ShelfError):  # said by the shelf's state
                    await self.get(name)
            await asyncio.sleep(0)

    async def _sweep(self) -> None:
        while True:
            await self._clock.sleep(_SWEEP)
            await self.close_idle()

    async def close_idle(self) -> None:
        """Close shelves that nobody used for a while; ``default`` stays open."""
        for name in [name for name in self._open if name != DEFAULT_SHELF and self._is_idle(name)]:
            async with self._door(name):
                if self._is_idle(name):
                    log.info("shelf.closed_idle", shelf=name)
                    await self._close_one(name)

    def _is_idle(self, name: str) -> bool:
        limit = self._clock.monotonic() - self.settings.idle_close.total_seconds()
        shelf = self._open.get(name)
        return shelf is not None and shelf.is_idle and shelf.last_used < limit

    async def _close_one(self, name: str) -> None:
        """Close an open shelf to the end, even if who asked for it is cancelled."""
        shelf = self._open.pop(name)
        task = asyncio.ensure_future(shelf.close())
        self._ending[task] = shelf
        task.add_done_callback(self._ending.pop)
        await asyncio.shield(task)
