"""Which documents a query may return, decided before anything is ranked or cut."""

from array import array
from collections import defaultdict
from collections.abc import Mapping
from operator import attrgetter

import numpy as np

from shelfd.memory.notes.filter import EXACT, NoteFilter
from shelfd.memory.recall.columns import (
    ALIVE,
    ALWAYS,
    HIDDEN,
    NEVER,
    PRIVATE,
    QUARANTINED,
    SUPERSEDED,
    BoolArray,
    Codes,
    Columns,
    IntArray,
)
from shelfd.memory.recall.document import Document
from shelfd.memory.recall.postings import Layered, new_array

#: Nobody recalls by these, so the index has no columns for them.
_WITHOUT_COLUMN = ("kind", "stability", "needs_review")
_EXACT = tuple(name for name in EXACT if name not in _WITHOUT_COLUMN)
_CODED = (*_EXACT, "session")
_values_of = attrgetter(*_CODED)


class Filtering:
    """Coded filter columns and the mask that filters make of them."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._codes: dict[str, dict[str, int]] = {name: {} for name in _CODED}
        self._tags: defaultdict[str, array[int]] = defaultdict(new_array)
        self._expiring = False
        self._dated = new_array()  # ordinal, from when and until when, of each that says so

    def over(self, columns: Columns) -> "Filtering":
        """Return the same filters over a copy of the columns, free to change."""
        other = Filtering(columns)
        other._codes = {name: dict(codes) for name, codes in self._codes.items()}
        other._tags, other._expiring = Layered(self._tags), self._expiring
        other._dated = self._dated[:]
        return other

    def add(self, ordinal: int, document: Document) -> None:
        """Write the filter columns of *document*."""
        columns = self._columns
        arrays = vars(columns)
        for (name, codes), value in zip(self._codes.items(), _values_of(document), strict=True):
            arrays[name][ordinal] = -1 if value is None else codes.setdefault(value, len(codes))
        columns.when[ordinal] = document.when
        if document.expires_at is None:
            columns.expires_at[ordinal] = NEVER
        else:
            columns.expires_at[ordinal] = document.expires_at
            self._expiring = True
        if document.valid_from is not None or document.valid_to is not None:
            first = ALWAYS if document.valid_from is None else document.valid_from
            self._dated.extend((ordinal, first, NEVER if document.valid_to is None else document.valid_to))
        for tag in document.tags:
            self._tags[tag].append(ordinal)

    def admitted(self, filters: NoteFilter, ordinals: IntArray) -> BoolArray:
        """Return for each of *ordinals* whether *filters* let it through: what they say of notes, of all at once.

        Raises:
            ValueError: If they ask for something that no column answer_types.
        """
        if (filters.kind, filters.stability, filters.needs_review) != (None, None, None):
            raise ValueError(f"the index cannot filter by {', '.join(_WITHOUT_COLUMN)}")
        columns = self._columns
        flags = columns.flags[ordinals]
        wanted = ALIVE | (QUARANTINED if filters.quarantined else 0)
        admitted: BoolArray = (flags & (wanted | _barred(filters))) == wanted
        for name in _EXACT:
            value = getattr(filters, name)
            if value is not None:
                column: Codes = getattr(columns, name)
                admitted &= column[ordinals] == self._codes[name].get(value, -2)
        if filters.session is not None and not filters.has_private:
            own = self._codes["session"].get(filters.session, -2)
            admitted &= ((flags & PRIVATE) == 0) | (columns.session[ordinals] == own)
        if self._expiring and not filters.include_expired:
            admitted &= columns.expires_at[ordinals] > filters.now
        if filters.since is not None:
            admitted &= columns.when[ordinals] >= filters.since
        if filters.as_of is not None:
            admitted &= self._holding(filters.as_of, superseded=filters.include_superseded)[ordinals]
        if filters.below is not None:
            admitted &= columns.row[ordinals] < filters.below
        if filters.but:
            admitted &= ~np.isin(columns.row[ordinals], np.fromiter(filters.but, np.int64, len(filters.but)))
        for tag in filters.tags:
            tagged = np.zeros(columns.size, np.bool_)
            tagged[np.array(self._tags.get(tag, ()), np.int64)] = True
            admitted &= tagged[ordinals]
        return admitted

    def _holding(self, at: int, *, superseded: bool) -> BoolArray:
        """Which ordinals hold at that time; of superseded ones, unless all are wanted, those that say until when."""
        size = self._columns.size
        dated = np.array(self._dated, np.int64).reshape(-1, 3)
        holding: BoolArray = np.ones(size, np.bool_)
        if not superseded:
            holding &= (self._columns.flags[:size] & SUPERSEDED) == 0
            holding[dated[dated[:, 2] < NEVER, 0]] = True
        begin, end = dated[:, 1], dated[:, 2]
        holding[dated[(begin > at) | ((end <= at) & (begin != at)), 0]] = False
        return holding

    def codes(self, name: str) -> Mapping[str, int]:
        """Return the code of each value of the column *name*; values are added at the end and stay."""
        return self._codes[name]

    @property
    def tags(self) -> Mapping[str, "array[int]"]:
        """The ordinals that have each tag, dead ones included."""
        return self._tags

    def retain(self, numbers: IntArray) -> None:
        """Renumber the ordinals (see :meth:`Columns.retain`)."""
        dated = np.array(self._dated, np.int64).reshape(-1, 3)
        dated[:, 0] = numbers[dated[:, 0]]
        self._dated = array("q", dated[dated[:, 0] >= 0].tobytes())
        for tag, old in list(self._tags.items()):
            new = numbers[np.array(old, np.int64)]
            self._tags[tag] = array("q", new[new >= 0].tobytes())
            if not self._tags[tag]:
                del self._tags[tag]


def _barred(filters: NoteFilter) -> int:
    """The flags that no document may have."""
    barred = 0 if filters.include_hidden else HIDDEN
    if not filters.include_superseded and filters.as_of is None:
        barred |= SUPERSEDED
    if filters.session is None and not filters.has_private:
        barred |= PRIVATE
    return barred | QUARANTINED if filters.quarantined is False else barred
