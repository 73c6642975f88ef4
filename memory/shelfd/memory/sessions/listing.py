"""Pages of the graph's notes and links, each from where the last one ended."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from shelfd.memory.sessions.graph import IN, OUT, NodeLinks
from shelfd.memory.sessions.nugget_graph import is_trace
from shelfd.memory.sessions.reading import Reading
from shelfd.memory.sessions.recent import last_turns
from shelfd.memory.sessions.summing import EdgeKey, RelationFilter

#: Places of an order, or links of a note, looked at before other tasks have their turn: some milliseconds.
_AT_ONCE: Final = 2_048
#: Later than any turn.
_LATEST: Final = 1 << 53

#: Key and node.
Listed: TypeAlias = tuple[int, int]


class Span(NamedTuple):
    """Numbers of turns, both ends included; None does not bound."""

    first: int | None = None
    last: int | None = None

    def has(self, seq_to: int) -> bool:
        """Return whether it holds a number, -1 for none."""
        return (self.first is None or seq_to >= self.first) and (self.last is None or seq_to <= self.last)


def types_named(reading: Reading, names: Sequence[str] | None) -> Collection[str] | None:
    """Return the types of notes with these names, however their case; None for all."""
    if names is None:
        return None
    folded = {name.casefold() for name in names}
    return [name for name in reading.graph.types() if name.casefold() in folded]


async def _page(
    iterate: Callable[[int | None], Iterator[Listed]], admits: Callable[[int], bool], after: int | None, limit: int
) -> list[Listed]:
    """The next of an order that are admitted. What changes meanwhile is listed where it then stands."""
    found: list[Listed] = []
    while True:
        some = list(islice(iterate(after), max(limit - len(found), 0) or _AT_ONCE))
        found += [one for one in some if admits(one[1])]
        if not some or len(found) >= limit:
            return found[:limit]
        after = some[-1][0]
        await asyncio.sleep(0)


async def candidates(
    reading: Reading, types: Collection[str] | None, span: Span, *, recent: int, after: int | None, limit: int
) -> list[Listed]:
    """Return notes of the frontier in its order, but for those that the session's last *recent* turns touched."""
    graph = reading.graph
    shown = last_turns(reading.shelf.view, reading.session, recent)

    def iterate(after: int | None) -> Iterator[Listed]:
        for one in graph.frontier(types, after=after, until_seq=span.last):
            if span.first is not None and graph.seq_to(one[1]) < span.first:
                return
            yield one

    def admits(node: int) -> bool:
        return reading.is_open(node) and (shown is None or not shown.holds(graph.seq_to(node)))

    return await _page(iterate, admits, after, limit)


class NodeFilter(NamedTuple):
    """Which notes are listed."""

    types: Collection[str] | None = None
    levels: Collection[str] | None = None
    active_only: bool = True
    span: Span = Span()


async def nodes_by_time(reading: Reading, wanted: NodeFilter, *, after: int | None, limit: int) -> list[Listed]:
    """Return notes, the earliest turn first and those without one last."""
    graph, span = reading.graph, wanted.span

    def iterate(after: int | None) -> Iterator[Listed]:
        first = None if span.first is None or span.first < 0 else span.first
        for one in graph.timeline(wanted.types, after=after, from_seq=first):
            if span.last is not None and graph.seq_to(one[1]) > span.last:
                yield from graph.timeline(wanted.types, after=after, from_seq=_LATEST)
                return
            yield one

    def admits(node: int) -> bool:
        if not reading.is_open(node) or not span.has(graph.seq_to(node)):
            return False
        if wanted.active_only and not (graph.is_active(node) and not is_trace(graph.type(node))):
            return False
        level = "semantic" if graph.is_semantic(node) else "episodic"
        return wanted.levels is None or level in wanted.levels

    return await _page(iterate, admits, after, limit)


class ListedLink(NamedTuple):
    """A link and its place among others."""

    key: EdgeKey
    source: int
    target: int
    number: int  #: of its relation


async def list_links(
    reading: Reading,
    source: int | None,
    target: int | None,
    relations: RelationFilter,
    *,
    after: EdgeKey | None,
    limit: int,
) -> list[ListedLink]:
    """Return links as they are stored and those that follow from the tree, by the times of their sources.

    Args:
        reading: The read.
        source: Only those that leave it.
        target: Only those that reach it.
        relations: Which relations are wanted.
        after: The place of the one before.
        limit: How many.
    """
    found: list[ListedLink] = []
    if source is not None or target is not None:
        node, direction = (source, OUT) if source is not None else (target, IN)
        assert node is not None
        links = reading.graph.links(node)
        for begin in range(0, len(links.others), _AT_ONCE):
            some = links.where(np.arange(begin, min(begin + _AT_ONCE, len(links.others))))
            found += [
                link
                for link in _shown(reading, node, some, relations, direction)
                if (target is None or link.target == target) and (after is None or link.key > after)
            ]
            await asyncio.sleep(0)
        return sorted(found)[:limit]
    start = None if after is None else after.source - 1
    while len(found) < limit and (sources := list(islice(reading.graph.timeline(after=start), 64))):
        for start, node in sources:  # noqa: B007 - where the next ones begin
            if reading.is_open(node):
                shown = sorted(_shown(reading, node, reading.graph.links(node), relations, OUT))
                found += [link for link in shown if after is None or link.key > after]
        await asyncio.sleep(0)
    return found[:limit]


def _shown(
    reading: Reading, node: int, links: NodeLinks, relations: RelationFilter, direction: int
) -> Iterator[ListedLink]:
    """The links of a note in one direction, to notes that the session may see."""
    graph = reading.graph
    links = links.where((links.directions == direction) & relations.admits(links.relations))
    for other, relation in zip(links.others.tolist(), links.relations.tolist(), strict=True):
        if reading.node(graph.id(other)) is not None:
            source, target = (node, other) if direction == OUT else (other, node)
            key = EdgeKey(graph.timeline_key(source), graph.row(target), graph.relation(relation))
            yield ListedLink(key, source, target, relation)


def edge_view(reading: Reading, source: int, target: int, relation: str, **more: int) -> dict[str, Any]:
    """Return a link as it is shown."""
    return {"from": reading.graph.id(source), "to": reading.graph.id(target), "type": relation, **more}
