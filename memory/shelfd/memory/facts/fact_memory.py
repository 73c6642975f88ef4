"""A shelf's facts in its holographic memory, which finds them by keys that are like theirs."""

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import ClassVar

from shelfd.memory.facts import THRESHOLD, Broadcast, FactAnswer, Options
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note, Nugget
from shelfd.memory.ports.projection import Projection, PurgedNote, ScanPosition, Slice
from shelfd.memory.ports.view import View
from shelfd.memory.settings import MemorySettings

#: Longer values are kept as their hash: the memory only needs to tell them apart, and rows answer.
_LONGEST = 64
_USUAL = Options()


class ShelfFacts(Projection):
    """The visible facts of all nuggets of a shelf. Knows none before it is first asked.

    What it finds is a row's id: what the row says, and whether a caller may see it, is known from the row.
    """

    name: ClassVar[str] = "facts"
    is_lazy: ClassVar[bool] = True
    at_once: ClassVar[int] = 8  # some 0.3 ms

    def __init__(self, view: View, settings: MemorySettings) -> None:
        del settings
        self._view = view
        self.clear()

    def __len__(self) -> int:
        return len(self._broadcast)

    def clear(self) -> None:
        """Remove all facts."""
        self._broadcast = Broadcast()

    def concerns(self, note: Note) -> bool:
        """Return whether *note* is a fact."""
        return note.key is not None

    def apply(self, notes: Sequence[Note]) -> None:
        """Apply facts as they are now; one that does not count is removed."""
        for note in notes:
            self._take(note)

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Remove these notes."""
        for _, note_id in purged:
            self._broadcast.remove(note_id)

    def nearest(
        self, query: str, nugget: str | None, admits: Callable[[str], bool], *, least: float = 0.0
    ) -> FactAnswer | None:
        """Return the fact that answers *query*, of those known so far; ``None`` if none does.

        Args:
            query: A key, an alias, or words like those of one.
            nugget: Whom to ask; ``None`` asks all.
            admits: Returns by a fact's id whether it may be the answer.
            least: How sure a key that is only like the query must be, if more than usual.
        """
        if not self._broadcast:
            return None
        return self._broadcast.recall(query, nugget, admits, least=max(least, THRESHOLD))

    def confirms(self, note: Note) -> bool:
        """Return whether the bank of a fact gives its value back for its key, no list and no row consulted.

        Up to the nugget's capacity it does; beyond it the banks forget, and the fact is known by its row alone.
        """
        return note.id in self._broadcast and self._broadcast.echo(note.id).confirmed

    def read(self, view: View, place: ScanPosition) -> Slice:
        """Return the next facts that count, of one nugget after the other; nuggets without any take their turn too."""
        if place.row is not None:
            wanted = NoteFilter(nugget=place.nugget, kind="fact", include_superseded=False)
            after = (0, place.row)
            if facts := view.notes.page(wanted, order="row", descending=False, after=after, limit=self.at_once):
                return Slice(facts, place._replace(row=facts[-1].row))
        nuggets = view.nuggets.page(after=place.nugget, limit=1)
        return Slice((), ScanPosition(0, nuggets[0].name) if nuggets else None)

    def _take(self, note: Note) -> None:
        if note.key is None or note.hidden or note.superseded_by is not None or note.quarantined:
            self._broadcast.remove(note.id)
            return
        # A key is one fact's in the store, so what says otherwise here is out of date; its own change is on the way.
        other = self._broadcast.row_of(note.nugget, note.title)
        if other not in (None, note.id):
            self._broadcast.remove(other)
        nugget = None if note.nugget in self._broadcast.nuggets else self._view.nuggets.get(note.nugget)
        self._broadcast.put(
            note.nugget,
            note.id,
            note.title,
            _told_apart(note.content),
            note.extra.aliases,
            _USUAL if nugget is None else options_of(nugget),
        )


def options_of(nugget: Nugget) -> Options:
    """Return the shape of a nugget's memory."""
    return _options(nugget.dimension, nugget.banks, nugget.ensembles, nugget.max_facts)


_options = lru_cache(Options)  # most nuggets have the same


def _told_apart(value: str) -> str:
    if len(value) <= _LONGEST:
        return value
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
