"""Notes that were read or written lately, and the links that leave them, kept as they are now.

Recall returns the same notes again and again, and what was said lately; taking ten rows out of SQLite costs a third of
what ranking them does, and rendering them as much again. Once somebody reads from a shelf it has its newest notes here
soon, those of most shelves are all; of shelves that are only open there may be many.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from shelfd.memory.notes.note import Link, Note
from shelfd.memory.notes.room import make_room
from shelfd.memory.ports.projection import OF_LINKS, PurgedNote
from shelfd.memory.ports.store import Applied
from shelfd.memory.ports.view import View

K = TypeVar("K")

#: Some 1.5 KiB each beside their text: as many as a shelf has that is ranked as a whole. A session's reads show fifty
#: neighbours at a time.
_KEPT = 16_384
#: Notes that are kept as JSON, too: 0.8 KiB each beside their text. Not all, for of a large shelf they tell which notes
#: were found lately and had better stay.
_RENDERED = 12_288
#: Nodes of a graph, which are shown by the fifty.
_SHOWN = 8192
#: Longer notes are read again each time: a cache of notes is no place for documents.
_LONGEST = 8192
#: The links of notes that have more are read again each time.
_MOST_LINKS = 64
#: Notes read in one step of :meth:`HotNotes.warm_up`: some 0.2 ms, and of the longest there may be a few.
_STEP = 8


class HotNotes:
    """A bounded copy of a shelf's rows, which follows its changes."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.when_read: Callable[[], None] | None = None  #: called when a note is looked for in the rows, once
        self._is_read = False  #: whether any was
        self._notes: dict[str, Note] = {}
        self._links: dict[str, Sequence[Link]] = {}  # by the note they leave; most have none
        self._render: Callable[[Note], Any] | None = None  #: what readers have notes rendered by
        self._rendered: dict[str, tuple[Note, Any]] = {}
        self._shown: dict[str, tuple[Note, Any, Mapping[str, Any]]] = {}

    def get(self, ids: Sequence[str]) -> dict[str, Note]:
        """Return those of the notes that exist, by id."""
        return self._found(ids, self._view.notes.by_ids)

    def at(self, rows: Mapping[str, int]) -> dict[str, Note]:
        """Return what :meth:`get` does of notes whose rows are known: what is not at hand is there in half the time."""

        def read(ids: Sequence[str]) -> Mapping[str, Note]:
            return {note.id: note for note in self._view.notes.by_rows([rows[note_id] for note_id in ids]).values()}

        return self._found(list(rows), read)

    def _found(self, ids: Sequence[str], read: Callable[[Sequence[str]], Mapping[str, Note]]) -> dict[str, Note]:
        kept = self._notes.get
        found = {note_id: note for note_id in ids if (note := kept(note_id)) is not None}
        if len(found) < len(ids):
            self._is_read = True
            if self.when_read is not None:
                begin, self.when_read = self.when_read, None
                begin()
            missing = read([note_id for note_id in ids if note_id not in found])
            self._keep(missing.values())
            found |= missing
        return found

    def links(self, ids: Sequence[str]) -> dict[str, Sequence[Link]]:
        """Return the links that leave each of the notes, in the order they were made."""
        kept = list(map(self._links.get, ids))
        found: dict[str, Sequence[Link]] = {
            note_id: links for note_id, links in zip(ids, kept, strict=True) if links is not None
        }
        if len(found) < len(ids):
            read = self._view.links.leaving([note_id for note_id in ids if note_id not in found])
            if len(self._links) + len(read) > _KEPT:
                make_room(self._links, but=self._rendered)
            self._links |= {note_id: links for note_id, links in read.items() if len(links) <= _MOST_LINKS}
            found |= read
        return found

    def rendered(self, note: Note, render: Callable[[Note], K]) -> K:
        """Return what *render* makes of a note, made once for a hot note as it is now."""
        of, rendered = self._rendered.get(note.id, (None, None))
        if rendered is None or of is not note:
            self._render = render
            rendered = render(note)
            if self._notes.get(note.id) is note:
                if len(self._rendered) >= _RENDERED:
                    make_room(self._rendered)
                self._rendered[note.id] = note, rendered
        return rendered

    def shown(self, note: Note, kind: K, show: Callable[[Note, K], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Return what *show* makes of a note of some *kind*, made once as :meth:`rendered`."""
        of, under, shown = self._shown.get(note.id, (None, None, None))
        if shown is None or of is not note or (under is not kind and under != kind):
            shown = show(note, kind)
            if self._notes.get(note.id) is note:
                if len(self._shown) >= _SHOWN:
                    make_room(self._shown)
                self._shown[note.id] = note, kind, shown
        return shown

    def warm_up(self) -> Iterator[Sequence[Note]]:
        """Take in the newest notes that there is room for, and their links; yield them, a few in each step.

        Once somebody has had notes rendered, these are, too: what is found first is shown as fast as what was before.
        It ends at a shelf's beginning, when there is no more room, and at documents: those are not kept.
        """
        before: int | None = None
        while len(self._notes) < _KEPT - _STEP:
            found = self._view.notes.scan(before_row=before, limit=_STEP)
            if all(len(note.content) > _LONGEST for note in found):  # or there is none
                break
            before = min(note.row for note in found)
            self._keep(note for note in found if note.id not in self._notes)
            self.links([note.id for note in found])
            if self._render is not None and len(self._rendered) <= _RENDERED - _STEP:
                for note in found:
                    self.rendered(note, self._render)
            yield found
        # The newest, which were taken in first, are to go last.
        self._notes, self._links = dict(reversed(self._notes.items())), dict(reversed(self._links.items()))

    def apply(self, group: Sequence[Applied[Any]]) -> None:
        """Take in the notes that were written, and forget links that may have changed."""
        for applied in group:
            if applied.notes:
                known = applied.notes.keys() & self._notes.keys()
                for note_id in known:
                    self._rendered.pop(note_id, None)
                    self._shown.pop(note_id, None)
                if self._is_read:
                    self._keep(applied.notes.values())
                elif known:
                    self._keep([note for note in applied.notes.values() if note.id in known])
            if self._links:
                for row in applied.rows:
                    if row.kind in OF_LINKS:
                        self._links.pop(row.ids[0], None)

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Remove these notes."""
        for _, note_id in purged:
            self._notes.pop(note_id, None)
            self._rendered.pop(note_id, None)
            self._shown.pop(note_id, None)
        self._links.clear()  # those to a purged note leave others, and have no log row

    def clear(self) -> None:
        """Empty the cache; notes are read again."""
        self._notes.clear()
        self._links.clear()
        self._rendered.clear()
        self._shown.clear()

    def _keep(self, notes: Iterable[Note]) -> None:
        kept = self._notes
        for note in notes:
            if len(note.content) <= _LONGEST:
                if len(kept) >= _KEPT and note.id not in kept:
                    make_room(kept, but=self._rendered)  # as what recall returned lately is
                kept[note.id] = note
            else:
                kept.pop(note.id, None)
