"""The front door of the memory: every transport hands its validated calls in here."""

from typing import Any

from shelfd.memory.access import Access
from shelfd.memory.call import Call
from shelfd.memory.promotion import NoFiles, Promoter
from shelfd.memory.shelf import Shelf
from shelfd.memory.shelves import Shelves
from shelfd.memory.usecases import USE_CASES


class Service:
    """Carries out calls on shelves.

    Args:
        promoter: Writes MEMORY.md; without it there is none.
    """

    def __init__(self, shelves: Shelves, access: Access, promoter: Promoter | None = None) -> None:
        self.shelves = shelves
        self.access = access
        self.promoter = promoter or Promoter(NoFiles())

    async def handle(self, call: Call) -> dict[str, Any]:
        """Carry out *call* and return its result, a JSON-like dict of the method's result shape.

        Changes of one caller apply in the order in which their coroutines first run.

        Raises:
            ShelfError: What the caller is to be told.
        """
        self.access.check(call.principal, call.shelf, call.method.need)
        return await USE_CASES[call.method.name](self, call)

    async def shelf(self, name: str) -> Shelf:
        """Return an open shelf.

        Raises:
            ShelfNotFound: If there is none.
        """
        return await self.shelves.get(name)
