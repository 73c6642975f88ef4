"""What extraction is given, and what it gives: messages, what the graph knows, operations."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, Protocol, TypeAlias

from shelfd.memory.notes.words import fold

#: An operation in the shape of ``session.apply_extraction_batch``.
Op: TypeAlias = dict[str, Any]


class Message(NamedTuple):
    """Something said in a turn; messages of one turn stand together, in order."""

    text: str
    role: str = "user"
    author: str | None = None
    occurred_at: int | None = None  #: microseconds since 1970 UTC


class Entity(NamedTuple):
    """A note of the graph that turns may speak of: a character, a place or a thread."""

    id: str
    type: str
    title: str
    aliases: tuple[str, ...] = ()
    fields: Mapping[str, Any] = {}


class KnownNotes(Protocol):
    """What the graph knows before a turn, as far as extraction asks."""

    @property
    def types(self) -> frozenset[str]:
        """The types whose cadence lets them take part in this turn."""
        ...

    @property
    def threads(self) -> Sequence[Entity]:
        """Threads that are not finished, the latest first; bounded."""
        ...

    def named(self, name: str) -> Entity | None:
        """Return the character or place with this title or alias, compared without case."""
        ...


class TurnBatch(NamedTuple):
    """All that was said in one turn, which is extracted as a whole."""

    turn: int
    messages: tuple[Message, ...]

    @property
    def digest(self) -> str:
        """What tells whether a turn says what it said before; nothing can be read from it."""
        said = json.dumps([list(message) for message in self.messages], ensure_ascii=False)
        return sha256(said.encode()).hexdigest()[:32]


class KnownEntities:
    """What is known, as a list in memory."""

    def __init__(self, types: Iterable[str], entities: Iterable[Entity] = ()) -> None:
        self.types = frozenset(types)
        self._threads: dict[str, Entity] = {}
        self._names: dict[str, Entity] = {}
        for entity in entities:
            self.add(entity)

    @property
    def threads(self) -> list[Entity]:
        """Threads that are not finished, the latest first."""
        return [entity for entity in reversed(self._threads.values()) if entity.fields.get("status") == "active"]

    def add(self, entity: Entity) -> None:
        """Know *entity*, or know it anew; a name stays with whoever had it first."""
        if entity.type == "thread":
            self._threads.pop(entity.id, None)
            self._threads[entity.id] = entity
            return
        for name in (entity.title, *entity.aliases):
            had = self._names.setdefault(fold(name), entity)
            if had.id == entity.id:
                self._names[fold(name)] = entity

    def named(self, name: str) -> Entity | None:
        """Return the character or place with this title or alias, compared without case."""
        return self._names.get(fold(name))
