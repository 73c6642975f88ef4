"""A walk through the graph of entities: what wanted notes say, all names of an entity being one node."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, NamedTuple

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.edges import StoredEdge
from shelfd.memory.ports.entities import Enrichment, EntityNode, StoredEntity
from shelfd.memory.ports.view import View

#: Edges read at once of one name, in one direction: more than one note gives an entity.
_PAGE: Final = 300
#: After so many edges read other tasks run.
_TURN: Final = 200
#: Edges that one walk reads at most.
MOST_READ: Final = 20_000


class GraphEdge(NamedTuple):
    """An edge as one note says it, seen from one of its ends.

    Attributes:
        node: The other end.
        is_outgoing: Whether it leads there.
        edge: What is stored of it.
        note_id: The note that says so.
    """

    node: EntityNode
    is_outgoing: bool
    edge: StoredEdge
    note_id: str


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
        self._nodes: dict[int, EntityNode] = {}
        self._by_name: dict[tuple[str, str], EntityNode] = {}
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

    async def edges(self, node: EntityNode, *, before: int | None = None) -> AsyncIterator[list[GraphEdge]]:
        """Yield what notes say of a node, all of a note together, from the newest note below row *before* on."""
        names = self._names.same(node.type, node.key)
        entities = [entity for name in names if (entity := self._view.entities.get(*name)) is not None]
        here = frozenset(entity.number for entity in entities)
        while entities and not self.is_spent:
            found, before = await self._batch(entities, before)
            self.below = before
            yield list(self._seen_from(here, found))
            if before is None:
                return

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
                yield source, GraphEdge(target, True, edge, edge.note_id)

    async def rest(self) -> None:
        """Let other tasks run, if enough was read since they last did."""
        if self.read - self._rested >= _TURN:
            self._rested = self.read
            await asyncio.sleep(0)

    async def _batch(self, entities: Sequence[StoredEntity], before: int | None) -> tuple[list[StoredEdge], int | None]:
        """The next edges, whole notes only, and below which row the others are; None if there are none."""
        edges = self._view.edges
        streams = []
        for entity in entities:
            for read in (edges.leaving, edges.reaching):
                streams.append(read(entity, self._wanted, before=before, limit=_PAGE))
                self.read += len(streams[-1])
                await self.rest()
        # What a full page says last may be cut off in the middle of a note.
        floor = max((stream[-1].note for stream in streams if len(stream) == _PAGE), default=0)
        found = [edge for stream in streams for edge in stream if edge.note > floor]
        if floor and not found:  # one note filled it
            found, floor = [edge for stream in streams for edge in stream if edge.note == floor], floor - 1
        found.sort(key=lambda edge: -edge.note)
        return found, floor + 1 if floor else None

    def _seen_from(self, here: frozenset[int], edges: Sequence[StoredEdge]) -> Iterator[GraphEdge]:
        last: StoredEdge | None = None
        for edge in edges:
            is_outgoing = edge.source.number in here
            other = edge.target if is_outgoing else edge.source
            if edge.note_id is None or other.number in here:
                continue  # the note is not wanted, or two names of one
            # What a model read comes after what rules read, and may be the same.
            if edge.engine == "rules" or last is None or place_of(edge) != place_of(last):
                yield GraphEdge(self._known(other), is_outgoing, edge, edge.note_id)
            last = edge

    def _known(self, entity: StoredEntity) -> EntityNode:
        node = self._nodes.get(entity.number)
        if node is None:
            node = self._names.node(entity.type, entity.key, entity.value)
            node = self._nodes[entity.number] = self._by_name.setdefault((node.family, node.key), node)
        return node


class Visited(NamedTuple):
    """A node that a walk came to.

    Attributes:
        depth: In how many steps.
        origin: From where the last of them was: which one of those it came to, and -1 for where it began.
        by: By what.
    """

    depth: int
    origin: int
    by: GraphEdge

    @property
    def node(self) -> EntityNode:
        """The node."""
        return self.by.node


@dataclass(slots=True)
class Walk:
    """What a walk came to.

    Attributes:
        reached: Nodes in the order in which it came to them, without the one where it began.
        is_truncated: Whether there is more than it was allowed to read.
        edges: The edges it went along or past, each once, seen from where it came from, if they were asked for.
    """

    reached: list[Visited] = field(default_factory=list)
    is_truncated: bool = False
    edges: list[tuple[EntityNode, GraphEdge]] = field(default_factory=list)


async def walk(reader: GraphReader, start: EntityNode, *, max_depth: int, most_nodes: int, most_edges: int = 0) -> Walk:
    """Walk breadth first from a node, to each other node once.

    Args:
        reader: Whose notes and bounds count.
        start: Where it begins.
        max_depth: Steps.
        most_nodes: Nodes it comes to, beside the first.
        most_edges: Edges to return.
    """
    found = Walk()
    known = {start}
    passed: set[tuple[int, int, str, int] | None] = {None}  # which stands for those that nobody asked for
    waiting = deque([(start, -1, 0)])
    while waiting and (at := waiting.popleft())[2] < max_depth:
        node, origin, depth = at
        async for edges in reader.edges(node):
            for one in edges:
                is_new = (other := one.node) not in known
                is_unseen = (place := place_of(one.edge) if most_edges else None) not in passed
                if (is_new and len(known) > most_nodes) or (is_unseen and len(passed) > most_edges):
                    found.is_truncated = True
                    return found
                if is_unseen:
                    passed.add(place)
                    found.edges.append((node, one))
                if is_new:
                    known.add(other)
                    if depth + 1 < max_depth:
                        waiting.append((other, len(found.reached), depth + 1))
                    found.reached.append(Visited(depth + 1, origin, one))
        await reader.rest()
        if reader.is_spent:
            found.is_truncated = True
            break
    return found


def place_of(edge: StoredEdge) -> tuple[int, int, str, int]:
    """Return what tells what a note says from what else it says, whoever read it."""
    return edge.source.number, edge.target.number, edge.relation, edge.note
