"""Methods by which a session reads the graph of its nugget: nodes, links, the frontier, and what is chosen from."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from shelfd.protocol.base import NoteId, PageParams, ReadParams, Result, Token, Wire, Word, max_bytes
from shelfd.protocol.limits import LIST_LIMIT, MAX_INTEGER, RECALL_LIMIT
from shelfd.protocol.registry import define

_IDS = 10_000
_NAMES = 64

#: An id that may be blank: no note has that.
AnyId = Annotated[str, Field(max_length=256)]
Ids = Annotated[list[NoteId], Field(max_length=_IDS)]
Words = Annotated[list[Word], Field(max_length=_NAMES)]
#: A query that may be blank: it finds nothing.
AnyQuery = Annotated[str, max_bytes("query_bytes")]
Seq = Annotated[int, Field(ge=-1, le=MAX_INTEGER)]
SampleLimit = Annotated[int, Field(ge=1, le=LIST_LIMIT)]
K = Annotated[int, Field(ge=1, le=RECALL_LIMIT)]
LinkDirection: TypeAlias = Literal["in", "out", "symmetric"]
Level: TypeAlias = Literal["semantic", "episodic"]

_VISIBLE = "Ids of the notes that count as visible; else what the prompt held last, else the frontier. [] is nothing."
_TYPES = "Only notes of these types; case makes no difference."
_RELATIONS = "Only links of these relations."


class SessionReadParams(ReadParams):
    """Params of a method by which a session reads."""

    session_id: Token


class SessionPageParams(PageParams):
    """Params of a method by which a session lists."""

    session_id: Token


class SeqRange(Wire):
    """Numbers of turns, of a nugget's counter; both ends belong to it."""

    first: Seq | None = Field(default=None, alias="from")
    last: Seq | None = Field(default=None, alias="to")


class NodeView(Result):
    """A note as a node of the graph."""

    id: str
    type: str
    level: str
    title: str
    fields: dict[str, Any]
    seq_to: int = Field(description="Number of the last turn that touched it, in its nugget's counter; -1 for none.")
    parent_id: str = Field(description="Of the note that represents it; empty for none.")
    children_ids: list[str] = Field(description="Of the notes it represents, hidden ones included; 1,000 at most.")
    archived: bool
    semantic_rollup: bool
    semantic_depth: int
    source_span: list[int] | None = Field(description="Numbers of the first and the last turn it comes from.")


class EdgeView(Result):
    """A directed link."""

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    type: str


class ProjectedEdgeView(EdgeView):
    """A link between visible notes."""

    weight: int = Field(description="How many stored links it stands for.")


class NeighborView(Result):
    """A note that is linked to another."""

    node: NodeView
    edge_type: str
    direction: LinkDirection


class RelationCount(Result):
    """How often a note is linked by one relation."""

    relation: str
    direction: LinkDirection
    count: int


class SampleNeighbor(Result):
    """A note at the other end of a link."""

    id: str
    type: str
    title: str
    to_seq: int = Field(description="Number of the turn the newest link was made in, else that of its newer end.")


class EdgeSummaryView(Result):
    """How a note is linked to visible notes."""

    degree: int
    relations: list[RelationCount] = Field(description="The most frequent first.")
    sample_neighbors: list[SampleNeighbor] = Field(description="Those with the newest links.")


class NodeBriefView(Result):
    """A note as a row of what is chosen from for a prompt."""

    id: str
    level: str
    type: str
    table_name: str
    title: str
    summary: str
    key_values: dict[str, str] = Field(description="By what it is known: the key columns of its type.")
    row_values: dict[str, str] = Field(description="Its other columns; of exposure high_only the summary alone.")
    to_seq: int
    child_count: int = Field(description="Notes it represents that are not hidden.")
    exposure: Literal["high_only", "full"]
    edge_summary: EdgeSummaryView | None
    always_inject: bool = Field(description="Whether it is among the always_inject_ids of the injection state.")
    source_span: list[int] | None


class NodeParams(SessionReadParams):
    """Params of a method on one node."""

    id: AnyId


class NodeResult(Result):
    """A node, or null."""

    node: NodeView | None


class NodesResult(Result):
    """A page of nodes."""

    nodes: list[NodeView]
    next_cursor: str | None = None


