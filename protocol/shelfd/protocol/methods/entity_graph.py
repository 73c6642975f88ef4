"""Methods on the graph of entities: what notes say of two of them, and in which order things happened."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from shelfd.protocol.base import (
    Key,
    ListLimit,
    NuggetName,
    PageParams,
    Query,
    ReadParams,
    Result,
    Token,
    between_params,
)
from shelfd.protocol.methods.entities import EntityType, EntityView
from shelfd.protocol.methods.recall import IndexState
from shelfd.protocol.registry import define

#: Steps a walk may take, and nodes it may come to.
DEPTH_LIMIT = 4
NODES_LIMIT = 1000

Depth = Annotated[int, Field(ge=1, le=DEPTH_LIMIT, description="Steps from the first entity.")]
Direction = Literal["outgoing", "incoming"]
EdgeKind = Literal["heuristic", "causal"]

_READ = "How far notes were read for that, as of ``recall_entity``."
_PERHAPS = "there may be while ``index`` is warming"
_SESSION = "A session's own notes count too if it is this one."


class RelationshipsParams(PageParams):
    """Params of ``get_entity_relationships``."""

    entity_type: EntityType
    entity_value: Key = Field(description="Any of its names.")
    nugget: NuggetName | None = None
    session_id: Token | None = Field(default=None, description=_SESSION)


class GraphNodeView(Result):
    """An entity of the graph; one of several names stands for all of them."""

    type: str
    value: str


class RelationshipView(Result):
    """What a note says of an entity and another one."""

    node: GraphNodeView
    relationship: str = Field(description="USES_TOOL and the like where both occur together, `uses` where it is said.")
    direction: Direction
    edge_type: EdgeKind = Field(description="Whether both occur together, or the note says what one does.")
    note_id: str
    confidence: float
    properties: dict[str, Any] = Field(description="`engine`, `observed_at`, and the note's `valid_from`, `valid_to`.")


class RelationshipsResult(Result):
    """Answer of ``get_entity_relationships``, what the newest notes say first."""

    entity: EntityView
    relationships: list[RelationshipView]
    index: IndexState = Field(description=_READ)
    next_cursor: str | None = None


class TraverseParams(ReadParams):
    """Params of ``traverse_graph``."""

    start_type: EntityType
    start_value: Key = Field(description="Any of its names.")
    max_depth: Depth = 2
    limit: ListLimit = Field(default=NODES_LIMIT, description="Nodes to return.")
    nugget: NuggetName | None = None
    session_id: Token | None = Field(default=None, description=_SESSION)


class GraphStepView(Result):
    """One step of a path: by which edge, in which direction, to which entity, and the note that says so."""

    relationship: str
    direction: Direction
    type: str
    value: str
    note_id: str


class VisitedView(Result):
    """An entity that a walk came to, and the shortest way there."""

    type: str
    value: str
    depth: int
    path: list[GraphStepView]


class TraverseResult(Result):
    """Answer of ``traverse_graph``: breadth first, each entity once, the first one left out."""

    nodes: list[VisitedView]
    truncated: bool = Field(description=f"Whether there is more than was read or may be returned; {_PERHAPS}.")
    index: IndexState = Field(description=_READ)


class TimelineParams(PageParams):
    """Params of ``graph.timeline``: an entity or a query."""

    entity_type: EntityType | None = None
    entity_value: Key | None = None
    query: Query | None = None
    nugget: NuggetName | None = None
    session_id: Token | None = Field(default=None, description=_SESSION)

    @model_validator(mode="after")
    def _one_subject(self) -> "TimelineParams":
        if (self.entity_type is None) != (self.entity_value is None):
            missing = "entity_type" if self.entity_type is None else "entity_value"
            raise between_params(missing, "an entity has a type and a value")
        if (self.entity_type is None) == (self.query is None):
            raise between_params("query", "give either an entity or a query")
        return self


class TimelineEntryView(Result):
    """Something that happened, or that a note was replaced by another one."""

    at: str
    basis: Literal["occurred_at", "valid_from", "text", "created_at"] = Field(description="What `at` is of the note.")
    said: str | None = Field(default=None, description="The day, month or year in its text, if `at` is from there.")
    event: Literal["noted", "superseded"]
    note_id: str
    title: str | None = None
    text: str = Field(description="The note's first sentence.")
    superseded_by: str | None = Field(default=None, description="The note that says otherwise by now.")


class TimelineResult(Result):
    """Answer of ``graph.timeline``, the earliest first."""

    entries: list[TimelineEntryView]
    truncated: bool = Field(description=f"Whether there are older notes than were looked at; {_PERHAPS}.")
    index: IndexState = Field(description=f"{_READ} Of a query it is that of recall.")
    next_cursor: str | None = None


class GraphExportParams(PageParams):
    """Params of ``graph.export``: the whole graph in pages, or what lies around one entity."""

    format: Literal["json", "graphml", "dot"] = "json"
    entity_type: EntityType | None = None
    entity_value: Key | None = None
    max_depth: Depth = 2
    limit: ListLimit = Field(default=1000, description="Edges of one page, as notes say them.")
    nugget: NuggetName | None = None
    session_id: Token | None = Field(default=None, description=_SESSION)

    @model_validator(mode="after")
    def _whole_or_around(self) -> "GraphExportParams":
        if (self.entity_type is None) != (self.entity_value is None):
            missing = "entity_type" if self.entity_type is None else "entity_value"
            raise between_params(missing, "an entity has a type and a value")
        if self.entity_type is not None and self.cursor is not None:
            raise between_params("cursor", "what lies around an entity is one page")
        return self


class ExportedNodeView(Result):
    """An entity in an export."""

    id: str
    type: str
    value: str


class ExportedEdgeView(Result):
    """What notes say of two entities."""

    source: str = Field(description="The `id` of a node.")
    target: str
    relationship: str
    edge_type: EdgeKind
    confidence: float = Field(description="Of the note that is surest.")
    note_ids: list[str] = Field(description="The newest ten of the notes on this page that say so.")


class GraphExportResult(Result):
    """Answer of ``graph.export``: ``nodes`` and ``edges`` as JSON, else a ``text``."""

    format: str
    node_count: int
    edge_count: int
    nodes: list[ExportedNodeView] | None = None
    edges: list[ExportedEdgeView] | None = None
    text: str | None = Field(default=None, description="A complete document of the page.")
    truncated: bool = Field(description=f"Whether there is more than this page has; {_PERHAPS}.")
    index: IndexState = Field(description=_READ)
    next_cursor: str | None = None


define(
    "get_entity_relationships",
    RelationshipsParams,
    RelationshipsResult,
    need="read",
    summary="What notes say that an entity has to do with others.",
)
define("traverse_graph", TraverseParams, TraverseResult, need="read", summary="Entities few steps away from one.")
define("graph.timeline", TimelineParams, TimelineResult, need="read", summary="What happened, in order of time.")
define("graph.export", GraphExportParams, GraphExportResult, need="read", summary="The graph of entities as a file.")
