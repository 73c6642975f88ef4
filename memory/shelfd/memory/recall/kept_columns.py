"""What a small shelf's documents have whatever is asked, kept for as long as none of them changes.

Which of them filters admit and what rules add to their scores depends on few things that queries differ in: with a look
into an array of all documents it takes half of what it does to work it out for those that a query reaches.
"""

from typing import Final

import numpy as np

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.recall.columns import BoolArray, FloatArray
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.ranking import RULES

_COLUMNS: Final = 16  #: kept at most, of 8 bytes a document
_NOW: Final = NoteFilter._fields.index("now")


class KeptColumns:
    """Gives columns of all documents of a shelf, which are not to be changed.

    They are made from the second query after a change on: where something is written between any two, none is worth it.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._revision = -1  # of the contents that all is from
        self._rules: dict[tuple[str, int], FloatArray] = {}
        self._admitted: tuple[tuple[object, ...], BoolArray] | None = None

    def are_current(self) -> bool:
        """Return whether nothing has changed since this was asked last, and what is kept may be used."""
        if self._revision == self._contents.revision:
            return True
        self._revision = self._contents.revision
        self._rules.clear()
        self._admitted = None
        return False

    def rule(self, name: str, value: int = 0) -> FloatArray:
        """Return what one of :data:`~shelfd.memory.recall.ranking.RULES` adds to each document."""
        found = self._rules.get((name, value))
        if found is None:
            if len(self._rules) >= _COLUMNS:
                self._rules.clear()
            columns = self._contents.columns
            found = self._rules[name, value] = RULES[name](columns, np.arange(columns.size), value)
        return found

    def admitted(self, filters: NoteFilter) -> BoolArray:
        """Return which documents *filters* let through."""
        filtering = self._contents.filtering
        asked = filters if filtering.is_expiring else (*filters[:_NOW], *filters[_NOW + 1 :])
        if self._admitted is None or self._admitted[0] != asked:
            self._admitted = asked, filtering.admitted(filters, slice(self._contents.columns.size))
        return self._admitted[1]