class ListNodesParams(SessionPageParams):
    """Params of ``session.list_nodes``."""

    types: Words | None = Field(default=None, description=_TYPES)
    levels: list[Level] | None = None
    active_only: bool = Field(default=True, description="Neither hidden notes nor traces of recalls.")
    seq_range: SeqRange | None = None


class ListEdgesParams(SessionPageParams):
    """Params of ``session.list_edges``."""

    source: NoteId | None = Field(default=None, alias="from")
    target: NoteId | None = Field(default=None, alias="to")
    types: Words | None = Field(default=None, description=_RELATIONS)
    exclude_internal: bool = Field(default=False, description="Not those that follow from rollups.")


class EdgesResult(Result):
    """A page of links."""

    edges: list[EdgeView]
    next_cursor: str | None = None


class GetNeighborsParams(SessionPageParams):
    """Params of ``session.get_neighbors``."""

    id: AnyId
    edge_types: Words | None = Field(default=None, description=_RELATIONS)
    direction: Literal["in", "out", "both"] = "both"
    project_to: Literal["raw", "visible"] | Ids = Field(
        default="raw",
        description="Put the nearest visible note above in each one's place; ids say which are visible.",
    )


class NeighborsResult(Result):
    """A page of neighbours, the oldest note first."""

    neighbors: list[NeighborView]
    next_cursor: str | None = None


class NodeCondition(Wire):
    """What a note has to be."""

    type: Word | None = None
    level: Level | None = None
    semantic_rollup: bool | None = None
    min_depth: Annotated[int, Field(ge=0, le=1000)] | None = None


class GetAncestorParams(NodeParams):
    """Params of ``session.get_ancestor``."""

    active_only: bool = Field(default=True, description="A hidden note on the way ends the search.")
    where: NodeCondition | None = None


class GetDescendantsParams(SessionPageParams):
    """Params of ``session.get_descendants``."""

    id: AnyId
    active_only: bool = True
    max_depth: Annotated[int, Field(ge=0, le=1000)] | None = None


class NearestVisibleParams(NodeParams):
    """Params of ``session.get_nearest_visible_ancestor``."""

    visible_node_ids: Ids | None = Field(default=None, description=_VISIBLE)


class ProjectEdgesParams(SessionPageParams):
    """Params of ``session.project_edges``."""

    visible_node_ids: Ids | None = Field(default=None, description=_VISIBLE)
    edge_types: Words | None = Field(default=None, description=_RELATIONS)
    exclude_internal: bool = Field(default=True, description="Not those that follow from rollups.")


class ProjectedEdgesResult(Result):
    """A page of links between visible notes."""

    edges: list[ProjectedEdgeView]
    next_cursor: str | None = None


class ExposureResult(Result):
    """How much of a note is shown among candidates; null if there is none such, or it is hidden."""

    exposure: Literal["high_only", "full"] | None


class ListVisibleCandidatesParams(SessionPageParams):
    """Params of ``session.list_visible_candidates``."""

    types: Words | None = Field(default=None, description=_TYPES)
    seq_window: SeqRange | None = None
    exclude_recent_messages: Annotated[int, Field(ge=0, le=1_000)] = Field(
        default=0, description="Not what the last so many turns of this session touched: the prompt holds them anyway."
    )


class GetEdgeSummaryParams(NodeParams):
    """Params of ``session.get_edge_summary``."""

    visible_node_ids: Ids | None = Field(default=None, description=_VISIBLE)
    edge_types: Words | None = Field(default=None, description=_RELATIONS)
    limit: SampleLimit = 8


class BriefParams(SessionReadParams):
    """Params of methods that give briefs."""

    visible_node_ids: Ids | None = Field(default=None, description=_VISIBLE)
    include_edge_summary: bool = True
    edge_summary_limit: SampleLimit = 8


class GetNodeBriefParams(BriefParams):
    """Params of ``session.get_node_brief``."""

    id: AnyId


class BriefResult(Result):
    """A brief; null if there is no such note, or it is hidden."""

    brief: NodeBriefView | None


class GetNodeBriefsParams(BriefParams):
    """Params of ``session.get_node_briefs``."""

    ids: Annotated[list[AnyId], Field(max_length=LIST_LIMIT)]


class BriefsResult(Result):
    """Briefs in the order of the ids, null where there is none."""

    briefs: list[NodeBriefView | None]


