"""Reads that want what notes say to be known, of all but a bulk of them."""

import asyncio
import math
from contextlib import suppress
from typing import Any, Final

from shelfd.memory.errors import ShelfError
from shelfd.memory.shelf.shelf import Shelf

#: Changes that are read before an answer, and how long at most: a long text takes a while.
_LEFT_TO_READ: Final = 128
_PATIENCE_S: Final = 2.0
#: Changes that are read before an answer on entities: some 0.2 s of work. What more there is comes when it comes.
_LEFT_OF_ENTITIES: Final = 512
#: How long at most if that is all that is asked for, or the caller has said up to which change.
_PATIENCE_FOR_ENTITIES_S: Final = 5.0


async def catch_up(shelf: Shelf) -> None:
    """Have notes read that were changed lately, unless that is much or takes long: the answer can do without."""
    with suppress(TimeoutError, ShelfError):  # one can read although nothing can be written
        async with asyncio.timeout(_PATIENCE_S):
            await shelf.enrichment.reach(most=_LEFT_TO_READ)


async def read_for_entities(shelf: Shelf, min_seq: int | None) -> dict[str, Any]:
    """Have notes read for what they mention, unless that takes long; return how far they are, as recall's ``index``.

    What is left is read sooner then than if nobody had asked.

    Args:
        shelf: Theirs.
        min_seq: A change up to which they are read, however much that is.
    """
    with suppress(TimeoutError, ShelfError):
        async with asyncio.timeout(_PATIENCE_FOR_ENTITIES_S):
            if min_seq is not None:
                await shelf.enrichment.reach(seq=min_seq)
            await shelf.enrichment.reach(most=_LEFT_OF_ENTITIES)
    state, read = shelf.index_state(), shelf.enrichment.read_so_far()
    share = math.floor(min(state["share"], read.share) * 1000) / 1000
    if share == 1.0:
        return state
    shelf.enrichment.hasten()
    return {**state, "state": "warming", "share": share, "seq": min(state["seq"], read.seq)}
