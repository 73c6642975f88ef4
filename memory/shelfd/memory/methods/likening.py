"""How like a query the notes of a shelf are in meaning; and what is said where nobody could tell."""

from typing import Any, NamedTuple

from shelfd.memory.errors import NoEmbedder, QuotaExceeded, Unavailable
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.dense import Likeness
from shelfd.memory.recall.likening import likeness_of
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.recall import RecallParams


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
        like = await likeness_of(shelf, params.query, filters)
    except (NoEmbedder, Unavailable, QuotaExceeded) as error:
        if params.mode == "dense":
            raise
        return Likened(None, {**shelf.dense.state(), "skipped": error.data.get("reason", "EMBEDDER_FAILED")})
    return Likened(like._replace(is_alone=params.mode == "dense"), shelf.dense.state())
