"""The front door of the memory: every transport hands its validated calls in here."""

from functools import partial
from typing import Any, cast

import structlog

from shelfd.memory.call import Call
from shelfd.memory.errors import ShelfError, ShuttingDown
from shelfd.memory.jobs.runner import JobRunner
from shelfd.memory.methods import CHANGES, USE_CASES
from shelfd.memory.methods.job_kinds import PROCEDURES
from shelfd.memory.ports.waiting import Told
from shelfd.memory.shelf.access import Access
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.shelves import Shelves
from shelfd.memory.tending.promotion import NoFiles, Promoter

log = structlog.get_logger("shelfd.memory")


class Service:
    """Carries out calls on shelves.

    Args:
        promoter: Writes MEMORY.md; without it there is none.
    """

    def __init__(self, shelves: Shelves, access: Access, promoter: Promoter | None = None) -> None:
        self.shelves = shelves
        self.access = access
        self.promoter = promoter or Promoter(NoFiles())
        self._jobs: dict[Shelf, JobRunner] = {}
        shelves.on_open(self._resume)

    async def handle(self, call: Call) -> dict[str, Any]:
        """Carry out *call* and return its result, a JSON-like dict of the method's result shape.

        Changes of one caller apply in the order in which their coroutines first run.

        Raises:
            ShelfError: What the caller is to be told.
        """
        self.access.check(call.principal, call.shelf, call.method.need)
        return await USE_CASES[call.method.name](self, call)

    def submit(self, call: Call, told: Told[dict[str, Any]]) -> bool:
        """Begin a call that is one change of a shelf at hand: it is queued when this returns, and takes no task.

        Args:
            call: What to do.
            told: Called later, on the loop, with what :meth:`handle` would return or raise.

        Returns:
            False, with nothing done, if the call is another and has to go to :meth:`handle`.

        Raises:
            ShelfError: What the caller is to be told; *told* is not called.
        """
        submit = CHANGES.get(call.method.name)
        if submit is None or call.shelf is None:
            return False
        self.access.check(call.principal, call.shelf, call.method.need)  # first: a refused call is no use of the shelf
        shelf = self.shelves.at_hand(call.shelf)
        if shelf is None:
            return False
        submit(shelf, call, told)
        return True

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
        self._jobs[shelf] = JobRunner(shelf, self, PROCEDURES)
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
