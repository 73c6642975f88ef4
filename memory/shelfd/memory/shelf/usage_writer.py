"""Writes usage a moment after it changed: a recall costs no commit, and ``kill -9`` at most the last second of it."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import structlog

from shelfd.memory.errors import ShelfError
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.store import Change, Clock, Store
from shelfd.memory.ports.view import Writer
from shelfd.memory.shelf.queries import QueryBook
from shelfd.memory.shelf.usage import UsageBook

log = structlog.get_logger("shelfd.memory")

_DELAY = timedelta(milliseconds=700)
#: Outcomes of idempotency keys dropped in one write, whose time is over: some milliseconds.
_FORGOTTEN = 200
Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]


class UsageSaver:
    """Stores what a usage book and a query book hold, and drops outcomes of idempotency keys whose time is over.

    Args:
        spawn: Starts a task of the shelf.
        retention: How long an idempotency key is remembered.
    """

    def __init__(
        self,
        book: UsageBook,
        queries: QueryBook,
        store: Store,
        clock: Clock,
        *,
        shelf: str,
        spawn: Spawn,
        retention: timedelta,
    ) -> None:
        self._book = book
        self._queries = queries
        self._store = store
        self._clock = clock
        self._shelf = shelf
        self._spawn = spawn
        self._retention_micros = retention // timedelta(microseconds=1)
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self._writing = asyncio.Lock()  # what is set aside belongs to one write at a time

    def write_soon(self) -> None:
        """See to it that what the book holds is stored within a second."""
        if self._task is None and not self._is_closed:
            self._task = self._spawn(self._write_later(), "usage")

    def close(self) -> None:
        """Start nothing more by itself; :meth:`write` still works."""
        self._is_closed = True

    async def _write_later(self) -> None:
        try:
            await self._clock.sleep(_DELAY)
            await self.write()
        except ShelfError as error:
            log.warning("usage.write_failed", shelf=self._shelf, error=type(error).__name__)
        finally:
            self._task = None
        if self._is_dirty:
            self.write_soon()

    @property
    def _is_dirty(self) -> bool:
        return self._book.is_dirty or self._queries.is_dirty

    async def write(self) -> None:
        """Store what the book holds now, behind what is being stored already.

        Raises:
            Unavailable: If the store did not take it; the book still holds it.
        """
        async with self._writing:
            if self._is_dirty:
                await self._write()

    async def _write(self) -> None:
        self._book.begin_write()
        self._queries.begin_write()
        stored = False

        def transact(writer: Writer, now: int) -> tuple[None, Transaction]:
            self._book.write(writer)
            self._queries.write(writer, now)
            writer.recorded.forget(now - self._retention_micros, now=now, limit=_FORGOTTEN)
            return None, Transaction(writer, now)

        try:
            await self._store.commit(Change(Origin("shelfd", "usage.write"), transact))
            stored = True
        finally:
            self._book.end_write(stored=stored)
            self._queries.end_write(stored=stored)
