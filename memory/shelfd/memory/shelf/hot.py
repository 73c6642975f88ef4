"""Notes that were read or written lately, and the links that leave them, kept as they are now.

Recall returns the same notes again and again, and taking ten rows out of SQLite costs as much as ranking them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from shelfd.memory.notes.note import Link, Note
from shelfd.memory.ports.projection import OF_LINKS, PurgedNote
from shelfd.memory.ports.store import Applied
from shelfd.memory.ports.view import View

_KEPT = 4096
#: Longer notes are read again each time: a cache of notes is no place for documents.
_LONGEST = 8192
#: The links of notes that have more are read again each time.
_MOST_LINKS = 64


class HotNotes:
    """A bounded copy of a shelf's rows, which follows its changes."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._notes: dict[str, Note] = {}
        self._links: dict[str, Sequence[Link]] = {}  # by the note they leave; most have none

    def get(self, ids: Sequence[str]) -> dict[str, Note]:
        """Return those of the notes that exist, by id."""
        found = {note_id: self._notes[note_id] for note_id in ids if note_id in self._notes}
        if len(found) < len(ids):
            read = self._view.notes.by_ids([note_id for note_id in ids if note_id not in found])
            self._keep(read.values())
            found |= read
        return found

    def links(self, ids: Sequence[str]) -> dict[str, Sequence[Link]]:
        """Return the links that leave each of the notes, in the order they were made."""
        found: dict[str, Sequence[Link]] = {note_id: self._links[note_id] for note_id in ids if note_id in self._links}
        if len(found) < len(ids):
            read = self._view.links.leaving([note_id for note_id in ids if note_id not in found])
            if len(self._links) + len(read) > _KEPT:
                self._links.clear()
            self._links |= {note_id: links for note_id, links in read.items() if len(links) <= _MOST_LINKS}
            found |= read
        return found

    def apply(self, group: Sequence[Applied[Any]]) -> None:
        """Update the notes that are cached."""
        for applied in group:
            for note in applied.notes.values():
                if note.id in self._notes:
                    self._notes[note.id] = note
            if self._links:
                for row in applied.rows:
                    if row.kind in OF_LINKS:
                        self._links.pop(row.ids[0], None)

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Remove these notes."""
        for _, note_id in purged:
            self._notes.pop(note_id, None)
        self._links.clear()  # those to a purged note leave others, and have no log row

    def clear(self) -> None:
        """Empty the cache; notes are read again."""
        self._notes.clear()
        self._links.clear()

    def _keep(self, notes: Iterable[Note]) -> None:
        for note in notes:
            if len(note.content) <= _LONGEST:
                if len(self._notes) >= _KEPT:
                    del self._notes[next(iter(self._notes))]
                self._notes[note.id] = note
