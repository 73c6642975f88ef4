"""What methods may use beside the shelf they are about."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from typing import Protocol

from shelfd.memory.call import Call
from shelfd.memory.jobs.runner import JobRunner
from shelfd.memory.shelf.access import Access
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.shelves import Shelves
from shelfd.memory.tending.promotion import Promoter


class Context(Protocol):
    """All shelves, who may do what, what writes MEMORY.md, and what carries out jobs."""

    shelves: Shelves
    access: Access
    promoter: Promoter

    def jobs(self, shelf: Shelf) -> JobRunner:
        """Return what carries out the jobs of an open shelf.

        Raises:
            ShuttingDown: If it is being closed.
        """

    async def shelf(self, call: Call) -> Shelf:
        """Return the open shelf that *call* is about.

        Raises:
            ShelfNotFound: If there is none.
            Forbidden: If the caller may not do this on it, as it is now: while this waited for it to open, the shelf
                of that name may have been dropped and another one made by somebody else.
        """
