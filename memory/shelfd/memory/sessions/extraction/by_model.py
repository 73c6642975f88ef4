"""Extraction by a language model: what turns add to and change in the notes that are known, as operations.

The model is shown what people said as data, and notes by small numbers, so that it cannot name what it was not shown.
What it answers is checked here and by what applies it; when that refuses it, it is asked again and told why.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from shelfd.memory.errors import InvalidReply, NoLanguageModel
from shelfd.memory.ports.language_model import ModelQuestion, Passage, token_count
from shelfd.memory.shelf.asking import ShelfModel

#: An operation as ``session.apply_extraction_batch`` takes it.
BatchOp: TypeAlias = dict[str, Any]
#: Carries operations out, all or none of them; returns what is wrong with them in our own words, nothing if they stand.
Attempt: TypeAlias = Callable[[Sequence[BatchOp]], Awaitable[Sequence[str]]]

_RETRIES: Final = 2
_MOST_OPS: Final = 60
_REPLY_TOKENS: Final = 4000
#: Problems that the model is told at once.
_TOLD: Final = 5
#: Share of the room that notes and earlier turns may take beside the turns themselves.
_KNOWN_SHARE: Final = 0.75

_INSTRUCTIONS: Final = """\
You keep the notes of a conversation. Read "turns" and answer with the operations that bring the notes up to date.
Take only what the turns say or make happen; "earlier" is there to understand them, and its content is noted already.
Look first whether "known" has a note of the person, place, thing or thread: then edit or link that one, by its number
"n", and create no other. Create what is new, under a "ref" of your own if a link needs it.
Only the types in "types" may be used. A type with "add_only" is created and linked, never edited or deleted. For each
type with "required" there is at least one operation. Give every column in "needs" of what you create. Facts that will
not matter tomorrow belong in an event, not in the sheet of a person or place. A relation is a short word or phrase such
as about, involved_in, located_in, friend_of; use one that "known" has before you invent one.
Write in the language of the turns. If nothing is worth keeping, and no type is required, answer with no operations."""

_Text: TypeAlias = Annotated[str, Field(max_length=4000)]
_Value: TypeAlias = _Text | list[_Text] | None
_End: TypeAlias = int | Annotated[str, Field(min_length=1, max_length=128)]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")


class MakeNote(_Answer):
    """Create a note."""

    op: Literal["create"]
    type: str
    title: Annotated[str, Field(max_length=400)] = ""
    fields: dict[str, _Value] = Field(default_factory=dict)
    ref: str | None = None


class ChangeNote(_Answer):
    """Set columns of a known note; null clears one."""

    op: Literal["edit"]
    n: int
    fields: dict[str, _Value]


class DropNote(_Answer):
    """Take a known note away that is no longer true."""

    op: Literal["delete"]
    n: int


class ConnectNotes(_Answer):
    """Link two notes, each by its number n if it is known, or the ref under which it is created."""

    op: Literal["link"]
    source: _End
    target: _End
    relation: Annotated[str, Field(min_length=1, max_length=64)]


class ExtractedOps(_Answer):
    """What the turns add and change."""

    ops: Annotated[list[MakeNote | ChangeNote | DropNote | ConnectNotes], Field(max_length=_MOST_OPS)]


class TypeShown(NamedTuple):
    """A type of notes as the model is shown it.

    Attributes:
        name: Its name.
        needs: Columns without which no note of it is made.
        columns: Those it may have beside.
        hints: What belongs in a column, or in the type under ``""``.
        is_required: Whether each extraction writes one.
        is_editable: Whether extraction may edit and delete.
    """

    name: str
    needs: Sequence[str] = ()
    columns: Sequence[str] = ()
    hints: Mapping[str, str] = {}
    is_required: bool = False
    is_editable: bool = True

    def as_row(self) -> dict[str, Any]:
        """Return it as JSON."""
        row: dict[str, Any] = {"type": self.name, "needs": list(self.needs), "columns": list(self.columns)}
        if self.hints:
            row["hints"] = dict(self.hints)
        return row | ({"required": True} if self.is_required else {}) | ({} if self.is_editable else {"add_only": True})


class NoteShown(NamedTuple):
    """A note of the nugget that is known."""

    id: str
    type: str
    title: str
    fields: Mapping[str, Any]

    def as_row(self, number: int) -> dict[str, Any]:
        """Return it as JSON."""
        return {"n": number, "type": self.type, "title": self.title, "fields": dict(self.fields)}


class Turns(NamedTuple):
    """What an extraction reads.

    Attributes:
        nugget: The nugget that the conversation works on.
        turns: Messages, each with ``turn``, ``role``, ``text`` and perhaps ``author``; all of them are read.
        earlier: Messages before them, for understanding; as many of the latest as there is room for.
        types: The types that take part.
        known: Notes they may be about, the likeliest first; as many as there is room for.
    """

    nugget: str
    turns: Sequence[Mapping[str, Any]]
    types: Sequence[TypeShown]
    earlier: Sequence[Mapping[str, Any]] = ()
    known: Sequence[NoteShown] = ()


async def extract_by_model(
    model: ShelfModel, read: Turns, attempt: Attempt, *, deadline: float | None = None
) -> list[BatchOp]:
    """Have the model read turns, and its operations carried out; return those.

    Args:
        model: The shelf's.
        read: What to read.
        attempt: Carries operations out, or says what is wrong with them; then the model is asked again, twice at most.
        deadline: By the clock's monotonic seconds.

    Raises:
        NoLanguageModel: If there is none, it may not be shown this, or its context is too small for the turns.
        QuotaExceeded: If too few tokens are left for today.
        ModelUnavailable: If it cannot be asked now.
        InvalidReply: If what it answered could not be used three times.
    """
    question, shown = _question(model, read)
    problem = ""
    for _ in range(_RETRIES + 1):
        try:
            answer = (await model.ask(question.again(problem) if problem else question, deadline=deadline)).value
        except InvalidReply as error:
            problem = error.problem
            continue
        found = _Translation(read, shown)
        ops = found.of(answer)
        problems = found.problems or await attempt(ops)
        if not problems:
            return ops
        problem = "; ".join(problems[:_TOLD])
    raise InvalidReply(problem)


# -------------------------------------------------------------------- the question


def _question(model: ShelfModel, read: Turns) -> tuple[ModelQuestion[ExtractedOps], Sequence[NoteShown]]:
    reply_tokens = min(_REPLY_TOKENS, model.context_tokens // 4)
    passages = [
        Passage("types", read.nugget, [kind.as_row() for kind in read.types]),
        Passage("turns", read.nugget, [dict(message) for message in read.turns]),
    ]
    question = ModelQuestion("extraction", _INSTRUCTIONS, passages, ExtractedOps, reply_tokens)
    # The schema of the answer goes along; and somewhat is left for the server's own words around it all.
    schema_tokens = token_count(ExtractedOps.model_json_schema())
    left = model.context_tokens - reply_tokens - schema_tokens - question.tokens - model.context_tokens // 16
    if left < 0:
        raise NoLanguageModel(
            "the turns are longer than the language model's context: see llm.context_tokens", reason="CONTEXT_TOO_SMALL"
        )
    rows, used = _fitting((note.as_row(number) for number, note in enumerate(read.known)), int(left * _KNOWN_SHARE))
    latest, _ = _fitting((dict(message) for message in reversed(read.earlier)), left - used)
    passages += [Passage("earlier", read.nugget, latest[::-1]), Passage("known", read.nugget, rows)]
    return question, read.known[: len(rows)]


def _fitting(rows: Iterable[dict[str, Any]], tokens: int) -> tuple[list[dict[str, Any]], int]:
    """The first rows that fit, and what they take."""
    found: list[dict[str, Any]] = []
    used = 0
    for row in rows:
        cost = token_count(row) + 1
        if used + cost > tokens:
            break
        used += cost
        found.append(row)
    return found, used


# -------------------------------------------------------------------- the answer


class _Translation:
    """A model's operations as those of a batch.

    Attributes:
        problems: What is wrong with them, in our own words.
    """

    def __init__(self, read: Turns, shown: Sequence[NoteShown]) -> None:
        self._types = {kind.name.casefold(): kind for kind in read.types}
        self._shown = shown
        self.problems: list[str] = []

    def of(self, answer: ExtractedOps) -> list[BatchOp]:
        """Return the operations; the first problems are told if there are any."""
        refs = {op.ref for op in answer.ops if isinstance(op, MakeNote) and op.ref}
        ops = [found for index, op in enumerate(answer.ops) for found in self._one(index, op, refs)]
        for kind in self._types.values():
            if kind.is_required and not any(self._writes(op, kind) for op in answer.ops):
                self.problems.append(f"there is no operation for the required type {kind.name}")
        return ops

    def _writes(self, op: BaseModel, kind: TypeShown) -> bool:
        if isinstance(op, MakeNote):
            return op.type.casefold() == kind.name.casefold()
        return isinstance(op, ChangeNote) and self._is_shown(op.n) and self._shown[op.n].type == kind.name

    def _one(self, index: int, op: BaseModel, refs: set[str]) -> Iterator[BatchOp]:
        match op:
            case MakeNote():
                yield from self._made(index, op)
            case ChangeNote():
                yield from self._changed(index, op.n, {"op": "edit", "set_fields": op.fields})
            case DropNote():
                yield from self._changed(index, op.n, {"op": "delete"})
            case ConnectNotes():
                yield from self._connected(index, op, refs)
            case _:
                pass

    def _made(self, index: int, op: MakeNote) -> Iterator[BatchOp]:
        kind = self._types.get(op.type.casefold())
        if kind is None:
            names = ", ".join(kind.name for kind in self._types.values())
            self.problems.append(f"ops.{index}.type: is none of {names}")
            return
        fields = {name: value for name, value in op.fields.items() if value not in (None, "", [])}
        made: BatchOp = {"op": "create", "type": kind.name, "fields": fields}
        yield made | ({"title": op.title} if op.title.strip() else {}) | ({"ref": op.ref} if op.ref else {})

    def _changed(self, index: int, number: int, change: BatchOp) -> Iterator[BatchOp]:
        if not self._is_shown(number):
            self.problems.append(f"ops.{index}.n: there is no known note {number}")
            return
        note = self._shown[number]
        kind = self._types.get(note.type.casefold())
        if kind is None or not kind.is_editable:
            self.problems.append(f"ops.{index}.n: notes of type {note.type} are not edited or deleted now")
            return
        yield {**change, "node_id": note.id}

    def _connected(self, index: int, op: ConnectNotes, refs: set[str]) -> Iterator[BatchOp]:
        source = self._end(f"ops.{index}.source", op.source, refs)
        target = self._end(f"ops.{index}.target", op.target, refs)
        if source is not None and target is not None:
            link = {"target": target, "relation": op.relation, "direction": "outgoing"}
            yield {"op": "link_upsert", "source": source, "links": [link]}

    def _end(self, field: str, end: int | str, refs: set[str]) -> dict[str, str] | None:
        if end in refs:
            return {"ref": str(end)}
        number = int(end) if isinstance(end, int) or (end.isascii() and end.isdigit()) else -1
        if self._is_shown(number):
            return {"id": self._shown[number].id}
        self.problems.append(f"{field}: is neither the number of a known note nor a ref of this answer")
        return None

    def _is_shown(self, number: int) -> bool:
        return 0 <= number < len(self._shown)
