"""The keys of a nugget as vectors: put in, and found again by keys that are only alike."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.fhrr.algebra import norm, phasor, similarity
from shelfd.memory.fhrr.lexicon import Lexicon, Meant, understood
from shelfd.memory.fhrr.phasors import Phasors
from shelfd.memory.fhrr.rows import KeyRow
from shelfd.memory.fhrr.signs import SignRows, cosine_at, distance_at, sign_bits
from shelfd.memory.fhrr.words import content_words

_RESCORED = 64  #: keys that are compared by their words' phases after the scan, at most
_RECOMPUTED = 4  #: of these, the best whose whole vectors are computed: the answer and its rivals
_BEHIND = 0.35  #: by how much a key may seem less alike than the best and still be rescored
_LEAST = 0.25  #: cosine, as the scan sees it, below which no key is rescored

_WORDS: dict[int, Phasors] = {}  # one item memory per dimension for all nuggets: most words are in many


def word_phasors(dimension: int) -> Phasors:
    """Return the item memory of words with *dimension* elements, shared by all nuggets."""
    return _WORDS.setdefault(dimension, Phasors("word", dimension))


class Match(NamedTuple):
    """A key that is like the query."""

    owner: str  #: the fact it belongs to
    cosine: float
    covered: frozenset[int]  #: places, in the query, of the words that the key has
    complete: bool  #: the query has all words of the key
    overlap: float | None  #: if each has words that the other has not: share in common of one, times that of the other


class Keys:
    """Vectors of keys, each the sum of its words' phasors weighted by how rare the words are.

    Only the sign bits of the vectors are kept; the best of a scan are computed again from their words. Rarity drifts as
    keys come and go: every write renews one old row's bits, so that all are renewed in turn.
    """

    __slots__ = ("_next_renewed", "_phasors", "_rows", "_signs", "lexicon")

    def __init__(self, dimension: int) -> None:
        self.lexicon = Lexicon()
        self._phasors = word_phasors(dimension)
        self._signs = SignRows(dimension)
        self._rows: list[KeyRow] = []
        self._next_renewed = 0

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, owner: str, key: str) -> KeyRow:
        """Add a *key* of the fact *owner*."""
        words = content_words(key)
        for word in words:
            self.lexicon.add(word)
        self.lexicon.total += 1
        words = tuple(map(self.lexicon.canonical, words))
        row = KeyRow(owner, words, self._signs.append(sign_bits(self._vector(words).real)))
        self._rows.append(row)
        self._renew_one()
        return row

    def remove(self, row: KeyRow) -> None:
        """Remove a *row*."""
        last = self._rows.pop()
        if last is not row:
            self._rows[row.number] = last
        self._signs.pop_into(row.number)
        last.number = row.number
        self.lexicon.total -= 1
        for word in row.words:
            self.lexicon.discard(word)

    def like(self, query: str) -> list[Match]:
        """Return the keys most like *query*, best first; none if it has no word in common with any."""
        asked_words = understood(content_words(query), self.lexicon)
        weights, length = self._weights(asked_words)
        if not weights:
            return []
        asked = self._phasors.superposition(list(weights), list(weights.values()))
        known_share = math.sqrt(sum(weight**2 for weight in weights.values())) / length
        rows = self._nearest(asked)
        if not rows:
            return []
        cosines = self._cosines(rows, asked)
        first = np.argsort(-cosines, kind="stable")
        exact = first[:_RECOMPUTED]
        cosines[exact] = similarity(np.stack([self._vector(rows[at].words) for at in exact]), asked)
        order = first[np.argsort(-cosines[first], kind="stable")]
        share = min(known_share, 1.0)
        return [_match(rows[at], share * float(cosines[at]), asked_words) for at in order]

    def _weights(self, asked: Sequence[Sequence[Meant]]) -> tuple[dict[str, float], float]:
        """The known words that are *asked* for, weighted; and the query's length, with the words nobody knows."""
        weights: dict[str, float] = {}
        squares = 0.0
        for meant in asked:
            rarities = [self.lexicon.rarity(known) for known, _ in meant]
            squares += max(rarities, default=self.lexicon.usual_rarity()) ** 2
            for (known, likeness), rarity in zip(meant, rarities, strict=True):
                weights[known] = max(weights.get(known, 0.0), likeness * rarity)
        return weights, math.sqrt(squares)

    def _nearest(self, asked: npt.NDArray[np.complex64]) -> list[KeyRow]:
        distances = self._signs.distances(sign_bits(asked.real))
        if not len(distances):
            return []
        dimension = self._signs.dimension
        best = cosine_at(int(distances.min()), dimension)
        limit = distance_at(max(best - _BEHIND, _LEAST), dimension)
        close = np.flatnonzero(distances <= limit)
        if len(close) > _RESCORED:
            close = close[np.argpartition(distances[close], _RESCORED)[:_RESCORED]]
        return [row for number in close if (row := self._rows[number]).words]

    def _vector(self, words: Sequence[str]) -> npt.NDArray[np.complex64]:
        return self._phasors.superposition(words, [self.lexicon.rarity(word) for word in words])

    def _cosines(self, rows: Sequence[KeyRow], asked: npt.NDArray[np.complex64]) -> npt.NDArray[np.float32]:
        """How like the vectors of *rows* are to *asked*, by their words: each is compared once for all rows.

        A vector's length is taken for that of a sum of orthogonal phasors, which is right to some hundredths.
        """
        places: dict[str, int] = {}
        columns = [[places.setdefault(word, len(places)) for word in row.words] for row in rows]
        rarity = np.array([self.lexicon.rarity(word) for word in places])
        drawn = phasor(np.stack([self._phasors.phases(word) for word in places])).view(np.float32)
        # einsum, unlike @, stays on this thread: BLAS would wake others for half a millisecond's work
        shares = rarity * np.einsum("wd,d->w", drawn, asked.view(np.float32)) / self._signs.dimension
        lengths = [math.sqrt(float(np.square(rarity[column]).sum())) for column in columns]
        dots = [float(shares[column].sum()) for column in columns]
        return np.asarray(np.array(dots) / (np.array(lengths) * float(norm(asked))), dtype=np.float32)

    def _renew_one(self) -> None:
        self._next_renewed = (self._next_renewed + 1) % len(self._rows)
        row = self._rows[self._next_renewed]
        self._signs.replace(row.number, sign_bits(self._vector(row.words).real))


def _match(row: KeyRow, cosine: float, asked: Sequence[Sequence[Meant]]) -> Match:
    held = set(row.words)
    found = [[meant for meant in group if meant.word in held] for group in asked]
    covered = frozenset(at for at, group in enumerate(found) if group)
    heard = {meant.word for group in found for meant in group}
    complete = len(heard) == len(held)
    overlap = None
    if not complete and len(covered) < len(asked):
        # a guess at what one word should have been is no ground for guessing at the others
        certain = any(meant.likeness == 1 for group in found for meant in group)
        overlap = len(covered) / len(asked) * len(heard) / len(held) if certain else 0.0
    return Match(row.owner, cosine, covered, complete, overlap)
