"""Vectors of notes in memory, compared with those of a query all at once."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.ports.embedder import Vectors
from shelfd.memory.ports.vectors import NoteVectors
from shelfd.memory.recall.columns import IntArray
from shelfd.memory.recall.fields import NEXT, PREVIOUS

#: Vectors that are compared at once: what they become meanwhile fits a core's cache.
_BLOCK: Final = 8_192
_CAPACITY: Final = 1_024
_LEAST_LENGTH: Final = 1e-6
OWN: Final = 0.5  #: weight of the note by itself; those of what is beside it are those of words
_LEAST_WEIGHT: Final = 0.01  #: of a vector of a query, before they are made to add up

Likenesses = npt.NDArray[np.float32]


class VectorsHeld(NamedTuple):
    """Vectors of notes as they were at one moment; whatever changes later changes nothing of it.

    Attributes:
        rows: Of the notes, ascending only by chance; -1 where there is none any more.
        starts: Where the vectors of each begin; a note has one at least.
        vectors: Of all notes; shape (n, width).
        scales: By what each has to be multiplied to be of length one; shape (n,).
    """

    rows: IntArray
    starts: IntArray
    vectors: Vectors
    scales: Likenesses

    def best(self, query: Vectors) -> Likenesses:
        """Return the best cosine of each of the query's vectors with any of each note's; shape (notes, query's).

        Takes 3 ms for 1,000 notes of 30 words, outside of Python's lock for the most part.
        """
        asked = np.ascontiguousarray((query * scales_of(query)[:, None]).T)
        found = np.empty((len(self.rows), asked.shape[1]), np.float32)
        ends = np.append(self.starts[1:], len(self.vectors))
        first = 0
        while first < len(self.rows):
            begin = int(self.starts[first])
            last = max(first + 1, int(ends.searchsorted(begin + _BLOCK, "right")))
            end = int(ends[last - 1])
            cosines = self.vectors[begin:end].astype(np.float32) @ asked
            cosines *= self.scales[begin:end, None]
            found[first:last] = np.maximum.reduceat(cosines, self.starts[first:last] - begin, axis=0)
            first = last
        return found


def compared(picture: VectorsHeld, query: Vectors, before: IntArray, after: IntArray) -> tuple[IntArray, Likenesses]:
    """Return how like a query notes are: the rows, ascending, and of each its MaxSim with what is beside it.

    MaxSim is the weighted mean, over the query's vectors, of the best cosine with any of the note's. A vector weighs as
    much as its best note is above all notes on average: what is like most of them says as little as a word that most of
    them have. As with words, what stands in the note before counts, and a little what stands in the one after, with the
    same weights. The note before that counts, too: an answer often follows two turns after what it is about. The note
    by itself counts half: words say already what it says itself. All three are measured.

    Args:
        picture: Of the notes.
        query: Vectors of the query.
        before: Rows of the notes before them in their sessions, -1 for none.
        after: Rows of the notes after them.
    """
    best = picture.best(query)
    weights = _weights(best[picture.rows >= 0])
    own = best @ weights
    order = np.argsort(picture.rows, kind="stable")
    previous, following = (_places(picture.rows, order, rows) for rows in (before, after))
    best = np.maximum(best, best[previous])
    context = np.maximum(best, best[previous]) @ weights  # with the two before it
    values = (OWN * own + PREVIOUS * context + NEXT * own[following]) / (OWN + PREVIOUS + NEXT)
    order = order[picture.rows[order] >= 0]
    return picture.rows[order], values[order].astype(np.float32, copy=False)


def _weights(best: Likenesses) -> Likenesses:
    """Return how much each of a query's vectors weighs, all together 1, by its *best* cosines."""
    weights = (best.max(axis=0) - best.mean(axis=0)).clip(_LEAST_WEIGHT)
    found: Likenesses = weights / weights.sum()
    return found


def _places(rows: IntArray, order: IntArray, wanted: IntArray) -> IntArray:
    """Return where *wanted* rows stand among *rows*; of one that does not, the place of the row that wants it."""
    at = rows[order].searchsorted(wanted).clip(0, len(rows) - 1)
    found: IntArray = np.where((rows[order[at]] == wanted) & (wanted >= 0), order[at], np.arange(len(rows)))
    return found


def scales_of(vectors: Vectors) -> Likenesses:
    """Return by what vectors have to be multiplied to be of length one."""
    numbers = vectors.astype(np.float32)
    found: Likenesses = 1 / np.sqrt(np.einsum("ij,ij->i", numbers, numbers)).clip(_LEAST_LENGTH)
    return found


def picture_of(some: Iterable[NoteVectors]) -> VectorsHeld | None:
    """Return the vectors of *some* notes; None if there are none."""
    held = HeldVectors()
    for one in some:
        held.put(one)
    return held.picture()


class HeldVectors:
    """Vectors of notes in memory; those of all notes are as wide."""

    def __init__(self) -> None:
        self._slots: dict[int, int] = {}
        self._texts: dict[int, int] = {}
        self._rows = np.empty(_CAPACITY, np.int64)
        self._starts = np.empty(_CAPACITY, np.int64)
        self._vectors: Vectors = np.empty((0, 0), np.int8)
        self._scales: Likenesses = np.empty(0, np.float32)
        self._size = self._used = 0

    def __len__(self) -> int:
        return len(self._texts)

    def text(self, row: int) -> int | None:
        """Return the CRC of the text whose vectors are held of a note; None if none are."""
        return self._texts.get(row)

    def put(self, one: NoteVectors) -> None:
        """Hold the vectors of a note, instead of those held before; a note without any counts too."""
        self.remove([one.note])
        vectors = vectors_of(one)
        if self._used and len(vectors) and vectors.shape[1] != self._vectors.shape[1]:
            return  # a server that has another model by the same name
        self._texts[one.note] = one.text
        if not len(vectors):
            return
        self._make_room(vectors)
        self._rows[self._size] = one.note
        self._starts[self._size] = self._used
        self._vectors[self._used : self._used + len(vectors)] = vectors
        self._scales[self._used : self._used + len(vectors)] = scales_of(vectors)
        self._slots[one.note] = self._size
        self._size += 1
        self._used += len(vectors)

    def remove(self, rows: Iterable[int]) -> None:
        """Hold nothing of notes; unknown ones are no error."""
        for row in rows:
            self._texts.pop(row, None)
            slot = self._slots.pop(row, None)
            if slot is not None:
                end = self._starts[slot + 1] if slot + 1 < self._size else self._used
                self._rows[slot] = -1
                self._vectors[self._starts[slot] : end] = 0
        if self._size > 2 * len(self._slots) + _CAPACITY:
            self._compact()

    def picture(self) -> VectorsHeld | None:
        """Return what is held now; None if that is nothing."""
        if not self._slots:
            return None
        size = self._size
        return VectorsHeld(
            self._rows[:size].copy(), self._starts[:size].copy(), self._vectors[: self._used], self._scales
        )

    def _make_room(self, vectors: Vectors) -> None:
        if self._size == len(self._rows):
            self._rows, self._starts = (np.resize(one, 2 * self._size) for one in (self._rows, self._starts))
        needed = self._used + len(vectors)
        if self._vectors.shape[1] != vectors.shape[1] or needed > len(self._vectors):
            grown = np.empty((max(needed + needed // 2, _CAPACITY), vectors.shape[1]), np.int8)
            if self._used:
                grown[: self._used] = self._vectors[: self._used]
            scales = np.empty(len(grown), np.float32)
            scales[: self._used] = self._scales[: self._used]
            self._vectors, self._scales = grown, scales

    def _compact(self) -> None:
        kept = sorted(self._slots.values())
        ends = np.append(self._starts[1 : self._size], self._used)
        counts = ends[kept] - self._starts[kept]
        spans = [slice(self._starts[slot], ends[slot]) for slot in kept]
        if spans:
            self._vectors = np.concatenate([self._vectors[span] for span in spans])
            self._scales = np.concatenate([self._scales[span] for span in spans])
        else:
            self._vectors, self._scales = self._vectors[:0], self._scales[:0]
        rows = self._rows[kept]
        self._rows, self._starts = (np.empty(len(kept) + _CAPACITY, np.int64) for _ in range(2))
        self._size, self._used = len(kept), len(self._vectors)
        self._rows[: self._size] = rows
        self._starts[: self._size] = np.cumsum(counts) - counts
        self._slots = {int(row): slot for slot, row in enumerate(rows.tolist())}


def vectors_of(one: NoteVectors) -> Vectors:
    """Return stored vectors as an array."""
    found: Vectors = np.frombuffer(one.data, np.int8).reshape(-1, one.width or 1)
    return found


def stored(note: int, model: str, text: int, vectors: Vectors) -> NoteVectors:
    """Return vectors as they are stored."""
    width = vectors.shape[1] if vectors.ndim > 1 else 0
    return NoteVectors(note, model, text, width, vectors.tobytes())
