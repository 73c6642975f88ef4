"""Reads the graph of entities: what wanted notes say, all names of an entity being one node; and a walk past edges."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.edges import EdgeEngine, EdgeType, Neighbour, NeighbourRow, StoredEdge
from shelfd.memory.ports.entities import Enrichment, EntityNode, StoredEntity
from shelfd.memory.ports.view import View

R = TypeVar("R", bound=Sequence[Any])

#: Edges read at once of one name, in one direction: more than one note gives an entity.
PAGE: Final = 300
#: After so many edges read other tasks run.
TURN: Final = 400
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


#: A node whose edges are wanted, and the entity as which it was come to, if it was.
NodeVia: TypeAlias = tuple[EntityNode, StoredEntity | None]


class GraphReader:
    """Reads edges of nodes, those of the newest notes first.

    Args:
        view: The shelf.
        enrichment: Knows which names mean the same.
        wanted: The notes whose edges count.

    Attributes:
        view: The shelf.
        names: Which names mean the same as of now.
        wanted: The notes whose edges count.
        read: Edges read so far, whatever became of their notes.
        below: Below which row of notes the edges of the last node are that were not read; None if there are none.
    """

    def __init__(self, view: View, enrichment: Enrichment, wanted: NoteFilter) -> None:
        self.below: int | None = None
        self.view = view
        self.names = enrichment.names()
        self._by_id: dict[str, EntityNode] = {}
        self._by_number: dict[int, EntityNode] = {}
        self.wanted = wanted
        self.read = 0
        self._since_rest = 0  #: edges read, or followed, since other tasks ran

    @property
    def is_spent(self) -> bool:
        """Whether as many edges were read as one walk may."""
        return self.read >= MOST_READ

    def node(self, type_: str, value: str) -> EntityNode | None:
        """Return the node that has this name; None if no note mentions it by any of its names.

        One reader gives the same node for all of them.
        """
        for name in self.names.same(type_, value):
            entity = self.view.entities.get(*name)
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
        [entities] = self.entities([(node, via)])
        here = frozenset(entity.number for entity in entities)
        edges = self.view.edges
        ends = [(entity, is_outgoing) for entity in entities for is_outgoing in (True, False)]
        while ends and not self.is_spent:
            pages = list[Sequence[NeighbourRow]]()
            for entity, is_outgoing in ends:
                read = edges.leaving if is_outgoing else edges.reaching
                pages.append(read(entity.number, self.wanted, before=before, limit=PAGE))
                self.count(len(pages[-1]))
                await self.rest()
            pages, before = whole(pages)
            self.below = before
            yield self._seen_from(here, ends, pages)
            if before is None:
                return

    def entities(self, nodes: Sequence[NodeVia]) -> list[list[StoredEntity]]:
        """All names of each node that some note mentions; as which it was come to need not be looked up."""
        names = [self.names.names_of(node) for node, _ in nodes]
        found = {via[1:3]: via for _, via in nodes if via is not None}
        missing = [name for some in names for name in some if name not in found]
        if missing:
            found |= {entity[1:3]: entity for entity in self.view.entities.called(missing)}
        return [[found[name] for name in some if name in found] for some in names]

    async def page(self, *, before: int | None, limit: int) -> tuple[list[tuple[EntityNode, GraphEdge]], int | None]:
        """Return at most some *limit* edges of all nodes, whole notes only, from the newest below row *before* on.

        Returns:
            Each edge with the node it leaves, and below which row the others are; None if there are none.
        """
        found: list[tuple[EntityNode, GraphEdge]] = []
        while not self.is_spent:
            edges = self.view.edges.page(self.wanted, before=before, limit=PAGE)
            self.count(len(edges))
            is_last = len(edges) < PAGE
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

    def count(self, edges: int) -> None:
        """Count edges that were read."""
        self.read += edges
        self._since_rest += edges

    def follow(self, edges: int) -> None:
        """Count edges that are looked at once more, which takes a while of its own."""
        self._since_rest += edges

    async def rest(self) -> None:
        """Let other tasks run, if enough was read since they last did."""
        if self._since_rest >= TURN:
            self._since_rest = 0
            await asyncio.sleep(0)

    def _seen_from(
        self,
        here: frozenset[int],
        ends: Sequence[tuple[StoredEntity, bool]],
        pages: Sequence[Sequence[NeighbourRow]],
    ) -> list[GraphEdge]:
        known = self._by_number
        found: list[GraphEdge] = []
        add = found.append
        for (origin, is_outgoing), edges in zip(ends, pages, strict=True):
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
        if sum(map(bool, pages)) > 1:
            found.sort(key=lambda one: -one.note)
        return found

    def _known(self, entity: StoredEntity) -> EntityNode:
        node = self.names.node(entity)
        node = self._by_number[entity.number] = self._by_id.setdefault(node.id, node)
        return node


def whole(pages: list[Sequence[R]]) -> tuple[list[Sequence[R]], int | None]:
    """Return of pages of edges whole notes only, and below which row the others are; None if there are none."""
    if PAGE not in map(len, pages):  # as of most nodes
        return pages, None
    # What a full page says last may be cut off in the middle of a note.
    floor = max(edges[-1][_NOTE] for edges in pages if len(edges) == PAGE)
    if not any(edges and edges[0][_NOTE] > floor for edges in pages):  # one note filled it
        return [[edge for edge in edges if edge[_NOTE] == floor] for edges in pages], floor
    return [[edge for edge in edges if edge[_NOTE] > floor] for edges in pages], floor + 1


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
