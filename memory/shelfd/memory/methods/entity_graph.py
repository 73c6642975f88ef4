"""Use cases on the graph of entities: what an entity has to do with others, and what lies around it."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shelfd.memory.call import Call
from shelfd.memory.encoded import EncodedResult
from shelfd.memory.knowledge.entities.kinds import shown
from shelfd.memory.knowledge.graph.formats import dot, graphml
from shelfd.memory.knowledge.graph.visiting import Visited, visit
from shelfd.memory.knowledge.graph.walking import GraphEdge, GraphReader, walk
from shelfd.memory.methods import cursor
from shelfd.memory.methods.caught_up import is_partial, read_for_entities
from shelfd.memory.methods.entities import checked_type
from shelfd.memory.methods.registry import read
from shelfd.memory.methods.spelled import as_spelled
from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.ports.entities import EntityNode
from shelfd.memory.shelf.nuggets import get_nugget
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import from_micros
from shelfd.protocol.methods.entity_graph import (
    NODES_LIMIT,
    GraphExportParams,
    RelationshipsParams,
    TraverseParams,
)

#: Notes read at once; after so many other tasks run.
_PAGE = 32
#: Notes that an exported edge names.
_NOTES_NAMED = 10


def wanted_of(shelf: Shelf, nugget: str | None, session_id: str | None) -> NoteFilter:
    """Return which notes count: those that recall returns.

    Raises:
        NuggetNotFound: If there is no such nugget.
    """
    if nugget is not None:
        get_nugget(shelf.view, nugget)
    return RECALLABLE._replace(nugget=nugget, session=session_id, now=shelf.clock.now())


@read("get_entity_relationships")
async def relationships(shelf: Shelf, params: RelationshipsParams, call: Call) -> dict[str, Any]:
    """Return what notes say that an entity has to do with others, the newest note first."""
    type_ = checked_type(params.entity_type, "entity_type", call)
    position = cursor.decode_numbers(params.cursor, 2)
    wanted = wanted_of(shelf, params.nugget, params.session_id)
    state = await read_for_entities(shelf, params.min_seq)
    reader = GraphReader(shelf.view, shelf.enrichment, wanted)
    value = await as_spelled(shelf, type_, params.entity_value, wanted)
    node = reader.node(type_, value)
    row, passed = position or (None, 0)
    found: list[GraphEdge] = []
    if node is not None:
        # Of the note at which the page before ended, what it had is read again and left out.
        async for edges in reader.edges(node, before=None if row is None else row + 1):
            found += edges
            if len(found) > params.limit + passed:
                break
    if row is not None:
        passed = min(passed, sum(one.note == row for one in found))
    page = found[passed : passed + params.limit]
    times = await _times(shelf, dict.fromkeys(one.note for one in page))
    result: dict[str, Any] = {
        "entity": entity_view(shelf, type_, params.entity_value, value),
        "relationships": [_relationship(one, times[one.note]) for one in page if one.note in times],
        "index": state,
    }
    if len(found) > passed + params.limit:
        last = page[-1].note
        said_of_last = sum(one.note == last for one in found[: passed + params.limit])
        result["next_cursor"] = cursor.encode(last, said_of_last)
    elif reader.is_spent and reader.below is not None:
        result["next_cursor"] = cursor.encode(reader.below - 1, 0)
    return result


def entity_view(shelf: Shelf, type_: str, asked: str, value: str) -> dict[str, Any]:
    """Return an entity as it was asked for, and the name that stands for it, whose notes have *value*."""
    return {"type": type_, "value": shown(type_, asked), "canonical": shelf.enrichment.canonical(type_, value)}


async def _times(shelf: Shelf, rows: Iterable[int]) -> dict[int, dict[str, str]]:
    """The times of notes by row, without keeping their text."""
    found: dict[int, dict[str, str]] = {}
    left = list(rows)
    for begin in range(0, len(left), _PAGE):
        for row, note in shelf.view.notes.by_rows(left[begin : begin + _PAGE]).items():
            given = {"observed_at": note.when, "valid_from": note.valid_from, "valid_to": note.valid_to}
            found[row] = {name: from_micros(moment) for name, moment in given.items() if moment is not None}
        await asyncio.sleep(0)
    return found


def _relationship(one: GraphEdge, times: Mapping[str, str]) -> dict[str, Any]:
    return {
        "node": {"type": one.node.type, "value": one.node.value},
        "relationship": one.relation,
        "direction": _direction(one),
        "edge_type": one.edge_type,
        "note_id": one.note_id,
        "confidence": one.confidence,
        "properties": {"engine": one.engine, **times},
    }


def _direction(one: GraphEdge) -> str:
    return "outgoing" if one.is_outgoing else "incoming"


@read("traverse_graph")
async def traverse(shelf: Shelf, params: TraverseParams, call: Call) -> EncodedResult:
    """Return the entities few steps away from one, breadth first, each once."""
    type_ = checked_type(params.start_type, "start_type", call)
    wanted = wanted_of(shelf, params.nugget, params.session_id)
    state = await read_for_entities(shelf, params.min_seq)
    reader = GraphReader(shelf.view, shelf.enrichment, wanted)
    start = reader.node(type_, await as_spelled(shelf, type_, params.start_value, wanted))
    if start is None:
        return EncodedResult(Visited([], is_truncated=is_partial(state)).json(state))
    found = await visit(reader, start, max_depth=params.max_depth, most_nodes=params.limit)
    return EncodedResult(found._replace(is_truncated=found.is_truncated or is_partial(state)).json(state))


@read("graph.export")
async def export(shelf: Shelf, params: GraphExportParams, call: Call) -> dict[str, Any]:
    """Return the graph of entities a page at a time, or what lies around one of them, as a document."""
    type_ = None if params.entity_type is None else checked_type(params.entity_type, "entity_type", call)
    position = cursor.decode_numbers(params.cursor, 1)
    wanted = wanted_of(shelf, params.nugget, params.session_id)
    state = await read_for_entities(shelf, params.min_seq)
    reader = GraphReader(shelf.view, shelf.enrichment, wanted)
    next_row: int | None = None
    if type_ is not None and params.entity_value is not None:
        start = reader.node(type_, await as_spelled(shelf, type_, params.entity_value, wanted))
        nodes, edges, is_truncated = await _around(reader, start, params)
    else:
        edges, next_row = await reader.page(before=position[0] if position else None, limit=params.limit)
        nodes, is_truncated = [], next_row is not None
    await asyncio.sleep(0)
    document = _document(params.format, nodes, edges)
    is_truncated = is_truncated or is_partial(state)
    result = {"format": params.format, **document, "truncated": is_truncated, "index": state}
    return result if next_row is None else {**result, "next_cursor": cursor.encode(next_row)}


async def _around(
    reader: GraphReader, start: EntityNode | None, params: GraphExportParams
) -> tuple[list[EntityNode], list[tuple[EntityNode, GraphEdge]], bool]:
    if start is None:
        return [], [], False
    found = await walk(reader, start, max_depth=params.max_depth, most_nodes=NODES_LIMIT, most_edges=params.limit)
    return found.nodes, found.edges, found.is_truncated


def _document(
    format_: str, known: Iterable[EntityNode], edges: Sequence[tuple[EntityNode, GraphEdge]]
) -> dict[str, Any]:
    nodes = {node.id: {"id": node.id, "type": node.type, "value": node.value} for node in known}
    merged: dict[tuple[str, str, str], dict[str, Any]] = {}
    for origin, one in edges:
        ends = (origin, one.node) if one.is_outgoing else (one.node, origin)
        for node in ends:
            nodes.setdefault(node.id, {"id": node.id, "type": node.type, "value": node.value})
        source, target = (node.id for node in ends)
        view = merged.setdefault(
            (source, target, one.relation),
            {
                "source": source,
                "target": target,
                "relationship": one.relation,
                "edge_type": one.edge_type,
                "confidence": one.confidence,
                "note_ids": [],
            },
        )
        view["confidence"] = max(view["confidence"], one.confidence)
        if one.note_id not in view["note_ids"] and len(view["note_ids"]) < _NOTES_NAMED:
            view["note_ids"].append(one.note_id)
    counts = {"node_count": len(nodes), "edge_count": len(merged)}
    if format_ == "json":
        return {**counts, "nodes": list(nodes.values()), "edges": list(merged.values())}
    write = graphml if format_ == "graphml" else dot
    return {**counts, "text": write(nodes.values(), merged.values())}
