"""The inverted index: an immutable main segment in CSC form and a delta for what came after it.

Both speak of the same ordinals. The forward index (terms by ordinal) is kept
because removal and the previous-note statistics need the terms of a
document, and because the main segment is built from it. Dead ordinals stay in the postings
until the next compaction: they are masked, which is cheaper than finding them.
"""

from array import array
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from shelfd.memory.recall.columns import BoolArray, FloatArray, IntArray

K = TypeVar("K", bound=Hashable)
D = TypeVar("D")


def new_array() -> "array[int]":
    """Return an empty list of numbers."""
    return array("q")


class Layered(defaultdict[K, "array[int]"]):
    """Takes a list over, as a copy, when it is first added to. Good for as long as nothing is added below."""

    def __init__(self, below: "Mapping[K, array[int]]") -> None:
        super().__init__(new_array)
        self._below = below

    def __missing__(self, key: K) -> "array[int]":
        own = self[key] = array("q", self._below.get(key, ()))
        return own

    @overload
    def get(self, key: K, default: None = None, /) -> "array[int] | None": ...
    @overload
    def get(self, key: K, default: "array[int]", /) -> "array[int]": ...
    @overload
    def get(self, key: K, default: D, /) -> "array[int] | D": ...
    def get(self, key: K, default: D | None = None, /) -> "array[int] | D | None":
        """Return the list, from below if nothing was added to it here."""
        return super().get(key) or self._below.get(key, default)


#: Ordinals, positions in the list of terms, frequencies: arrays of one length.
PostingLists: TypeAlias = tuple[IntArray, IntArray, FloatArray]

MAX_FREQUENCY: Final = 255  # term frequencies are bytes; BM25 is flat long before


