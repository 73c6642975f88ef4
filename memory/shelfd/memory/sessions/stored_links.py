"""The links between the nodes of a graph, by either end: 32 bytes a link, and 8 a node."""

from array import array
from collections.abc import Mapping
from typing import Final

import numpy as np

from shelfd.memory.notes.relations import INTERNAL, SYMMETRIC
from shelfd.memory.sessions.graph import IN, OUT, NodeLinks, Numbers

#: Of a link that was made in no turn.
UNSTAMPED: Final = -1
#: After the last link of a chain.
_NONE: Final = -1
#: Chains of which each is followed by itself.
_FEW: Final = 8


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
    """Links by number. Those that leave a node are a chain, and so are those that reach it."""

    def __init__(self) -> None:
        self.relations = Relations()
        self._source, self._target, self._relation = array("i"), array("i"), array("i")
        self._stamp = array("q")  # number of the turn
        self._free = array("i")
        # By node the first link, by link the next one; of those that reach a node, who may be many, the one before too.
        self._first_out, self._next_out = array("i"), array("i")
        self._first_in, self._next_in, self._before_in = array("i"), array("i"), array("i")

    def __len__(self) -> int:
        return len(self._source) - len(self._free)

    def add_node(self) -> None:
        """Add a node without links."""
        self._first_out.append(_NONE)
        self._first_in.append(_NONE)

    def leaving(self, node: int) -> "array[int]":
        """Return the numbers of links that leave a node."""
        return _chain(self._first_out[node], self._next_out)

    def reaching(self, node: int) -> "array[int]":
        """Return the numbers of links that reach a node."""
        return _chain(self._first_in[node], self._next_in)

    def is_reached(self, node: int) -> bool:
        """Return whether any link reaches a node."""
        return self._first_in[node] != _NONE

    def replace(self, node: int, wanted: Mapping[tuple[int, int], int]) -> list[int]:
        """Have these links leave a node and no others.

        Args:
            node: The source.
            wanted: Number of the turn, or ``UNSTAMPED``, by target and relation.

        Returns:
            The targets of links that are new, different or gone.
        """
        missing = dict(wanted)
        gone: list[int] = []
        changed: list[int] = []
        for number in self.leaving(node):
            target = self._target[number]
            stamp = missing.pop((target, self._relation[number]), None)
            if stamp is None:
                gone.append(number)
            if stamp != self._stamp[number]:
                changed.append(target)
                if stamp is not None:
                    self._stamp[number] = stamp
        for number in gone:
            self._unchain_in(number)
            self._unchain_out(number)
            self._free.append(number)
        for (target, relation), stamp in missing.items():
            self._add(node, target, relation, stamp)
            changed.append(target)
        return changed

    def sources(self, node: int) -> list[int]:
        """Return the nodes from which links reach a node."""
        return [self._source[number] for number in self.reaching(node)]

    def remove_reaching(self, node: int) -> None:
        """Remove the links that reach a node."""
        for number in self.reaching(node):
            self._unchain_out(number)
            self._free.append(number)
        self._first_in[node] = _NONE

    def of_all(self, nodes: Numbers) -> tuple[Numbers, Numbers]:
        """Return the numbers of the links that leave any of *nodes*, and of those that reach any."""
        leaving = _chains(np.frombuffer(self._first_out, np.int32)[nodes], self._next_out)
        return leaving, _chains(np.frombuffer(self._first_in, np.int32)[nodes], self._next_in)

    def ends(self, leaving: Numbers, reaching: Numbers) -> Numbers:
        """Return from which end :meth:`of` looks at each of these links: the source or the target."""
        source, target = np.frombuffer(self._source, np.int32), np.frombuffer(self._target, np.int32)
        return np.concatenate([source[leaving], target[reaching]])

    def of(self, leaving: "array[int] | Numbers", reaching: "array[int] | Numbers") -> NodeLinks:
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

    def _add(self, source: int, target: int, relation: int, stamp: int) -> None:
        first_out, first_in = self._first_out[source], self._first_in[target]
        if self._free:
            number = self._free.pop()
            self._source[number], self._target[number] = source, target
            self._relation[number], self._stamp[number] = relation, stamp
            self._next_out[number], self._next_in[number], self._before_in[number] = first_out, first_in, _NONE
        else:
            number = len(self._source)
            self._source.append(source)
            self._target.append(target)
            self._relation.append(relation)
            self._stamp.append(stamp)
            self._next_out.append(first_out)
            self._next_in.append(first_in)
            self._before_in.append(_NONE)
        self._first_out[source] = self._first_in[target] = number
        if first_in != _NONE:
            self._before_in[first_in] = number

    def _unchain_in(self, number: int) -> None:
        before, following = self._before_in[number], self._next_in[number]
        if before == _NONE:
            self._first_in[self._target[number]] = following
        else:
            self._next_in[before] = following
        if following != _NONE:
            self._before_in[following] = before

    def _unchain_out(self, number: int) -> None:
        """Take a link out of its source's chain, which is no longer than a note may have links."""
        source, following = self._source[number], self._next_out[number]
        at = self._first_out[source]
        if at == number:
            self._first_out[source] = following
            return
        while self._next_out[at] != number:
            at = self._next_out[at]
        self._next_out[at] = following


def _chain(number: int, following: "array[int]") -> "array[int]":
    found = array("i")
    while number != _NONE:
        found.append(number)
        number = following[number]
    return found


def _chains(numbers: Numbers, following: "array[int]") -> Numbers:
    """The links of several chains that begin with *numbers*."""
    nexts = np.frombuffer(following, np.int32)
    found: list[Numbers] = []
    numbers = numbers[numbers != _NONE]
    while len(numbers) > _FEW:
        found.append(numbers)
        numbers = nexts[numbers]
        numbers = numbers[numbers != _NONE]
    rest = array("i")
    for number in numbers.tolist():
        rest += _chain(number, following)
    return np.concatenate([*found, np.array(rest, np.int32)])
