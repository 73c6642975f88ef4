"""The result of reading a foreign item: a note, a nugget or links in this memory's terms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from shelfd.memory.moving.lineage import NoteState
from shelfd.memory.notes.inference import KnownTraits
from shelfd.memory.notes.note import BLANK, NO_EXTRA, Extra, Link, Note, Nugget, Usage, fold_key
from shelfd.memory.ports.edges import Edge


class Loss(NamedTuple):
    """Something that is not kept, or not as it was, and why. Both are for people, without memory text."""

    field: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NuggetRecord:
    """A nugget's name and options.

    Attributes:
        origin: Its name in the other memory.
    """

    name: str
    origin: str
    dimension: int
    banks: int
    ensembles: int
    max_facts: int
    losses: Sequence[Loss] = ()


class Chat(NamedTuple):
    """The conversation that an item is from: its session here, and the nugget that works on."""

    session_id: str
    nugget: str
    is_named: bool  #: whether the nugget was asked for; else that of a session which is here counts


class TurnsRecord(NamedTuple):
    """Turns that a conversation has had, from the first to the last."""

    chat: Chat
    first: int
    last: int
    shown: Sequence[tuple[int, int]] = ()  #: turns that may have alternatives, and which of them is shown


class TypeRecord(NamedTuple):
    """A type of notes, by the properties that a schema has of it."""

    chat: Chat
    name: str
    properties: Mapping[str, Any]
    losses: Sequence[Loss] = ()


class NoteStanding(NamedTuple):
    """What a note is about, how much it counts, and until when."""

    domain: str = BLANK.domain
    tier: str = BLANK.tier
    importance: int = BLANK.importance
    expires_at: int | None = None


USUAL: Final = NoteStanding()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRecord:
    """A note or fact as it is to be here.

    What refers to a conversation or to other notes is in the other memory's terms first, and put in this one's by
    :class:`~shelfd.memory.moving.placing.Placement`.

    Attributes:
        id: Its id in the other memory, if that can be kept.
        identity: What it is known by in the other memory, if its id cannot be kept or it had none.
        has_id: Whether that is an id: then links name it so.
        nugget: Name of its nugget here.
        origin: Name of its nugget in the other memory.
        says: Facets of a note that the item itself speaks of; the others were inferred.
        extra: Rare fields of a new note.
        standing: What it is about and how much it counts.
        chat: The conversation it is from, if it is from one.
        turn: Of that, in which it was said.
        variant: Which alternative of the turn it is; None for the live one.
        last_turn: Of that, in which it was touched last.
        span: The first and the last turn it comes from.
        parent: Name there of the note that represents it.
        replaced_by: Name there of the note it was hidden in favour of.
        seq_to: The nugget's number of the last turn.
        parent_id: Id here of the parent.
        superseded_by: Id here of the note that replaced it.
        stem: How the id begins of a note whose own cannot be kept; None for one by its kind and nugget.
        base: Marks of what its file was written from, by facet, if a shelf wrote it.
    """

    id: str | None
    identity: str
    has_id: bool
    nugget: str
    origin: str
    kind: str
    title: str
    content: str
    tags: tuple[str, ...]
    traits: KnownTraits
    says: frozenset[str]
    archived_at: int | None
    created_at: int
    updated_at: int
    usage: Usage = field(default_factory=Usage)
    extra: Extra = NO_EXTRA
    losses: Sequence[Loss] = ()
    author: str | None = None
    occurred_at: int | None = None
    standing: NoteStanding = USUAL
    chat: Chat | None = None
    turn: int | None = None
    variant: int | None = None
    last_turn: int | None = None
    span: tuple[int, int] | None = None
    parent: str | None = None
    replaced_by: str | None = None
    seq_to: int | None = None
    parent_id: str | None = None
    superseded_by: str | None = None
    stem: str | None = None
    base: Mapping[str, str] = field(default_factory=dict)

    def note(self, note_id: str | None = None) -> Note:
        """Return the note it describes, still without row, with the id it came with, if any, or with another one."""
        standing, extra = self.standing, self.extra
        # In the order of its fields: by their names, this would take four times as long.
        return Note._make(
            (
                0,  # row
                (self.id or "") if note_id is None else note_id,
                self.nugget,
                self.kind,
                self.title,
                fold_key(self.title) if self.kind == "fact" else None,
                self.content,
                self.tags,
                *self.traits,
                standing.domain,
                standing.tier,
                standing.importance,
                self.author,
                None if self.chat is None else self.chat.session_id,
                self.turn,
                self.seq_to,
                self.occurred_at,
                None,  # valid_from
                None,  # valid_to
                standing.expires_at,
                self.archived_at,
                self.superseded_by,
                self.parent_id,
                False,  # pinned
                self.created_at,
                self.updated_at,
                1,  # rev
                extra,
            )
        )


class LinkRecord(NamedTuple):
    """A link to another note, for every reason that was given for it, in their order."""

    target: str
    reasons: tuple[str, ...]
    created_at: int
    relation: str = "related"
    turn: int | None = None  #: of the conversation, in which it was made

    def reason(self, count: int | None = None) -> str:
        """Return the first *count* reasons, or all, as one."""
        return "; ".join(self.reasons[:count])


class OutgoingLinks(NamedTuple):
    """The links that leave one note, at most one of a relation to each other note."""

    source: str
    links: tuple[LinkRecord, ...]
    losses: tuple[Loss, ...] = ()
    chat: Chat | None = None  #: whose notes these are
    replaced_by: str | None = None  #: name there of the note that replaced it
    edges: tuple[Edge, ...] = ()  #: what a model read in the note there
    space: str | None = None  #: in which its names are unique, if they are no ids


class RestoredNugget(NamedTuple):
    """A nugget as it was on a shelf, and the types of notes that were set in it."""

    nugget: Nugget
    types: Mapping[str, Mapping[str, Any]]


class RestoredNote(NamedTuple):
    """A note as it was on a shelf, but for its row, and how it was used."""

    note: Note
    usage: Usage


class RestoredLinks(NamedTuple):
    """The links that left a note on a shelf."""

    source: str
    links: tuple[Link, ...]


class MergedNugget(NamedTuple):
    """A nugget as another copy of the shelf has it, and the types of notes that were set in it."""

    nugget: Nugget
    types: Mapping[str, Mapping[str, Any]]


class MergedNote(NamedTuple):
    """A note as another copy of the shelf has it, and which states it has had there."""

    note: Note
    usage: Usage
    state: NoteState


class MergedLinks(NamedTuple):
    """The links that leave a note in another copy of the shelf."""

    source: str
    links: tuple[Link, ...]


class Gone(NamedTuple):
    """What was purged or removed in another copy of the shelf, by its name among the shelf's properties, and when."""

    entries: tuple[tuple[str, int], ...]


#: Whatever an item can be.
Record: TypeAlias = (
    NuggetRecord
    | TurnsRecord
    | TypeRecord
    | NoteRecord
    | OutgoingLinks
    | RestoredNugget
    | RestoredNote
    | RestoredLinks
    | MergedNugget
    | MergedNote
    | MergedLinks
    | Gone
)
