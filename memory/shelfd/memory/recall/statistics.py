"""Corpus statistics of the visible documents, for both BM25 fields, always live."""

from collections.abc import Iterable
from copy import copy
from math import log

import numpy as np
import numpy.typing as npt


class Statistics:
    """Document frequencies and lengths.

    The two fields are the document itself (*own*) and the document together
    with its previous note (*previous*). Frequencies are plain lists: a write
    touches some thirty of them one by one, a query reads a handful.
    """

    def __init__(self) -> None:
        self.documents = 0  #: N, the same for both fields
        self.own_tokens = 0
        self.previous_tokens = 0
        self.own: list[int] = []  #: document frequency by term number
        self.previous: list[int] = []

    def copy(self) -> "Statistics":
        """Return the same counts, free to change."""
        other = copy(self)
        other.own, other.previous = self.own[:], self.previous[:]
        return other

    def reserve(self, terms: int) -> None:
        """Make room for term numbers below *terms*."""
        missing = terms - len(self.own)
        if missing > 0:
            self.own.extend([0] * missing)
            self.previous.extend([0] * missing)

    def add(self, terms: Iterable[int], tokens: int) -> None:
        """Count a document that has no previous note yet."""
        self.documents += 1
        self.own_tokens += tokens
        self.previous_tokens += tokens
        own, previous = self.own, self.previous
        for term in terms:
            own[term] += 1
            previous[term] += 1

    def discard(self, terms: Iterable[int], tokens: int) -> None:
        """Take back :meth:`add`."""
        self.documents -= 1
        self.own_tokens -= tokens
        self.previous_tokens -= tokens
        own, previous = self.own, self.previous
        for term in terms:
            own[term] -= 1
            previous[term] -= 1

    def shift_previous(self, terms: Iterable[int], tokens: int, by: int) -> None:
        """Count (*by* = 1) or uncount (-1) what a previous note adds to its follower's field."""
        self.previous_tokens += by * tokens
        previous = self.previous
        for term in terms:
            previous[term] += by

    def idf(self, frequency: int) -> float:
        """Return the BM25 inverse document frequency of a term in *frequency* documents."""
        return log(1 + (self.documents - frequency + 0.5) / (frequency + 0.5))

    def averages(self) -> tuple[float, float]:
        """Return the average lengths of both fields, in tokens; 1 where there are none."""
        count = max(self.documents, 1)
        return self.own_tokens / count or 1.0, self.previous_tokens / count or 1.0

    def keep(self, used: npt.NDArray[np.bool_]) -> None:
        """Keep the frequencies of the terms *used* (one flag per term)."""
        self.own = [count for count, kept in zip(self.own, used, strict=True) if kept]
        self.previous = [count for count, kept in zip(self.previous, used, strict=True) if kept]
