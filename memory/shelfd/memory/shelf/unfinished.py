"""What an earlier daemon left: files to remove, and shelves whose work is to be resumed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from shelfd.memory.errors import ShelfError
from shelfd.memory.ports.store import Stores
from shelfd.memory.shelf.shelf import Shelf

log = structlog.get_logger("shelfd.memory")

_JOBS_READ: Final = 100  #: unfinished jobs


class UnfinishedWork:
    """Shelves that are closed and have work under way.

    Args:
        stores: Where they are.
        open_shelf: Opens one, which resumes its work.

    Attributes:
        cleaned_up: Things that an earlier daemon left unfinished and that were removed.
    """

    def __init__(self, stores: Stores, open_shelf: Callable[[str], Awaitable[Shelf]]) -> None:
        self._stores = stores
        self._open_shelf = open_shelf
        self._names: set[str] = set()
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
            await asyncio.sleep(0)
        await self.resume()

    def remember(self, shelf: Shelf) -> None:
        """Remember *shelf*, which is about to close, if it has unfinished work."""
        try:
            unfinished = shelf.view.jobs.page(unfinished=True, before=None, limit=_JOBS_READ)
            # The scheduler opens a shelf itself to resume its own jobs.
            if any(not job.is_scheduled for _, job in unfinished):
                self._names.add(shelf.name)
        except ShelfError as error:  # a damaged one is closed like any other
            log.warning("shelf.work_unknown", shelf=shelf.name, error=type(error).__name__)

    async def resume(self) -> None:
        """Open the shelves with work under way, as far as there is room for them."""
        for name in sorted(self._names):
            self._names.discard(name)
            try:
                await self._open_shelf(name)
            except ShelfError as error:  # said by the shelf's state, unless there is no place for it now
                if error.retryable:
                    self._names.add(name)
