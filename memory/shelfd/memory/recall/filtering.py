"""Which documents a query may return, decided before anything is ranked or cut."""

from array import array
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Final

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
from shelfd.memory.recall.document import Fields
from shelfd.memory.recall.postings import Postings, Stretch

#: Nobody recalls by these, so the index has no columns for them.
_WITHOUT_COLUMN = ("kind", "stability", "needs_review")
_EXACT = tuple(name for name in EXACT if name not in _WITHOUT_COLUMN)
_CODED = (*_EXACT, "session")
#: Names the codes of tags, of which a document has several.
TAGS: Final = "tags"
_CACHED: Final = 1_024  #: tags of a note whose codes are remembered
_NOWHERE: Final = Stretch(-2, 0, 0)


class Filtering:
    """Coded filter columns and the mask that filters make of them."""

    def __init__(self, columns: Columns, postings: Postings) -> None:
        self._columns = columns
        self._postings = postings
        self._codes: dict[str, dict[str, int]] = {name: {} for name in (*_CODED, TAGS)}
        self._codes_of: dict[tuple[str, ...], list[int]] = {}  # of some tags together
        self._nuggets = array("q")  # of each code the first and the last ordinal
        self.is_expiring = False  #: whether any document says when it expires
        self._dated = array("q")  # ordinal, from when and until when, of each that says so

    def over(self, columns: Columns, postings: Postings) -> "Filtering":
        """Return the same filters over copies of the rest, free to change."""
        other = Filtering(columns, postings)
        other._codes = {name: dict(codes) for name, codes in self._codes.items()}
        other._nuggets = self._nuggets[:]
        other.is_expiring = self.is_expiring
        other._dated = self._dated[:]
        return other

    def read(self, fields: Fields) -> dict[str, Sequence[int]]:
        """Return what documents have in the filter columns, by name."""
        columns: dict[str, Sequence[int]] = {}
        for name in _CODED:
            codes, values = self._codes[name], fields[name]
            code = codes.setdefault
            if values.count(value := values[0]) == len(values):  # as where many are written together
                columns[name] = [-1 if value is None else code(value, len(codes))] * len(values)
            elif -1 in (known := list(map(codes.get, values, repeat(-1)))):
                columns[name] = [-1 if value is None else code(value, len(codes)) for value in values]
            else:
                columns[name] = known
        columns["when"] = fields["when"]
        columns["expires_at"] = [NEVER if value is None else value for value in fields["expires_at"]]
        return columns

    def extend(self, first: int, fields: Fields) -> None:
        """Note when documents hold and in which nuggets they are; their ordinals are *first* and those after it."""
        count = len(fields["row"])
        nuggets = self._columns.nugget[first : first + count].tolist()
        for nugget in dict.fromkeys(nuggets):
            while 2 * nugget >= len(self._nuggets):
                begin = first + nuggets.index(nugget)
                self._nuggets.extend((begin, begin))
            self._nuggets[2 * nugget + 1] = first + count - 1 - nuggets[::-1].index(nugget)
        begins, ends = fields["valid_from"], fields["valid_to"]
        if fields["expires_at"].count(None) < count:
            self.is_expiring = True
        if begins.count(None) < count or ends.count(None) < count:
            for ordinal, (begin, end) in enumerate(zip(begins, ends, strict=True), first):
                if begin is not None or end is not None:
                    self._dated.extend((ordinal, ALWAYS if begin is None else begin, NEVER if end is None else end))

    def tag_codes(self, tags: tuple[str, ...]) -> Sequence[int]:
        """Return the codes of *tags*, each once."""
        known = self._codes_of.get(tags)
        if known is None:
            if len(self._codes_of) >= _CACHED:
                self._codes_of.clear()
            codes = self._codes[TAGS]
            known = self._codes_of[tags] = [codes.setdefault(tag, len(codes)) for tag in dict.fromkeys(tags)]
        return known

    def admitted(self, filters: NoteFilter, ordinals: IntArray | slice) -> BoolArray:
        """Return for each of *ordinals* (or a slice of all) whether *filters* let it through: what they say of notes.

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
        if self.is_expiring and not filters.include_expired:
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
            tagged[self.tagged(tag)] = True
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
        """Return the code of each value of the column *name*, or tag; values are added at the end and stay."""
        return self._codes[name]

    def nugget(self, name: str) -> Stretch:
        """Return where the documents of a nugget are; of an unknown one there are none."""
        code = self._codes["nugget"].get(name, -2)
        return (
            Stretch(code, self._nuggets[2 * code], self._nuggets[2 * code + 1] + 1)
            if 0 <= 2 * code < len(self._nuggets)
            else _NOWHERE
        )

    def _find_nuggets(self) -> None:
        """See where the documents of each nugget are."""
        codes = self._columns.nugget[: self._columns.size]
        ends = np.zeros((len(self._codes["nugget"]), 2), np.int64)
        ends[codes[::-1], 0] = np.arange(len(codes))[::-1]  # the last assignment stays
        ends[codes, 1] = np.arange(len(codes))
        self._nuggets = array("q", ends.tobytes())

    def tagged(self, tag: str) -> IntArray:
        """Return the ordinals that have a tag, dead ones included."""
        code = self._codes[TAGS].get(tag)
        return np.zeros(0, np.int64) if code is None else self._postings.tagged(code)

    def stored(self) -> dict[str, list[str]]:
        """Return the values of each column by their codes, and tags, as they are now."""
        return {name: list(codes) for name, codes in self._codes.items()}

    def dated(self) -> IntArray:
        """Return three numbers of each document that says when it holds: its ordinal, from when, until when."""
        return np.array(self._dated, np.int64)

    def restore(self, values: Mapping[str, Sequence[str]], dated: IntArray) -> None:
        """Begin with what was stored."""
        self._codes = {name: {value: code for code, value in enumerate(values[name])} for name in self._codes}
        self._dated = array("q", dated.tobytes())
        self._find_nuggets()
        self.is_expiring = bool((self._columns.expires_at[: self._columns.size] != NEVER).any())

    def renumber(self, numbers: IntArray) -> None:
        """Use other ordinals (see :meth:`Columns.renumber`)."""
        dated = np.array(self._dated, np.int64).reshape(-1, 3)
        dated[:, 0] = numbers[dated[:, 0]]
        self._dated = array("q", dated[dated[:, 0] >= 0].tobytes())
        self._find_nuggets()


def _barred(filters: NoteFilter) -> int:
    """The flags that no document may have."""
    barred = 0 if filters.include_hidden else HIDDEN
    if not filters.include_superseded and filters.as_of is None:
        barred |= SUPERSEDED
    if filters.session is None and not filters.has_private:
        barred |= PRIVATE
    return barred | QUARANTINED if filters.quarantined is False else barred
