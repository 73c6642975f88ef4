"""What a session reads: the graph of its nugget, the notes in it, its types, and what its prompt held last."""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.sessions import Injection, Session
from shelfd.memory.sessions.frozen import frozen_graph
from shelfd.memory.sessions.graph import CONTAINS, NOWHERE, OUT, Graph, NodeLinks, Numbers
from shelfd.memory.sessions.injection import present
from shelfd.memory.sessions.nugget_graph import NuggetGraph
from shelfd.memory.sessions.policy import policy_of
from shelfd.memory.sessions.projection import joined
from shelfd.memory.sessions.schema import Schema, schema_of
from shelfd.memory.sessions.session import read_session
from shelfd.memory.shelf.shelf import Shelf

#: More steps up than these there are in no tree.
_DEEPEST: Final = 64
#: Above every node.
_LAST: Final = 1 << 32
#: Notes whose links are looked at together: some milliseconds.
_AT_ONCE: Final = 256


@dataclass(frozen=True, slots=True)
class Reading:
    """One read of a session. What it shows is one state, up to where the caller lets other tasks run.

    Attributes:
        shelf: The shelf, for its index.
        session: Who reads.
        graph: Its nugget's notes.
        notes: Gives notes of the graph by their ids, as the graph shows them.
        schema: The types of its nugget.
        injection: What its prompt held last; None if nothing was recorded.
    """

    shelf: Shelf
    session: Session
    graph: Graph
    notes: Callable[[Sequence[str]], Mapping[str, Note]]
    schema: Schema
    injection: Injection | None

    def is_open(self, node: int) -> bool:
        """Return whether the session may see a note: no other one's private note."""
        return self.graph.session(node) in (None, self.session.session_id)

    def open_of(self, nodes: Sequence[int]) -> Sequence[int]:
        """Return those of *nodes* that the session may see."""
        return [node for node in nodes if self.is_open(node)] if self.graph.has_private() else nodes

    def node(self, note_id: str) -> int | None:
        """Return the node of a note that the session may see, hidden or not."""
        node = self.graph.node(note_id)
        return node if node is not None and self.is_open(node) else None

    def active(self, note_id: str) -> int | None:
        """Return the node of a note that the session may see and that is not hidden."""
        node = self.node(note_id)
        return node if node is not None and self.graph.is_active(node) else None

    def open_among(self, nodes: Numbers) -> npt.NDArray[np.bool_]:
        """Return which of *nodes* the session may see."""
        if not self.graph.has_private():
            return np.ones(len(nodes), np.bool_)
        return np.array([self.is_open(node) for node in nodes.tolist()], np.bool_)

    def notes_at(self, nodes: Iterable[int]) -> list[tuple[int, Note]]:
        """Return these notes, in order, with their nodes."""
        wanted = list(nodes)
        ids = self.graph.ids(wanted)
        found = self.notes(ids)
        return [(node, found[note_id]) for node, note_id in zip(wanted, ids, strict=True) if note_id in found]

    def visible(self, ids: Sequence[str] | None) -> "Visible":
        """Return a set of visible notes: *ids*; for None what the prompt saw last, else the frontier."""
        if ids is None and self.injection is not None:
            ids = self.injection.frontier or None  # recorded without it, as most are: the frontier then, not nothing
        if ids is None:
            return Visible(self, None)
        return Visible(self, frozenset(node for note_id in ids if (node := self.active(note_id)) is not None))


async def open_reading(shelf: Shelf, session_id: str) -> Reading:
    """Return what a session reads, once its graph is filled.

    Raises:
        SessionNotFound: If it is not open.
        Unavailable: If the graph failed and is being rebuilt.
        Conflict: If the session is frozen, and too much has changed since.
    """
    session = read_session(shelf, session_id)
    schema = schema_of(shelf.view, session.nugget)
    if session.at_seq is not None:
        was = await frozen_graph(shelf, session.nugget, session.at_seq)
        return Reading(shelf, session, was, was.notes, schema, present(shelf.view, session))
    graph = await live_graph(shelf, session.nugget, schema)
    await shelf.unattended.settled()  # what get_context gave just now is what the prompt holds
    return Reading(shelf, session, graph, shelf.hot.get, schema, present(shelf.view, session))


async def live_graph(shelf: Shelf, nugget: str, schema: Schema) -> NuggetGraph:
    """Return the graph of a nugget as it is now; when it is asked for first, or its types changed, that takes time.

    Args:
        shelf: The shelf.
        nugget: Whose graph.
        schema: The types that hold in it.

    Raises:
        Unavailable: If the graph failed and is being rebuilt.
    """
    graph = shelf.part(NuggetGraph, nugget)
    if graph.policy != policy_of(schema):
        shelf.tracks.begin_anew((NuggetGraph, nugget))
    await shelf.tracks.complete((NuggetGraph, nugget))
    graph.expire(shelf.clock.now())
    return graph


