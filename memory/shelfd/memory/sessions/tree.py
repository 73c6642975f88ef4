"""Which note represents which: the tree of a graph, its frontier, and the orders in which both are listed."""

from array import array
from collections.abc import Collection, Iterator, Sequence
from heapq import merge
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.sessions.graph import NOWHERE, Numbers
from shelfd.memory.sessions.ordered import Ordered

KNOWN: Final = 1  #: is a note of the nugget
ACTIVE: Final = 2  #: is not hidden
CANDIDATE: Final = 4
FRONTIER: Final = 8
ROLLUP: Final = 16
SEMANTIC: Final = 32

#: Deeper trees there are none; more steps up than these go around in a circle.
DEEPEST: Final = 64
#: Keys of orders: the turn's number, and behind it the row, in the frontier with the rollup's depth between.
_ROW_BITS: Final = 31
_DEPTH_BITS: Final = 5
_LAST_TURN: Final = (1 << (63 - _ROW_BITS - _DEPTH_BITS)) - 2  #: what is later counts as made then
MOST_DEPTH: Final = (1 << _DEPTH_BITS) - 1
_ROW: Final = (1 << _ROW_BITS) - 1
_NO_CHILDREN: Final = array("i")


class TreePlace(NamedTuple):
    """Where a note stands."""

    row: int
    type: int  #: number of its type
    flags: int  #: but for ``FRONTIER``, which follows
    parent: int
    seq_to: int
    depth: int  #: of a rollup, at most ``MOST_DEPTH``


#: Of a node that is no note of the nugget.
ELSEWHERE: Final = TreePlace(0, 0, 0, NOWHERE, -1, 0)


