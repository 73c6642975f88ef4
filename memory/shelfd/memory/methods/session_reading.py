"""Use cases by which a session reads the graph of its nugget."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final

from shelfd.memory.call import Call
from shelfd.memory.methods import cursor
from shelfd.memory.methods.registry import Answer, read
from shelfd.memory.sessions.finding import Range, by_meaning, by_name, by_words
from shelfd.memory.sessions.graph import IN, OUT
from shelfd.memory.sessions.listing import (
    NodeFilter,
    Span,
    candidates,
    edge_view,
    list_links,
    nodes_by_time,
    types_named,
)
from shelfd.memory.sessions.reading import Reading, Visible, open_reading
from shelfd.memory.sessions.summing import EdgeKey, edge_summary, projected_edges, relation_filter
from shelfd.memory.sessions.views import brief_view, direction_view, exposure_of, node_view, node_views, views_of
from shelfd.memory.sessions.walking import (
    Expansion,
    ancestor,
    descendants,
    expanded,
    neighbors,
    where_filter,
)
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.session_reading import (
    BriefParams,
    ExpandFromSeedsParams,
    FindByNameParams,
    GetAncestorParams,
    GetDescendantsParams,
    GetEdgeSummaryParams,
    GetNeighborsParams,
    GetNodeBriefParams,
    GetNodeBriefsParams,
    ListEdgesParams,
    ListNodesParams,
    ListVisibleCandidatesParams,
    NearestVisibleParams,
    NodeParams,
    ProjectEdgesParams,
    VectorSearchParams,
    WordSearchParams,
)

_DIRECTIONS: Final = {"in": IN, "out": OUT, "both": None}
#: Briefs made before other tasks have their turn: some milliseconds.
_BRIEFS: Final = 16


def _visible(reading: Reading, project_to: str | list[str]) -> Visible | None:
    """What links lead to; None for anything."""
    if project_to == "raw":
        return None
    return reading.visible(None if isinstance(project_to, str) else project_to)


def _paged(name: str, page: Sequence[dict[str, Any]], limit: int, following: str) -> Answer:
    """A result with a cursor if the page is full."""
    return {name: list(page), "next_cursor": following} if len(page) == limit else {name: list(page)}


async def _nodes_page(reading: Reading, found: Sequence[tuple[int, int]], limit: int) -> Answer:
    following = cursor.encode(found[-1][0]) if found else ""
    views = await node_views(reading, (node for _, node in found))
    return {"nodes": views, "next_cursor": following} if len(found) == limit else {"nodes": views}


def _after(text: str | None) -> int | None:
    position = cursor.decode_numbers(text, 1)
    return position[0] if position else None


def _edge_cursor(key: EdgeKey) -> str:
    return cursor.encode(f"{key.source}.{key.target}.{key.relation}")


def _after_edge(text: str | None) -> EdgeKey | None:
    position = cursor.decode_text(text)
    if position is None:
        return None
    source, target, relation = (*position.split(".", 2), "", "")[:3]
    if not (source.isdecimal() and target.isdecimal()):
        raise cursor.not_a_cursor()
    return EdgeKey(int(source), int(target), relation)


@read("session.list_nodes")
async def list_nodes(shelf: Shelf, params: ListNodesParams, _call: Call) -> Answer:
    """Return a page of notes by time."""
    reading = await open_reading(shelf, params.session_id)
    span = Span() if params.seq_range is None else Span(params.seq_range.first, params.seq_range.last)
    wanted = NodeFilter(types_named(reading, params.types), params.levels, params.active_only, span)
    found = await nodes_by_time(reading, wanted, after=_after(params.cursor), limit=params.limit)
    return await _nodes_page(reading, found, params.limit)


@read("session.get_node")
async def get_node(shelf: Shelf, params: NodeParams, _call: Call) -> Answer:
    """Return a note, hidden or not."""
    reading = await open_reading(shelf, params.session_id)
    return await _one(reading, reading.node(params.id.strip()))


async def _one(reading: Reading, node: int | None) -> Answer:
    views = [] if node is None else await node_views(reading, [node])
    return {"node": views[0] if views else None}


@read("session.list_edges")
async def list_edges(shelf: Shelf, params: ListEdgesParams, _call: Call) -> Answer:
    """Return a page of links as they are stored, and of those that follow from rollups."""
    reading = await open_reading(shelf, params.session_id)
    source, target = (None if end is None else reading.node(end) for end in (params.source, params.target))
    if (source is None and params.source is not None) or (target is None and params.target is not None):
        return {"edges": []}
    relations = relation_filter(reading, params.types, internal=not params.exclude_internal)
    after = _after_edge(params.cursor)
    found = await list_links(reading, source, target, relations, after=after, limit=params.limit)
    views = [edge_view(reading, link.source, link.target, link.key.relation) for link in found]
    return _paged("edges", views, params.limit, _edge_cursor(found[-1].key) if found else "")


@read("session.get_neighbors")
async def get_neighbors(shelf: Shelf, params: GetNeighborsParams, _call: Call) -> Answer:
    """Return a page of the active notes that a note is linked to."""
    reading = await open_reading(shelf, params.session_id)
    node = reading.node(params.id.strip())
    if node is None:
        return {"neighbors": []}
    relations = relation_filter(reading, params.edge_types, internal=True)
    visible, direction = _visible(reading, params.project_to), _DIRECTIONS[params.direction]
    found = neighbors(reading, node, relations, direction=direction, visible=visible)
    after = _after_edge(params.cursor)
    page = found.page(None if after is None else (after.source, after.relation, after.target), params.limit)
    views = await views_of(
        reading,
        page,
        lambda one: one.node,
        lambda one, note: {
            "node": node_view(reading, one.node, note),
            "edge_type": one.relation,
            "direction": direction_view(reading, one.number, one.direction),
        },
    )
    if len(page) < params.limit:
        return {"neighbors": views}
    last = page[-1]
    return {"neighbors": views, "next_cursor": _edge_cursor(EdgeKey(last.row, last.direction, last.relation))}


@read("session.get_ancestor")
async def get_ancestor(shelf: Shelf, params: GetAncestorParams, _call: Call) -> Answer:
    """Return the nearest note above one that fits a condition."""
    reading = await open_reading(shelf, params.session_id)
    node = reading.node(params.id.strip())
    if node is None:
        return {"node": None}
    admits = where_filter(reading, None if params.where is None else params.where.model_dump(exclude_none=True))
    return await _one(reading, ancestor(reading, node, active_only=params.active_only, admits=admits))


@read("session.get_descendants")
async def get_descendants(shelf: Shelf, params: GetDescendantsParams, _call: Call) -> Answer:
    """Return a page of the notes below one, level by level."""
    reading = await open_reading(shelf, params.session_id)
    node = reading.node(params.id.strip())
    if node is None:
        return {"nodes": []}
    start = _after(params.cursor) or 0
    found = await descendants(
        reading, node, active_only=params.active_only, max_depth=params.max_depth, start=start, limit=params.limit
    )
    return _paged("nodes", await node_views(reading, found), params.limit, cursor.encode(start + len(found)))


@read("session.get_nearest_visible_ancestor")
async def get_nearest_visible_ancestor(shelf: Shelf, params: NearestVisibleParams, _call: Call) -> Answer:
    """Return the visible note that represents one."""
    reading = await open_reading(shelf, params.session_id)
    node = reading.node(params.id.strip())
    return await _one(reading, None if node is None else reading.visible(params.visible_node_ids).nearest(node))


@read("session.project_edges")
async def project_edges(shelf: Shelf, params: ProjectEdgesParams, _call: Call) -> Answer:
    """Return a page of links between visible notes and all they represent."""
    reading = await open_reading(shelf, params.session_id)
    relations = relation_filter(reading, params.edge_types, internal=not params.exclude_internal)
    visible, after = reading.visible(params.visible_node_ids), _after_edge(params.cursor)
    found = await projected_edges(reading, visible, relations, after=after, limit=params.limit)
    views = [edge_view(reading, one.source, one.target, one.key.relation, weight=one.weight) for one in found]
    return _paged("edges", views, params.limit, _edge_cursor(found[-1].key) if found else "")


@read("session.get_node_exposure")
async def get_node_exposure(shelf: Shelf, params: NodeParams, _call: Call) -> Answer:
    """Return how much of a note is shown among candidates."""
    reading = await open_reading(shelf, params.session_id)
    node = reading.active(params.id.strip())
    return {"exposure": None if node is None else exposure_of(reading, node)}


@read("session.list_visible_candidates")
async def list_visible_candidates(shelf: Shelf, params: ListVisibleCandidatesParams, _call: Call) -> Answer:
    """Return a page of the frontier."""
    reading = await open_reading(shelf, params.session_id)
    window = params.seq_window
    found = await candidates(
        reading,
        types_named(reading, params.types),
        Span() if window is None else Span(window.first, window.last),
        recent=params.exclude_recent_messages,
        after=_after(params.cursor),
        limit=params.limit,
    )
    return await _nodes_page(reading, found, params.limit)


@read("session.get_edge_summary")
async def get_edge_summary(shelf: Shelf, params: GetEdgeSummaryParams, _call: Call) -> Answer:
    """Return how a note is linked to visible ones."""
    reading = await open_reading(shelf, params.session_id)
    visible = reading.visible(params.visible_node_ids)
    node = reading.node(params.id.strip())
    return await edge_summary(reading, node, visible, types=params.edge_types, limit=params.limit)


async def _briefs(reading: Reading, params: BriefParams, ids: Iterable[str]) -> list[dict[str, Any] | None]:
    visible = reading.visible(params.visible_node_ids)
    briefs: list[dict[str, Any] | None] = []
    for note_id in ids:
        node = reading.active(note_id.strip())
        if node is None:
            briefs.append(None)
            continue
        summary = None
        if params.include_edge_summary:
            summary = await edge_summary(reading, node, visible, types=None, limit=params.edge_summary_limit)
        briefs += [brief_view(reading, node, note, summary) for _, note in reading.notes_at([node])] or [None]
        if len(briefs) % _BRIEFS == 0:
            await asyncio.sleep(0)
    return briefs


@read("session.get_node_brief")
async def get_node_brief(shelf: Shelf, params: GetNodeBriefParams, _call: Call) -> Answer:
    """Return a note as a row of what is chosen from for a prompt."""
    reading = await open_reading(shelf, params.session_id)
    return {"brief": (await _briefs(reading, params, [params.id]))[0]}


@read("session.get_node_briefs")
async def get_node_briefs(shelf: Shelf, params: GetNodeBriefsParams, _call: Call) -> Answer:
    """Return several notes as such rows."""
    reading = await open_reading(shelf, params.session_id)
    return {"briefs": await _briefs(reading, params, params.ids)}


@read("session.expand_from_seeds")
async def expand_from_seeds(shelf: Shelf, params: ExpandFromSeedsParams, _call: Call) -> Answer:
    """Return what can be reached from some notes, breadth first."""
    reading = await open_reading(shelf, params.session_id)
    seeds = dict.fromkeys(node for one in params.seed_ids if (node := reading.node(one.strip())) is not None)
    how = Expansion(
        params.hops,
        relation_filter(reading, params.edge_types, internal=not params.exclude_internal),
        include_children=params.include_children and not params.exclude_internal,
        visible=_visible(reading, params.project_to),
        is_bounded=not isinstance(params.project_to, str),
    )
    start = _after(params.cursor) or 0
    reached = await expanded(reading, list(seeds), how, start=start, limit=params.limit)
    views = await views_of(
        reading,
        reached,
        lambda one: one.node,
        lambda one, note: {
            **node_view(reading, one.node, note),
            "hop": one.hop,
            "path": [reading.graph.id(node) for node in one.path],
        },
    )
    return _paged("nodes", views, params.limit, cursor.encode(start + len(reached)))


def _among(reading: Reading, types: Sequence[str] | None, within: str) -> Range:
    return Range(types_named(reading, types), is_whole=within == "all")


@read("session.keyword_search")
async def keyword_search(shelf: Shelf, params: WordSearchParams, _call: Call) -> Answer:
    """Return the notes that have the most words of a query."""
    reading = await open_reading(shelf, params.session_id)
    if not params.query.strip():
        return {"results": []}
    found = await by_words(reading, params.query, _among(reading, params.types, params.within), params.k)
    results = await views_of(
        reading,
        found,
        lambda match: match.node,
        lambda match, note: {**node_view(reading, match.node, note), "score": match.score, "score_mode": "keyword"},
    )
    return {"results": results}


@read("session.vector_search")
async def vector_search(shelf: Shelf, params: VectorSearchParams, _call: Call) -> Answer:
    """Return the notes whose meaning is nearest to a query's.

    Raises:
        ShelfError: If the query is not blank, and there is no embedder or it failed.
    """
    reading = await open_reading(shelf, params.session_id)
    if not params.query.strip():
        return {"results": []}
    found = await by_meaning(reading, params.query, _among(reading, params.types, "frontier"), params.k)
    results = await views_of(
        reading,
        found,
        lambda match: match.node,
        lambda match, note: {**node_view(reading, match.node, note), "score": match.score, "score_mode": "vector"},
    )
    return {"results": results}


@read("session.find_by_name")
async def find_by_name(shelf: Shelf, params: FindByNameParams, _call: Call) -> Answer:
    """Return a page of notes with a name."""
    reading = await open_reading(shelf, params.session_id)
    position = cursor.decode_numbers(params.cursor, 2)
    after = None if position is None else (position[0], position[1])
    among = _among(reading, params.types, params.within)
    found = await by_name(reading, params.query, among, after=after, limit=params.limit)
    views = [node_view(reading, match.node, match.note) for match in found]
    return _paged("matches", views, params.limit, cursor.encode(found[-1].place, found[-1].key) if found else "")
