"""Shelves that are closed and have something to do: work to resume, notes that expire. And what a crash left."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from shelfd.memory.errors import ShelfError
from shelfd.memory.ports.store import Stores
from shelfd.memory.shelf.shelf import Shelf

log = structlog.get_logger("shelfd.memory")

_JOBS_READ: Final = 100  #: unfinished jobs
_NEVER: Final = 2**62


class UnfinishedWork:
    """Shelves that are closed and have work under way, or notes that expire, which is told when they are open.

    Args:
        stores: Where they are.
        now: Returns the time, microseconds since 1970 UTC.
        open_shelf: Opens one, which resumes its work.

    Attributes:
        cleaned_up: Things that an earlier daemon left unfinished and that were removed.
    """

    def __init__(self, stores: Stores, now: Callable[[], int], open_shelf: Callable[[str], Awaitable[Shelf]]) -> None:
        self._stores = stores
        self._now = now
        self._open_shelf = open_shelf
        self._names: set[str] = set()
        self._expiring: dict[str, int] = {}  # when the first note of each expires
        self.cleaned_up = 0

    async def find(self) -> None:
        """Clean up after a daemon that died, and resume the work that it left."""
        try:
            self.cleaned_up = await self._stores.clean_up()
            if self.cleaned_up:
                log.warning("shelves.cleaned_up", removed=self.cleaned_up)
        except OSError as error:
            log.error("shelves.clean_up_failed", error=type(error).__name__)
        for name in self._stores.names():
            if self._stores.has_unfinished_work(name):
                self._names.add(name)
            if (expires_at := self._stores.next_expiry(name)) is not None:
                self._expiring[name] = expires_at
            await asyncio.sleep(0)
        await self.resume()

    def remember(self, shelf: Shelf) -> None:
        """Remember *shelf*, which is about to close, if it has unfinished work or notes that expire."""
        self._expiring.pop(shelf.name, None)
        try:
            for note in shelf.view.notes.expired(_NEVER, limit=1):
                self._expiring[shelf.name] = note.expires_at or 0
            unfinished = shelf.view.jobs.page(unfinished=True, before=None, limit=_JOBS_READ)
            # The scheduler opens a shelf itself to resume its own jobs.
            if any(not job.is_scheduled for _, job in unfinished):
                self._names.add(shelf.name)
        except ShelfError as error:  # a damaged one is closed like any other
            log.warning("shelf.work_unknown", shelf=shelf.name, error=type(error).__name__)

    async def resume(self) -> None:
        """Open the shelves with work under way or notes that have expired, as far as there is room for them."""
        now = self._now()
        for name in [name for name, expires_at in self._expiring.items() if expires_at <= now]:
            del self._expiring[name]
            self._names.add(name)
        for name in sorted(self._names):
            self._names.discard(name)
            try:
                await self._open_shelf(name)
            except ShelfError as error:  # said by the shelf's state, unless there is no place for it now
                if error.retryable:
                    self._names.add(name)
