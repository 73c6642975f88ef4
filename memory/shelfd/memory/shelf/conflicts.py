"""Which notes of a shelf are in open conflicts, as every recall asks; of most shelves none is."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from shelfd.memory.ports.projection import PurgedNote
from shelfd.memory.ports.store import Applied
from shelfd.memory.ports.view import View

#: The kind of the log row of whatever opens a conflict.
_FOUND: Final = "conflict.found"
_NONE: Final[Mapping[int, Sequence[str]]] = {}


class OpenConflicts:
    """Knows that a shelf has no open conflict once it has looked, until one is found: then no row has to be read."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._has_none = False

    @property
    def has_none(self) -> bool:
        """Whether that is known."""
        return self._has_none

    def of(self, rows: Collection[int]) -> Mapping[int, Sequence[str]]:
        """Return the ids of the open conflicts of the notes with these *rows*, some hundred at most, by row."""
        if self._has_none:
            return _NONE
        conflicts = self._view.conflicts
        found = conflicts.disputed(rows)
        self._has_none = not found and not conflicts.page(nugget=None, resolved=False, before=None, limit=1)
        return found

    def apply(self, group: Sequence[Applied[Any]]) -> None:
        """Look again if one was found, or may have been: of what another process wrote there are no log rows."""
        for applied in group if self._has_none else ():
            if not applied.rows or _FOUND in [row.kind for row in applied.rows]:
                self._has_none = False

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Conflicts only become fewer by that."""

    def clear(self) -> None:
        """Look again."""
        self._has_none = False
