"""How far a shelf's notes were read for their entities, and the aliases that are known there."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from shelfd.memory.knowledge.entities.aliases import ALIASES_KNOWN, Aliases
from shelfd.memory.knowledge.entities.kinds import folded
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.view import View

#: Changes, or notes, that are read together.
BATCH: Final = 256


class Position(NamedTuple):
    """How far the shelf was read.

    Attributes:
        seq: The last change of the log whose notes were read.
        rules: By which rules, those of the configuration included.
        is_scanning: Whether notes are read again, newest first, for rules or aliases changed.
        below: Those with a row below this one are left to be read again; None begins at the newest.
        phrases: Only notes with one of these are read again, folded; empty for all.
        aliases: How often the aliases changed.
    """

    seq: int = 0
    rules: str = ""
    is_scanning: bool = False
    below: int | None = None
    phrases: tuple[str, ...] = ()
    aliases: int = 0


def position_of(stored: Mapping[str, Any] | None) -> Position:
    """Return a position as it is stored; the beginning if none is."""
    if stored is None:
        return Position()
    return Position(**{**stored, "rules": str(stored["rules"]), "phrases": tuple(stored["phrases"])})


def position_now(view: View, rules: str) -> Position:
    """Return how far the notes of *view* were read; by *rules* if none was."""
    stored = view.entities.position()
    return Position(rules=rules) if stored is None else position_of(stored)


def read_again(tx: Transaction, phrases: Sequence[str]) -> None:
    """Have every note read again that has one of *phrases*, after an alias was given or taken back."""
    position = position_of(tx.rows.entities.position())
    known: tuple[str, ...] = ()
    if not position.is_scanning or position.phrases:
        known = tuple(dict.fromkeys((*position.phrases, *(folded(phrase) for phrase in phrases))))
    renewed = position._replace(is_scanning=True, below=None, phrases=known, aliases=position.aliases + 1)
    tx.rows.entities.put_position(renewed._asdict())


def aliases_changed(tx: Transaction) -> None:
    """Have aliases be looked up anew, after some went that no note is left to be read by."""
    position = position_of(tx.rows.entities.position())
    tx.rows.entities.put_position(position._replace(aliases=position.aliases + 1)._asdict())


class KnownAliases:
    """The aliases of a shelf, read when they have changed.

    Attributes:
        last: As they were when somebody last asked.
    """

    def __init__(self, view: View) -> None:
        self.last = Aliases(())
        self._view = view
        self._times = -1

    @property
    def is_read(self) -> bool:
        """Whether :attr:`last` is what they are now, but for a few changes perhaps."""
        return self._times >= 0

    def now(self) -> Aliases:
        """Return them as they are now."""
        times = position_of(self._view.entities.position()).aliases
        if times != self._times:
            self.last = Aliases(self._view.entities.aliases(limit=ALIASES_KNOWN))
            self._times = times
        return self.last

    def forget(self) -> None:
        """Read them anew the next time: what a purged note said of names went with it."""
        self._times = -1
