"""The links between the nodes of a graph, by either end: 28 bytes a link, and some hundred for a node that has any."""

from array import array
from collections.abc import Mapping
from typing import Final

import numpy as np

from shelfd.memory.notes.relations import INTERNAL, SYMMETRIC
from shelfd.memory.sessions.graph import IN, OUT, NodeLinks, Numbers

#: Of a link that was made in no turn.
UNSTAMPED: Final = -1
_NONE: Final = array("i")


class Relations:
    """Relations of links by number. Those that follow from the tree come first."""

    def __init__(self) -> None:
        self.names: list[str] = ["semantic_contains", "contains"]
        self._numbers: dict[str, int] = {}
        self.symmetric: set[int] = set()
        self.internal: set[int] = {0, 1}

    def number(self, name: str) -> int:
        """Return the number of a stored relation, a new one if need be; its case makes no difference."""
        known = self._numbers.get(name)
        if known is not None:
            return known
        name = name.casefold()
        known = self._numbers.get(name)
        if known is None:
            known = self._numbers[name] = len(self.names)
            self.names.append(name)
            if name in SYMMETRIC:
                self.symmetric.add(known)
            if name in INTERNAL:
                self.internal.add(known)
        return known

    def named(self, name: str) -> list[int]:
        """Return the numbers of a relation."""
        name = name.casefold()
        found = [number for number in (0, 1) if self.names[number] == name]
        return [*found, self._numbers[name]] if name in self._numbers else found


class StoredLinks:
    """Links by number, and the numbers of each node's."""

    def __init__(self) -> None:
        self.relations = Relations()
        self._source, self._target, self._relation = array("i"), array("i"), array("i")
        self._stamp = array("q")  # number of the turn
        self._free = array("i")
        self._out: list[array[int] | None] = []
        self._into: list[array[int] | None] = []

    def __len__(self) -> int:
        return len(self._source) - len(self._free)

    def add_node(self) -> None:
        """Add a node without links."""
        self._out.append(None)
        self._into.append(None)

    def leaving(self, node: int) -> "array[int]":
        """Return the numbers of links that leave a node."""
        return self._out[node] or _NONE

    def reaching(self, node: int) -> "array[int]":
        """Return the numbers of links that reach a node."""
        return self._into[node] or _NONE

    def replace(self, node: int, wanted: Mapping[tuple[int, int], int]) -> list[int]:
        """Have these links leave a node and no others.

        Args:
            node: The source.
            wanted: Number of the turn, or ``UNSTAMPED``, by target and relation.

        Returns:
            The targets of links that are new, different or gone.
        """
        missing = dict(wanted)
        kept, changed = array("i"), []
        for number in self.leaving(node):
            target = self._target[number]
            stamp = missing.pop((target, self._relation[number]), None)
            if stamp is None:
                self._delete(number, target)
            else:
                kept.append(number)
            if stamp != self._stamp[number]:
                changed.append(target)
                if stamp is not None:
                    self._stamp[number] = stamp
        for (target, relation), stamp in missing.items():
            kept.append(self._new(node, target, relation, stamp))
            changed.append(target)
        self._out[node] = kept or None
        return changed

    def sources(self, node: int) -> list[int]:
        """Return the nodes from which links reach a node."""
        return [self._source[number] for number in self.reaching(node)]

    def remove_reaching(self, node: int) -> None:
        """Remove the links that reach a node."""
        for number in self.reaching(node):
            source = self._source[number]
            leaving = self._out[source]
            assert leaving is not None
            leaving.remove(number)
            self._out[source] = leaving or None
            self._free.append(number)
        self._into[node] = None

    def of(self, leaving: "array[int]", reaching: "array[int]") -> NodeLinks:
        """Return links by their numbers, as they look from the end given: the source or the target."""
        out, into = np.array(leaving, np.int32), np.array(reaching, np.int32)
        # Views of what may grow, which it cannot before they are gone.
        source, target = np.frombuffer(self._source, np.int32), np.frombuffer(self._target, np.int32)
        relation, stamp = np.frombuffer(self._relation, np.int32), np.frombuffer(self._stamp, np.int64)
        numbers = np.concatenate([out, into])
        directions: Numbers = np.empty(len(numbers), np.int32)
        directions[: len(out)], directions[len(out) :] = OUT, IN
        stamps = stamp[numbers]
        return NodeLinks(
            np.concatenate([target[out], source[into]]),
            relation[numbers],
            directions,
            np.ones(len(numbers), np.int32),
            stamps,
            stamps == UNSTAMPED,
        )

    def _new(self, source: int, target: int, relation: int, stamp: int) -> int:
        if self._free:
            number = self._free.pop()
            self._source[number], self._target[number] = source, target
            self._relation[number], self._stamp[number] = relation, stamp
        else:
            number = len(self._source)
            self._source.append(source)
            self._target.append(target)
            self._relation.append(relation)
            self._stamp.append(stamp)
        into = self._into[target]
        if into is None:
            into = self._into[target] = array("i")
        into.append(number)
        return number

    def _delete(self, number: int, target: int) -> None:
        into = self._into[target]
        assert into is not None
        into.remove(number)
        if not into:
            self._into[target] = None
        self._free.append(number)
