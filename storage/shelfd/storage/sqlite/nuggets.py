"""Nuggets kept beside the file while changes are applied.

Nearly every change reads its nugget, and a turn's first note counts it on. The writer is the only one that changes
them, so it can keep what it read, and write what changed once a group instead of once a note.
"""

from shelfd.memory.notes.note import Nugget

_KEPT = 1024


class KeptNuggets:
    """Nuggets as they are now, and which of them the file does not have yet."""

    def __init__(self) -> None:
        self._known: dict[str, Nugget] = {}
        self._unsaved: set[str] = set()
        self._before: list[tuple[str, Nugget | None]] = []  # what the present change replaced, in order

    def get(self, name: str) -> Nugget | None:
        """Return the nugget if it is kept here."""
        return self._known.get(name)

    def set(self, nugget: Nugget, *, is_new: bool = False) -> None:
        """Keep *nugget*; *is_new* says that the file has another state of it, or none."""
        self._before.append((nugget.name, self._known.get(nugget.name)))
        self._known[nugget.name] = nugget
        if is_new:
            self._unsaved.add(nugget.name)

    def drop(self, name: str) -> None:
        """Keep a nugget no longer; the file is about to lose it."""
        self._before.append((name, self._known.pop(name, None)))
        self._unsaved.discard(name)

    def take_unsaved(self) -> list[Nugget]:
        """Return what the file does not have, by name; it is taken for saved from now on."""
        if not self._unsaved:
            return []
        unsaved = [self._known[name] for name in sorted(self._unsaved)]
        self._unsaved.clear()
        return unsaved

    def begin(self) -> frozenset[str]:
        """Begin a change; return what :meth:`take_back` needs to undo it."""
        self._before.clear()
        if len(self._known) > _KEPT and not self._unsaved:
            self._known.clear()
        return frozenset(self._unsaved)

    def take_back(self, unsaved: frozenset[str]) -> None:
        """Undo the present change. What it saved of earlier ones was rolled back with it and is unsaved again."""
        for name, nugget in reversed(self._before):
            if nugget is None:
                self._known.pop(name, None)
            else:
                self._known[name] = nugget
        self._before.clear()
        self._unsaved = set(unsaved)
