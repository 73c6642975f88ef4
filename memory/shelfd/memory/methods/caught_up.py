"""Reads that want what notes say to be known, of all but a bulk of them; and what must have all of them read."""

import asyncio
import math
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

from shelfd.memory.call import Call
from shelfd.memory.errors import ShelfError, Unavailable
from shelfd.memory.recall.particulars import ShelfParticulars
from shelfd.memory.shelf.shelf import Shelf

#: Changes that are read before an answer, and how long at most: a long text takes a while.
_LEFT_TO_READ: Final = 128
_PATIENCE_S: Final = 2.0
#: Changes that are read before an answer on entities: some 0.2 s of work. What more there is comes when it comes.
_LEFT_OF_ENTITIES: Final = 512
#: How long at most if that is all that is asked for, or the caller has said up to which change; and for all of them.
_PATIENCE_FOR_ENTITIES_S: Final = 5.0
#: What is left of a caller's time to tell that it was too short.
_LEFT_S: Final = 0.2
_WHILE_WARMING: Final = timedelta(milliseconds=50)


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
    state = _read_so_far(shelf)
    if is_partial(state):
        shelf.enrichment.hasten()
    return state


def is_partial(state: Mapping[str, Any]) -> bool:
    """Return whether there may be more to tell than was read so far."""
    return bool(state["state"] != "ready")


async def read_all(shelf: Shelf, call: Call, *, words: bool = False) -> None:
    """Have all notes read for what they mention, however much that is.

    Args:
        shelf: Theirs.
        call: Who waits for that.
        words: Whether they are to be found by all their words, too.

    Raises:
        Unavailable: If that takes longer than 5 s, or than the caller said to wait. It goes on by itself.
    """
    deadline = call.ticket.deadline
    patience = _PATIENCE_FOR_ENTITIES_S if deadline is None else deadline - shelf.clock.monotonic() - _LEFT_S
    try:
        async with asyncio.timeout(max(patience, 0)):
            await shelf.enrichment.reach()
            while words and shelf.tracks.state()["state"] != "ready":
                await shelf.clock.sleep(_WHILE_WARMING)
            if words:
                await shelf.reach(None)
                await shelf.tracks.complete(ShelfParticulars)
    except TimeoutError:
        shelf.enrichment.hasten()
        if words:
            shelf.tracks.catch_up(ShelfParticulars)
        state = _read_so_far(shelf)
        text = f"notes are still being read for what they mention ({state['share']:.1%}) and none must be missed"
        raise Unavailable(f"{text}; ask again, or with a longer timeout_ms", reason="WARMING", index=state) from None


def _read_so_far(shelf: Shelf) -> dict[str, Any]:
    """How far notes were read, and are found by their words."""
    state, read = shelf.index_state(), shelf.enrichment.read_so_far()
    share = math.floor(min(state["share"], read.share) * 1000) / 1000
    if share == 1.0:
        return state
    return {**state, "state": "warming", "share": share, "seq": min(state["seq"], read.seq)}
