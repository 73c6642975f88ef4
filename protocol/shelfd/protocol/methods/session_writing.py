"""Methods by which a session writes: typed notes and their links, one at a time or in a batch."""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, model_validator

from shelfd.protocol.base import (
    Aliases,
    ChangeParams,
    Content,
    Count,
    Fields,
    Instant,
    NoteId,
    Positive,
    Relation,
    Result,
    Title,
    Token,
    Wire,
    Word,
    between_params,
    check_validity,
    max_count,
)
from shelfd.protocol.errors import ErrorObject
from shelfd.protocol.limits import OPERATIONS_LIMIT
from shelfd.protocol.methods.links import Direction
from shelfd.protocol.registry import define

OnMatch: TypeAlias = Literal["merge", "new", "error"]
Column = Annotated[str, Field(min_length=1, max_length=256)]
_CLEARED = 256


class NodeAddress(Wire):
    """A note by its id, or one that a batch creates by the ``ref`` it has there."""

    id: NoteId | None = None
    ref: Token | None = None

    @model_validator(mode="after")
    def _one(self) -> "NodeAddress":
        if (self.id is None) == (self.ref is None):
            raise between_params("id", "give either id or ref")
        return self


def _address(name: str, node: NodeAddress | None, node_id: str | None, ref: str | None) -> NodeAddress:
    given = [value for value in (node, node_id, ref) if value is not None]
    if len(given) != 1:
        raise between_params(name, f"give one of {name}, {name}_node_id and {name}_ref")
    return node or NodeAddress.model_construct(id=node_id, ref=ref)


class LinkSpec(Wire):
    """A link to another note, by any of three names for it."""

    target: NodeAddress | None = None
    target_node_id: NoteId | None = None
    target_ref: Token | None = None
    relation: Relation = "related"
    direction: Direction = Field(default="bidirectional", description="Of no account for a symmetric relation.")
    reason: Annotated[str, Field(max_length=512)] = ""
    valid_from: Instant | None = None
    valid_to: Instant | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "LinkSpec":
        check_validity(self.valid_from, self.valid_to)
        _address("target", self.target, self.target_node_id, self.target_ref)
        return self

    @cached_property
    def other(self) -> NodeAddress:
        """The note it leads to."""
        return _address("target", self.target, self.target_node_id, self.target_ref)


Links = Annotated[list[LinkSpec], max_count("links_count")]


class NodeInput(Wire):
    """A typed note to be made."""

    type: Word
    title: Title | None = Field(default=None, description="Else the first of the fields title, name, id, key, label.")
    content: Content | None = Field(default=None, description="Else the field summary, else the fields as text.")
    fields: Fields = Field(default_factory=dict)
    aliases: Aliases = Field(default_factory=list, description="Beside those of the field aliases.")
    links: Links = Field(default_factory=list)
    ref: Token | None = Field(default=None, description="By which others of the same batch name it.")
    on_match: OnMatch | None = Field(
        default=None,
        description="If a visible note of the type has the title or an alias: by default, merge for types that are"
        " latest_only, else new.",
    )


class NodeChange(Wire):
    """What becomes of a typed note; what is left out stays."""

    type: Word | None = Field(default=None, description="Refuse unless the note is of this type.")
    title: Title | None = None
    content: Content | None = None
    set_fields: Fields = Field(default_factory=dict, description="null clears a field.")
    clear_fields: Annotated[list[Column], Field(max_length=_CLEARED)] = Field(default_factory=list)
    if_rev: Count | None = Field(default=None, description="Refuse unless the note still has this rev.")


class CreateOp(NodeInput):
    """Make a note."""

    op: Literal["create"]


class EditOp(NodeChange):
    """Change a note."""

    op: Literal["edit"]
    node_id: NoteId


class DeleteOp(Wire):
    """Hide a note; its children return to the frontier."""

    op: Literal["delete"]
    node_id: NoteId
    if_rev: Count | None = None


