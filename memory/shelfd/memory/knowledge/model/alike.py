"""Notes that a text may be about."""

from typing import Final

from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.notes.note import Note
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.shelf.shelf import Shelf

#: Characters of a text by whose words notes are looked for.
_ASKED: Final = 1_000


def notes_like(shelf: Shelf, text: str, *, nugget: str, session_id: str | None, k: int) -> list[Note]:
    """Return at most *k* notes of a nugget that recall finds by the words of *text*, best first."""
    filters = RECALLABLE._replace(nugget=nugget, session=session_id, now=shelf.clock.now())
    hits = shelf.projection(ShelfIndex).index.search(text[:_ASKED], filters, k).hits
    notes = shelf.view.notes.by_rows([hit.row for hit in hits])
    return [note for hit in hits if (note := notes.get(hit.row)) is not None and filters.admits(note)]
