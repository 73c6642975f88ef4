"""A shelf's notes as vectors of their words, which note.search compares a query with."""

from collections.abc import Iterator, Sequence

import numpy as np

from shelfd.memory.fhrr import NoteVectors, note_vector
from shelfd.memory.following import Follower, Spawn
from shelfd.memory.note import Note
from shelfd.memory.view import View

#: Notes taken in without giving others a turn: some 2 ms at first, less once most words are known.
_AT_ONCE = 8


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

    def catch_up(self) -> bool:
        """Take in a slice of what is missing; return whether all is known now."""
        return self._follower.catch_up()

    def go_on(self) -> None:
        """Take in what is missing behind whatever else happens."""
        self._follower.go_on()

    def best(self, query: str, count: int) -> list[str]:
        """Return ids of the notes most like *query*, best first, of those known so far that have a word of it."""
        cosines = self._vectors.cosines(query)
        found = np.flatnonzero(cosines)
        if len(found) > count:
            found = found[np.argpartition(-cosines[found], count)[:count]]
        order = found[np.argsort(-cosines[found], kind="stable")]
        return [self._vectors.ids[row] for row in order]

    def learn(self, note_ids: Sequence[str]) -> None:
        """Take in these notes now, unless they are known already."""
        missing = [note_id for note_id in note_ids if note_id not in self._vectors]
        for note in self._view.notes(missing).values() if missing else ():
            self._take(note.id, note)

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
