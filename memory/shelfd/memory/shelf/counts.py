"""How many notes a shelf and its nuggets have, as a projection: counting rows takes as long as the shelf is large."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.image import Frozen
from shelfd.memory.ports.notes import NuggetCounts
from shelfd.memory.ports.projection import Pictured, PurgedNote
from shelfd.memory.ports.view import View
from shelfd.memory.settings import MemorySettings

_HIDDEN: Final = 1
_SUPERSEDED: Final = 2
_FACT: Final = 4
_FEW: Final = 4  #: notes, of which each is counted by itself
#: Of a note's number the nugget's begins here.
_SHIFT: Final = 3


class NoteCounts(NamedTuple):
    """How many notes there are; ``facts`` are the visible ones."""

    notes: int
    facts: int
    hidden: int
    superseded: int


class ShelfCounts(Pictured):
    """Counts of all notes by nugget. Of each note it keeps four bytes: its nugget, and as what it counts."""

    name: ClassVar[str] = "counts"
    image_version: ClassVar[int] = 1

    def __init__(self, view: View, settings: MemorySettings) -> None:
        del view, settings
        self.clear()

    def clear(self) -> None:
        """Reset all counts."""
        self._counted = array("I")  # by row; 0 for none
        self._numbers: dict[str, int] = {}  # of nuggets, from 1 on
        self._nuggets: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])  # as in NoteCounts
        self._total = [0, 0, 0, 0]

    def apply(self, notes: Sequence[Note]) -> None:
        """Count *notes* as they are now."""
        rows, counted = [note.row for note in notes], list(map(self._counted_as, notes))
        first = len(self._counted)
        if len(notes) > _FEW and rows == list(range(first, first + len(rows))):  # new ones, as they are written
            self._counted.extend(counted)
            for what, count in Counter(counted).items():
                self._count(what, count)
            return
        for row, what in zip(rows, counted, strict=True):
            self._set(row, what)

    def _counted_as(self, note: Note) -> int:
        return (
            self._numbers.setdefault(note.nugget, len(self._numbers) + 1) << _SHIFT
            | (_HIDDEN if note.archived_at is not None else 0)
            | (_SUPERSEDED if note.superseded_by is not None else 0)
            | (_FACT if note.key is not None else 0)
        )

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Stop counting these notes."""
        for row, _ in purged:
            self._set(row, 0)

    def made_by(self) -> str:
        """Return nothing: no setting concerns it. See the port."""
        return ""

    def prepare(self) -> None:
        """Do nothing. See the port."""

    def freeze(self, stored: Collection[str]) -> Callable[[], Frozen]:
        """Return what gives the counts as they are now. See the port."""
        del stored  # its one part is never the same
        counted = np.array(self._counted, np.uint32)
        names = [name if self._nuggets.get(number, (0,))[0] else "" for name, number in self._numbers.items()]
        return lambda: Frozen({"nuggets": names}, {"notes": {"counted": counted}})

    def release(self) -> None:
        """Do nothing: what was frozen is a copy. See the port."""

    def thaw(self, frozen: Frozen) -> Callable[[], None]:
        """Count what was stored. See the port."""
        counted = (frozen.parts["notes"] or {})["counted"]
        names: list[str] = frozen.facts["nuggets"]
        nuggets = {number: counts.tolist() for number, counts in enumerate(_sums(counted, len(names) + 1)) if counts[0]}
        total = [sum(counts[at] for counts in nuggets.values()) for at in range(len(NoteCounts._fields))]

        def use() -> None:
            self.clear()
            self._counted.frombytes(counted.astype(np.uint32).tobytes())
            # A nugget without notes keeps its number, under a name that none has.
            self._numbers = {name or f"\0{number}": number for number, name in enumerate(names, 1)}
            self._nuggets.update(nuggets)
            self._total = total

        return use

    @property
    def total(self) -> NoteCounts:
        """How many notes the shelf has."""
        return NoteCounts._make(self._total)

    def nugget(self, name: str) -> NuggetCounts:
        """Return how many notes a nugget has."""
        notes, facts, hidden, _ = self._nuggets.get(self._numbers.get(name, 0), (0, 0, 0, 0))
        return NuggetCounts(facts, notes, hidden)

    def _set(self, row: int, new: int) -> None:
        if row >= len(self._counted):
            if not new:
                return
            self._counted.extend([0] * (row + 1 - len(self._counted)))
        old, self._counted[row] = self._counted[row], new
        if old != new:
            if old:
                self._count(old, -1)
            if new:
                self._count(new, 1)

    def _count(self, what: int, by: int) -> None:
        for counts in (self._total, self._nuggets[what >> _SHIFT]):
            counts[0] += by
            if what & _HIDDEN:
                counts[2] += by
            elif what & _FACT:
                counts[1] += by
            if what & _SUPERSEDED:
                counts[3] += by


def _sums(counted: npt.NDArray[np.uint32], nuggets: int) -> npt.NDArray[np.int64]:
    """Counts as in :class:`NoteCounts` by nugget, shape (nuggets, 4), of notes as they are counted."""
    number, what = (counted >> _SHIFT).astype(np.int64), counted & (_HIDDEN | _SUPERSEDED | _FACT)
    is_hidden = (what & _HIDDEN) != 0
    chosen = counted > 0, ~is_hidden & ((what & _FACT) != 0), is_hidden, (what & _SUPERSEDED) != 0
    return np.stack([np.bincount(number[some], minlength=nuggets) for some in chosen], axis=1)
