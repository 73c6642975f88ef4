"""Links as they look from the visible notes: what leads where, how often, and lately."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.sessions.graph import OUT, NodeLinks, Numbers
from shelfd.memory.sessions.projection import joined, summed
from shelfd.memory.sessions.reading import Reading, Visible
from shelfd.memory.sessions.views import direction_view

#: Visible notes whose links are looked at before other tasks have their turn: some milliseconds.
_AT_ONCE: Final = 32


class RelationFilter(NamedTuple):
    """Which relations are wanted: by number, None for all."""

    wanted: Numbers | None
    unwanted: Numbers

    def admits(self, relations: Numbers) -> npt.NDArray[np.bool_]:
        """Return which of *relations* are wanted."""
        admitted = np.ones(len(relations), np.bool_) if self.wanted is None else np.isin(relations, self.wanted)
        return admitted & ~np.isin(relations, self.unwanted) if len(self.unwanted) else admitted


def relation_filter(reading: Reading, names: Sequence[str] | None, *, internal: bool) -> RelationFilter:
    """Return which relations are wanted: those named, or all; *internal* ones only if they are."""
    graph = reading.graph
    wanted = None
    if names is not None:
        wanted = np.array([number for name in names for number in graph.relation_numbers(name)], np.int32)
    unwanted = np.array([] if internal else sorted(graph.internal_relations()), np.int32)
    return RelationFilter(wanted, unwanted)


async def visible_links(node: int, visible: Visible, relations: RelationFilter) -> NodeLinks:
    """Return the links of all that a visible note represents, to other visible notes, summed up."""
    parts = await visible.links(node)
    parts = [part.where(relations.admits(part.relations)) for part in parts]
    links = parts[0] if len(parts) == 1 else joined(parts)
    links = links._replace(others=visible.projected_all(links.others))
    links = links.where((links.others != node) & visible.among(links.others))
    return summed(links)


async def edge_summary(
    reading: Reading, node: int | None, visible: Visible, *, types: Sequence[str] | None, limit: int
) -> dict[str, Any]:
    """Return how a visible note is linked to other visible ones; nothing for a note that is not visible."""
    if node is None or node not in visible:
        return {"degree": 0, "relations": [], "sample_neighbors": []}
    links = await visible_links(node, visible, relation_filter(reading, types, internal=True))
    return {
        "degree": int(links.weights.sum()),
        "relations": _relations(reading, links),
        "sample_neighbors": _neighbors(reading, node, links, limit),
    }


def _relations(reading: Reading, links: NodeLinks) -> list[dict[str, Any]]:
    counts: dict[tuple[str, str], int] = {}
    keys, places = np.unique(links.relations.astype(np.int64) << 1 | links.directions, return_inverse=True)
    weights = np.bincount(places, links.weights, len(keys)).astype(np.int64).tolist()
    for key, weight in zip(keys.tolist(), weights, strict=True):
        relation = reading.graph.relation(key >> 1), direction_view(reading, key >> 1, key & 1)
        counts[relation] = counts.get(relation, 0) + weight
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [{"relation": name, "direction": direction, "count": count} for (name, direction), count in ordered]


def _neighbors(reading: Reading, node: int, links: NodeLinks, limit: int) -> list[dict[str, Any]]:
    """The neighbours with the newest links: of a link that was made in no turn, that of the newer of its ends."""
    if not len(links.others):
        return []
    ends = np.maximum(reading.graph.seqs_to(links.others), reading.graph.seq_to(node))
    newest = np.where(links.unstamped, np.maximum(links.stamps, ends), links.stamps)
    others, places = np.unique(links.others, return_inverse=True)
    seqs = np.zeros(len(others), np.int64)
    np.maximum.at(seqs, places, newest)
    found = list(zip(seqs.tolist(), others.tolist(), strict=True))
    if len(found) > limit:
        least = -np.partition(-seqs, limit - 1)[limit - 1]
        found = [one for one in found if one[0] >= least]
    found.sort(key=lambda one: (-one[0], reading.graph.row(one[1])))
    best = {other: seq for seq, other in found[:limit]}
    return [
        {"id": note.id, "type": note.type, "title": note.title or note.id, "to_seq": best[other]}
        for other, note in reading.notes_at(best)
    ]


class EdgeKey(NamedTuple):
    """The place of a link in a listing: keys of its source and its target, and its relation."""

    source: int
    target: int
    relation: str


class ProjectedEdge(NamedTuple):
    """A link between visible notes, and how many stored ones it stands for."""

    key: EdgeKey
    source: int
    target: int
    weight: int


async def projected_edges(
    reading: Reading, visible: Visible, relations: RelationFilter, *, after: EdgeKey | None, limit: int
) -> list[ProjectedEdge]:
    """Return links between visible notes, by the places of their ends in the frontier.

    One that holds both ways leads from the end that stands first.
    """
    found: list[ProjectedEdge] = []
    before = None if after is None else after.source - 1
    for count, (key, node) in enumerate(_few_by_few(visible, after=before)):
        if count % _AT_ONCE == _AT_ONCE - 1:
            await asyncio.sleep(0)
        links = await visible_links(node, visible, relations)
        edges = sorted(_leaving(reading, key, node, links))
        found += [edge for edge in edges if after is None or edge.key > after]
        if len(found) >= limit:
            return found[:limit]
    return found


def _few_by_few(visible: Visible, *, after: int | None) -> Iterator[tuple[int, int]]:
    """Iterate over visible notes in order, a few at a time: the order is good until the graph changes."""
    while True:
        some = []
        for one in visible.in_order(after=after):
            some.append(one)
            if len(some) == _AT_ONCE:
                break
        yield from some
        if len(some) < _AT_ONCE:
            return
        after = some[-1][0]


def _leaving(reading: Reading, key: int, node: int, links: NodeLinks) -> Iterator[ProjectedEdge]:
    graph = reading.graph
    weights: dict[tuple[int, int], int] = {}
    symmetric = {number for number in set(links.relations.tolist()) if graph.is_symmetric(number)}
    for other, relation, direction, weight in zip(
        links.others.tolist(), links.relations.tolist(), links.directions.tolist(), links.weights.tolist(), strict=True
    ):
        if direction == OUT or relation in symmetric:
            weights[other, relation] = weights.get((other, relation), 0) + weight
    for (other, relation), weight in weights.items():
        other_key = graph.recency_key(other)
        if relation not in symmetric or key < other_key:
            yield ProjectedEdge(EdgeKey(key, other_key, graph.relation(relation)), node, other, weight)