class Postings:
    """Term frequencies by document (forward) and by term (inverted)."""

    def __init__(self) -> None:
        self._start: array[int] = array("q", [0])  # where an ordinal's terms begin
        self._terms: array[int] = array("i")
        self._frequencies: array[int] = array("B")
        self._delta: defaultdict[int, array[int]] = defaultdict(new_array)  # term -> ordinal << 8 | frequency
        self._first = 0  # the first ordinal whose terms are here; those before are below
        self._below: Postings | None = None
        self._indexed = 0  # ordinals below are in the main segment
        self._pointer = np.zeros(1, np.int64)  # where a term's postings begin in the main segment
        self._documents = np.zeros(0, np.int32)
        self._counts = np.zeros(0, np.uint8)

    @property
    def delta_documents(self) -> int:
        """How many ordinals are not in the main segment."""
        return len(self._start) - 1 - self._indexed

    def append(self, counts: Mapping[int, int], *, inverted: bool) -> None:
        """Add the terms of the next ordinal.

        Args:
            counts: Frequency by term number, at most ``MAX_FREQUENCY``.
            inverted: Whether to index it now; if not, :meth:`compact` must follow.
        """
        ordinal = self._first + len(self._start) - 1
        self._terms.extend(counts)
        self._frequencies.extend(counts.values())
        self._start.append(len(self._terms))
        if inverted:
            base, delta = ordinal << 8, self._delta
            for term, frequency in counts.items():
                delta[term].append(base | frequency)

    def layer(self) -> "Postings":
        """Return postings to which more can be added without adding them here; good until these change."""
        other = Postings()
        other._first, other._below, other._delta = len(self._start) - 1, self, Layered(self._delta)
        other._pointer, other._documents, other._counts = self._pointer, self._documents, self._counts
        return other

    def terms_of(self, ordinal: int) -> Sequence[int]:
        """Return the distinct terms of *ordinal*."""
        if self._below is not None:
            if ordinal < self._first:
                return self._below.terms_of(ordinal)
            ordinal -= self._first
        return self._terms[self._start[ordinal] : self._start[ordinal + 1]]

    def lookup(self, terms: Sequence[int]) -> PostingLists:
        """Return the postings of *terms*: ordinals, position in *terms*, frequencies; equal lengths."""
        ordinals, frequencies, slots, sizes = [], [], [], []
        recent, recent_slots = [], []
        last = len(self._pointer) - 2
        for slot, term in enumerate(terms):
            if term <= last:
                main = slice(self._pointer[term], self._pointer[term + 1])
                ordinals.append(self._documents[main])
                frequencies.append(self._counts[main])
                slots.append(slot)
                sizes.append(len(ordinals[-1]))
            if packed := self._delta.get(term):
                recent.append(packed)
                recent_slots.append(slot)
        if recent:
            # A copy: an array that lends its buffer cannot grow until every borrower is gone.
            together = np.concatenate(recent, dtype=np.int64)
            ordinals.append(together >> 8)
            frequencies.append(together.astype(np.uint8))
            slots += recent_slots
            sizes += map(len, recent)
        if not ordinals:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
        if len(ordinals) == 1:  # as in a shelf that is still small, all of whose postings are recent
            return ordinals[0].astype(np.int64, copy=False), np.repeat(slots, sizes), frequencies[0].astype(np.float64)
        return (
            np.concatenate(ordinals, dtype=np.int64),
            np.repeat(slots, sizes),
            np.concatenate(frequencies, dtype=np.float64),
        )

    def size(self, term: int) -> int:
        """Return how many documents have *term*, dead ones included."""
        in_main = self._pointer[term + 1] - self._pointer[term] if term < len(self._pointer) - 1 else 0
        return int(in_main) + len(self._delta.get(term, ()))

    def some(self, term: int, count: int) -> IntArray:
        """Return ordinals of documents with *term*, the *count* most recent ones of each segment; dead ones, too."""
        begin, end = (self._pointer[term], self._pointer[term + 1]) if term < len(self._pointer) - 1 else (0, 0)
        main = self._documents[max(begin, end - count) : end]
        recent = self._delta.get(term)
        if not recent:
            return main.astype(np.int64)
        return np.concatenate([main, np.array(recent[-count:], np.int64) >> 8], dtype=np.int64)

    def compact(self, alive: BoolArray, terms: int) -> None:
        """Fold the delta into the main segment and drop the postings of dead ordinals.

        Args:
            alive: One flag per ordinal.
            terms: How many term numbers exist.
        """
        kept = alive[self._documents]
        passed = np.concatenate([[0], np.cumsum(kept)])
        main_sizes = np.zeros(terms, np.int64)
        main_sizes[: len(self._pointer) - 1] = np.diff(passed[self._pointer])
        new_terms, new_documents, new_counts = self._recent(alive)
        new_sizes = np.bincount(new_terms, minlength=terms)
        pointer = np.concatenate([[0], np.cumsum(main_sizes + new_sizes)])
        # Each main list moves to its term's new place, the new postings go after it.
        new_at = np.repeat(pointer[:-1] + main_sizes - np.cumsum(new_sizes) + new_sizes, new_sizes)
        new_at += np.arange(len(new_at))
        is_new = np.zeros(int(pointer[-1]), np.bool_)
        is_new[new_at] = True
        documents, counts = np.empty(len(is_new), np.int32), np.empty(len(is_new), np.uint8)
        documents[new_at], counts[new_at] = new_documents, new_counts
        documents[~is_new], counts[~is_new] = self._documents[kept], self._counts[kept]
        self._pointer, self._documents, self._counts = pointer, documents, counts
        self._delta = defaultdict(new_array)
        self._indexed = len(self._start) - 1

    def _recent(self, alive: BoolArray) -> tuple[IntArray, IntArray, npt.NDArray[np.uint8]]:
        """Return the living postings after the main segment, sorted by term, then ordinal."""
        begin = self._start[self._indexed]
        start = np.array(self._start[self._indexed :], np.int64)
        ordinals = np.repeat(np.arange(self._indexed, len(self._start) - 1), np.diff(start))
        terms = np.array(self._terms[begin:], np.int64)
        counts = np.array(self._frequencies[begin:], np.uint8)
        living = alive[ordinals]
        ordinals, terms, counts = ordinals[living], terms[living], counts[living]
        order = np.argsort(terms, kind="stable")
        return terms[order], ordinals[order], counts[order]

    def retain(self, kept: IntArray, terms: int) -> BoolArray:
        """Keep the ordinals *kept* (ascending) and renumber them and their terms in order.

        Args:
            kept: Old ordinals.
            terms: How many term numbers exist.

        Returns:
            Which of the old terms are still used, one flag per term. The inverted
            index is empty until :meth:`compact`.
        """
        start = np.array(self._start, np.int64)
        sizes = np.diff(start)
        living = np.zeros(len(sizes), np.bool_)
        living[kept] = True
        chosen = np.repeat(living, sizes)
        old_terms = np.array(self._terms, np.int64)[chosen]
        frequencies = np.array(self._frequencies, np.uint8)[chosen]
        used: BoolArray = np.bincount(old_terms, minlength=terms) > 0
        numbers = np.cumsum(used) - 1
        self.__init__()  # type: ignore[misc]
        self._start = array("q", np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64).tobytes())
        self._terms = array("i", numbers[old_terms].astype(np.int32).tobytes())
        self._frequencies = array("B", frequencies.tobytes())
        return used
