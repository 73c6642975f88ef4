"""Notes that a text may be about."""

from typing import Final

from shelfd.memory.knowledge.evolution.applying import OPEN_SCOPES, Speaker, is_of_another
from shelfd.memory.knowledge.evolution.lexicon import ME, US
from shelfd.memory.knowledge.evolution.reading import read
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.notes.note import Note
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.shelf.shelf import Shelf

#: Older notes that a model is shown of what it decides on. Of 840 changes told in other words, in four languages among
#: 3,900 notes, recall had the older note among the first eight of 92 in 100 (``benchmarks/evolution.py --similar``).
OLDER: Final = 8
#: Characters of a text by whose words notes are looked for.
_ASKED: Final = 1_000


def notes_like(shelf: Shelf, text: str, *, nugget: str, session_id: str | None, k: int) -> list[Note]:
    """Return at most *k* notes of a nugget that recall finds by the words of *text*, best first."""
    filters = RECALLABLE._replace(nugget=nugget, session=session_id, now=shelf.clock.now())
    hits = shelf.projection(ShelfIndex).index.search(text[:_ASKED], filters, k).hits
    notes = shelf.view.notes.by_rows([hit.row for hit in hits])
    return [note for hit in hits if (note := notes.get(hit.row)) is not None and filters.admits(note)]


def older_like(shelf: Shelf, note: Note, *, k: int) -> list[Note]:
    """Return at most *k* older notes like *note*, best first, that it may make untrue.

    Those of another scope, of an earlier or later time than a decision may be of, and of somebody else where either
    speaks of who wrote it, are none of them.
    """
    like = notes_like(shelf, note.content, nugget=note.nugget, session_id=note.session_id, k=k + 1)
    return [older for older in like if _may_be_changed(older, note)][:k]


def _may_be_changed(older: Note, note: Note) -> bool:
    if older.row >= note.row or older.when > note.when or older.extra.is_rollup:
        return False
    if older.scope != note.scope and not {older.scope, note.scope} <= OPEN_SCOPES:
        return False
    if older.valid_to is not None and older.valid_to <= note.when:
        return False
    about = Speaker(note.author, note.subject, note.session_id)
    return not is_of_another(about, older) or not (_may_be_of_writer(note) or _may_be_of_writer(older))


def _may_be_of_writer(note: Note) -> bool:
    """Return whether a note may speak of who wrote it: it says "I", or leaves out of whom it speaks."""
    said = read(note.content)
    return not said or any(not one.subject or not one.subject.isdisjoint((ME, US)) for one in said)