class LinkUpsertOp(Wire):
    """Link a note to others."""

    op: Literal["link_upsert"]
    source: NodeAddress | None = None
    source_node_id: NoteId | None = None
    source_ref: Token | None = None
    links: Annotated[Links, Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> "LinkUpsertOp":
        _address("source", self.source, self.source_node_id, self.source_ref)
        return self

    @cached_property
    def one(self) -> NodeAddress:
        """The note to be linked."""
        return _address("source", self.source, self.source_node_id, self.source_ref)


class LinkDeleteOp(Wire):
    """Take a link between two notes away."""

    op: Literal["link_delete"]
    source: NodeAddress | None = None
    source_node_id: NoteId | None = None
    source_ref: Token | None = None
    target: NodeAddress | None = None
    target_node_id: NoteId | None = None
    target_ref: Token | None = None
    relation: Relation
    direction: Direction = "bidirectional"

    @model_validator(mode="after")
    def _consistent(self) -> "LinkDeleteOp":
        _address("source", self.source, self.source_node_id, self.source_ref)
        _address("target", self.target, self.target_node_id, self.target_ref)
        return self

    @cached_property
    def one(self) -> NodeAddress:
        """The note the link was made from."""
        return _address("source", self.source, self.source_node_id, self.source_ref)

    @cached_property
    def other(self) -> NodeAddress:
        """The note it leads to."""
        return _address("target", self.target, self.target_node_id, self.target_ref)


Operation: TypeAlias = CreateOp | EditOp | DeleteOp | LinkUpsertOp | LinkDeleteOp
#: The model of each operation, by its name.
OPERATIONS: Final[Mapping[str, type[Operation]]] = MappingProxyType(
    {
        "create": CreateOp,
        "edit": EditOp,
        "delete": DeleteOp,
        "link_upsert": LinkUpsertOp,
        "link_delete": LinkDeleteOp,
    }
)


class SessionChangeParams(ChangeParams):
    """Params of a change made in a session."""

    session_id: Token
    turn: Positive | None = Field(default=None, description="The conversation's turn it belongs to, from 1.")


class CreateNodeParams(NodeInput, SessionChangeParams):
    """Params of ``session.create_node``."""


class CreateNodeResult(Result):
    """The note that stands for what was given: a new one, or the one it was merged into."""

    id: str
    ref: str | None = None
    created: bool
    merged: list[str] = Field(description="The note that was there and took it over; empty if it is new.")
    archived: list[str] = Field(description="Others of the same name, hidden and replaced by this one.")
    replayed: bool | None = None


class EditNodeParams(NodeChange, SessionChangeParams):
    """Params of ``session.edit_node``."""

    id: NoteId


class EditNodeResult(Result):
    """Whether the note could be edited, and whether that changed anything."""

    ok: bool
    changed: bool
    rev: int | None = None
    reason: str | None = Field(default=None, description="NODE_NOT_FOUND, NODE_ARCHIVED or NODE_NOT_SEMANTIC.")
    message: str | None = None
    replayed: bool | None = None


class DeleteNodeParams(SessionChangeParams):
    """Params of ``session.delete_node``."""

    id: NoteId
    if_rev: Count | None = Field(default=None, description="Refuse unless the note still has this rev.")


class DeleteNodeResult(Result):
    """Whether the note was deleted, and which children returned to the frontier."""

    ok: bool
    freed: list[str] = Field(default_factory=list, description="Its children, which no rollup represents any more.")
    reason: str | None = None
    message: str | None = None
    replayed: bool | None = None


class UpsertLinksParams(SessionChangeParams):
    """Params of ``session.upsert_links``."""

    source: NodeAddress
    links: Annotated[Links, Field(min_length=1)]


class UpsertLinksResult(Result):
    """Operations accepted, which is 1, and directed links that are new."""

    applied: int
    added: int
    replayed: bool | None = None


class DeleteLinksParams(SessionChangeParams):
    """Params of ``session.delete_links``."""

    source: NodeAddress
    target: NodeAddress
    relation: Relation
    direction: Direction = "bidirectional"


class DeleteLinksResult(Result):
    """How many directed links are gone."""

    removed: int
    replayed: bool | None = None


class ExtractionBatchParams(SessionChangeParams):
    """Params of ``session.apply_extraction_batch``."""

    ops: Annotated[list[Any], Field(max_length=OPERATIONS_LIMIT)] = Field(
        description="Operations create, edit, delete, link_upsert and link_delete. Links name what the batch creates"
        " by its ref, before or after. Notes come first, in their order, then links in theirs."
    )
    max_seq: Count | None = Field(
        default=None, description="The nugget's number of the turn they belong to, for a replay; else that of the turn."
    )
    from_seq: Count | None = Field(
        default=None, description="The first turn they come from, where that is another one."
    )
    atomic: bool = Field(default=True, description="One bad operation refuses all.")

    @model_validator(mode="after")
    def _consistent(self) -> "ExtractionBatchParams":
        if self.from_seq is not None and self.max_seq is not None and self.from_seq > self.max_seq:
            raise between_params("from_seq", "from_seq is above max_seq")
        return self


class RejectedOperation(Result):
    """An operation that was not carried out."""

    op: Any
    index: int
    error: ErrorObject


class ExtractionBatchResult(Result):
    """What became of each operation."""

    applied: list[dict[str, Any]] = Field(
        description="The operations with what each did: node_id, and created, merged, archived, changed, freed, added"
        " or removed."
    )
    rejected: list[RejectedOperation]
    rolled_back: bool = Field(description="Nothing was done, because an operation was bad and the batch atomic.")
    ids: dict[str, str] = Field(description="Of what was created, by ref.")
    replayed: bool | None = None


def _define(name: str, params: type[SessionChangeParams], result: type[Result], summary: str) -> None:
    define(f"session.{name}", params, result, need="write", summary=summary)


_define("create_node", CreateNodeParams, CreateNodeResult, "Make a typed note, or merge it into the one of its name.")
_define("edit_node", EditNodeParams, EditNodeResult, "Change a typed note.")
_define("delete_node", DeleteNodeParams, DeleteNodeResult, "Hide a note; its children return to the frontier.")
_define("upsert_links", UpsertLinksParams, UpsertLinksResult, "Link a note to others.")
_define("delete_links", DeleteLinksParams, DeleteLinksResult, "Take a link between two notes away.")
_define("apply_extraction_batch", ExtractionBatchParams, ExtractionBatchResult, "Several operations, all or none.")
