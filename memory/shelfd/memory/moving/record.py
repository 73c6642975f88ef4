"""What a foreign item comes to: a note, a nugget or links in this memory's terms."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from shelfd.memory.notes.inference import KnownTraits
from shelfd.memory.notes.note import BLANK, NO_EXTRA, Extra, Note, Usage, fold_key


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


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRecord:
    """A note or fact as it is to be here.

    Attributes:
        id: Its id in the other memory, if that can be kept.
        identity: What it is known by in the other memory, if its id cannot be kept or it had none.
        has_id: Whether that is an id: then links name it so.
        nugget: Name of its nugget here.
        origin: Name of its nugget in the other memory.
        says: Facets of a note that the item itself speaks of; the others were inferred.
        extra: Rare fields of a new note.
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

    def note(self) -> Note:
        """Return the note it describes, still without row and with the id it came with, if any."""
        traits = self.traits
        return BLANK._replace(
            id=self.id or "",
            nugget=self.nugget,
            kind=self.kind,
            title=self.title,
            key=fold_key(self.title) if self.kind == "fact" else None,
            content=self.content,
            tags=self.tags,
            type=traits.type,
            subject=traits.subject,
            scope=traits.scope,
            source=traits.source,
            confidence=traits.confidence,
            stability=traits.stability,
            archived_at=self.archived_at,
            created_at=self.created_at,
            updated_at=self.updated_at,
            extra=self.extra,
        )


class LinkRecord(NamedTuple):
    """A link to another note, for every reason that was given for it, in their order."""

    target: str
    reasons: tuple[str, ...]
    created_at: int

    def reason(self, count: int | None = None) -> str:
        """Return the first *count* reasons, or all, as one."""
        return "; ".join(self.reasons[:count])


class OutgoingLinks(NamedTuple):
    """The links that leave one note, at most one to each other note."""

    source: str
    links: tuple[LinkRecord, ...]
    losses: tuple[Loss, ...] = ()
