"""What makes operations of a turn: rules, or what may be asked instead of them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from shelfd.memory.notes.note import Note, fold_key
from shelfd.memory.sessions.extraction.rules import operations
from shelfd.memory.sessions.extraction.turns import Entity, Op, TurnBatch
from shelfd.memory.sessions.reading import Reading
from shelfd.memory.sessions.schema import NoteType, Schema, active_in

#: Carries operations out, all or none of them; returns what is wrong with them, nothing if they stand.
Attempt: TypeAlias = Callable[[Sequence[Op]], Awaitable[Sequence[str]]]

#: What the rules give, by type: a type that requires more is not for them.
_GIVEN: Final[Mapping[str, frozenset[str]]] = {
    "event": frozenset(("summary",)),
    "character_sheet": frozenset(("title",)),
    "location_state": frozenset(("title",)),
    "thread": frozenset(("title", "status", "note")),
}
_NAMED: Final = ("character_sheet", "location_state")
#: Open threads that a turn may be about: those touched last.
_MOST_THREADS: Final = 50


class Engine(NamedTuple):
    """A way to make operations.

    Attributes:
        name: "rules" or "model".
        run: Makes the operations of a turn and has them attempted, until they stand or it gives up.
    """

    name: str
    run: Callable[[TurnBatch, Reading, Attempt], Awaitable[None]]


async def by_rules(batch: TurnBatch, reading: Reading, attempt: Attempt) -> None:
    """Make operations by rules; what is refused is not tried again."""
    await attempt(fitted(operations(batch.messages, GraphKnown(reading, batch.turn)), reading.schema))


RULES: Final = Engine("rules", by_rules)


class GraphKnown:
    """What a session's graph knows before a turn: see :class:`~shelfd.memory.sessions.extraction.turns.KnownNotes`."""

    def __init__(self, reading: Reading, turn: int) -> None:
        self._reading = reading
        active = active_in(reading.schema.types.values(), turn)
        self.types = frozenset(kind.name for kind in active if _is_for_rules(kind))
        self._found: dict[str, Entity | None] = {}

    @property
    def threads(self) -> list[Entity]:
        """Threads that are active, those touched last first."""
        found: list[int] = []
        for _, node in self._reading.graph.frontier({"thread"}):
            if len(found) == _MOST_THREADS:
                break
            if self._reading.is_open(node):
                found.append(node)
        threads = [_entity(note) for _, note in self._reading.notes_at(found)]
        return [thread for thread in threads if thread.fields.get("status") == "active"]

    def named(self, name: str) -> Entity | None:
        """Return the character or place with this title or alias, compared without case."""
        key = fold_key(name)
        if key not in self._found:
            self._found[key] = self._look_up(key)
        return self._found[key]

    def _look_up(self, key: str) -> Entity | None:
        view, session = self._reading.shelf.view, self._reading.session
        for type_ in _NAMED:
            for note in view.notes.named(session.nugget, type_, [key]):
                if self._reading.active(note.id) is not None and note.superseded_by is None:
                    return _entity(note)
        return None


def _is_for_rules(kind: NoteType) -> bool:
    return kind.name in _GIVEN and _GIVEN[kind.name].issuperset(kind.required_columns)


def _entity(note: Note) -> Entity:
    return Entity(note.id, note.type, note.title, tuple(note.extra.aliases), note.extra.fields)


def fitted(ops: Sequence[Op], schema: Schema) -> list[Op]:
    """Return operations without the columns that their types do not have."""
    kept: list[Op] = []
    for op in ops:
        kind = schema.get(op["type"]) if "type" in op else None
        if kind is not None and "fields" in op:
            fields = {name: value for name, value in op["fields"].items() if kind.is_known_column(name)}
            kept.append({**op, "fields": fields})
        else:
            kept.append(op)
    return kept


def outline(op: Op) -> dict[str, Any]:
    """Return what may be told of an operation without what it says."""
    return {"op": op["op"], **({"type": op["type"]} if "type" in op else {})}
