"""What notes say beside their text, by its words: recall leaves that out, who wants none left looks there, too."""

from collections.abc import Collection, Sequence
from typing import ClassVar

from shelfd.memory.notes.note import Note
from shelfd.memory.notes.particulars import particulars
from shelfd.memory.notes.words import fold, split
from shelfd.memory.ports.projection import Projection, PurgedNote
from shelfd.memory.ports.view import View
from shelfd.memory.settings import MemorySettings

_NONE: frozenset[str] = frozenset()


class ShelfParticulars(Projection):
    """The words of authors, subjects and fields of all notes of a shelf. Knows none before it is first asked."""

    name: ClassVar[str] = "particulars"
    is_lazy: ClassVar[bool] = True
    at_once: ClassVar[int] = 32  # most have nothing, but fields may be long

    def __init__(self, view: View, settings: MemorySettings) -> None:
        del view, settings
        self.clear()

    def clear(self) -> None:
        """Know of no note."""
        self._words: dict[int, frozenset[str]] = {}  # by row
        self._rows: dict[str, set[int]] = {}

    def apply(self, notes: Sequence[Note]) -> None:
        """Note what *notes* say beside their text, as they are now."""
        for note in notes:
            self._put(note.row, _words_of(note))

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Remove these notes."""
        for row, _ in purged:
            self._put(row, _NONE)

    def having(self, words: Collection[str]) -> set[int]:
        """Return the rows of the notes that have all of these folded words beside their text."""
        found = [self._rows.get(word, set()) for word in words]
        return set.intersection(*found) if found else set()

    def _put(self, row: int, words: frozenset[str]) -> None:
        known = self._words.get(row, _NONE)
        if known is words or known == words:
            return
        for word in known - words:
            rows = self._rows[word]
            rows.discard(row)
            if not rows:
                del self._rows[word]
        for word in words - known:
            self._rows.setdefault(word, set()).add(row)
        if words:
            self._words[row] = words
        else:
            del self._words[row]


def _words_of(note: Note) -> frozenset[str]:
    return frozenset(word for text in particulars(note) for word in split(fold(text))) or _NONE
