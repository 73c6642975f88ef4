"""The note: the record everything on a shelf is made of.

Times are integers, microseconds since 1970 UTC. A note's ``row`` is its number inside the shelf: it rises with
creation, is never reused and never leaves the daemon.
"""

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

NO_EXTRA: Final[Mapping[str, Any]] = MappingProxyType({})


class Note(NamedTuple):
    """One stored state of a note.

    A named tuple and not a dataclass: rows become notes and copies differ in one field thousands of times a
    second, and both cost a third of what a frozen dataclass of this width takes.
    """

    row: int
    id: str
    nugget: str
    kind: str
    title: str
    key: str | None  #: a fact's folded key, unique in its nugget; None for notes
    content: str
    tags: tuple[str, ...]  #: own tags; system tags follow from nugget, scope and type
    type: str
    subject: str
    scope: str
    source: str
    confidence: float
    stability: str
    domain: str
    tier: str
    importance: int
    author: str | None
    session_id: str | None
    turn: int | None
    seq_to: int | None  #: nugget's number of the last turn that touched the note
    occurred_at: int | None
    valid_from: int | None
    valid_to: int | None
    expires_at: int | None
    archived_at: int | None  #: set while the note is hidden
    superseded_by: str | None
    parent_id: str | None
    pinned: bool
    created_at: int
    updated_at: int
    rev: int
    extra: Mapping[str, Any] = NO_EXTRA  #: rarely used: source_key, aliases, fields, source_ref, derived_tags …

    @property
    def hidden(self) -> bool:
        """Whether the note is soft-deleted."""
        return self.archived_at is not None

    @property
    def when(self) -> int:
        """Time the note speaks of: when it occurred, else when it was written."""
        return self.occurred_at if self.occurred_at is not None else self.created_at

    @property
    def system_tags(self) -> tuple[str, str, str]:
        """The three tags that always follow the note's nugget, scope and type."""
        type_ = self.type if self.type.islower() and " " not in self.type else "-".join(self.type.lower().split())
        return (self.nugget, f"scope:{self.scope}", f"type:{type_}")

    @property
    def derived_tags(self) -> tuple[str, ...]:
        """Tags that reflection gave the note; they come and go with what it says."""
        return tuple(self.extra.get("derived_tags", ())) if self.extra else ()

    @property
    def all_tags(self) -> tuple[str, ...]:
        """System tags, then own tags, then derived ones, each once."""
        if not self.tags and not self.extra:
            return self.system_tags
        beside = (*self.tags, *self.derived_tags)
        return tuple(dict.fromkeys((*self.system_tags, *beside))) if beside else self.system_tags


#: A note of which nothing is known: what is, replaces it.
BLANK: Final = Note(
    row=0,
    id="",
    nugget="memory",
    kind="note",
    title="",
    key=None,
    content="",
    tags=(),
    type="note",
    subject="user:primary",
    scope="user",
    source="explicit_user",
    confidence=1.0,
    stability="durable",
    domain="general",
    tier="B",
    importance=5,
    author=None,
    session_id=None,
    turn=None,
    seq_to=None,
    occurred_at=None,
    valid_from=None,
    valid_to=None,
    expires_at=None,
    archived_at=None,
    superseded_by=None,
    parent_id=None,
    pinned=False,
    created_at=0,
    updated_at=0,
    rev=1,
)

#: Fields that say where a note is kept or how often it was written, not what it says.
BOOKKEEPING: Final = frozenset({"row", "rev", "updated_at"})


class Link(NamedTuple):
    """A directed link between two notes; identified by source, target and relation."""

    source: str
    target: str
    relation: str
    reason: str
    created_at: int
    valid_from: int | None = None
    valid_to: int | None = None


#: Relation of the link that leads from a note to the one it became part of.
MERGED_INTO: Final = "merged_into"


class Nugget(NamedTuple):
    """A named topic inside a shelf."""

    name: str
    dimension: int
    banks: int
    ensembles: int
    max_facts: int
    ttl_days: int | None
    created_at: int
    turn_count: int = 0  #: turns of any conversation seen in this nugget


class Usage(NamedTuple):
    """How a note is used. Kept outside the change log and written in batches."""

    hits: int = 0
    access_count: int = 0
    last_accessed_at: int = 0
    last_hit_session: str = ""

    def raised_to(self, other: "Usage") -> "Usage":
        """Return at least as much use as *other* tells of the same note; accesses are each memory's own."""
        last = other if other.hits > self.hits and other.last_hit_session else self
        return self._replace(
            hits=max(self.hits, other.hits),
            last_accessed_at=max(self.last_accessed_at, other.last_accessed_at),
            last_hit_session=last.last_hit_session or other.last_hit_session,
        )


def fold_key(key: str) -> str:
    """Return the form that all spellings of one key share: they may differ in case, compatibility forms and blanks."""
    folded = key.lower() if key.isascii() else unicodedata.normalize("NFKC", key).casefold()
    folded = " ".join(folded.split())  # only now: compatibility forms of some signs begin with a blank
    return key if folded == key else folded  # one string instead of two equal ones
