"""Links summed up over all that a note of the frontier represents.

A table of links is kept for each rollup that has many below it, made from the tables below: after a change those above
it are made again, and each from few others. Tables grow coarser by themselves when what they lead to is rolled up, too;
when a rollup is taken apart all are dropped.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from shelfd.memory.sessions.graph import CONTAINS, IN, NOWHERE, OUT, SEMANTIC_CONTAINS, NodeLinks, Numbers
from shelfd.memory.sessions.stored_links import StoredLinks
from shelfd.memory.sessions.tree import Tree

#: Links from which on a table is kept, and what of :data:`_TURN` went into it.
_KEPT: Final = 64
#: Nodes looked at before other tasks have their turn: about 5 ms.
_TURN: Final = 4_000


class _Table(NamedTuple):
    version: int  #: of the tree
    links: NodeLinks


class _OutOfTime(Exception):
    """A turn is over; what is finished is kept."""


class ProjectedLinks:
    """The links of a graph, projected onto its frontier."""

    def __init__(self, tree: Tree, stored: StoredLinks) -> None:
        self._tree = tree
        self._stored = stored
        self._tables: dict[int, _Table] = {}
        self._room = 0

    def clear(self) -> None:
        """Drop all tables: something was taken apart."""
        self._tables.clear()

    def drop(self, node: int) -> None:
        """Drop the tables that the links of *node* are part of."""
        if self._tables:
            for above in self._tree.chain(node):
                self._tables.pop(above, None)

    def drop_only(self, nodes: Sequence[int]) -> None:
        """Drop the tables of *nodes* themselves."""
        if self._tables:
            for node in nodes:
                self._tables.pop(node, None)

    def of(self, node: int) -> NodeLinks | None:
        """Return the links of all that *node*, which is in the frontier, represents; None if a turn is over first."""
        table = self._tables.get(node)
        if table is not None and table.version == self._tree.version:
            return table.links
        self._room = _TURN
        try:
            links = self._gathered(node)
        except _OutOfTime:
            return None
        links = self._coarsened(links, node)
        if len(links.others) >= _KEPT or _TURN - self._room >= _KEPT:
            self._tables[node] = _Table(self._tree.version, links)
        return links

    def of_all(self, nodes: Sequence[int]) -> tuple[Numbers, NodeLinks] | None:
        """Return the links of several notes of the frontier, and for each link whose it is; None if a turn is over."""
        alone: list[int] = []
        whose: list[Numbers] = []
        parts: list[NodeLinks] = []
        for node in nodes:
            if node in self._tables or self._tree.children(node):
                links = self.of(node)
                if links is None:
                    return None
            else:
                alone.append(node)
                if self._tree.parent(node) == NOWHERE:
                    continue
                links = self._of_tree(node, ())
            parts.append(links)
            whose.append(np.full(len(links.others), node, np.int32))
        if alone or not parts:
            leaving, reaching = self._stored.of_all(np.array(alone, np.int32))
            stored = self._stored.of(leaving, reaching)
            parts.append(stored._replace(others=self._tree.representatives(stored.others)))
            whose.append(self._stored.ends(leaving, reaching))
        owners, every = np.concatenate(whose), joined(parts)
        leads_on = every.others != owners
        return owners[leads_on], every.where(leads_on)

    def _gathered(self, node: int) -> NodeLinks:
        """The links of *node* and what it represents; some of them summed up, as of then."""
        table = self._tables.get(node)
        if table is not None:
            return table.links
        children = np.array(self._tree.children(node), np.int32)
        is_below = self._tree.are_represented(children)
        represented: list[int] = children[is_below].tolist()
        below = [child for child in represented if self._tree.children(child)]
        alone = represented if not below else [child for child in represented if not self._tree.children(child)]
        leaving, reaching = self._stored.of_all(np.array([node, *alone], np.int32))
        parts = [self._stored.of(leaving, reaching), self._of_tree(node, children[~is_below].tolist())]
        self._room -= len(children) + (len(leaving) + len(reaching)) // 8
        for child in below:
            if self._room < 0 and child not in self._tables:
                raise _OutOfTime
            parts.append(self._gathered(child))
        links = joined(parts)
        if below and len(links.others) >= _KEPT:
            links = self._coarsened(links, self._tree.representative(node))
            self._tables[node] = _Table(self._tree.version, links)
        return links

    def _of_tree(self, node: int, contained: Sequence[int]) -> NodeLinks:
        """The links to the parent, if that does not represent *node*, and to children that it does not represent."""
        parent = self._tree.parent(node)
        if parent == NOWHERE or self._tree.above(node) == parent:
            return tree_links(self._tree, node, NOWHERE, contained)
        return tree_links(self._tree, node, parent, contained)

    def _coarsened(self, links: NodeLinks, inside: int) -> NodeLinks:
        """*links* with their other ends as the frontier has them, but for those that lead to *inside*, summed up."""
        others = self._tree.representatives(links.others)
        return summed(links._replace(others=others).where(others != inside))


def tree_links(tree: Tree, node: int, parent: int, children: Sequence[int]) -> NodeLinks:
    """Return the links that follow from the tree: from *parent*, unless that is nowhere, and to *children*."""
    count = len(children)
    others = np.array([*children, parent] if parent != NOWHERE else children, np.int32)
    relations, directions = np.empty(len(others), np.int32), np.full(len(others), IN, np.int32)
    relations[:count], directions[:count] = SEMANTIC_CONTAINS if tree.is_rollup(node) else CONTAINS, OUT
    if parent != NOWHERE:
        relations[count] = SEMANTIC_CONTAINS if tree.is_rollup(parent) else CONTAINS
    ones, stamps = np.ones(len(others), np.int32), np.full(len(others), -1, np.int64)
    return NodeLinks(others, relations, directions, ones, stamps, np.ones(len(others), np.bool_))


def joined(parts: Sequence[NodeLinks]) -> NodeLinks:
    """Return all of these links."""
    if len(parts) == 1:
        return parts[0]
    return NodeLinks._make(np.concatenate(each) for each in zip(*parts, strict=True))


def summed(links: NodeLinks) -> NodeLinks:
    """Return *links* with those of the same other end, relation and direction as one."""
    if not len(links.others):
        return links
    keys = links.others.astype(np.int64) << 32 | links.relations.astype(np.int64) << 1 | links.directions
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    if len(starts) == len(keys):
        return links.where(order)
    return links.where(order[starts])._replace(
        weights=np.add.reduceat(links.weights[order], starts, dtype=np.int32),
        stamps=np.maximum.reduceat(links.stamps[order], starts),
        unstamped=np.logical_or.reduceat(links.unstamped[order], starts),
    )
