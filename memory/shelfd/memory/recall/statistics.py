"""Corpus statistics of the visible documents, for both BM25 fields, always live."""

from array import array
from copy import copy
from math import log
from typing import Final

import numpy as np

from shelfd.memory.recall.columns import IntArray

_KEPT: Final = 4_096  #: frequencies


class InverseFrequencies(dict[int, float]):
    """What terms weigh among so many *documents*, by how many have them: worked out once for each such number."""

    __slots__ = ("documents",)

    def __init__(self, documents: int) -> None:
        super().__init__()
        self.documents = documents

    def __missing__(self, frequency: int) -> float:
        if len(self) >= _KEPT:
            self.clear()
        found = self[frequency] = log(1 + (self.documents - frequency + 0.5) / (frequency + 0.5))
        return found


class Statistics:
    """Document frequencies and lengths.

    The two fields are the document itself (*own*) and the document together with its previous note (*previous*).
    Frequencies are lists of machine numbers: a write counts those of some hundred documents at once, a query reads
    a handful.
    """

    def __init__(self) -> None:
        self.documents = 0  #: N, the same for both fields
        self.own_tokens = 0
        self.previous_tokens = 0
        self.own = array("i")  #: document frequency by term number
        self.previous = array("i")
        self._idfs = InverseFrequencies(0)

    def copy(self) -> "Statistics":
        """Return the same counts, free to change."""
        other = copy(self)
        other.own, other.previous = self.own[:], self.previous[:]
        return other

    def reserve(self, terms: int) -> None:
        """Make room for term numbers below *terms*."""
        missing = terms - len(self.own)
        if missing > 0:
            nothing = bytes(missing * self.own.itemsize)
            self.own.frombytes(nothing)
            self.previous.frombytes(nothing)

    def count(self, terms: IntArray, documents: int, tokens: int, by: int) -> None:
        """Count (*by* = 1) or uncount (-1) documents without what their previous notes add.

        Args:
            terms: Those of each document.
            documents: How many these are.
            tokens: Their lengths together.
            by: 1 or -1.
        """
        self.documents += by * documents
        self.own_tokens += by * tokens
        _add(self.own, terms, by)
        self.count_previous(terms, tokens, by)

    def count_previous(self, terms: IntArray, tokens: int, by: int) -> None:
        """Count (*by* = 1) or uncount (-1) what previous notes add to the fields of those after them."""
        self.previous_tokens += by * tokens
        _add(self.previous, terms, by)

    @property
    def idfs(self) -> "InverseFrequencies":
        """The BM25 inverse document frequency of a term, by how many documents have it."""
        if self._idfs.documents != self.documents:
            self._idfs = InverseFrequencies(self.documents)
        return self._idfs

    def averages(self) -> tuple[float, float]:
        """Return the average lengths of both fields, in tokens; 1 where there are none."""
        count = max(self.documents, 1)
        return self.own_tokens / count or 1.0, self.previous_tokens / count or 1.0


def _add(counts: "array[int]", terms: IntArray, by: int) -> None:
    np.add.at(
        np.frombuffer(counts, np.int32), terms, np.int32(by)
    )  # by another type it would take twenty times as long
