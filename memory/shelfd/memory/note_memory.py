"""A shelf's notes as vectors of their words, which note.search compares a query with."""

import asyncio
from collections.abc import Iterator, Sequence

import numpy as np

from shelfd.memory.fhrr import NoteVectors, note_vector
from shelfd.memory.following import Follower, Spawn
from shelfd.memory.note import Note
from shelfd.memory.view import View

#: Notes taken in without giving others a turn: some 2 ms at first, less once most words are known.
_AT_ONCE = 8
#: Slices that a search waits for: all of a small shelf.
_SLICES = 32


class ShelfVectors:
    """The vectors of all notes of a shelf, hidden ones included. Knows none before it is first asked."""

    def __init__(self, view: View, spawn: Spawn) -> None:
        self._view = view
        self._vectors = NoteVectors()
        self._follower = Follower(view, self._scan(), self._take, at_once=_AT_ONCE, spawn=spawn, name="vectors")

    def __len__(self) -> int:
        return len(self._vectors)

    def changed(self, note_id: str) -> None:
        """Say that a note changed, came or went."""
        self._follower.changed(note_id)

    def forget(self, note_id: str) -> None:
        """Let go of a note at once."""
        self._vectors.remove(note_id)

    async def catch_up(self) -> None:
        """Take in what is missing, of a large shelf a part only; the rest follows behind."""
        for _ in range(_SLICES):
            if self._follower.is_at_work or self._follower.catch_up():
                return
            await asyncio.sleep(0)
        self._follower.go_on()

    def best(self, query: str, count: int) -> list[str]:
        """Return ids of the notes most like *query*, best first, of those known so far that have a word of it."""
        cosines = self._vectors.cosines(query)
        found = np.flatnonzero(cosines)
        if len(found) > count:
            found = found[np.argpartition(-cosines[found], count)[:count]]
        order = found[np.argsort(-cosines[found], kind="stable")]
        return [self._vectors.ids[int(row)] for row in order]

    async def learn(self, note_ids: Sequence[str]) -> None:
        """Take in those of the notes that are missing, giving others a turn after every slice."""
        missing = [note_id for note_id in note_ids if note_id not in self._vectors]
        for start in range(0, len(missing), _AT_ONCE):
            for note in self._view.notes(missing[start : start + _AT_ONCE]).values():
                self._take(note.id, note)
            await asyncio.sleep(0)

    def cosines(self, query: str, note_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine with *query* of those of the notes that are known, 0 if they have no word in common."""
        return self._vectors.score(query, [note_id for note_id in note_ids if note_id in self._vectors])

    def _scan(self) -> Iterator[Sequence[Note]]:
        before_row: int | None = None
        while notes := self._view.scan_notes(before_row=before_row, limit=_AT_ONCE):
            before_row = notes[-1].row
            yield notes

    def _take(self, note_id: str, note: Note | None) -> None:
        if note is None:
            self._vectors.remove(note_id)
        else:
            self._vectors.add(note_id, note_vector(note.title, note.content, note.tags))
