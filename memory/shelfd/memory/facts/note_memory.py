"""A shelf's notes as vectors and words, which note.search compares a query with."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from shelfd.memory.facts import Candidates, NoteFields, NoteIndex
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.projection import Gone, Place, Projection, Slice
from shelfd.memory.ports.view import View
from shelfd.memory.settings import MemorySettings

#: Characters of a note that take as long as a note of the usual size does.
_USUAL_SIZE = 2_048


class ShelfVectors(Projection):
    """All notes of a shelf as note search scores them, hidden ones included. Knows none before it is first asked."""

    name: ClassVar[str] = "vectors"
    is_lazy: ClassVar[bool] = True
    at_once: ClassVar[int] = 8  # some 2 ms at first, less once most words are known

    def __init__(self, view: View, settings: MemorySettings) -> None:
        del settings
        self._view = view
        self.clear()

    def __len__(self) -> int:
        return len(self._index)

    def clear(self) -> None:
        """Know no note."""
        self._index = NoteIndex()

    def apply(self, notes: Sequence[Note]) -> None:
        """Take in *notes* as they are now."""
        for note in notes:
            self._index.put(note.id, fields_of(note))

    def forget(self, gone: Sequence[Gone]) -> None:
        """Know nothing of these notes."""
        for _, note_id in gone:
            self._index.remove(note_id)

    async def learn(self, note_ids: Sequence[str]) -> None:
        """Take in those of the notes that are missing, giving others a turn after every slice."""
        missing = [note_id for note_id in note_ids if note_id not in self._index]
        taken = 0
        for note_id in missing:
            if taken >= self.at_once:
                taken = 0
                await asyncio.sleep(0)
            # Read only now: what was purged while others had their turn must not come back.
            for note in self._view.notes.by_ids([note_id]).values():
                self.apply([note])
                taken += self.cost(note)

    def candidates(self, query: str) -> Candidates:
        """Return the notes that have anything of *query*, of those known so far."""
        return self._index.candidates(query)

    def read(self, view: View, place: Place) -> Slice:
        """Return the next notes, newest first. Long ones come one by one; who is beside a long one often is one."""
        notes = view.notes.scan(before_row=place.row, limit=place.limit)
        if not notes:
            return Slice((), None)
        limit = max(self.at_once * len(notes) // sum(map(self.cost, notes)), 1)
        return Slice(notes, Place(notes[-1].row, limit=limit))

    def cost(self, note: Note) -> int:
        """Return how many notes of the usual size *note* is worth."""
        return 1 + len(note.content) // _USUAL_SIZE


def fields_of(note: Note) -> NoteFields:
    """Return what search goes by of *note*."""
    return NoteFields(
        row=note.row,
        title=note.title,
        content=note.content,
        tags=note.tags,
        labels=note.all_tags,
        subject=note.subject,
        scope=note.scope,
        type=note.type,
        stability=note.stability,
        confidence=note.confidence,
        updated_at=note.updated_at,
    )
