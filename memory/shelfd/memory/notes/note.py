"""The note: the record everything on a shelf is made of.

Times are integers, microseconds since 1970 UTC. A note's ``row`` is its number inside the shelf: it rises with
creation, is never reused and never leaves the daemon.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

#: A mapping of nothing, for records whose mapping is rarely set.
EMPTY: Final[Mapping[str, Any]] = MappingProxyType({})


class Provenance(NamedTuple):
    """What a note has from another that was merged into it, as fingerprints: lines of its text, and names."""

    source: str  #: id of the other note
    lines: tuple[str, ...]
    names: tuple[str, ...] = ()  #: title, aliases and tags

    def shared_with(self, other: "Provenance") -> "Provenance":
        """Return what *other*'s note has of this, as its."""
        lines = tuple(line for line in self.lines if line in other.lines)
        return Provenance(other.source, lines, tuple(name for name in self.names if name in other.names))

    def without(self, other: "Provenance") -> "Provenance":
        """Return this but for what *other* has."""
        lines = tuple(line for line in self.lines if line not in other.lines)
        return Provenance(self.source, lines, tuple(name for name in self.names if name not in other.names))


class Imported(NamedTuple):
    """Marks that an import left on a note: what it said of it, so that a later one can see what changed since."""

    format: str
    nugget: str  #: its nugget in the other memory
    parts: Mapping[str, Mapping[str, str]]  #: by kind of item, digests of what it said by facet
    id: str | None = None  #: digest of what it is known by there, if not by its id here
    alias: str | None = None  #: digest of what else it is known by there


class Lineage(NamedTuple):
    """What was known, when copies of a shelf were brought together, of the states that a note has had: digests."""

    now: tuple[str, ...] = ()  #: the state it had then, by each way that led to it
    past: tuple[str, ...] = ()  #: those that this one replaced
    at: int = 0  #: when it was so first
    says: str = ""  #: digest of what it said then


NOTHING_KNOWN: Final = Lineage()


def _lineage(values: Sequence[Any]) -> Lineage:
    now, past, at, says = values
    return Lineage(tuple(now), tuple(past), at, says)


class Extra(NamedTuple):
    """What few notes have. Kept as one JSON object, in rows and in the log's before-images alike."""

    source_key: str | None = None  #: a fact's key as it was given
    source_type: str = "conversation"
    source_ref: str | None = None
    ttl_days: int | None = None
    aliases: tuple[str, ...] = ()
    fields: Mapping[str, Any] = EMPTY  #: typed columns
    rendered: bool = False  #: the content follows from the fields
    derived_tags: tuple[str, ...] = ()  #: reflection gave them; they come and go with what the note says
    dropped_tags: tuple[str, ...] = ()  #: a caller took them away: none is derived again
    provenance: tuple[Provenance, ...] = ()
    imported: Imported | None = None
    evolution_count: int = 0  #: how often a model reworded it
    evolved_by: tuple[str, ...] = ()  #: ids of notes by which it was, the last ones
    last_rewritten_at: int | None = None
    promoted_at: int | None = None
    level: str = "semantic"  #: episodic only for raw turns
    is_rollup: bool = False
    rollup_depth: int = 0  #: of a rollup, one more than that of its deepest child
    source_span: tuple[int, int] | None = None  #: nugget's numbers of the first and last turn it comes from
    variant: int = 0  #: of the turn that made it
    copied_from: str | None = None  #: id of the note that it is a copy of
    superseded_reason: str | None = None  #: by which rule it was superseded; None if a caller did it
    trust: str | None = None  #: whether it was quarantined, and whether it was released since
    redacted: tuple[str, ...] = ()  #: names of the rules by which something was taken out of its text
    lineage: Lineage = NOTHING_KNOWN

    def __bool__(self) -> bool:
        """Whether anything is set."""
        return self is not NO_EXTRA and self != NO_EXTRA

    def following(self, content: str) -> "Extra":
        """Return these with the summary among the fields, if there is one, saying *content*."""
        return self._replace(fields={**self.fields, "summary": content}) if "summary" in self.fields else self

    def as_mapping(self) -> dict[str, Any]:
        """Return what is set, by name, as JSON has it."""
        found: dict[str, Any] = {
            name: value
            for name, value, unset in zip(_NAMES, self, NO_EXTRA, strict=True)
            if value is not unset and value != unset
        }
        if self.provenance:
            found["provenance"] = [
                {"from": source, "lines": lines, **({"names": names} if names else {})}
                for source, lines, names in self.provenance
            ]
        if (marks := self.imported) is not None:
            names = {"id": marks.id, "as": marks.alias}
            found["imported"] = {
                "format": marks.format,
                "nugget": marks.nugget,
                **{name: value for name, value in names.items() if value is not None},
                **marks.parts,
            }
        return found

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Extra":
        """Return the record that :meth:`as_mapping` made *values* of."""
        if structured := _READ.keys() & values.keys():
            values = {**values, **{name: _READ[name](values[name]) for name in structured}}
        return cls(**values)


