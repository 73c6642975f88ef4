"""What makes operations of a turn: a language model if there is one that may see it, else rules."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias

from shelfd.memory.notes.note import Note, fold_key
from shelfd.memory.notes.text import cut
from shelfd.memory.ports.language_model import NO_ANSWER
from shelfd.memory.sessions.columns import fields_shown
from shelfd.memory.sessions.extraction.by_model import NoteShown, Turns, TypeShown, extract_by_model
from shelfd.memory.sessions.extraction.rules import operations
from shelfd.memory.sessions.extraction.turns import Entity, Message, Op, TurnBatch
from shelfd.memory.sessions.finding import Range, by_words
from shelfd.memory.sessions.reading import Reading
from shelfd.memory.sessions.schema import NoteType, Schema, active_in
from shelfd.memory.sessions.views import text_of
from shelfd.memory.shelf.shelf import Shelf

RULES: Final = "rules"
MODEL: Final = "model"
#: Carries out operations that an engine made, all or none of them; returns what is wrong with them, nothing if they
#: stand.
Attempt: TypeAlias = Callable[[str, Sequence[Op]], Awaitable[Sequence[str]]]

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


#: Types of which a model is not offered to write: what says nothing of a kind, and what the shelf writes of itself.
_NOT_OFFERED: Final = frozenset(("note", "reflection", "self_model"))
#: Notes that a model is shown beside a turn: with words of it, and others that were touched last.
_WITH_WORDS: Final = 40
_LATEST: Final = 20
#: Characters of a turn by whose words notes are looked for; of a column that a model is shown.
_ASKED: Final = 1_000
_SHOWN: Final = 400
#: For a turn, with all that is asked again.
_PATIENCE_S: Final = 180.0


def engine_for(shelf: Shelf, nugget: str) -> str:
    """Return what is asked first for operations on the notes of a nugget."""
    return MODEL if shelf.model.may_see(nugget) else RULES


async def make_operations(
    batch: TurnBatch, reading: Reading, attempt: Attempt, earlier: Sequence[TurnBatch] = ()
) -> None:
    """Make the operations of a turn and have them attempted; where a model does not manage it, rules do.

    Args:
        batch: The turn.
        reading: What is known before it.
        attempt: Carries operations out.
        earlier: The turns right before it, for understanding.
    """
    if engine_for(reading.shelf, reading.session.nugget) == MODEL:
        try:
            await by_model(batch, reading, attempt, earlier)
        except NO_ANSWER:
            pass  # the log has said why
        else:
            return
    await by_rules(batch, reading, attempt)


async def by_rules(batch: TurnBatch, reading: Reading, attempt: Attempt) -> None:
    """Make operations by rules; what is refused is not tried again."""
    await attempt(RULES, fitted(operations(batch.messages, GraphKnown(reading, batch.turn)), reading.schema))


async def by_model(batch: TurnBatch, reading: Reading, attempt: Attempt, earlier: Sequence[TurnBatch] = ()) -> None:
    """Have a model make operations, again if they are refused.

    Raises:
        ShelfError: One of :data:`~shelfd.memory.ports.language_model.NO_ANSWER`; then none was carried out.
    """
    kinds = [kind for kind in active_in(reading.schema.types.values(), batch.turn) if kind.name not in _NOT_OFFERED]
    said = [_said(batch.turn, message) for message in batch.messages]
    before = [_said(one.turn, message) for one in earlier for message in one.messages]
    known = await _likely(batch, reading, [kind.name for kind in kinds])
    read = Turns(reading.session.nugget, said, [_type_shown(kind) for kind in kinds], before, known)
    deadline = reading.shelf.clock.monotonic() + _PATIENCE_S
    await extract_by_model(reading.shelf.model, read, partial(attempt, MODEL), deadline=deadline)


def _said(turn: int, message: Message) -> dict[str, Any]:
    author = {} if message.author is None else {"author": message.author}
    return {"turn": turn, "role": message.role, **author, "text": message.text}


def _type_shown(kind: NoteType) -> TypeShown:
    told = " ".join(filter(None, (kind.extract_hint, kind.extraction_instructions)))
    columns = [name for name in kind.table_columns if name not in kind.required_columns]
    hints = {**kind.column_hints, **({"": told} if told else {})}
    return TypeShown(kind.name, kind.required_columns, columns, hints, kind.force_update, kind.editable)


async def _likely(batch: TurnBatch, reading: Reading, types: Sequence[str]) -> list[NoteShown]:
    """The notes that a turn may be about, the likeliest first."""
    text = " ".join(message.text for message in batch.messages)[-_ASKED:]
    matches = await by_words(reading, text, Range(types, is_whole=False), _WITH_WORDS)
    latest = (node for _, node in reading.graph.frontier(types) if reading.is_open(node))
    nodes = dict.fromkeys([*(match.node for match in matches), *islice(latest, _LATEST)])
    return [_note_shown(note, reading.schema.get(note.type)) for _, note in reading.notes_at(nodes)]


def _note_shown(note: Note, kind: NoteType | None) -> NoteShown:
    fields = {name: cut(text_of(value), _SHOWN) for name, value in fields_shown(note, kind).items() if name != "title"}
    return NoteShown(note.id, note.type, note.title, {name: text for name, text in fields.items() if text})


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
