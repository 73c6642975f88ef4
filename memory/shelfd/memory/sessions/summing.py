"""Links as they look from the visible notes: what leads where, how often, and lately."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.sessions.graph import OUT, NodeLinks, Numbers
from shelfd.memory.sessions.projection import summed
from shelfd.memory.sessions.reading import Reading, Visible
from shelfd.memory.sessions.views import direction_view

#: Visible notes whose links are looked at together, at most: some milliseconds.
_AT_ONCE: Final = 128


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
    if visible.nodes is None:
        links = await visible.frontier_links(node)
        return links.where(visible.among(links.others) & relations.admits(links.relations))
    return summed((await _between_visible([node], visible, relations))[1])


async def _between_visible(
    nodes: Sequence[int], visible: Visible, relations: RelationFilter
) -> tuple[Numbers, NodeLinks]:
    """The links of all that visible notes represent, to other visible notes, and whose each is."""
    owners, links = await visible.links(nodes)
    wanted = relations.admits(links.relations)
    owners, links = owners[wanted], links.where(wanted)
    links = links._replace(others=visible.projected_all(links.others))
    leads_on = (links.others != owners) & visible.among(links.others)
    return owners[leads_on], links.where(leads_on)


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
    weights = np.bincount(links.relations << 1 | links.directions, links.weights)
    for key in np.flatnonzero(weights).tolist():
        relation = reading.graph.relation(key >> 1), direction_view(reading, key >> 1, key & 1)
        counts[relation] = counts.get(relation, 0) + int(weights[key])
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [{"relation": name, "direction": direction, "count": count} for (name, direction), count in ordered]


def _neighbors(reading: Reading, node: int, links: NodeLinks, limit: int) -> list[dict[str, Any]]:
    """The neighbours with the newest links: of a link that was made in no turn, that of the newer of its ends."""
    if not len(links.others):
        return []
    ends = np.maximum(reading.graph.seqs_to(links.others), reading.graph.seq_to(node))
    newest = np.where(links.unstamped, np.maximum(links.stamps, ends), links.stamps)
    # Of one end the newest first: a stable sort by that, then by the end, of which the first of each is taken.
    order = np.argsort(-newest, kind="stable")
    others, first = np.unique(links.others[order], return_index=True)
    seqs = newest[order][first]
    chosen = np.lexsort((reading.graph.rows(others), -seqs))[:limit]
    best = dict(zip(others[chosen].tolist(), seqs[chosen].tolist(), strict=True))
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
    before, size = None if after is None else after.source - 1, 1
    while len(found) < limit and (some := list(islice(visible.in_order(after=before), size))):
        keys = {node: key for key, node in some}
        owners, links = await _between_visible(list(keys), visible, relations)
        edges = sorted(_leaving(reading, keys, owners, links))
        found += [edge for edge in edges if after is None or edge.key > after]
        before, size = some[-1][0], min(2 * size, _AT_ONCE)
        await asyncio.sleep(0)
    return found[:limit]


def _leaving(reading: Reading, keys: Mapping[int, int], owners: Numbers, links: NodeLinks) -> Iterator[ProjectedEdge]:
    """The links that lead from notes, by their keys in the frontier."""
    graph = reading.graph
    symmetric = [number for number in set(links.relations.tolist()) if graph.is_symmetric(number)]
    leaves = (links.directions == OUT) | np.isin(links.relations, np.array(symmetric, np.int32))
    weights: dict[tuple[int, int, int], int] = {}
    for *ends, weight in zip(
        *(each[leaves].tolist() for each in (owners, links.others, links.relations, links.weights)), strict=True
    ):
        source, target, relation = ends
        weights[source, target, relation] = weights.get((source, target, relation), 0) + weight
    for (source, target, relation), weight in weights.items():
        key = EdgeKey(keys[source], graph.recency_key(target), graph.relation(relation))
        if relation not in symmetric or key.source < key.target:
            yield ProjectedEdge(key, source, target, weight)