def _provenance(entries: Iterable[Mapping[str, Any]]) -> tuple[Provenance, ...]:
    return tuple(Provenance(entry["from"], tuple(entry["lines"]), tuple(entry.get("names", ()))) for entry in entries)


def _imported(marks: Mapping[str, Any]) -> Imported:
    parts = {name: marked for name, marked in marks.items() if isinstance(marked, Mapping)}
    return Imported(marks["format"], marks["nugget"], parts, marks.get("id"), marks.get("as"))


_READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    "aliases": tuple,
    "evolved_by": tuple,
    "derived_tags": tuple,
    "dropped_tags": tuple,
    "provenance": _provenance,
    "imported": _imported,
    "source_span": tuple,
    "redacted": tuple,
    "lineage": _lineage,
}
_NAMES: Final = Extra._fields
NO_EXTRA: Final = Extra()


#: Types of the notes that are remembered without a schema.
MEMORY_TYPES: Final = ("relationship", "fact", "note", "preference", "reflection", "self_model", "project", "style")

QUARANTINED: Final = "quarantined"  #: trust in a note that gives orders to its reader
RELEASED: Final = "released"  #: trust in one that somebody has let out of quarantine

REVIEW_BELOW: Final = 0.5  #: a note with less confidence needs review
REVIEW_ABOVE: Final = 5  #: evolutions, beyond which it does as well


def holds(valid_from: int | None, valid_to: int | None, at: int) -> bool:
    """Return whether what is valid from one time until another holds at a third: from then on, and before the end.

    What is valid at one moment only holds at that.
    """
    if valid_from is not None and valid_from > at:
        return False
    return valid_to is None or at < valid_to or at == valid_from


def type_tag(type_: str) -> str:
    """Return the system tag of a type."""
    return f"type:{type_}" if type_.islower() and " " not in type_ else f"type:{'-'.join(type_.lower().split())}"


@lru_cache(1_024)  # asked for each note that is written; a shelf has few different ones
def _system_tags(nugget: str, scope: str, type_: str) -> tuple[str, str, str]:
    return nugget, f"scope:{scope}", type_tag(type_)


@lru_cache(1_024)
def _all_tags(nugget: str, scope: str, type_: str, beside: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*_system_tags(nugget, scope, type_), *beside)))


