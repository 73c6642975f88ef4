"""Reads that want what notes say to be known, of all but a bulk of them."""

import asyncio
from contextlib import suppress
from typing import Final

from shelfd.memory.errors import ShelfError
from shelfd.memory.shelf.shelf import Shelf

#: Changes that are read before an answer, and how long at most: a long text takes a while.
_LEFT_TO_READ: Final = 128
_PATIENCE_S: Final = 2.0


async def catch_up(shelf: Shelf) -> None:
    """Have notes read that were changed lately, unless that is much or takes long: the answer can do without."""
    with suppress(TimeoutError, ShelfError):  # one can read although nothing can be written
        async with asyncio.timeout(_PATIENCE_S):
            await shelf.enrichment.reach(most=_LEFT_TO_READ)
