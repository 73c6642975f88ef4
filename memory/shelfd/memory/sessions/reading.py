"""What a session reads: the graph of its nugget, the notes in it, its types, and what its prompt held last."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.sessions import Injection, Session
from shelfd.memory.sessions.graph import Graph, NodeLinks, Numbers
from shelfd.memory.sessions.injection import present
from shelfd.memory.sessions.nugget_graph import NuggetGraph
from shelfd.memory.sessions.policy import policy_of
from shelfd.memory.sessions.schema import Schema, schema_of
from shelfd.memory.sessions.session import read_session
from shelfd.memory.shelf.shelf import Shelf

#: More steps up than these there are in no tree.
_DEEPEST: Final = 64


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
        wanted = [(node, self.graph.id(node)) for node in nodes]
        found = self.notes([note_id for _, note_id in wanted])
        return [(node, found[note_id]) for node, note_id in wanted if note_id in found]

    def visible(self, ids: Sequence[str] | None) -> "Visible":
        """Return a set of visible notes: *ids*; for None what the prompt saw last, else the frontier."""
        if ids is None and self.injection is not None:
            ids = self.injection.frontier
        if ids is None:
            return Visible(self, None)
        return Visible(self, frozenset(node for note_id in ids if (node := self.active(note_id)) is not None))


async def open_reading(shelf: Shelf, session_id: str) -> Reading:
    """Return what a session reads, once its graph is filled.

    Raises:
        SessionNotFound: If it is not open.
        Unavailable: If the graph failed and is being rebuilt.
    """
    session = read_session(shelf, session_id)
    graph = await live_graph(shelf, session.nugget)
    schema = schema_of(shelf.view, session.nugget)
    await shelf.unattended.settled()  # what get_context gave just now is what the prompt holds
    return Reading(shelf, session, graph, shelf.hot.get, schema, present(shelf.view, session))


async def live_graph(shelf: Shelf, nugget: str) -> NuggetGraph:
    """Return the graph of a nugget as it is now; when it is asked for first, or its types changed, that takes time.

    Raises:
        Unavailable: If the graph failed and is being rebuilt.
    """
    graph = shelf.part(NuggetGraph, nugget)
    if graph.policy != policy_of(shelf.view, nugget):
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
        keys = sorted((self._graph.recency_key(node), node) for node in self.nodes)
        return (one for one in keys if after is None or one[0] > after)

    def projected_all(self, others: Numbers) -> Numbers:
        """Return for each of *others* the visible note nearest to it, or itself if there is none."""
        hidden = np.flatnonzero(~self.among(others))
        if not len(hidden):
            return others
        distinct, places = np.unique(others[hidden], return_inverse=True)
        nearest = [self.nearest(node) for node in distinct.tolist()]
        projected = others.copy()
        projected[hidden] = np.array(
            [own if found is None else found for own, found in zip(distinct.tolist(), nearest, strict=True)], np.int32
        )[places]
        return projected

    async def links(self, node: int) -> list[NodeLinks]:
        """Return the links of all that a visible note represents; other ends are as they are, or in the frontier."""
        if self._is_coarse:
            return await self._coarse_links(node)
        found: list[NodeLinks] = []
        waiting = [node]
        while waiting:
            at = waiting.pop()
            found.append(self._graph.links(at))
            waiting += [child for child in self._graph.children(at) if self._represents(child)]
            if len(found) % 256 == 0:
                await asyncio.sleep(0)
        return found

    def _represents(self, node: int) -> bool:
        """Whether *node* is represented by what represents its parent."""
        return self._graph.is_active(node) and node not in self

    async def _coarse_links(self, node: int) -> list[NodeLinks]:
        found: list[NodeLinks] = []
        waiting = [node]
        while waiting:
            links = await projected(self._graph, waiting.pop())
            found.append(links)
            if self.nodes is not None:  # notes of the frontier that are not visible are represented by their parents
                down = links.others[(links.relations <= 1) & (links.directions == 0)]
                waiting += [child for child in down.tolist() if self._graph.is_in_frontier(child) and child not in self]
        return found


async def projected(graph: Graph, node: int) -> NodeLinks:
    """Return the links of all that a note of the frontier represents, however many turns that takes."""
    links = graph.projected(node)
    while links is None:
        await asyncio.sleep(0)
        links = graph.projected(node)
    return links
