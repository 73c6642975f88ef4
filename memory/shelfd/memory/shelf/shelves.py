"""All shelves of one daemon: opened on demand, closed when idle, refused alone when damaged."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import structlog

from shelfd.memory.errors import Conflict, DuplicateShelf, ShelfError, ShelfNotFound, ShuttingDown, StoreBusy
from shelfd.memory.ports.projection import Project
from shelfd.memory.ports.store import Clock, OnDone, Store, Stores
from shelfd.memory.settings import MemorySettings
from shelfd.memory.shelf.access import DEFAULT_SHELF
from shelfd.memory.shelf.locks import NameLocks
from shelfd.memory.shelf.quota import check_quota
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.states import state_after
from shelfd.memory.shelf.unfinished import UnfinishedWork

log = structlog.get_logger("shelfd.memory")

_SWEEP = timedelta(seconds=60)
#: How long opening a shelf waits for a place among those that may be open.
_RESERVE_TIMEOUT = timedelta(seconds=2)
_POLL = timedelta(milliseconds=20)


class Shelves:
    """Opens and closes shelves, each at most once at a time; *projections* are what is derived from each one's log."""

    def __init__(self, stores: Stores, clock: Clock, settings: MemorySettings, projections: Sequence[Project]) -> None:
        self.settings = settings
        self._stores = stores
        self._clock = clock
        self._projections = projections
        self._open: dict[str, Shelf] = {}
        self._opening: dict[str, asyncio.Task[Shelf]] = {}
        self._reserved: set[str] = set()  # shelves that are being opened
        self._being_closed: dict[asyncio.Future[None], Shelf] = {}
        self._resting: set[asyncio.Future[None]] = set()
        self._locks = NameLocks()
        self._callers: dict[str, list[OnDone[Shelf]]] = {}  # of shelves that are not open, in order
        self._serving: set[asyncio.Task[None]] = set()
        self._creating = asyncio.Lock()  # so that none is created while others are counted
        self._failed: dict[str, str] = {}
        self._owners: dict[str, str] = {}
        self._on_open: list[Callable[[Shelf], None]] = []
        self._sweeper: asyncio.Task[None] | None = None
        self._resuming: asyncio.Task[None] | None = None
        self._unfinished = UnfinishedWork(stores, clock.now, self.get)
        self._closing = False

    async def start(self) -> None:
        """Make sure that shelf ``default`` exists and open it; a damaged one is reported by :meth:`status`."""
        try:
            if not self._stores.exists(DEFAULT_SHELF):
                await self.create(DEFAULT_SHELF, owner="shelfd", is_unlimited=True)
            else:
                await self.get(DEFAULT_SHELF)
        except ShelfError as error:
            self._failed[DEFAULT_SHELF] = state_after(error)  # the daemon continues: other shelves may be sound
        loop = asyncio.get_running_loop()
        self._sweeper = loop.create_task(self._sweep(), name="shelfd.shelves.sweep")
        self._resuming = loop.create_task(self._unfinished.find(), name="shelfd.shelves.resume")

    @property
    def stores(self) -> Stores:
        """Where the shelves are."""
        return self._stores

    @property
    def cleaned_up(self) -> int:
        """How many things an earlier daemon left unfinished that were removed at start."""
        return self._unfinished.cleaned_up

    async def resumed(self) -> None:
        """Wait until what an earlier daemon left is removed, and every shelf is open in which it left work."""
        if self._resuming is not None:
            await asyncio.wait([self._resuming])

    async def close(self) -> None:
        """Close every shelf; what was acknowledged is safe already."""
        self._closing = True
        for task in (self._sweeper, self._resuming):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        await asyncio.gather(
            *self._opening.values(), *self._serving, *self._being_closed, *self._resting, return_exceptions=True
        )
        results = await asyncio.gather(*(shelf.close() for shelf in self._open.values()), return_exceptions=True)
        self._open.clear()
        for result in results:
            if isinstance(result, BaseException):
                log.error("shelf.close_failed", error=type(result).__name__)

    def opened(self, name: str) -> Shelf | None:
        """Return the shelf if it is open."""
        return self._open.get(name)

    def on_open(self, callback: Callable[[Shelf], None]) -> Callable[[], None]:
        """Call *callback* with each shelf that is opened, before anything can change it; return what ends that."""
        self._on_open = [*self._on_open, callback]

        def end() -> None:
            self._on_open = [other for other in self._on_open if other is not callback]

        return end

    @asynccontextmanager
    async def visited(self, name: str) -> AsyncIterator[Shelf]:
        """Keep a shelf open for the length of a block; then close it unless others use it.

        Raises:
            ShelfNotFound: If there is none.
            StorageCorrupt: If its file is damaged.
            SchemaTooNew: If a newer version wrote it.
        """
        was_open = name in self._open
        shelf = await self.get(name)
        since = shelf.last_used
        shelf.enter()
        try:
            yield shelf
        finally:
            shelf.leave()
            if not was_open and not self._closing:
                async with self._locks.held(name):
                    if self._open.get(name) is shelf and shelf.is_idle and shelf.last_used == since:
                        await self._close_one(name)

    def available(self, name: str) -> Shelf | None:
        """Return the shelf if it is open and no earlier caller waits for it."""
        shelf = None if name in self._locks or name in self._callers else self._open.get(name)
        if shelf is not None:
            shelf.last_used = self._clock.monotonic()
        return shelf

    def when_open(self, name: str, use: OnDone[Shelf]) -> None:
        """Call *use*, in the order of these calls, with the shelf, or with the error that kept it from opening.

        It is called before anything can close the shelf. It must not raise.
        """
        callers = self._callers.setdefault(name, [])
        callers.append(use)
        if len(callers) == 1:
            task = asyncio.get_running_loop().create_task(self._serve(name), name=f"shelfd.{name}.serve")
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)

    async def _serve(self, name: str) -> None:
        shelf: Shelf | Exception
        try:
            shelf = await self.get(name)
        except Exception as error:  # noqa: BLE001 - whatever it was, the callers are notified
            shelf = error
        for use in self._callers.pop(name):
            use(shelf)

    async def get(self, name: str) -> Shelf:
        """Return an open shelf, opening it if necessary. Waiting callers get it in the order in which they came.

        Raises:
            ShelfNotFound: If there is none.
            StorageCorrupt: If its file is damaged.
            SchemaTooNew: If a newer version wrote it.
            StoreBusy: If too many shelves are open, all of them in use.
        """
        shelf = self.available(name)
        if shelf is None:
            async with self._locks.held(name):
                shelf = self._open.get(name) or await self._opened(name)
        shelf.last_used = self._clock.monotonic()
        return shelf

    async def _opened(self, name: str) -> Shelf:
        """Open a shelf in a task of its own: the first caller may be cancelled while others wait for it."""
        if self._closing:
            raise ShuttingDown
        task = self._opening.get(name)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._open_one(name), name=f"shelfd.{name}.open")
            task.add_done_callback(lambda done: done.cancelled() or done.exception())  # no caller may be waiting
            self._opening[name] = task
        return await asyncio.shield(task)

    async def _open_one(self, name: str) -> Shelf:
        try:
            if not self._stores.exists(name):
                raise ShelfNotFound(name)
            async with self._reserve(name):
                return self._add(name, await self._store(name))
        finally:
            del self._opening[name]

    async def _store(self, name: str) -> Store:
        try:
            return await self._stores.open(name)
        except ShelfNotFound:
            raise
        except ShelfError as error:
            self._failed[name] = state_after(error)
            log.error("shelf.open_failed", shelf=name, error=type(error).__name__, message=error.message)
            raise

    @asynccontextmanager
    async def _reserve(self, name: str) -> AsyncIterator[None]:
        """Reserve a place among the open shelves for one that is opened in a block, whose lock is held.

        Idle shelves are closed to make room, the least recently used one first.

        Raises:
            StoreBusy: If all that are open are in use.
        """
        limit = self.settings.open_shelves_count
        until = self._clock.monotonic() + _RESERVE_TIMEOUT.total_seconds()
        while len(self._open) + len(self._reserved) >= limit:
            idle = self._least_recently_used()
            if self._closing:
                raise ShuttingDown
            if idle is not None:
                async with self._locks.held(idle):
                    log.info("shelf.made_way", shelf=idle)
                    await self._close_one(idle)
            elif self._clock.monotonic() < until:
                await self._clock.sleep(_POLL)
            else:
                raise StoreBusy(f"{limit} shelves are open and all of them in use; try again later", limit=limit)
        self._reserved.add(name)
        try:
            yield
        finally:
            self._reserved.discard(name)

    def _least_recently_used(self) -> str | None:
        """The open shelf that is idle, not about to be used, and least recently used."""
        idle = [
            shelf
            for shelf in self._open.values()
            if shelf.is_idle and shelf.name != DEFAULT_SHELF and shelf.name not in self._locks
        ]
        return min(idle, key=lambda shelf: shelf.last_used).name if idle else None

    def _add(self, name: str, store: Store) -> Shelf:
        shelf = Shelf(name, store, self._clock, self.settings, self._projections)
        self._failed.pop(name, None)
        self._open[name] = shelf
        shelf.start()
        for callback in self._on_open:
            callback(shelf)
        return shelf

    async def create(
        self,
        name: str,
        *,
        owner: str,
        is_unlimited: bool = False,
        put: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """Make a shelf that belongs to *owner*, which may have any number of them if *is_unlimited*.

        Args:
            put: Puts files that there are in its place.

        Raises:
            DuplicateShelf: If the name is taken.
            QuotaExceeded: If there are too many shelves, or *owner* has too many.
            StoreBusy: If no other shelf may be opened now.
        """
        # The place first: waiting for one must not keep others from creating theirs.
        async with self._locks.held(name), self._reserve(name), self._creating:
            if self._stores.exists(name):
                raise DuplicateShelf(name)
            await check_quota(self, None if is_unlimited else owner)
            if put is None:
                self._add(name, await self._stores.create(name, owner=owner))
                self._owners[name] = owner
            else:
                await put()
                self._add(name, await self._store(name))

    def check_droppable(self, name: str) -> None:
        """Make sure that a shelf may be dropped.

        Raises:
            Conflict: For shelf ``default``.
        """
        if name == DEFAULT_SHELF:
            raise Conflict("shelf 'default' always exists; clear its nuggets instead", shelf=name)

    async def drop(self, name: str, check: Callable[[], None] = lambda: None) -> None:
        """Remove a shelf and its files for good.

        Args:
            check: Called right before that; what it raises keeps the shelf. Another shelf may have its name by now.

        Raises:
            Conflict: For shelf ``default``.
            ShelfNotFound: If there is none.
        """
        self.check_droppable(name)
        async with self.closed(name, check):
            await self._stores.drop(name)

    @asynccontextmanager
    async def closed(self, name: str, check: Callable[[], None]) -> AsyncIterator[None]:
        """Have a shelf closed, and its callers wait, for the length of a block that may change its files.

        Args:
            check: Called before. Another shelf may have the name by now.
        """
        async with self._locks.held(name):
            check()
            if name in self._opening:  # for a caller that was cancelled meanwhile
                await asyncio.wait([self._opening[name]])
            if name in self._open:
                await self._close_one(name)
            yield
            self._owners.pop(name, None)
            self._failed.pop(name, None)

    async def rename(self, name: str, to: str, check: Callable[[], None]) -> None:
        """Give a shelf another name; *check* is called before.

        Raises:
            ShelfNotFound: If there is none.
            DuplicateShelf: If the name is taken.
        """
        async with self.closed(name, check):
            await self._stores.rename(name, to)

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
        """Return ``open``, ``closed``, or why it could not be opened: ``corrupt``, ``newer`` or ``failed``."""
        return "open" if name in self._open else self._failed.get(name, "closed")

    def status(self) -> list[dict[str, Any]]:
        """Return every shelf that is open or could not be opened: name, state, index and last sequence number."""
        found = []
        for name in sorted({*self._open, *self._failed}):
            shelf = self._open.get(name)
            health = shelf.index_health() if shelf else {"index": "none"}
            found.append({"shelf": name, "state": self.state(name), "seq": shelf.seq if shelf else 0, **health})
        return found

    def stuck(self, seconds: float) -> list[str]:
        """Return shelves, open or closing, whose writer has been writing one group of changes for that long."""
        since = asyncio.get_running_loop().time() - seconds
        shelves = (*self._open.values(), *self._being_closed.values())
        return [shelf.name for shelf in shelves if (shelf.store.writing_since or since) < since]

    async def _sweep(self) -> None:
        while True:
            await self._clock.sleep(_SWEEP)
            await self.close_idle()
            await self._unfinished.resume()
            for shelf in self._open.values():
                task = asyncio.ensure_future(shelf.store.rest())  # a slow disk must not hold up the others
                self._resting.add(task)
                task.add_done_callback(self._resting.discard)

    async def close_idle(self) -> None:
        """Close shelves that were idle for a while; ``default`` stays open."""
        for name in [name for name in self._open if name != DEFAULT_SHELF and self._is_idle(name)]:
            async with self._locks.held(name):
                if self._is_idle(name):
                    log.info("shelf.closed_idle", shelf=name)
                    await self._close_one(name)

    def _is_idle(self, name: str) -> bool:
        limit = self._clock.monotonic() - self.settings.idle_close.total_seconds()
        shelf = self._open.get(name)
        return shelf is not None and shelf.is_idle and shelf.last_used < limit

    async def _close_one(self, name: str) -> None:
        """Close an open shelf completely, even if the caller is cancelled or an error occurs."""
        shelf = self._open.pop(name)
        self._unfinished.remember(shelf)
        task = asyncio.ensure_future(shelf.close())
        self._being_closed[task] = shelf
        task.add_done_callback(self._being_closed.pop)
        try:
            await asyncio.shield(task)
        except ShelfError as error:  # what was acknowledged is safe, and the store is released
            log.error("shelf.close_failed", shelf=name, error=type(error).__name__)
