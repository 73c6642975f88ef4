"""Notes that were read or written lately, kept as they are now.

Recall returns the same notes again and again, and taking ten rows out of SQLite costs as much as ranking them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.projection import Gone
from shelfd.memory.ports.store import Applied
from shelfd.memory.ports.view import View

_KEPT = 4096
#: Longer notes are read anew each time: a cache of notes is no place for documents.
_LONGEST = 8192


class HotNotes:
    """A bounded copy of a shelf's rows, which follows its changes."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._notes: dict[str, Note] = {}

    def get(self, ids: Sequence[str]) -> dict[str, Note]:
        """Return those of the notes that exist, by id."""
        found = {note_id: self._notes[note_id] for note_id in ids if note_id in self._notes}
        if len(found) < len(ids):
            read = self._view.notes.by_ids([note_id for note_id in ids if note_id not in found])
            self._keep(read.values())
            found |= read
        return found

    def apply(self, group: Sequence[Applied[Any]]) -> None:
        """Take over what was just written of the notes that are kept."""
        for applied in group:
            for note in applied.notes.values():
                if note.id in self._notes:
                    self._notes[note.id] = note

    def forget(self, gone: Sequence[Gone]) -> None:
        """Keep nothing of these notes."""
        for _, note_id in gone:
            self._notes.pop(note_id, None)

    def clear(self) -> None:
        """Keep nothing; notes are read anew."""
        self._notes.clear()

    def _keep(self, notes: Iterable[Note]) -> None:
        for note in notes:
            if len(note.content) <= _LONGEST:
                if len(self._notes) >= _KEPT:
                    del self._notes[next(iter(self._notes))]
                self._notes[note.id] = note
