"""What notes mention, and what they say causes what, read by a language model.

It is shown notes as data, by small numbers. What it names has to stand in the note: what does not is left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

from pydantic import BeforeValidator, Field

from shelfd.memory.knowledge.entities.extract import extract
from shelfd.memory.knowledge.entities.kinds import ENTITY_TYPES, EntityName, folded, key_of, shown
from shelfd.memory.knowledge.model.checked import ModelAnswer, ask_checked, room
from shelfd.memory.notes.note import Note
from shelfd.memory.notes.text import cut
from shelfd.memory.ports.edges import Edge, EdgeEnd
from shelfd.memory.ports.entities import MentionedEntity
from shelfd.memory.ports.language_model import ModelQuestion, Passage
from shelfd.memory.shelf.asking import ShelfModel

#: Relations of causal edges.
RELATIONS: Final = ("causes", "enables", "targets", "uses", "exploits", "attributed_to", "related_to")
#: Types that a model is asked for: rules find the others better.
_ASKED: Final = tuple("person location organization event activity temporal threat_actor malware tool".split())
#: Of what is only an end of an edge, and of no type that rules know.
_OTHERWISE: Final = "event"
_REPLY_TOKENS: Final = 2_000
#: Of one note.
_MOST_ENTITIES: Final = 64
_MOST_TRIPLES: Final = 64
_LONGEST: Final = 120
#: Notes of one question, and characters of one that it shows.
_AT_ONCE: Final = 8
_SHOWN: Final = 8_000
_CONFIDENCE: Final = 0.7
_WEIGHT: Final = 1

_INSTRUCTIONS: Final = f"""\
Read each of "notes" and answer, by its number "n", with
- "entities": what it names, each with one of the types {", ".join(_ASKED)}, and the value as it stands in the note;
- "triples": what it says that one thing does to another, as subject, relation and object. Relations are \
{", ".join(RELATIONS)}. Subject and object are short and stand in the note as you give them.
Say nothing that the note does not say. A note that names nothing and says nothing of that kind is left out."""


def _triple(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, list | tuple) and len(value) == 3:
        return dict(zip(("subject", "relation", "object"), value, strict=True))
    return value


def _only(*names: str) -> BeforeValidator:
    """Leave out of a list what lacks a text under one of *names*."""

    def kept(value: Any) -> Any:  # noqa: ANN401
        if not isinstance(value, list):
            return []
        made = (_triple(one) for one in value)
        return [one for one in made if isinstance(one, dict) and all(isinstance(one.get(name), str) for name in names)]

    return BeforeValidator(kept)


class ReadEntity(ModelAnswer):
    """Something that a note names."""

    type: str
    value: str


class ReadTriple(ModelAnswer):
    """What one thing does to another."""

    subject: str
    relation: str
    object: str


class ReadNote(ModelAnswer):
    """What was read in one note."""

    n: int
    entities: Annotated[list[ReadEntity], _only("type", "value")] = Field(default_factory=list)
    triples: Annotated[list[ReadTriple], _only("subject", "relation", "object")] = Field(default_factory=list)


class ReadNotes(ModelAnswer):
    """What was read in the notes."""

    notes: Annotated[list[ReadNote], Field(max_length=100)]


class NoteReading(NamedTuple):
    """What was read in a note."""

    mentioned: Sequence[MentionedEntity] = ()
    edges: Sequence[Edge] = ()


def fitting(model: ShelfModel, notes: Sequence[Note]) -> int:
    """Return how many of *notes*, from the first on, one question holds: at least one, cut if it has to be.

    Raises:
        NoLanguageModel: If there is none, or its context is too small.
    """
    limit = room(model, _question(model, "", []))
    used = 0
    for count, note in enumerate(notes[:_AT_ONCE]):
        used += min(len(note.content), _SHOWN) + 40
        if count and used > limit:
            return count
    return len(notes[:_AT_ONCE])


async def read_notes(model: ShelfModel, notes: Sequence[Note], *, deadline: float | None = None) -> list[NoteReading]:
    """Return what a model reads in each of *notes*, which are of one nugget and fit one question.

    Raises:
        ShelfError: One of :data:`~shelfd.memory.ports.language_model.NO_ANSWER`.
    """
    limit = min(room(model, _question(model, "", [])), _SHOWN)
    rows = [{"n": number, "text": cut(_text(note), limit)} for number, note in enumerate(notes)]
    question = _question(model, notes[0].nugget, rows)

    def problems(said: ReadNotes) -> list[str]:
        return [f"notes.{at}.n: there is no note {one.n}" for at, one in enumerate(said.notes)
                if not 0 <= one.n < len(notes)]  # fmt: skip

    answer = await ask_checked(model, question, problems, deadline=deadline)
    found: Mapping[int, ReadNote] = {one.n: one for one in answer.notes}
    return [_reading(note, found[number]) if number in found else NoteReading() for number, note in enumerate(notes)]


def _question(model: ShelfModel, nugget: str, rows: Sequence[Mapping[str, Any]]) -> ModelQuestion[ReadNotes]:
    tokens = min(_REPLY_TOKENS, model.context_tokens // 4)
    return ModelQuestion("enrichment", _INSTRUCTIONS, [Passage("notes", nugget or None, rows)], ReadNotes, tokens)


def _text(note: Note) -> str:
    return f"{note.title}\n{note.content}" if note.title else note.content


def _reading(note: Note, said: ReadNote) -> NoteReading:
    text = folded(_text(note))
    mentioned: dict[EntityName, MentionedEntity] = {}
    for one in said.entities[:_MOST_ENTITIES]:
        if one.type in ENTITY_TYPES and _stands(one.value, text):
            name = EntityName(one.type, key_of(one.type, one.value))
            mentioned[name] = MentionedEntity(*name, shown(one.type, one.value), _WEIGHT)
    edges: dict[tuple[EdgeEnd, EdgeEnd, str], Edge] = {}
    for triple in said.triples[:_MOST_TRIPLES]:
        relation = "_".join(triple.relation.strip().lower().split())
        if relation in RELATIONS and _stands(triple.subject, text) and _stands(triple.object, text):
            source, target = (_end(value, mentioned) for value in (triple.subject, triple.object))
            if source[:2] != target[:2]:
                edges[source, target, relation] = Edge(source, target, relation, "causal", _CONFIDENCE, "llm")
    return NoteReading(list(mentioned.values()), list(edges.values()))


def _stands(value: str, text: str) -> bool:
    return 1 < len(value.strip()) <= _LONGEST and folded(value) in text


def _end(value: str, mentioned: Mapping[EntityName, MentionedEntity]) -> EdgeEnd:
    """An end of an edge: of the type that the model gave it, or rules do, if it is all of the value."""
    for type_ in _types_of(value, mentioned):
        return EdgeEnd(type_, key_of(type_, value), shown(type_, value))
    return EdgeEnd(_OTHERWISE, key_of(_OTHERWISE, value), shown(_OTHERWISE, value))


def _types_of(value: str, mentioned: Mapping[EntityName, MentionedEntity]) -> Iterator[str]:
    whole = [one for one in extract(value.strip()) if one.end - one.start >= len(value.strip())]
    yield from (one.type for one in whole)
    yield from (name.type for name in mentioned if name.key == key_of(name.type, value))
