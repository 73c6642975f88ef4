"""How like a query the notes of a shelf are in meaning; and what is said where nobody could tell."""

from typing import Any, Final, NamedTuple

from shelfd.memory.errors import NoEmbedder, QuotaExceeded, Unavailable
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.dense import Likeness
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.recall import RecallParams

#: Notes that words find first, which are compared where not all vectors are in memory.
_FIRST: Final = 200


class Likened(NamedTuple):
    """What is known of meaning, and what the reply says of that."""

    like: Likeness | None
    said: dict[str, Any]


async def likened(shelf: Shelf, params: RecallParams, filters: NoteFilter) -> Likened:
    """Return how like the query notes are; None where the embedder did not say so in time, and words have to do.

    Raises:
        ShelfError: With mode ``dense``, which has no other answer: why there is no likeness.
    """
    try:
        like = await _likeness(shelf, params, filters)
    except (NoEmbedder, Unavailable, QuotaExceeded) as error:
        if params.mode == "dense":
            raise
        return Likened(None, {**shelf.dense.state(), "skipped": error.data.get("reason", "EMBEDDER_FAILED")})
    return Likened(like, shelf.dense.state())


async def _likeness(shelf: Shelf, params: RecallParams, filters: NoteFilter) -> Likeness:
    dense = shelf.dense
    query = await dense.query(params.query, params.nugget)
    rows: list[int] = []
    index = shelf.projection(ShelfIndex).index
    if not dense.is_held:
        rows = [hit.row for hit in index.search(params.query, filters, _FIRST).hits]
        rows += [row for row in index.beside(rows) if row not in rows]
    like = await dense.likeness(query, rows, index.neighbours)
    return like._replace(is_alone=params.mode == "dense")
