"""Notes that a text may be about."""

import asyncio
from collections.abc import Sequence
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
#: How many times as many are looked for as are wanted: newer ones, and those of others, are among them.
_BESIDE: Final = 4


def notes_like(shelf: Shelf, text: str, *, nugget: str, session_id: str | None, k: int) -> list[Note]:
    """Return at most *k* notes of a nugget that recall finds by the words of *text*, best first."""
    filters = RECALLABLE._replace(nugget=nugget, session=session_id, now=shelf.clock.now())
    hits = shelf.projection(ShelfIndex).index.search(text[:_ASKED], filters, k).hits
    notes = shelf.view.notes.by_rows([hit.row for hit in hits])
    return [note for hit in hits if (note := notes.get(hit.row)) is not None and filters.admits(note)]


async def older_like(shelf: Shelf, note: Note, *, k: int) -> list[Note]:
    """Return at most *k* older notes like *note*, best first, that it may make untrue.

    Those of another scope, of a later time, no longer valid, and of somebody else where either may speak of who wrote
    it, are none of them. What notes of somebody else say is read on a thread: it is theirs how long that takes.
    """
    like = notes_like(shelf, note.content, nugget=note.nugget, session_id=note.session_id, k=k * _BESIDE)
    like = [older for older in like if _may_be_changed(older, note)]
    about = Speaker(note.author, note.subject, note.session_id)
    if others := [older for older in like if is_of_another(about, older)]:
        unclear = await asyncio.to_thread(_of_writers, note, others)
        like = [older for older in like if older.id not in unclear]
    return like[:k]


def _may_be_changed(older: Note, note: Note) -> bool:
    if older.row >= note.row or older.when > note.when or older.extra.is_rollup:
        return False
    if older.scope != note.scope and not {older.scope, note.scope} <= OPEN_SCOPES:
        return False
    return older.valid_to is None or older.valid_to > note.when


def _of_writers(note: Note, others: Sequence[Note]) -> set[str]:
    """Return the ids of *others* that a note cannot be held against: one of the two may speak of its writer."""
    is_of_writer = _may_be_of_writer(note)
    return {older.id for older in others if is_of_writer or _may_be_of_writer(older)}


def _may_be_of_writer(note: Note) -> bool:
    """Return whether a note may speak of who wrote it: it says "I", or leaves out of whom it speaks."""
    said = read(note.content)
    return not said or any(not one.subject or not one.subject.isdisjoint((ME, US)) for one in said)
