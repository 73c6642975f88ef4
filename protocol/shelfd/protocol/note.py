"""The note as it goes over the wire."""

from typing import Any, Literal

from pydantic import Field

from shelfd.protocol.base import Kind, Result, Scope, Source, SourceType, Stability, Tier

Timestamp = str  #: RFC 3339 UTC


class NoteLink(Result):
    """A directed link that leaves a note."""

    to: str
    relation: str
    reason: str
    created_at: Timestamp
    valid_from: Timestamp | None = None
    valid_to: Timestamp | None = None
    seq_to: int | None = Field(default=None, description="The nugget's number of the turn in which it was made.")


class NoteVectorView(Result):
    """What replaces a note's vector in note.search."""

    seed: int = Field(description="Equal for equal bases.")
    basis: list[str] = Field(max_length=20, description="Words in their roles, such as `title:deploy`.")


class NoteView(Result):
    """A note. The first group of fields is always there; the others are left out when null or empty."""

    id: str
    nugget: str
    kind: Kind
    title: str = Field(description="A fact's key, a note's title.")
    content: str
    tags: list[str] = Field(description="System tags first, then own tags.")
    links: list[NoteLink]
    hidden: bool
    hits: int = Field(description="Distinct sessions in which the note was returned.")
    last_hit_session: str
    subject: str
    scope: Scope
    type: str
    source: Source
    confidence: float = Field(ge=0, le=1)
    stability: Stability
    domain: str
    tier: Tier
    importance: int = Field(ge=1, le=10)
    access_count: int
    created_at: Timestamp
    updated_at: Timestamp
    last_accessed_at: Timestamp
    rev: int = Field(description="Counts every write; compare-and-set with if_rev.")

    source_key: str | None = Field(default=None, description="A fact's key as it was first given.")
    aliases: list[str] | None = None
    fields: dict[str, Any] | None = None
    author: str | None = None
    source_ref: str | None = None
    session_id: str | None = None
    turn: int | None = None
    seq_to: int | None = None
    occurred_at: Timestamp | None = None
    valid_from: Timestamp | None = None
    valid_to: Timestamp | None = None
    ttl_days: int | None = None
    expires_at: Timestamp | None = None
    superseded_by: str | None = None
    superseded_reason: str | None = Field(default=None, description="By which rule, if no caller said so.")
    parent_id: str | None = Field(default=None, description="The rollup that represents the note.")
    is_rollup: bool | None = None
    rollup_depth: int | None = Field(default=None, ge=1, description="One more than that of its deepest child.")
    source_span: list[int] | None = Field(
        default=None,
        min_length=2,
        max_length=2,
        description="The nugget's numbers of the first and the last turn it comes from.",
    )
    evolution_count: int | None = Field(default=None, description="How often a language model reworded it.")
    evolved_by: list[str] | None = Field(default=None, description="By which new notes it was, the last ones.")
    copied_from: str | None = Field(default=None, description="The note it is a copy of, made by session.branch.")
    trust: Literal["quarantined", "released"] | None = Field(
        default=None, description="Of text that gives orders to its reader: kept from recall until it is released."
    )
    redacted: list[str] | None = Field(default=None, description="Rules by which something was taken out of its text.")
    archived_at: Timestamp | None = None
    pinned: bool | None = None
    needs_review: bool | None = None
    last_rewritten_at: Timestamp | None = None
    promoted_at: Timestamp | None = Field(default=None, description="When it was first written to MEMORY.md.")

    source_type: SourceType | None = Field(default=None, description="With full only, as all below.")
    context: str | None = None
    keywords: list[str] | None = None
    entities: list[str] | None = Field(
        default=None,
        description="What it mentions, as it was read: a moment after a change, by `note.get` at once unless much is.",
    )
    version: int | None = Field(default=None, ge=1, description="One more than how often it was reworded.")
    supersedes: list[str] | None = None
    causal_chain: list[str] | None = Field(
        default=None, description="Notes that led to it by links such as `caused_by`, the first cause first; full only."
    )
    level: str | None = None
    children_ids: list[str] | None = Field(default=None, description="Notes that this rollup represents.")
    vector: NoteVectorView | None = Field(default=None, description="With include_vector too.")
