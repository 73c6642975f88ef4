"""Ways through the graph: up, down, to the neighbours, and outwards from seeds."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.sessions.graph import OUT, Numbers
from shelfd.memory.sessions.reading import Reading, Visible
from shelfd.memory.sessions.summing import RelationFilter, visible_links

#: More steps up than these there are in no tree.
_DEEPEST: Final = 64
#: Notes looked at before other tasks have their turn.
_AT_ONCE: Final = 1_000
#: Behind the row of a neighbour, the place of its relation and direction.
_KIND_BITS: Final = 24
_KIND: Final = (1 << _KIND_BITS) - 1
#: Notes whose links are followed before that: some milliseconds.
_FOLLOWED: Final = 64


def ancestor(reading: Reading, node: int, *, active_only: bool, admits: Callable[[int], bool]) -> int | None:
    """Return the nearest note above *node* that *admits* lets through."""
    at = reading.graph.parent(node)
    for _ in range(_DEEPEST):
        if at is None or at == node or not reading.is_open(at) or (active_only and not reading.graph.is_active(at)):
            return None
        if admits(at):
            return at
        at = reading.graph.parent(at)
    return None


async def descendants(
    reading: Reading, node: int, *, active_only: bool, max_depth: int | None, start: int, limit: int
) -> list[int]:
    """Return the notes below *node*, level by level, from place *start* on."""
    found: list[int] = []
    level, passed, depth = [node], 0, 0
    seen = {node}
    while level and (max_depth is None or depth < max_depth):
        below: list[int] = []
        for count, parent in enumerate(level):
            if count % _AT_ONCE == _AT_ONCE - 1:
                await asyncio.sleep(0)
            for child in reading.graph.children(parent):
                if child in seen or not reading.is_open(child) or (active_only and not reading.graph.is_active(child)):
                    continue
                seen.add(child)
                below.append(child)
                passed += 1
                if passed > start:
                    found.append(child)
                if len(found) == limit:
                    return found
        level, depth = below, depth + 1
    return found


class Neighbor(NamedTuple):
    """A note that is linked to another one: sorted by age, then by relation and direction."""

    row: int
    relation: str
    direction: int
    node: int
    number: int  #: of the relation


class Neighbors(NamedTuple):
    """The notes that one is linked to, each once for each relation and direction, sorted."""

    nodes: Numbers
    keys: npt.NDArray[np.int64]  #: the row of each, and behind it the place of its kind
    kinds: Sequence[tuple[str, int, int]]  #: relations, directions and numbers, sorted

    def page(self, after: tuple[int, str, int] | None, limit: int) -> list[Neighbor]:
        """Return the next ones *after* a row, relation and direction."""
        found: list[Neighbor] = []
        start = 0 if after is None else int(np.searchsorted(self.keys, after[0] << _KIND_BITS))
        end = start + limit + (0 if after is None else len(self.kinds))
        for key, node in zip(self.keys[start:end].tolist(), self.nodes[start:end].tolist(), strict=True):
            row, (relation, direction, number) = key >> _KIND_BITS, self.kinds[key & _KIND]
            if after is None or (row, relation, direction) > after:
                found.append(Neighbor(row, relation, direction, node, number))
        return found[:limit]


def neighbors(
    reading: Reading, node: int, relations: RelationFilter, *, direction: int | None, visible: Visible | None
) -> Neighbors:
    """Return the active notes that *node* is linked to itself.

    Args:
        reading: The read.
        node: Whose neighbours.
        relations: Which relations count.
        direction: ``OUT`` or ``IN``; None for both.
        visible: Replaces each by the visible note nearest to it; None leaves them as they are.
    """
    graph = reading.graph
    links = graph.links(node)
    links = links.where(relations.admits(links.relations))
    ways = links.relations << 1 | links.directions
    kind_of: dict[int, tuple[str, int, int]] = {}
    for way in np.flatnonzero(np.bincount(ways)).tolist():
        number, own = way >> 1, way & 1
        if graph.is_symmetric(number):
            kind_of[way] = graph.relation(number), OUT, number
        elif direction in (None, own):
            kind_of[way] = graph.relation(number), own, number
    kinds = sorted(set(kind_of.values()))
    places = np.full(max(kind_of, default=0) + 1, -1, np.int64)
    for way, kind in kind_of.items():
        places[way] = kinds.index(kind)
    is_wanted = np.isin(ways, np.array(list(kind_of), np.int32))
    ways, ends = ways[is_wanted], links.others[is_wanted]
    if visible is not None:
        ends = visible.projected_all(ends)
    is_seen = (ends != node) & graph.are_active(ends) & reading.open_among(ends)
    if visible is not None:
        is_seen &= visible.among(ends)
    ways, ends = ways[is_seen], ends[is_seen]
    keys, first = np.unique(graph.rows(ends) << _KIND_BITS | places[ways], return_index=True)
    return Neighbors(ends[first], keys, kinds)


class Reached(NamedTuple):
    """A note that was reached from seeds: in how many steps, and by which notes, itself and the seed included."""

    node: int
    hop: int
    path: tuple[int, ...]


class Expansion(NamedTuple):
    """How to go outwards.

    Attributes:
        hops: How many steps.
        relations: Which links are followed.
        include_children: Whether notes lead to those they represent.
        visible: Which notes links lead to; None for all active ones.
        is_bounded: Whether children must be visible, too.
    """

    hops: int
    relations: RelationFilter
    include_children: bool
    visible: Visible | None
    is_bounded: bool


async def expanded(reading: Reading, seeds: Sequence[int], how: Expansion, *, start: int, limit: int) -> list[Reached]:
    """Return what is reached from *seeds* breadth first, from place *start* on.

    Seeds come first, then what is a step away, and so on; of what is a step from a note its children come first, then
    what links lead to, in the order of the frontier.
    """
    reached: dict[int, Reached] = {node: Reached(node, 0, (node,)) for node in seeds}
    wave = list(reached.values())
    for hop in range(1, how.hops + 1):
        following: list[Reached] = []
        for count, one in enumerate(wave):
            if len(reached) >= start + limit:
                break
            if count % _FOLLOWED == _FOLLOWED - 1:
                await asyncio.sleep(0)
            if not reading.graph.is_active(one.node):
                continue
            for node in await _steps(reading, one.node, how):
                if node not in reached:
                    reached[node] = Reached(node, hop, (*one.path, node))
                    following.append(reached[node])
        wave = following
    return list(islice(reached.values(), start, start + limit))


async def _steps(reading: Reading, node: int, how: Expansion) -> Iterator[int]:
    graph = reading.graph
    children = [child for child in graph.children(node) if graph.is_active(child) and reading.is_open(child)]
    if not how.include_children:
        children = []
    elif how.is_bounded and how.visible is not None:
        children = [child for child in children if child in how.visible]
    if how.visible is not None and node in how.visible:
        links = await visible_links(node, how.visible, how.relations)
        others = set(links.others.tolist())
    else:
        found = neighbors(reading, node, how.relations, direction=None, visible=how.visible)
        others = set(found.nodes.tolist())
    return iter([*children, *sorted(others, key=graph.recency_key)])


def where_filter(reading: Reading, where: dict[str, Any] | None) -> Callable[[int], bool]:
    """Return what decides whether a note fits *where*: its type, level, whether a rollup, and its least depth."""

    def admits(node: int) -> bool:
        if not where:
            return True
        for _, note in reading.notes_at([node]):
            extra = note.extra
            return (
                where.get("type") in (None, note.type)
                and where.get("level") in (None, extra.level)
                and where.get("semantic_rollup") in (None, extra.is_rollup)
                and extra.rollup_depth >= (where.get("min_depth") or 0)
            )
        return False

    return admits
