"""Names of notes by pairs of neighbouring characters: finds those that may have a text as a part."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from shelfd.memory.notes.words import fold

#: Stands before and after each name, so that a name as a whole has pairs of its own.
_EDGE: Final = "\n"
#: Characters of one name that are looked at; as long a query finds names that begin as it does.
_LONGEST: Final = 256
#: Pairs of a text that are looked up: the rarest.
_ASKED: Final = 4


def folded_name(text: str) -> str:
    """Return the form in which names are compared: without case, accents, width and runs of blanks."""
    return " ".join(fold(text).split())[:_LONGEST]


def texts_in(value: object) -> Iterator[str]:
    """Yield the texts in a column, which holds one or a list of them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for member in value:
            yield from texts_in(member)
    elif value is not None and not isinstance(value, dict):
        yield str(value)


class NameParts:
    """The pairs of characters of names, four bytes for each pair of each name.

    A name that changed stays, so what is found must be looked at; the lists hold a node once or twice.
    """

    __slots__ = ("_again", "_having", "_known")

    def __init__(self) -> None:
        self._having: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        self._again: dict[str, int] = {}  # how many of a pair's nodes may stand there for the second time
        self._known = array("q")  # a digest of its names by node; 0 for none

    def put(self, node: int, names: Iterable[str]) -> None:
        """Add the names of a node."""
        folded = frozenset(filter(None, map(folded_name, names)))
        digest = hash(folded)
        if node >= len(self._known):
            self._known.extend([0] * (node + 1 - len(self._known)))
        before = self._known[node]
        if before == digest:
            return
        self._known[node] = digest
        having = self._having
        pairs = set[str]().union(*(_pairs(_EDGE + name + _EDGE) for name in folded))
        for pair in pairs:
            having[pair].append(node)
        if before:
            self._count_again(pairs)

    def _count_again(self, pairs: Iterable[str]) -> None:
        """Count that a node with other names before was added; lists of which half may be such lose what is double."""
        for pair in pairs:
            again = self._again.get(pair, 0) + 1
            if 2 * again > len(self._having[pair]):
                self._having[pair] = array("i", np.unique(self._having[pair]).tobytes())
                again = 0
            self._again[pair] = again

    def find(self, text: str, *, exactly: bool) -> npt.NDArray[np.int32]:
        """Return nodes by number, among them all with a name that *text* is, or is a part of."""
        sought = folded_name(text)
        found = np.zeros(len(self._known), np.bool_)
        if len(sought) == 1 and not exactly:
            for pair, having in self._having.items():
                if sought in pair:
                    found[np.frombuffer(having, np.int32)] = True
        elif sought:
            for number, having in enumerate(self._rarest(_EDGE + sought + _EDGE if exactly else sought)):
                has = np.zeros(len(self._known), np.bool_)
                has[np.frombuffer(having, np.int32)] = True
                found = found & has if number else has
        return np.flatnonzero(found).astype(np.int32)

    def _rarest(self, text: str) -> list["array[int]"]:
        having = [self._having.get(pair) for pair in _pairs(text)]
        known = [one for one in having if one is not None]
        return sorted(known, key=len)[:_ASKED] if len(known) == len(having) else []


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}
