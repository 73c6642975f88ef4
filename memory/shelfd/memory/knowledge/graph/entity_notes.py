"""Notes as the entities of a knowledge graph: a title is a name, lines are observations, links are relations.

A note can be worded in a way that lines do not give back: an observation of two lines, a name with two blanks. What was
said is then kept among its fields beside the text, for as long as the text still is what follows from it.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from shelfd.memory.errors import GovernanceViolation, TooLarge
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Link, Note, fold_key
from shelfd.memory.notes.text import tidy_content
from shelfd.memory.ports.notes import NotesView
from shelfd.memory.shelf.storing import with_summary
from shelfd.protocol import Limits
from shelfd.protocol.base import fold_relation

_NAME: Final = "entity_name"
_TYPE: Final = "entity_type"
_OBSERVATIONS: Final = "observations"
#: The type of an entity without one.
_UNTYPED: Final = "entity"
#: How reflection says why it linked two notes; a test holds this to what it says.
_JOINED: Final = "shared context: "


class Wording(NamedTuple):
    """An entity as a note has it."""

    title: str
    type: str
    content: str
    fields: Mapping[str, Any]  #: what of it the others do not give back


def name_of(note: Note) -> str:
    """Return what an entity is called."""
    name = note.extra.fields.get(_NAME)
    return name if isinstance(name, str) and _title(name) == note.title else note.title


def type_of(note: Note) -> str:
    """Return an entity's type."""
    type_ = note.extra.fields.get(_TYPE)
    return type_ if isinstance(type_, str) and _typed(type_) == note.type else note.type


def observations_of(note: Note) -> list[str]:
    """Return an entity's observations."""
    kept = note.extra.fields.get(_OBSERVATIONS)
    if (
        isinstance(kept, list)
        and all(isinstance(one, str) for one in kept)
        and _content(name_of(note), kept) == note.content
    ):
        return list(kept)
    return _lines(note.title, note.content)


def entity_of(note: Note) -> dict[str, Any]:
    """Return a note as an entity."""
    return {"name": name_of(note), "type": type_of(note), "observations": observations_of(note)}


def is_entity(note: Note, nugget: str, now: int) -> bool:
    """Return whether a note is an entity of a nugget's graph: titled, no fact, in force, and no session's own."""
    is_node = note.kind == "note" and bool(note.title) and note.nugget == nugget
    return is_node and note.live and not note.private and (note.expires_at is None or note.expires_at > now)


def worded(name: str, type_: str, observations: Sequence[str]) -> Wording:
    """Return how a note words an entity."""
    title, typed, content = _title(name), _typed(type_), _content(name, observations)
    fields: dict[str, Any] = {}
    if title != name:
        fields[_NAME] = name
    if typed != type_:
        fields[_TYPE] = type_
    if _lines(title, content) != list(observations):
        fields[_OBSERVATIONS] = list(observations)
    return Wording(title, typed, content, fields)


def _title(name: str) -> str:
    return " ".join("".join(one if one.isprintable() else " " for one in name).split())


def _typed(type_: str) -> str:
    return _title(type_) or _UNTYPED


def _content(name: str, observations: Sequence[str]) -> str:
    return tidy_content("\n".join(observations)) or _title(name)


def _lines(title: str, content: str) -> list[str]:
    return [] if content == title else [line for line in content.split("\n") if line]


def find(notes: NotesView, nugget: str, names: Collection[str], now: int) -> dict[str, Note]:
    """Return the entities of these names by them; of two of one name, the older one."""
    found: dict[str, Note] = {}
    for note in notes.named(nugget, None, sorted({fold_key(_title(name)) for name in names})):
        if is_entity(note, nugget, now) and (name := name_of(note)) in names:
            found.setdefault(name, note)
    return found


def observe(tx: Transaction, note: Note, observations: Sequence[str], limits: Limits) -> Note:
    """Let an entity have these observations.

    Raises:
        TooLarge: If the note would be larger than a caller may make one.
        GovernanceViolation: If they may not be stored, or give orders to their reader: the entire entity would be
            quarantined for them.
    """
    wording = worded(name_of(note), type_of(note), observations)
    if len(wording.content.encode()) > limits.content_bytes:
        limit = limits.content_bytes
        raise TooLarge(f"observations: make the entity larger than {limit} bytes", field="observations", limit=limit)
    others = {name: value for name, value in note.extra.fields.items() if name != _OBSERVATIONS}
    kept = {name: value for name, value in wording.fields.items() if name == _OBSERVATIONS}
    fields = with_summary({**others, **kept}, wording.content, limits)
    extra = note.extra._replace(fields=fields, rendered=False)
    new = tx.admit(note._replace(content=wording.content, extra=extra), note)
    check_trusted(new)
    return tx.change_note(note, new)


def check_trusted(note: Note) -> None:
    """Raise unless what an entity says may be in a graph.

    Raises:
        GovernanceViolation: If it gives orders to its reader.
    """
    if note.quarantined:
        why = "give orders to their reader, for which the entity would be kept out of the graph"
        raise GovernanceViolation(why, rule="orders", field="observations")


class RelationWording(NamedTuple):
    """A relation as a link has it.

    Attributes:
        name: Folded, without blanks.
        spelling: As it was given, if that differs.
    """

    name: str
    spelling: str


def relation_of(given: str) -> RelationWording:
    """Return how a link words a relation."""
    name = fold_relation("_".join(given.split())) or "related"
    return RelationWording(name, "" if name == given else given)


def is_relation(link: Link) -> bool:
    """Return whether somebody made a link, and not reflection, which joins what has words in common."""
    return not (link.relation == "related" and link.reason.startswith(_JOINED))


def spelled(link: Link) -> str:
    """Return a link's relation as it was given."""
    return link.reason if link.reason and relation_of(link.reason).name == link.relation else link.relation
