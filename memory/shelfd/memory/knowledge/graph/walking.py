"""Reads the graph of entities: what wanted notes say, all names of an entity being one node; and a walk past edges."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.edges import EdgeEngine, EdgeType, LeadRow, Neighbour, NeighbourRow, StoredEdge
from shelfd.memory.ports.entities import Enrichment, EntityNode, PlacedRow, StoredEntity
from shelfd.memory.ports.view import View

#: Edges read at once of one name, in one direction: more than one note gives an entity.
_PAGE: Final = 300
#: After so many edges read other tasks run.
_TURN: Final = 200
#: Edges that one walk reads at most.
MOST_READ: Final = 20_000
#: Makes a named tuple of what is known to have its length: in a third of the time, and a walk reads a thousand.
_new: Final = tuple.__new__
_NOTE: Final = 0  #: where the row of an edge has that of its note


class GraphEdge(NamedTuple):
    """An edge as one note says it, seen from one of its ends.

    Attributes:
        node: The other end.
        is_outgoing: Whether it leads there.
        origin: The entity at this end.
        note: The row of the note that says so; its id, the entity there and what is said follow, as in
            :class:`~shelfd.memory.ports.edges.Neighbour`.
    """

    node: EntityNode
    is_outgoing: bool
    origin: StoredEntity
    note: int
    note_id: str
    number: int
    relation: str
    type: str
    key: str
    value: str
    edge_type: EdgeType
    confidence: float
    engine: EdgeEngine

    @property
    def entity(self) -> StoredEntity:
        """The entity there."""
        return StoredEntity(self.number, self.type, self.key, self.value)

    @property
    def ends(self) -> tuple[str, str]:
        """How the entity that it leaves and the one that it reaches are shown."""
        here, there = self.origin.value, self.value
        return (here, there) if self.is_outgoing else (there, here)

    @property
    def place(self) -> tuple[int, int, str, int]:
        """What tells what a note says from what else it says, whoever read it."""
        here, there = self.origin.number, self.number
        source, target = (here, there) if self.is_outgoing else (there, here)
        return source, target, self.relation, self.note


class _Stream(NamedTuple):
    """Edges of one entity in one direction, those of the newest notes first: rows that begin with that of the note."""

    origin: StoredEntity
    is_outgoing: bool
    edges: Sequence[Any]

    def above(self, row: int) -> "_Stream":
        """Only what notes above a row say."""
        return self._replace(edges=[edge for edge in self.edges if edge[_NOTE] > row])

    def only(self, row: int) -> "_Stream":
        """Only what one note says."""
        return self._replace(edges=[edge for edge in self.edges if edge[_NOTE] == row])


class GraphReader:
    """Reads edges of nodes, those of the newest notes first.

    Args:
        view: The shelf.
        enrichment: Knows which names mean the same.
        wanted: The notes whose edges count.

    Attributes:
        read: Edges read so far, whatever became of their notes.
        below: Below which row of notes the edges of the last node are that were not read; None if there are none.
    """

    def __init__(self, view: View, enrichment: Enrichment, wanted: NoteFilter) -> None:
        self.below: int | None = None
        self._view = view
        self._names = enrichment.names()
        self._by_name: dict[tuple[str, str], EntityNode] = {}
        self._by_number: dict[int, EntityNode] = {}
        self._wanted = wanted
        self.read = 0
        self._rested = 0

    @property
    def is_spent(self) -> bool:
        """Whether as many edges were read as one walk may."""
        return self.read >= MOST_READ

    def node(self, type_: str, value: str) -> EntityNode | None:
        """Return the node that has this name; None if no note mentions it by any of its names.

        One reader gives the same node for all of them.
        """
        for name in self._names.same(type_, value):
            entity = self._view.entities.get(*name)
            if entity is not None:
                return self._known(entity)
        return None

    async def edges(
        self,
        node: EntityNode,
        *,
        before: int | None = None,
        via: StoredEntity | None = None,
    ) -> AsyncIterator[list[GraphEdge]]:
        """Yield what notes say of a node, all of a note together, from the newest note below row *before* on.

        Args:
            node: The node.
            before: A row of notes; None for all.
            via: The entity as which it was come to, if it was.
        """
        entities = self._entities(node, via)
        here = frozenset(entity.number for entity in entities)
        edges = self._view.edges
        while entities and not self.is_spent:
            streams, before = await self._batch(entities, before, edges.leaving, edges.reaching)
            self.below = before
            yield self._seen_from(here, streams)
            if before is None:
                return

    async def leads(
        self, node: EntityNode, *, via: StoredEntity | None = None
    ) -> AsyncIterator[list[tuple[bool, Sequence[LeadRow]]]]:
        """Yield where the edges of a node lead, in the order of :meth:`edges`, and whether they leave it."""
        entities = self._entities(node, via)
        edges, before = self._view.edges, None
        while entities and not self.is_spent:
            streams, before = await self._batch(entities, before, edges.leads_from, edges.leads_to)
            yield _in_order([(stream.is_outgoing, stream.edges) for stream in streams if stream.edges])
            if before is None:
                return

    def placed(self, numbers: Sequence[int]) -> Mapping[int, PlacedRow]:
        """Return what some entities are in the graph, by number, of those that there are."""
        return self._names.placed(numbers, self._view.entities)

    def _entities(self, node: EntityNode, via: StoredEntity | None) -> list[StoredEntity]:
        """All names of a node that some note mentions; as which it was come to need not be looked up."""
        found = []
        for type_, key in self._names.same(node.type, node.key):
            if via is not None and via.key == key and via.type == type_:
                found.append(via)
            elif (entity := self._view.entities.get(type_, key)) is not None:
                found.append(entity)
        return found

    async def page(self, *, before: int | None, limit: int) -> tuple[list[tuple[EntityNode, GraphEdge]], int | None]:
        """Return at most some *limit* edges of all nodes, whole notes only, from the newest below row *before* on.

        Returns:
            Each edge with the node it leaves, and below which row the others are; None if there are none.
        """
        found: list[tuple[EntityNode, GraphEdge]] = []
        while not self.is_spent:
            edges = self._view.edges.page(self._wanted, before=before, limit=_PAGE)
            self.read += len(edges)
            is_last = len(edges) < _PAGE
            if not is_last and edges[0].note != edges[-1].note:  # the last note may be cut off
                edges = [edge for edge in edges if edge.note != edges[-1].note]
            for row, some in groupby(edges, key=lambda edge: edge.note):
                seen = list(self._from_sources(some))
                if found and len(found) + len(seen) > limit:
                    return found, row + 1
                found += seen
                before = row
            if is_last:
                return found, None
            await self.rest()
        return found, before

    def _from_sources(self, edges: Iterable[StoredEdge]) -> Iterator[tuple[EntityNode, GraphEdge]]:
        for edge in edges:
            source, target = self._known(edge.source), self._known(edge.target)
            if edge.note_id is not None and source != target:
                yield source, _new(GraphEdge, (target, True, edge.source, *edge.to(edge.target)))

    async def rest(self) -> None:
        """Let other tasks run, if enough was read since they last did."""
        if self.read - self._rested >= _TURN:
            self._rested = self.read
            await asyncio.sleep(0)

    async def _batch(
        self,
        entities: Sequence[StoredEntity],
        before: int | None,
        leaving: Callable[..., Sequence[Any]],
        reaching: Callable[..., Sequence[Any]],
    ) -> tuple[list[_Stream], int | None]:
        """The next edges, whole notes only, and below which row the others are; None if there are none."""
        streams = []
        for entity in entities:
            for is_outgoing, read in ((True, leaving), (False, reaching)):
                found = read(entity.number, self._wanted, before=before, limit=_PAGE)
                streams.append(_Stream(entity, is_outgoing, found))
                self.read += len(found)
                await self.rest()
        # What a full page says last may be cut off in the middle of a note.
        floor = max((stream.edges[-1][_NOTE] for stream in streams if len(stream.edges) == _PAGE), default=0)
        if not floor:
            return streams, None
        if not any(stream.edges and stream.edges[0][_NOTE] > floor for stream in streams):
            return [stream.only(floor) for stream in streams], floor  # one note filled it
        return [stream.above(floor) for stream in streams], floor + 1

    def _seen_from(self, here: frozenset[int], streams: Sequence[_Stream]) -> list[GraphEdge]:
        known = self._by_number
        found: list[GraphEdge] = []
        add = found.append
        for origin, is_outgoing, edges in streams:
            last: NeighbourRow | None = None
            for edge in edges:
                _, note_id, number, _, type_, key, value, _, _, engine = edge
                if note_id is None or number in here:
                    continue  # the note is not wanted, or two names of one
                # What a model read comes after what rules read, and may be the same.
                if engine != "rules" and last is not None and _says_the_same(edge, last):
                    continue
                last = edge
                node = known.get(number) or self._known(StoredEntity(number, type_, key, value))
                add(_new(GraphEdge, (node, is_outgoing, origin, *edge)))
        if sum(bool(stream.edges) for stream in streams) > 1:
            found.sort(key=lambda one: -one.note)
        return found

    def _known(self, entity: StoredEntity) -> EntityNode:
        node = self._names.node(entity)
        node = self._by_number[entity.number] = self._by_name.setdefault(node.name, node)
        return node


def _in_order(streams: list[tuple[bool, Sequence[LeadRow]]]) -> list[tuple[bool, Sequence[LeadRow]]]:
    """The same with the newest notes first."""
    if len(streams) < 2:  # as of most nodes
        return streams
    every = [(is_outgoing, row) for is_outgoing, rows in streams for row in rows]
    every.sort(key=lambda one: -one[1][_NOTE])
    return [(is_outgoing, [row for _, row in some]) for is_outgoing, some in groupby(every, key=itemgetter(0))]


def _says_the_same(edge: NeighbourRow, other: NeighbourRow) -> bool:
    one, before = Neighbour(*edge), Neighbour(*other)
    return (one.number, one.relation, one.note) == (before.number, before.relation, before.note)


@dataclass(slots=True)
class Walk:
    """What a walk came to.

    Attributes:
        nodes: To which nodes, in the order in which it did, the one where it began among them.
        is_truncated: Whether there is more than it was allowed to read.
        edges: The edges it went along or past, each once, seen from where it came from.
    """

    nodes: list[EntityNode]
    is_truncated: bool = False
    edges: list[tuple[EntityNode, GraphEdge]] = field(default_factory=list)


async def walk(reader: GraphReader, start: EntityNode, *, max_depth: int, most_nodes: int, most_edges: int) -> Walk:
    """Walk breadth first from a node, along all edges there are.

    Args:
        reader: Whose notes and bounds count.
        start: Where it begins.
        max_depth: Steps.
        most_nodes: Nodes it comes to, beside the first.
        most_edges: Edges to return.
    """
    found = Walk([start])
    known = {start}
    passed = set[tuple[int, int, str, int]]()
    waiting: deque[tuple[EntityNode, int, StoredEntity | None]] = deque([(start, 0, None)])
    while waiting and (at := waiting.popleft())[1] < max_depth:
        node, depth, via = at
        async for edges in reader.edges(node, via=via):
            for one in edges:
                is_new = (there := one[0]) not in known
                is_unseen = one.place not in passed
                if (is_new and len(known) > most_nodes) or (is_unseen and len(passed) == most_edges):
                    found.is_truncated = True
                    return found
                if is_unseen:
                    passed.add(one.place)
                    found.edges.append((node, one))
                if is_new:
                    known.add(there)
                    found.nodes.append(there)
                    waiting.append((there, depth + 1, one.entity))
        await reader.rest()
        if reader.is_spent:
            found.is_truncated = True
            break
    return found
