"""Reads the graph of entities: what wanted notes say, all names of an entity being one node; and a walk past edges."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.edges import EdgeEngine, EdgeType, LeadRow, Neighbour, NeighbourRow, StoredEdge
from shelfd.memory.ports.entities import Enrichment, EntityNode, PlacedRow, StoredEntity
from shelfd.memory.ports.view import View

#: Edges read at once of one name, in one direction: more than one note gives an entity.
_PAGE: Final = 300
#: After so many edges read other tasks run.
_TURN: Final = 200
#: Nodes whose names are looked up together.
_NODES: Final = 32
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
#: Which of some nodes it is, whether edges leave it, and where they lead.
Lead: TypeAlias = tuple[int, bool, Sequence[LeadRow]]


class Leads(NamedTuple):
    """Where some edges lead.

    Attributes:
        rows: These.
        placed: What the entities there are in the graph, by number.
        ids: Of the notes that lead to where nobody was, by row; None if it is not wanted.
    """

    rows: list[Lead]
    placed: Mapping[int, PlacedRow]
    ids: Mapping[int, str | None]


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
        self._by_id: dict[str, EntityNode] = {}
        self._by_number: dict[int, EntityNode] = {}
        self._wanted = wanted
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
        [entities] = self._entities([(node, via)])
        here = frozenset(entity.number for entity in entities)
        edges, wanted = self._view.edges, self._wanted
        while entities and not self.is_spent:
            streams = list[_Stream]()
            leaving, reaching = partial(edges.leaving, wanted=wanted), partial(edges.reaching, wanted=wanted)
            for stream in self._streams(entities, before, leaving, reaching):
                streams.append(stream)
                await self.rest()
            streams, before = _whole(streams)
            self.below = before
            yield self._seen_from(here, streams)
            if before is None:
                return

    def leads(self, nodes: Sequence[NodeVia]) -> Iterator[list[Lead]]:
        """Yield where the edges of nodes lead, of one after the other in the order of :meth:`edges`, some at a time.

        For :meth:`some_leads`: there is nothing to do with what is yielded while all that is next was not read.
        """
        edges = self._view.edges
        for begin in range(0, len(nodes), _NODES):
            for at, entities in enumerate(self._entities(nodes[begin : begin + _NODES]), begin):
                before = None
                while entities and not self.is_spent:
                    streams = list[_Stream]()
                    for stream in self._streams(entities, before, edges.leads_from, edges.leads_to):
                        streams.append(stream)
                        yield []
                    streams, before = _whole(streams)
                    for is_outgoing, rows in _in_order(streams):
                        yield [(at, is_outgoing, rows)]
                    if before is None:
                        break
                if self.is_spent:
                    return

    def some_leads(self, leads: Iterator[list[Lead]], known: AbstractSet[str]) -> Leads | None:
        """Return as much of *leads* as one turn takes; None if there are no more.

        Args:
            leads: From :meth:`leads`.
            known: Nodes where somebody was, by id.
        """
        rows, size, read = list[Lead](), 0, self.read
        with self._view.one_state():
            for some in leads:
                rows += some
                size += sum(len(found) for _, _, found in some)
                if max(size, self.read - read) >= _TURN:
                    break
            else:
                if not rows:
                    return None
            self._since_rest += size
            placed = self._names.placed([number for _, _, found in rows for _, number, _ in found], self._view.entities)
            look = placed.get
            notes = [
                note
                for _, _, found in rows
                for note, number, _ in found
                if (there := look(number)) is not None and there[2] not in known
            ]
            # Nearly in the order in which they lie in the file: in another one they take longer to be found.
            ids = self._view.notes.ids(list(dict.fromkeys(notes)), self._wanted) if notes else {}
            return Leads(rows, placed, ids)

    def _entities(self, nodes: Sequence[NodeVia]) -> list[list[StoredEntity]]:
        """All names of each node that some note mentions; as which it was come to need not be looked up."""
        names = [self._names.names_of(node) for node, _ in nodes]
        found = {via[1:3]: via for _, via in nodes if via is not None}
        missing = [name for some in names for name in some if name not in found]
        if missing:
            found |= {entity[1:3]: entity for entity in self._view.entities.called(missing)}
        return [[found[name] for name in some if name in found] for some in names]

    async def page(self, *, before: int | None, limit: int) -> tuple[list[tuple[EntityNode, GraphEdge]], int | None]:
        """Return at most some *limit* edges of all nodes, whole notes only, from the newest below row *before* on.

        Returns:
            Each edge with the node it leaves, and below which row the others are; None if there are none.
        """
        found: list[tuple[EntityNode, GraphEdge]] = []
        while not self.is_spent:
            edges = self._view.edges.page(self._wanted, before=before, limit=_PAGE)
            self._count(len(edges))
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

    def _count(self, edges: int) -> None:
        self.read += edges
        self._since_rest += edges

    async def rest(self) -> None:
        """Let other tasks run, if enough was read since they last did."""
        if self._since_rest >= _TURN:
            self._since_rest = 0
            await asyncio.sleep(0)

    def _streams(
        self,
        entities: Sequence[StoredEntity],
        before: int | None,
        leaving: Callable[..., Sequence[Any]],
        reaching: Callable[..., Sequence[Any]],
    ) -> Iterator[_Stream]:
        """Yield the next edges of each entity in each direction as they are read."""
        for entity in entities:
            for is_outgoing, read in ((True, leaving), (False, reaching)):
                found = read(entity.number, before=before, limit=_PAGE)
                self._count(len(found))
                yield _new(_Stream, (entity, is_outgoing, found))

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
        node = self._by_number[entity.number] = self._by_id.setdefault(node.id, node)
        return node


def _whole(streams: list[_Stream]) -> tuple[list[_Stream], int | None]:
    """Of what was read whole notes only, and below which row the others are; None if there are none."""
    # What a full page says last may be cut off in the middle of a note.
    floor = max((stream.edges[-1][_NOTE] for stream in streams if len(stream.edges) == _PAGE), default=0)
    if not floor:
        return streams, None
    if not any(stream.edges and stream.edges[0][_NOTE] > floor for stream in streams):
        return [stream.only(floor) for stream in streams], floor  # one note filled it
    return [stream.above(floor) for stream in streams], floor + 1


def _in_order(streams: Sequence[_Stream]) -> list[tuple[bool, Sequence[LeadRow]]]:
    """Where they lead and whether they leave, the newest notes first."""
    found = [(is_outgoing, edges) for _, is_outgoing, edges in streams if edges]
    if len(found) < 2:  # as of most nodes
        return found
    every = [(is_outgoing, row) for is_outgoing, rows in found for row in rows]
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
