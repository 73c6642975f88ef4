"""Methods on notes: remember, forget and ``note.*``."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from shelfd.protocol.base import (
    Aliases,
    ChangeParams,
    Content,
    Count,
    Fields,
    Instant,
    Key,
    Kind,
    NoteId,
    NuggetName,
    OnlyFalse,
    PageParams,
    Positive,
    ReadParams,
    Relation,
    Result,
    Scope,
    Source,
    SourceType,
    Stability,
    Tags,
    Tier,
    Title,
    Token,
    Wire,
    Word,
    between_params,
    check_validity,
    max_count,
)
from shelfd.protocol.errors import ErrorObject
from shelfd.protocol.moments import AsOf, KnownAt
from shelfd.protocol.note import NoteView
from shelfd.protocol.registry import define

_SCOPE_PREFIXES = frozenset({"self:", "user:", "shared:", "project:", "session:"})


def is_scope_prefix(key: str) -> bool:
    """Return whether *key* is a scope prefix and nothing else, which names no fact."""
    return key.casefold() in _SCOPE_PREFIXES


class LinkInput(Wire):
    """A link to be made from a new note."""

    to: NoteId
    relation: Relation = "related"
    reason: Annotated[str, Field(max_length=512)] = ""
    valid_from: Instant | None = None
    valid_to: Instant | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "LinkInput":
        check_validity(self.valid_from, self.valid_to)
        return self


def _check_summary(content: str | None, fields: dict[str, Any], name: str) -> None:
    """Raise unless a summary among *fields* is text and, where *content* is given too, says the same."""
    summary = fields.get("summary")
    if summary is not None and not isinstance(summary, str):
        raise between_params(f"{name}.summary", f"{name}.summary is not text")
    if content is not None and summary is not None and summary.strip() != content.strip():
        raise between_params(f"{name}.summary", f"content and {name}.summary are one thing and differ")


class NoteInput(Wire):
    """What a caller can say of a new note; what is left out is inferred."""

    content: Content | None = Field(default=None, description="Required unless `fields` are given.")
    nugget: NuggetName = "memory"
    title: Title | None = None
    aliases: Aliases = Field(default_factory=list)
    tags: Tags = Field(default_factory=list)
    links: Annotated[list[LinkInput], max_count("links_count")] = Field(default_factory=list)
    fields: Fields = Field(default_factory=dict)
    type: Word | None = None
    subject: Word | None = None
    scope: Scope | None = None
    source: Source | None = None
    confidence: float | None = Field(default=None, description="Clamped to 0 to 1.")
    stability: Stability | None = None
    domain: Word = "general"
    source_type: SourceType = "conversation"
    source_ref: Annotated[str, Field(max_length=2048)] | None = None
    author: Word | None = None
    session_id: Token | None = None
    turn: Positive | None = None
    occurred_at: Instant | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    importance: Annotated[int, Field(ge=1, le=10)] = 5
    tier: Tier = "B"
    ttl_days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    pinned: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> "NoteInput":
        self._check_note()
        return self

    def _check_note(self) -> None:
        if self.content is None and not self.fields:
            raise between_params("content", "content is required, or fields to render it from")
        if self.fields:
            _check_summary(self.content, self.fields, "fields")
        if self.valid_to is not None:
            check_validity(self.valid_from, self.valid_to)


#: Notes of one request some of which evolve: each is compared with those before it, on the thread all writers share.
EVOLVED_AT_ONCE = 1_000


class KeyedInput(NoteInput):
    """A new note that may have a key, which makes it a fact."""

    key: Key | None = Field(default=None, description="Makes the note a fact: a second value replaces the first.")

    @model_validator(mode="after")
    def _consistent(self) -> "KeyedInput":
        self._check_note()  # of one name, pydantic calls the last
        if self.key is None:
            return self
        if is_scope_prefix(self.key):
            raise between_params("key", "key is a scope prefix without a name after it")
        if self.title is not None and self.title != self.key:
            raise between_params("title", "key and title differ; a fact's title is its key")
        return self


class RememberInput(KeyedInput):
    """A note to be remembered."""

    evolve: bool = Field(
        default=False, description="Let it supersede, repeat or contradict older notes of its nugget and scope."
    )


class RememberParams(RememberInput, ChangeParams):
    """Params of ``remember``."""

    sync: bool = Field(default=False, description="Wait for what would otherwise be decided later.")


class RememberResult(Result):
    """Answer of ``remember``."""

    note: NoteView
    status: Literal["created", "updated", "corrected", "noop"]
    superseded: list[str]
    conflicts: list[str]
    pending: list[str]
    replayed: bool | None = None


class RememberManyParams(ChangeParams):
    """Params of ``remember_many``."""

    notes: Annotated[list[Any], max_count("remember_many_count"), Field(min_length=1)] = Field(
        description="Objects with the params of remember, without shelf, sync and idempotency_key; one after the other:"
        f" `evolve` sees those before, and goes with at most {EVOLVED_AT_ONCE} notes."
    )
    atomic: bool = Field(default=False, description="One bad item refuses all.")


class RejectedItem(Result):
    """An item of ``remember_many`` that was not stored."""

    index: int
    error: ErrorObject


class EvolvedItem(Result):
    """What became of an item of ``remember_many`` with ``evolve``, and of the notes before it."""

    index: int
    status: Literal["created", "updated", "corrected", "noop"]
    superseded: list[str]
    conflicts: list[str]


class RememberManyResult(Result):
    """Answer of ``remember_many``: ids in the order of the items, null where one was refused."""

    ids: list[str | None]
    rejected: list[RejectedItem]
    evolved: list[EvolvedItem] | None = Field(default=None, description="Of the items with `evolve`, if there are any.")
    pending: list[str] | None = Field(default=None, description="Jobs that decide what rules left open.")
    last_seq: int
    replayed: bool | None = None


class ForgetParams(ChangeParams):
    """Params of ``forget``: an id, or a nugget and a key."""

    id: NoteId | None = None
    nugget: NuggetName | None = Field(default=None, description="Of the key; memory when not given.")
    key: Key | None = None
    purge: bool = Field(default=False, description="For good: rows, history, log payloads, files. Cannot be undone.")
    prove: Annotated[bool, OnlyFalse] = Field(default=False, description="Not available in this version.")

    @model_validator(mode="after")
    def _one_address(self) -> "ForgetParams":
        if (self.id is None) == (self.key is None) or (self.id is not None and self.nugget is not None):
            raise between_params("id", "give either id, or key (and nugget)")
        return self


class ForgetResult(Result):
    """Answer of ``forget``."""

    forgotten: list[str]
    still_in: list[str]
    elsewhere: list[str] | None = Field(
        default=None,
        description="Nothing has the key in that nugget: others in which a visible fact has it; up to 100.",
    )
    still_superseded: list[str] | None = Field(
        default=None,
        description="Visible notes that it had replaced, up to 100: they stay so; note.restore brings one back.",
    )
    replayed: bool | None = None


class NoteGetParams(ReadParams):
    """Params of ``note.get``."""

    id: NoteId
    full: bool = False
    as_of: AsOf = None
    known_at: KnownAt = None
    include_vector: bool = False


class NoteResult(Result):
    """Answer of a method that returns one note."""

    note: NoteView
    redacted: bool | None = Field(
        default=None, description="With known_at: a purge took out of the history some of what the note said then."
    )
    replayed: bool | None = None


class NoteChangedResult(NoteResult):
    """Answer of a method that changes one note; ``changed`` is false when nothing was to do."""

    changed: bool


class NoteCreateParams(NoteInput, ChangeParams):
    """Params of ``note.create``: remember without a key."""


class NoteEditParams(ChangeParams):
    """Params of ``note.edit``; what is left out stays."""

    id: NoteId
    content: Content | None = None
    title: Title | None = Field(default=None, description="Of a fact: renames its key.")
    tags: Tags | None = Field(default=None, description="Replaces the own tags.")
    add_tags: Tags = Field(default_factory=list)
    remove_tags: Tags = Field(default_factory=list)
    set_fields: Fields = Field(default_factory=dict)
    clear_fields: Annotated[list[str], Field(max_length=256)] = Field(default_factory=list)
    aliases: Aliases | None = None
    hidden: bool | None = None
    pinned: bool | None = None
    metadata: "NoteMetadata | None" = None
    if_rev: Count | None = Field(default=None, description="Refuse unless the note still has this rev.")

    @model_validator(mode="after")
    def _consistent(self) -> "NoteEditParams":
        if self.tags is not None and (self.add_tags or self.remove_tags):
            raise between_params("tags", "give either tags, or add_tags and remove_tags")
        _check_summary(self.content, self.set_fields, "set_fields")
        return self


class NoteMetadata(Wire):
    """What is known of a note beside its text."""

    type: Word | None = None
    subject: Word | None = None
    scope: Scope | None = None
    source: Source | None = None
    confidence: float | None = None
    stability: Stability | None = None
    domain: Word | None = None
    importance: Annotated[int, Field(ge=1, le=10)] | None = None
    tier: Tier | None = None
    author: Word | None = None
    source_ref: Annotated[str, Field(max_length=2048)] | None = None
    occurred_at: Instant | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    ttl_days: Annotated[int, Field(ge=1, le=36_500)] | None = None


class NoteListParams(PageParams):
    """Params of ``note.list``."""

    nugget: NuggetName | None = None
    kind: Kind | None = None
    include_hidden: bool = False
    include_superseded: bool = True
    subject: Word | None = None
    scope: Scope | None = None
    type: Word | None = None
    stability: Stability | None = None
    tags: Tags = Field(default_factory=list)
    needs_review: bool | None = None
    quarantined: bool | None = None
    order: Literal["updated_at", "created_at"] = "updated_at"
    desc: bool = False


class NoteListResult(Result):
    """A page of notes; ``total`` is on all pages, as counted with the first one."""

    notes: list[NoteView]
    total: int
    next_cursor: str | None = None


class NoteIdParams(ChangeParams):
    """Params of a change that names one note."""

    id: NoteId


class NoteHistoryParams(PageParams):
    """Params of ``note.history``."""

    id: NoteId


class NoteVersion(Result):
    """One version of a note; ``change`` holds the fields it set, with their values from then."""

    rev: int
    seq: int
    at: str
    principal: str
    kind: str
    session_id: str | None = None
    turn: int | None = None
    variant: int | None = None
    change: dict[str, Any]


class NoteHistoryResult(Result):
    """The versions of a note, oldest first."""

    versions: list[NoteVersion]
    next_cursor: str | None = None


class NoteRevertParams(NoteIdParams):
    """Params of ``note.revert``."""

    rev: Positive


define("remember", RememberParams, RememberResult, need="write", summary="Store a note, or a fact when it has a key.")
define("remember_many", RememberManyParams, RememberManyResult, need="write", summary="Store many notes in one go.")
define("forget", ForgetParams, ForgetResult, need="write", summary="Hide a note; restore brings it back.")
define("note.get", NoteGetParams, NoteResult, need="read", summary="One note by its id, hidden or not.")
define("note.create", NoteCreateParams, NoteResult, need="write", summary="Store a note without a key.")
define("note.edit", NoteEditParams, NoteChangedResult, need="write", summary="Change parts of a note.")
define("note.list", NoteListParams, NoteListResult, need="read", summary="Notes by filter, page by page.")
define("note.hide", NoteIdParams, NoteChangedResult, need="write", summary="Take a note out of sight.")
define("note.release", NoteIdParams, NoteChangedResult, need="write", summary="Let a note out of quarantine.")
define(
    "note.restore",
    NoteIdParams,
    NoteChangedResult,
    need="write",
    summary="Bring a hidden note back, or a superseded one.",
)
define(
    "note.history", NoteHistoryParams, NoteHistoryResult, need="read", summary="What a note was, and who changed it."
)
define(
    "note.revert", NoteRevertParams, NoteChangedResult, need="write", summary="Give a note the state of an earlier rev."
)
