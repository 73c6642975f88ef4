"""Which documents a query may return, decided before anything is ranked or cut."""

from array import array
from collections import defaultdict
from collections.abc import Mapping
from operator import attrgetter

import numpy as np

from shelfd.memory.notes.filter import EXACT, NoteFilter
from shelfd.memory.recall.columns import (
    ALIVE,
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

    def over(self, columns: Columns) -> "Filtering":
        """Return the same filters over a copy of the columns, free to change."""
        other = Filtering(columns)
        other._codes = {name: dict(codes) for name, codes in self._codes.items()}
        other._tags, other._expiring = Layered(self._tags), self._expiring
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
        barred = (0 if filters.include_hidden else HIDDEN) | (0 if filters.include_superseded else SUPERSEDED)
        if filters.session is None and not filters.has_private:
            barred |= PRIVATE
        if filters.quarantined is False:
            barred |= QUARANTINED
        admitted: BoolArray = (flags & (ALIVE | barred)) == ALIVE
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
        if filters.quarantined:
            admitted &= (flags & QUARANTINED) != 0
        for tag in filters.tags:
            tagged = np.zeros(columns.size, np.bool_)
            tagged[np.array(self._tags.get(tag, ()), np.int64)] = True
            admitted &= tagged[ordinals]
        return admitted

    def codes(self, name: str) -> Mapping[str, int]:
        """Return the code of each value of the column *name*; values are added at the end and stay."""
        return self._codes[name]

    @property
    def tags(self) -> Mapping[str, "array[int]"]:
        """The ordinals that have each tag, dead ones included."""
        return self._tags

    def retain(self, numbers: IntArray) -> None:
        """Renumber the ordinals (see :meth:`Columns.retain`)."""
        for tag, old in list(self._tags.items()):
            new = numbers[np.array(old, np.int64)]
            self._tags[tag] = array("q", new[new >= 0].tobytes())
            if not self._tags[tag]:
                del self._tags[tag]
