"""What methods may use beside the shelf they are about."""

from functools import partial
from typing import cast

import structlog

from shelfd.memory.call import Call
from shelfd.memory.errors import ShelfError, ShuttingDown
from shelfd.memory.jobs.runner import JobRunner
from shelfd.memory.methods.job_kinds import procedures
from shelfd.memory.shelf.access import Access
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.shelves import Shelves
from shelfd.memory.tending.promotion import NoFiles, Promoter

log = structlog.get_logger("shelfd.memory")


class Context:
    """All shelves, who may do what, and what carries out jobs.

    Args:
        promoter: Writes MEMORY.md; without it there is none.
    """

    def __init__(self, shelves: Shelves, access: Access, promoter: Promoter | None = None) -> None:
        self.shelves = shelves
        self.access = access
        self.promoter = promoter or Promoter(NoFiles())
        self._jobs: dict[Shelf, JobRunner] = {}
        shelves.on_open(self._resume)

    def jobs(self, shelf: Shelf) -> JobRunner:
        """Return what carries out the jobs of an open shelf.

        Raises:
            ShuttingDown: If it is being closed.
        """
        if shelf not in self._jobs:
            raise ShuttingDown
        return self._jobs[shelf]

    def _resume(self, shelf: Shelf) -> None:
        """Go on with what a daemon left unfinished in a shelf."""
        self._jobs[shelf] = JobRunner(shelf, procedures(lambda: self.promoter))
        shelf.at_close(partial(self._let_go, shelf))
        shelf.spawn(self._go_on(shelf), "resume")

    def _let_go(self, shelf: Shelf) -> None:
        self._jobs.pop(shelf, None)

    async def _go_on(self, shelf: Shelf) -> None:
        try:
            await self.promoter.settle(shelf)
        except ShelfError as error:  # the next promotion looks again
            log.warning("promotion.settle_failed", shelf=shelf.name, error=type(error).__name__)
        await self.jobs(shelf).start_unfinished()

    async def shelf(self, call: Call) -> Shelf:
        """Return the open shelf that *call* is about.

        Raises:
            ShelfNotFound: If there is none.
            Forbidden: If the caller may not do this on it, as it is now: while this waited for it to open, the shelf
                of that name may have been dropped and another one made by somebody else.
        """
        shelf = await self.shelves.get(cast("str", call.shelf))
        self.access.check(call.principal, call.shelf, call.method.need)
        return shelf