class Tree:
    """Notes by node: 30 bytes each, and 16 in the orders.

    Attributes:
        version: Differs once any note is represented by another one than before, or is in the frontier or not.
    """

    def __init__(self, hierarchical: Collection[str]) -> None:
        self.version = 0
        self.type_names: list[str] = []
        self._types: dict[str, int] = {}
        self._hierarchical = frozenset(hierarchical)
        self._is_hierarchical: list[bool] = []
        self._rows, self._seqs = array("q"), array("q")
        self._type, self._parents = array("i"), array("i")
        self._flags, self._depths = array("B"), array("B")
        self._children: dict[int, array[int]] = {}
        self._by_row = array("i")
        self._frontier: list[Ordered] = []  # by number of the type, as the next
        self._timeline: list[Ordered] = []

    def __len__(self) -> int:
        return sum(map(len, self._timeline))

    def add_node(self) -> None:
        """Add a node that is no note of the nugget."""
        for values, value in zip(self._columns(), ELSEWHERE, strict=True):
            values.append(value)

    def _columns(self) -> tuple["array[int]", ...]:
        return self._rows, self._type, self._flags, self._parents, self._seqs, self._depths

    def type_number(self, name: str) -> int:
        """Return the number of a type, a new one if need be."""
        known = self._types.get(name)
        if known is None:
            known = self._types[name] = len(self.type_names)
            self.type_names.append(name)
            self._is_hierarchical.append(name in self._hierarchical)
            self._frontier.append(Ordered())
            self._timeline.append(Ordered())
        return known

    # -------------------------------------------------------------- reading

    def place(self, node: int) -> TreePlace:
        """Return where a note stands."""
        row, type_, flags, parent, seq, depth = (values[node] for values in self._columns())
        return TreePlace(row, type_, flags & ~FRONTIER, parent, seq, depth)

    def has(self, node: int, flags: int) -> bool:
        """Return whether a node has all of these *flags*."""
        return self._flags[node] & flags == flags

    def is_rollup(self, node: int) -> bool:
        """Return whether a note is a rollup."""
        return self._flags[node] & ROLLUP != 0

    def row(self, node: int) -> int:
        """Return the row of a note."""
        return self._rows[node]

    def depth(self, node: int) -> int:
        """Return the depth of a rollup, 0 of any other note."""
        return self._depths[node]

    def seq_to(self, node: int) -> int:
        """Return the number of the last turn that touched a note, -1 for none."""
        return self._seqs[node]

    def type(self, node: int) -> str:
        """Return the type of a note."""
        return self.type_names[self._type[node]]

    def parent(self, node: int) -> int:
        """Return the node's parent in the nugget, or ``NOWHERE``."""
        parent = self._parents[node]
        return parent if parent != NOWHERE and self._flags[parent] & KNOWN else NOWHERE

    def children(self, node: int) -> Sequence[int]:
        """Return the notes whose parent a node is."""
        return self._children.get(node, _NO_CHILDREN)

    def above(self, node: int) -> int:
        """Return the note that represents *node*, which is active and not in the frontier, or ``NOWHERE``."""
        return self._parents[node] if self._flags[node] & (ACTIVE | FRONTIER) == ACTIVE else NOWHERE

    def chain(self, node: int) -> Iterator[int]:
        """Iterate over *node* and what represents it, upwards."""
        for _ in range(DEEPEST + 1):
            yield node
            node = self.above(node)
            if node == NOWHERE:
                return

    def representative(self, node: int) -> int:
        """Return the note of the frontier that represents *node*, or ``NOWHERE``."""
        at = node
        for at in self.chain(node):  # noqa: B007 - the last one counts
            pass
        return at if self._flags[at] & FRONTIER else NOWHERE

    def representatives(self, nodes: Numbers) -> Numbers:
        """Return for each of *nodes* its representative in the frontier; itself if it has none."""
        flags, parents = np.frombuffer(self._flags, np.uint8), np.frombuffer(self._parents, np.int32)
        at = nodes.copy()
        (moving,) = np.nonzero(((flags[at] & (ACTIVE | FRONTIER)) == ACTIVE) & (parents[at] != NOWHERE))
        for _ in range(DEEPEST):
            if not len(moving):
                break
            there = at[moving] = parents[at[moving]]
            moving = moving[((flags[there] & (ACTIVE | FRONTIER)) == ACTIVE) & (parents[there] != NOWHERE)]
        found: Numbers = np.where(flags[at] & FRONTIER != 0, at, nodes)
        return found

    def have(self, nodes: Numbers, flag: int) -> npt.NDArray[np.bool_]:
        """Return which of *nodes* have a *flag*."""
        found: npt.NDArray[np.bool_] = np.frombuffer(self._flags, np.uint8)[nodes] & flag != 0
        return found

    def are_represented(self, nodes: Numbers) -> npt.NDArray[np.bool_]:
        """Return which of *nodes*, that have a parent, are represented by it: active, and not in the frontier."""
        found: npt.NDArray[np.bool_] = np.frombuffer(self._flags, np.uint8)[nodes] & (ACTIVE | FRONTIER) == ACTIVE
        return found

    def rows(self, nodes: Numbers) -> npt.NDArray[np.int64]:
        """Return the rows of *nodes*."""
        return np.frombuffer(self._rows, np.int64)[nodes]

    def parents(self, nodes: Numbers) -> Numbers:
        """Return the parents of *nodes* in the nugget, or ``NOWHERE``."""
        parents = np.frombuffer(self._parents, np.int32)[nodes]
        is_known = (parents != NOWHERE) & self.have(parents, KNOWN)
        return parents if is_known.all() else np.where(is_known, parents, NOWHERE).astype(np.int32)

    def children_by_row(self, node: int) -> Sequence[int]:
        """Return the notes whose parent a node is, the oldest first."""
        below = self.children(node)
        if not below:
            return below
        children = np.array(below, np.int32)
        found: list[int] = children[np.argsort(self.rows(children))].tolist()
        return found

    def seqs_to(self, nodes: Numbers) -> npt.NDArray[np.int64]:
        """Return the numbers of the last turns that touched *nodes*."""
        return np.frombuffer(self._seqs, np.int64)[nodes]

    def at_rows(self, rows: npt.NDArray[np.int64]) -> Numbers:
        """Return the nodes of the notes with these rows."""
        if not len(self._by_row):
            return np.full(len(rows), NOWHERE, np.int32)
        known = np.frombuffer(self._by_row, np.int32)
        found: Numbers = np.where(rows < len(known), known[np.minimum(rows, len(known) - 1)], NOWHERE)
        return found

    # --------------------------------------------------------------- orders

    def frontier(
        self, types: Collection[str] | None, after: int | None, until_seq: int | None
    ) -> Iterator[tuple[int, int]]:
        """Iterate over keys and nodes of the frontier, see the port."""
        if until_seq is not None:
            start = ((_LAST_TURN - min(until_seq, _LAST_TURN)) << _DEPTH_BITS + _ROW_BITS) - 1
            after = start if after is None else max(after, start)
        return self._listed(self._frontier, types, after)

    def timeline(
        self, types: Collection[str] | None, after: int | None, from_seq: int | None
    ) -> Iterator[tuple[int, int]]:
        """Iterate over keys and nodes of all notes, see the port."""
        if from_seq is not None:
            start = (min(from_seq, _LAST_TURN) << _ROW_BITS) - 1
            after = start if after is None else max(after, start)
        return self._listed(self._timeline, types, after)

    def frontier_size(self) -> int:
        """Return how many notes are in the frontier."""
        return sum(map(len, self._frontier))

    def timeline_key(self, node: int) -> int:
        """Return the key of a note in the timeline."""
        seq = self._seqs[node]
        return (_LAST_TURN + 1 if seq < 0 else min(seq, _LAST_TURN)) << _ROW_BITS | self._rows[node]

    def by_time(self, nodes: Numbers) -> list[int]:
        """Return those of *nodes* that are notes of the nugget, in the order of the timeline."""
        if not len(nodes):
            return []
        own = nodes[np.frombuffer(self._flags, np.uint8)[nodes] & KNOWN != 0]
        seqs, rows = np.frombuffer(self._seqs, np.int64)[own], np.frombuffer(self._rows, np.int64)[own]
        turns = np.where(seqs < 0, _LAST_TURN + 1, np.minimum(seqs, _LAST_TURN))
        found: list[int] = own[np.lexsort((rows, turns))].tolist()
        return found

    def recency_key(self, node: int) -> int:
        """Return the key that a note has in the frontier, or would have."""
        turn = _LAST_TURN - min(self._seqs[node], _LAST_TURN)
        return (turn << _DEPTH_BITS | MOST_DEPTH - self._depths[node]) << _ROW_BITS | self._rows[node]

    def _listed(
        self, orders: Sequence[Ordered], types: Collection[str] | None, after: int | None
    ) -> Iterator[tuple[int, int]]:
        if types is None:
            chosen = [order for order in orders if len(order)]
        else:
            chosen = [orders[self._types[name]] for name in dict.fromkeys(types) if name in self._types]
        keys = chosen[0].after(after) if len(chosen) == 1 else merge(*(order.after(after) for order in chosen))
        by_row = self._by_row
        for key in keys:
            yield key, by_row[key & _ROW]

    # -------------------------------------------------------------- writing

    def put(self, node: int, place: TreePlace) -> "Moved":
        """Put a note where it stands now; return what that means for those it represents."""
        old = self.place(node)
        if old == place:
            return NOT_MOVED
        if (old.parent, old.flags, old.type) == (place.parent, place.flags, place.type):
            self._reorder(node, place)
            return NOT_MOVED
        above = self.above(node)
        self._unlist(node)
        self._write(node, old, place)
        if self._flags[node] & KNOWN:
            self._timeline[place.type].add(self.timeline_key(node))
        self._judge(node)
        self.version += 1
        children = self.children(node)
        is_split = self._judge_below(node, np.array(children, np.int32)) if children else False
        is_split |= above not in (NOWHERE, self.above(node))
        return Moved(is_split, tuple({old.parent, place.parent, node} - {NOWHERE}), children)

    def _write(self, node: int, old: TreePlace, place: TreePlace) -> None:
        for values, value in zip(self._columns(), place, strict=True):
            values[node] = value
        if old.parent != place.parent:
            self._adopt(node, old.parent, place.parent)
        if old.row != place.row:
            if old.row:
                self._by_row[old.row] = NOWHERE
            if place.row >= len(self._by_row):
                self._by_row.extend([NOWHERE] * (place.row + 1 + len(self._by_row) // 8 - len(self._by_row)))
            if place.row:
                self._by_row[place.row] = node

    def _adopt(self, node: int, old: int, new: int) -> None:
        if old != NOWHERE:
            self._children[old].remove(node)
            if not self._children[old]:
                del self._children[old]
        if new != NOWHERE:
            self._children.setdefault(new, array("i")).append(node)

    def _reorder(self, node: int, place: TreePlace) -> None:
        was_frontier = self._unlist(node)
        self._seqs[node], self._depths[node] = place.seq_to, place.depth
        if place.flags & KNOWN:
            self._timeline[place.type].add(self.timeline_key(node))
        if was_frontier:
            self._flags[node] |= FRONTIER
            self._frontier[place.type].add(self.recency_key(node))

    def _unlist(self, node: int) -> bool:
        """Take a node out of the orders; return whether it was in the frontier."""
        flags = self._flags[node]
        if flags & KNOWN:
            self._timeline[self._type[node]].remove(self.timeline_key(node))
        if flags & FRONTIER:
            self._frontier[self._type[node]].remove(self.recency_key(node))
            self._flags[node] = flags & ~FRONTIER
        return flags & FRONTIER != 0

    def _judge(self, node: int) -> None:
        """Put a note into the frontier, or take it out, as it has to be."""
        flags, type_ = self._flags[node], self._type[node]
        belongs = flags & CANDIDATE != 0
        if belongs and self._is_hierarchical[type_] and (parent := self._parents[node]) != NOWHERE:
            belongs = not (self._flags[parent] & CANDIDATE and self._type[parent] == type_)
        if belongs == (flags & FRONTIER != 0):
            return
        order = self._frontier[type_]
        if belongs:
            self._flags[node] = flags | FRONTIER
            order.add(self.recency_key(node))
        else:
            order.remove(self.recency_key(node))
            self._flags[node] = flags & ~FRONTIER

    def _judge_below(self, node: int, children: Numbers) -> bool:
        """Put the *children* of a node into the frontier, or take them out; return whether it lets any of them go."""
        were_below = self.are_represented(children)
        flags, types = np.frombuffer(self._flags, np.uint8), np.frombuffer(self._type, np.int32)[children]
        belong = self.have(children, CANDIDATE)
        if self._flags[node] & CANDIDATE and self._is_hierarchical[self._type[node]]:
            belong &= types != self._type[node]
        are_there = self.have(children, FRONTIER)
        for type_ in set(types[belong != are_there].tolist()):
            coming = children[belong & ~are_there & (types == type_)]
            going = children[are_there & ~belong & (types == type_)]
            flags[coming] |= FRONTIER
            flags[going] &= ~np.uint8(FRONTIER)
            order = self._frontier[type_]
            order.add_all(list(map(self.recency_key, coming.tolist())))
            order.remove_all(list(map(self.recency_key, going.tolist())))
        return bool(np.any(were_below & ~self.are_represented(children)))


class Moved(NamedTuple):
    """What it means for others that a note stands elsewhere now."""

    is_split: bool = False  #: a note is not represented any more by what represented it
    near: tuple[int, ...] = ()  #: nodes of which something changed that they represent, with all above them
    children: Sequence[int] = ()  #: the same of a node's children, which have nothing above them but what those have


NOT_MOVED: Final = Moved()
