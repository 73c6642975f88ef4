"""A shelf's notes as vectors and words, which note.search compares a query with."""

import asyncio
from collections.abc import Iterator, Sequence

from shelfd.memory.facts import Candidates, NoteFields, NoteIndex
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.following import Follower, Spawn

#: Notes taken in without giving others a turn: some 2 ms at first, less once most words are known.
_AT_ONCE = 8
#: Characters of a note that take as long as a note of the usual size does.
_USUAL_SIZE = 2_048
#: Slices that a search waits for: all of a small shelf.
_SLICES = 32


class ShelfVectors:
    """All notes of a shelf as note search scores them, hidden ones included. Knows none before it is first asked."""

    def __init__(self, view: View, spawn: Spawn) -> None:
        self._view = view
        self._index = NoteIndex()
        self._follower = Follower(
            view, self._scan, self._take, at_once=_AT_ONCE, spawn=spawn, name="vectors", cost=_cost
        )

    def __len__(self) -> int:
        return len(self._index)

    def changed(self, note_id: str) -> None:
        """Say that a note changed, came or went."""
        self._follower.changed(note_id)

    def forget(self, note_id: str) -> None:
        """Let go of a note at once."""
        self._index.remove(note_id)

    async def catch_up(self) -> bool:
        """Take in what is missing, of a large shelf a part only; return whether all is known. The rest follows."""
        for _ in range(_SLICES):
            if self._follower.is_at_work:
                return False
            if self._follower.catch_up():
                return True
            await asyncio.sleep(0)
        self._follower.go_on()
        return False

    async def learn(self, note_ids: Sequence[str]) -> None:
        """Take in those of the notes that are missing, giving others a turn after every slice."""
        missing = [note_id for note_id in note_ids if note_id not in self._index]
        taken = 0
        for note_id in missing:
            if taken >= _AT_ONCE:
                taken = 0
                await asyncio.sleep(0)
            # Read only now: what was purged while others had their turn must not come back.
            for note in self._view.notes.by_ids([note_id]).values():
                self._take(note.id, note)
                taken += _cost(note)

    def candidates(self, query: str) -> Candidates:
        """Return the notes that have anything of *query*, of those known so far."""
        return self._index.candidates(query)

    def _scan(self) -> Iterator[Sequence[Note]]:
        before_row: int | None = None
        limit = 1
        while notes := self._view.notes.scan(before_row=before_row, limit=limit):
            before_row = notes[-1].row
            yield notes
            # Long notes come one by one; who is beside a long one often is one.
            limit = max(_AT_ONCE * len(notes) // sum(map(_cost, notes)), 1)

    def _take(self, note_id: str, note: Note | None) -> None:
        if note is None:
            self._index.remove(note_id)
        else:
            self._index.put(note_id, fields_of(note))


def _cost(note: Note) -> int:
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