class Visible:
    """Notes that count as visible: the frontier, or those given.

    Args:
        nodes: Active notes; None for the frontier.
    """

    def __init__(self, reading: Reading, nodes: frozenset[int] | None) -> None:
        self._reading = reading
        self._graph = graph = reading.graph
        self.nodes = nodes
        self._sorted = np.array(sorted(nodes or ()), np.int32)
        self._ordered: list[tuple[int, int]] | None = None
        #: Whether all are of the frontier, whose projected links are known.
        self._is_coarse = nodes is None or all(map(graph.is_in_frontier, nodes))

    def __contains__(self, node: int) -> bool:
        if self.nodes is None:
            return self._graph.is_in_frontier(node) and self._reading.is_open(node)
        return node in self.nodes

    def among(self, nodes: Numbers) -> npt.NDArray[np.bool_]:
        """Return which of *nodes* are visible."""
        if self.nodes is None:
            return self._graph.in_frontier(nodes) & self._reading.open_among(nodes)
        return np.isin(nodes, self._sorted)

    def nearest(self, node: int) -> int | None:
        """Return the visible note nearest to *node*, itself or above it; None if a hidden one comes first."""
        at: int | None = node
        for _ in range(_DEEPEST):
            if at is None or not self._graph.is_active(at):
                return None
            if at in self:
                return at
            at = self._graph.parent(at)
        return None

    def in_order(self, *, after: int | None) -> Iterable[tuple[int, int]]:
        """Iterate over keys and nodes, in the order of the frontier."""
        if self.nodes is None:
            return ((key, node) for key, node in self._graph.frontier(after=after) if self._reading.is_open(node))
        if self._ordered is None:
            self._ordered = sorted((self._graph.recency_key(node), node) for node in self.nodes)
        return self._ordered if after is None else self._ordered[bisect_right(self._ordered, (after, _LAST)) :]

    def projected_all(self, others: Numbers) -> Numbers:
        """Return for each of *others* the visible note nearest to it, or itself if there is none."""
        hidden = np.flatnonzero(~self.among(others))
        if not len(hidden):
            return others
        projected, at = others.copy(), others[hidden]
        for _ in range(_DEEPEST):
            is_active = self._graph.are_active(at)
            hidden, at = hidden[is_active], self._graph.parents(at[is_active])
            hidden, at = hidden[at != NOWHERE], at[at != NOWHERE]
            if not len(hidden):
                break
            is_found = self.among(at) & self._graph.are_active(at)
            projected[hidden[is_found]] = at[is_found]
            hidden, at = hidden[~is_found], at[~is_found]
        return projected

    async def frontier_links(self, node: int) -> NodeLinks:
        """Return the links of all that a note of the frontier represents, summed up, however many turns that takes."""
        links = self._graph.projected(node)
        while links is None:
            await asyncio.sleep(0)
            links = self._graph.projected(node)
        return links

    async def links(self, nodes: Sequence[int]) -> tuple[Numbers, NodeLinks]:
        """Return the links of all that visible notes represent, and for each link which of *nodes* that is.

        Other ends are as they are stored, or the notes of the frontier that represent these.
        """
        if self.nodes is None:
            return await projected_all(self._graph, nodes)
        owners: list[Numbers] = []
        found: list[NodeLinks] = []
        waiting = list(zip(nodes, nodes, strict=True))
        while waiting:
            some, waiting = waiting[-_AT_ONCE:], waiting[:-_AT_ONCE]
            owner_of = {node: owner for owner, node in some}
            whose, links, below = await self._some_links(list(owner_of))
            owners.append(np.array([owner_of[node] for node in whose.tolist()], np.int32))
            found.append(links)
            waiting += [(owner_of[above], node) for above, node in below]
        return np.concatenate(owners), joined(found)

    async def _some_links(self, nodes: Sequence[int]) -> tuple[Numbers, NodeLinks, list[tuple[int, int]]]:
        """Links by whose they are, and what else is represented by what represents those: pairs of parent and child."""
        graph = self._graph
        if self._is_coarse:
            whose, links = await projected_all(graph, nodes)
            # Notes of the frontier that are not visible are represented by their parents.
            down = (links.relations <= CONTAINS) & (links.directions == OUT)
            pairs = zip(whose[down].tolist(), links.others[down].tolist(), strict=True)
            return whose, links, [pair for pair in pairs if graph.is_in_frontier(pair[1]) and pair[1] not in self]
        each = [graph.links(node) for node in nodes]
        whose = np.repeat(np.array(nodes, np.int32), [len(links.others) for links in each])
        below = [(node, child) for node in nodes for child in graph.children(node) if self._is_below(child)]
        await asyncio.sleep(0)
        return whose, joined(each), below

    def _is_below(self, node: int) -> bool:
        """Whether *node* is represented by what represents its parent."""
        return self._graph.is_active(node) and node not in self


async def projected_all(graph: Graph, nodes: Sequence[int]) -> tuple[Numbers, NodeLinks]:
    """Return the links of all that notes of the frontier represent, however many turns that takes."""
    found = graph.projected_all(nodes)
    while found is None:
        await asyncio.sleep(0)
        found = graph.projected_all(nodes)
    return found