class Note(NamedTuple):
    """One stored state of a note.

    A named tuple and not a dataclass: rows become notes and copies differ in one field thousands of times a
    second, and both cost a third of what a frozen dataclass of this width takes.
    """

    row: int = 0
    id: str = ""
    nugget: str = "memory"
    kind: str = "note"
    title: str = ""
    key: str | None = None  #: a fact's folded key, unique in its nugget; None for notes
    content: str = ""
    tags: tuple[str, ...] = ()  #: own tags; system tags follow from nugget, scope and type
    type: str = "note"
    subject: str = "user:primary"
    scope: str = "user"
    source: str = "explicit_user"
    confidence: float = 1.0
    stability: str = "durable"
    domain: str = "general"
    tier: str = "B"
    importance: int = 5
    author: str | None = None
    session_id: str | None = None
    turn: int | None = None
    seq_to: int | None = None  #: nugget's number of the last turn that touched the note
    occurred_at: int | None = None
    valid_from: int | None = None
    valid_to: int | None = None
    expires_at: int | None = None
    archived_at: int | None = None  #: set while the note is hidden
    superseded_by: str | None = None
    parent_id: str | None = None
    pinned: bool = False
    created_at: int = 0
    updated_at: int = 0
    rev: int = 1
    extra: Extra = NO_EXTRA

    @property
    def hidden(self) -> bool:
        """Whether the note is soft-deleted."""
        return self.archived_at is not None

    @property
    def live(self) -> bool:
        """Whether the note is neither hidden nor superseded nor quarantined."""
        return self.archived_at is None and self.superseded_by is None and self.extra.trust != QUARANTINED

    @property
    def private(self) -> bool:
        """Whether the note belongs to a session alone."""
        return self.scope == "session" and self.session_id is not None

    @property
    def needs_review(self) -> bool:
        """Whether the note is doubtful, or was rewritten too often."""
        return self.confidence < REVIEW_BELOW or self.extra.evolution_count > REVIEW_ABOVE

    @property
    def quarantined(self) -> bool:
        """Whether the note is kept from those who might obey it, until somebody releases it."""
        return self.extra.trust == QUARANTINED

    @property
    def when(self) -> int:
        """Time the note speaks of: when it occurred, else when it was written."""
        return self.occurred_at if self.occurred_at is not None else self.created_at

    def holds(self, at: int) -> bool:
        """Return whether what the note says holds at that time, as far as it says from when and until when."""
        return holds(self.valid_from, self.valid_to, at)

    @property
    def system_tags(self) -> tuple[str, str, str]:
        """The three tags that always follow the note's nugget, scope and type."""
        return _system_tags(self.nugget, self.scope, self.type)

    @property
    def derived_tags(self) -> tuple[str, ...]:
        """Tags that reflection gave the note; they come and go with what it says."""
        return self.extra.derived_tags

    @property
    def all_tags(self) -> tuple[str, ...]:
        """System tags, then own tags, then derived ones, each once."""
        beside, derived = self.tags, self.extra.derived_tags
        if derived:
            beside = (*beside, *derived)
        return _all_tags(self.nugget, self.scope, self.type, beside) if beside else self.system_tags


#: A note of which nothing is known: what is, replaces it.
BLANK: Final = Note()

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
    seq_to: int | None = None  #: nugget's number of the turn in which it was first made

    def holds(self, at: int) -> bool:
        """Return whether the link holds at that time, as far as it says from when and until when."""
        return holds(self.valid_from, self.valid_to, at)


#: Relation of the link that leads from a note to the one by which a model reworded it.
EVOLVED_BY: Final = "evolved_by"

#: Relation of the link that leads from a note to the one it was merged into.
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
    local_only: bool = False  #: its text never leaves for a language model or an embedder elsewhere


class Usage(NamedTuple):
    """How a note is used. Kept outside the change log and written in batches."""

    hits: int = 0
    access_count: int = 0
    last_accessed_at: int = 0
    last_hit_session: str = ""

    def raised_to(self, other: "Usage") -> "Usage":
        """Return at least as much use as *other* records of the same note; accesses are each memory's own."""
        last = other if other.hits > self.hits and other.last_hit_session else self
        return self._replace(
            hits=max(self.hits, other.hits),
            last_accessed_at=max(self.last_accessed_at, other.last_accessed_at),
            last_hit_session=last.last_hit_session or other.last_hit_session,
        )


NEVER_USED: Final = Usage()


def fold_key(key: str) -> str:
    """Return the form that all spellings of one key share: they may differ in case, compatibility forms and blanks."""
    folded = key.lower() if key.isascii() else unicodedata.normalize("NFKC", key).casefold()
    folded = " ".join(folded.split())  # only now: compatibility forms of some signs begin with a blank
    return key if folded == key else folded  # one string instead of two equal ones
