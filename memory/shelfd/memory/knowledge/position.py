"""How far a shelf's notes were read for their entities, and the aliases that are known there."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from shelfd.memory.knowledge.entities.aliases import ALIASES_KNOWN, Aliases
from shelfd.memory.knowledge.entities.kinds import folded, related_types
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.entities import StoredAlias
from shelfd.memory.ports.view import View

#: Changes, or notes, that are read together.
BATCH: Final = 256
#: Phrases that notes are searched for, at most: to search a note for more takes about as long as to read it.
_PHRASES: Final = 64


class Position(NamedTuple):
    """How far the shelf was read.

    Attributes:
        seq: The last change of the log whose notes were read.
        rules: By which rules, those of the configuration included.
        is_scanning: Whether notes are read again, newest first, for rules or aliases changed.
        below: Those with a row below this one are left to be read again; None begins at the newest.
        phrases: Only notes with one of these are read again, folded, ...
        entities: ... and those that mention one of these, by number; all notes if both are empty.
        aliases: How often the aliases changed.
    """

    seq: int = 0
    rules: str = ""
    is_scanning: bool = False
    below: int | None = None
    phrases: tuple[str, ...] = ()
    entities: tuple[int, ...] = ()
    aliases: int = 0

    @property
    def is_reading_all(self) -> bool:
        """Whether every note is read again."""
        return self.is_scanning and not self.phrases and not self.entities

    def again(self, phrases: Sequence[str] = (), entities: Sequence[int] = ()) -> "Position":
        """Return the position from which notes are read again as well that have or mention one of these."""
        if self.is_reading_all or len(self.phrases) + len(phrases) > _PHRASES:
            phrases, entities = (), ()
        else:
            phrases = (*self.phrases, *(folded(phrase) for phrase in phrases))
            entities = (*self.entities, *entities)
        return self._replace(
            is_scanning=True, below=None, phrases=tuple(dict.fromkeys(phrases)), entities=tuple(dict.fromkeys(entities))
        )


def position_of(stored: Mapping[str, Any] | None) -> Position:
    """Return a position as it is stored; the beginning if none is."""
    if stored is None:
        return Position()
    lists = {"phrases": tuple(stored["phrases"]), "entities": tuple(stored.get("entities", ()))}
    return Position(**{**stored, **lists, "rules": str(stored["rules"])})


def position_now(view: View, rules: str) -> Position:
    """Return how far the notes of *view* were read; by *rules* if none was."""
    position = position_of(view.entities.position())
    return position if position.rules else position._replace(rules=rules)  # an alias may have been given before


def read_again(tx: Transaction, phrases: Sequence[str]) -> None:
    """Have every note read again that has one of *phrases*, after an alias was given or taken back."""
    position = position_of(tx.rows.entities.position()).again(phrases)
    _put(tx, position._replace(aliases=position.aliases + 1))


def aliases_changed(tx: Transaction) -> None:
    """Have aliases be looked up anew, after some went that no note is left to be read by."""
    position = position_of(tx.rows.entities.position())
    _put(tx, position._replace(aliases=position.aliases + 1))


def unlearn(tx: Transaction, said: Sequence[StoredAlias]) -> None:
    """Have notes read again for which a note that is purged said what else a name means, and forget its words.

    Args:
        said: The aliases that it said. Their names are nowhere kept: that would be text of what was purged.
    """
    position = position_of(tx.rows.entities.position())
    if position.phrases:  # perhaps names that the note says
        position = position._replace(phrases=(), entities=(), below=None)
    elif not said:
        return
    get = tx.rows.entities.get
    names = {(type_, key) for one in said for type_ in related_types(one.type) for key in (one.alias, one.canonical)}
    still_mentioned = [entity.number for name in sorted(names) if (entity := get(*name)) is not None]
    if still_mentioned:
        position = position.again(entities=still_mentioned)
    _put(tx, position._replace(aliases=position.aliases + bool(said)))


def _put(tx: Transaction, position: Position) -> None:
    tx.rows.entities.put_position(position._asdict())


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