class ExpandFromSeedsParams(SessionPageParams):
    """Params of ``session.expand_from_seeds``."""

    seed_ids: Annotated[list[AnyId], Field(max_length=LIST_LIMIT)]
    hops: Annotated[int, Field(ge=0, le=16)] = 1
    edge_types: Words | None = Field(default=None, description=_RELATIONS)
    project_to: Literal["raw", "visible"] | Ids = Field(
        default="visible",
        description="Where links lead: to any active note, to visible ones, or only to these.",
    )
    include_children: bool = Field(default=True, description="Notes lead to those they represent, too.")
    exclude_internal: bool = Field(default=False, description="Follow nothing that follows from rollups.")


class ReachedView(NodeView):
    """A node that was reached from a seed."""

    hop: int = Field(description="In how many steps; 0 for a seed.")
    path: list[str] = Field(description="Ids of the notes on the way, from the seed to itself.")


class ReachedResult(Result):
    """What was reached, the nearest first, and nothing else."""

    nodes: list[ReachedView]
    next_cursor: str | None = None


class WordSearchParams(SessionReadParams):
    """Params of ``session.keyword_search``."""

    query: AnyQuery
    types: Words | None = Field(default=None, description=_TYPES)
    k: K = 20
    within: Literal["frontier", "all"] = Field(default="frontier", description="all opens leaves under rollups.")


class VectorSearchParams(SessionReadParams):
    """Params of ``session.vector_search``."""

    query: AnyQuery
    types: Words | None = Field(default=None, description=_TYPES)
    k: K = 20


class RankedView(NodeView):
    """A node that was searched for."""

    score: float = Field(
        ge=0,
        le=1,
        description="By keywords: the share of the query's words it has. By vectors: how like the query it is.",
    )
    score_mode: Literal["keyword", "vector"]


class RankedResult(Result):
    """What was found, best first."""

    results: list[RankedView]


class FindByNameParams(SessionPageParams):
    """Params of ``session.find_by_name``."""

    query: AnyQuery
    types: Words | None = Field(default=None, description=_TYPES)
    within: Literal["frontier", "all"] = Field(default="frontier", description="all opens leaves under rollups.")


class NamedResult(Result):
    """Notes with such a name: those that are called so, then those of whose names it is a part; each part by time."""

    matches: list[NodeView]
    next_cursor: str | None = None


def _read(name: str, params: type[ReadParams], result: type[Result], summary: str) -> None:
    define(f"session.{name}", params, result, need="read", summary=summary)


_read("list_nodes", ListNodesParams, NodesResult, "Nodes of the session's graph, the earliest turn first.")
_read("get_node", NodeParams, NodeResult, "One node, hidden or not.")
_read("list_edges", ListEdgesParams, EdgesResult, "Links of the graph as they are stored, and those of rollups.")
_read("get_neighbors", GetNeighborsParams, NeighborsResult, "Notes that a node is linked to itself.")
_read("get_ancestor", GetAncestorParams, NodeResult, "The nearest note above a node that fits a condition.")
_read("get_descendants", GetDescendantsParams, NodesResult, "Notes below a node, level by level.")
_read("get_nearest_visible_ancestor", NearestVisibleParams, NodeResult, "The visible note that represents a node.")
_read("project_edges", ProjectEdgesParams, ProjectedEdgesResult, "Links between visible notes, and of all below them.")
_read("get_node_exposure", NodeParams, ExposureResult, "How much of a node is shown among candidates.")
_read("list_visible_candidates", ListVisibleCandidatesParams, NodesResult, "The frontier, the latest turn first.")
_read("get_edge_summary", GetEdgeSummaryParams, EdgeSummaryView, "How a node is linked to visible ones, in short.")
_read("get_node_brief", GetNodeBriefParams, BriefResult, "A node as a row of what is chosen from for a prompt.")
_read("get_node_briefs", GetNodeBriefsParams, BriefsResult, "Several nodes as such rows.")
_read("expand_from_seeds", ExpandFromSeedsParams, ReachedResult, "What can be reached from some nodes, breadth first.")
_read("keyword_search", WordSearchParams, RankedResult, "Nodes that have words of a query.")
_read("vector_search", VectorSearchParams, RankedResult, "Nodes whose meaning is near a query's; needs an embedder.")
_read("find_by_name", FindByNameParams, NamedResult, "Nodes by title, alias or key columns.")
