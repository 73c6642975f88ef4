"""What methods may use beside the shelf they are about."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from shelfd.memory.call import Call
from shelfd.memory.jobs.runner import JobRunner
from shelfd.memory.jobs.work import Begun
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.job import Job
from shelfd.memory.shelf.access import Access
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.shelves import Shelves
from shelfd.memory.tending.promotion import Promoter
from shelfd.protocol import Limits

Ended: TypeAlias = Callable[[Shelf, Job], dict[str, Any]]
BeginNow: TypeAlias = Callable[[Transaction], Begun | Outcome]


class Context(Protocol):
    """All shelves, who may do what, what writes MEMORY.md, and what carries out jobs."""

    shelves: Shelves
    access: Access
    promoter: Promoter
    limits: Limits

    def jobs(self, shelf: Shelf) -> JobRunner:
        """Return what carries out the jobs of an open shelf.

        Raises:
            ShuttingDown: If it is being closed.
        """

    async def carry_out(self, shelf: Shelf, call: Call, begin: BeginNow, ended: Ended | None = None) -> dict[str, Any]:
        """Do what a ``@job`` or a ``@change`` does, for a use case that had to prepare; it has its place from here on.

        Args:
            begin: Takes the first step. What fits it returns the outcome: then there is no job.
            ended: Makes the result of a job that is done; if it is not given, the first step is all, and no run.

        Raises:
            Unavailable: If the rest has to wait; it resumes automatically.
        """

    async def shelf(self, call: Call) -> Shelf:
        """Return the open shelf that *call* is about.

        Raises:
            ShelfNotFound: If there is none.
            Forbidden: If the caller may not do this on it, as it is now: while this waited for it to open, the shelf
                of that name may have been dropped and another one made by somebody else.
        """
