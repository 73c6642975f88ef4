"""The keys of all nuggets as vectors: put in, and found again by queries that are only like them."""

import math
from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.facts.lexicon import Lexicon, asked_words, content_words
from shelfd.memory.facts.mentions import Mentions, Rows
from shelfd.memory.facts.spelling import Knows, Meant, understood

_COMPARED: Final = 32  #: keys whose likeness is computed word by word: the answer and its rivals
_BEHIND: Final = 0.3  #: by how much a key may seem less alike than the best and still be one of them
_LEAST: Final = 0.25  #: cosine below which no key is
_SHORTEST: Final = 0.48  #: square of the least rarity there is
_FIRST_ROWS: Final = 8


class Fact:
    """One fact as the memory keeps it: a key, its value, and where the memory has them."""

    __slots__ = ("aliases", "also", "at", "bank", "folded", "key", "nugget", "row", "value")

    def __init__(self, row: str, key: str, folded: str, value: str, aliases: tuple[str, ...], nugget: str) -> None:
        self.row = row  #: the caller's name of the fact
        self.key = key  #: as put
        self.folded = folded
        self.value = value
        self.aliases = aliases  #: folded
        self.nugget = nugget
        self.bank = 0
        self.at = -1  #: row of the key among all keys
        self.also: tuple[int, ...] = ()  #: rows of the aliases

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows of the key and the aliases."""
        return (self.at, *self.also)


class Match(NamedTuple):
    """A key that is like the query."""

    fact: Fact
    cosine: float
    words: tuple[str, ...]  #: of the key


class Overlap(NamedTuple):
    """Which words a query and a key have in common."""

    covered: int  #: words of the query that the key has
    asked: int  #: words of the query
    matched: int  #: words of the key that the query has
    held: int  #: words of the key
    certain: bool  #: one of them is in the query as it is, not corrected

    @property
    def is_complete(self) -> bool:
        """The query has all words of the key."""
        return self.matched == self.held

    @property
    def is_mutual(self) -> bool:
        """Query and key have the same words."""
        return self.is_complete and self.covered == self.asked

    @property
    def share(self) -> float | None:
        """If each has words that the other has not: the share in common of one, times that of the other."""
        if self.is_complete or self.covered == self.asked:
            return None
        # a guess at what one word should have been is no ground for guessing at the others
        return self.covered / self.asked * self.matched / self.held if self.certain else 0.0


class KeyMatches(NamedTuple):
    """The keys most like a query, best first, of equals by the names of rows, and how the query was understood."""

    matches: Sequence[Match]
    asked: Sequence[Sequence[Meant]]  #: for each word of the query, the known words it may stand for

    def overlap(self, match: Match) -> Overlap:
        """Return which words the query and the key of *match* have in common."""
        found = [[meant for meant in group if meant.word in match.words] for group in self.asked]
        matched = {meant.word for group in found for meant in group}
        return Overlap(
            covered=sum(bool(group) for group in found),
            asked=len(self.asked),
            matched=len(matched),
            held=len(match.words),
            certain=any(meant.likeness == 1 for group in found for meant in group),
        )


class Keys:
    """Vectors of keys, each the superposition of its words' phasors weighted by how rare the words are.

    The vectors are kept by their parts, see :class:`~shelfd.memory.facts.mentions.Mentions`: what is computed is what
    phasors without end would give. Rarity is that of now, over the keys of all nuggets.
    """

    __slots__ = ("_facts", "_free", "_homes", "_mentions", "_sizes", "_sums", "_words", "lexicon")

    def __init__(self) -> None:
        self.lexicon = Lexicon()
        self._mentions = Mentions()
        self._facts: list[Fact | None] = []
        self._words: list[tuple[str, ...]] = []
        self._free: list[int] = []
        self._homes = np.zeros(_FIRST_ROWS, dtype=np.int32)  #: nugget of each row
        self._sizes = np.zeros(_FIRST_ROWS, dtype=np.float32)  #: words of each row
        #: While a query is answered, sums over the words shared with it, zero otherwise. Real part: what they add to
        #: the product; imaginary part: by how much the squares of their rarities exceed the usual one.
        self._sums = np.zeros(_FIRST_ROWS, dtype=np.complex64)

    def __len__(self) -> int:
        return len(self._facts) - len(self._free)

    def add(self, fact: Fact, key: str, home: int) -> int:
        """Add a *key* of a *fact* of the nugget *home*; return the row it has."""
        numbers = [self.lexicon.add(word) for word in content_words(key)]
        row = self._room()
        self._facts[row], self._words[row] = fact, tuple(map(self.lexicon.word, numbers))
        self._homes[row], self._sizes[row] = home, len(numbers)
        self.lexicon.total += 1
        for number in numbers:
            self._mentions.add(number, row)
        return row

    def remove(self, row: int) -> None:
        """Remove the key in *row*."""
        for word in self._words[row]:
            self._mentions.discard(self.lexicon.discard(word), row)
        self.lexicon.total -= 1
        self._facts[row], self._words[row] = None, ()
        self._free.append(row)

    def home_of(self, fact: Fact) -> int:
        """Return the nugget whose keys those of *fact* are."""
        return int(self._homes[fact.at])

    def words_of(self, fact: Fact) -> Sequence[str]:
        """Return the words of the key of *fact*, then those of each alias."""
        words = self._words[fact.at]
        return words if not fact.also else [word for row in fact.rows for word in self._words[row]]

    def like(self, query: str, home: int | None = None, knows: Knows | None = None) -> KeyMatches:
        """Return the keys most like *query*; none if it has no word in common with any.

        Args:
            query: Words like those of a key.
            home: The nugget to look in; ``None`` for all.
            knows: Returns whether a word is in a key that is looked at; any that is known may be if not given.
        """
        asked = understood(asked_words(query, knows or self.lexicon.__contains__), self.lexicon, knows)
        weights, length = self._weights(asked)
        if not weights:
            return KeyMatches((), asked)
        length = max(length, math.sqrt(sum(weight**2 for weight in weights.values())))
        matches = [self._match(row, weights, length) for row in self._likely(weights, length, home)]
        # Of equals the order must not tell which came first: that is another one once the shelf is reopened.
        matches.sort(key=lambda match: (-match.cosine, match.fact.row, match.words))
        return KeyMatches(matches, asked)

    def _room(self) -> int:
        """A free row."""
        if self._free:
            return self._free.pop()
        row = len(self._facts)
        self._facts.append(None)
        self._words.append(())
        if row == len(self._homes):
            for name in ("_homes", "_sizes", "_sums"):
                column = getattr(self, name)
                setattr(self, name, np.concatenate([column, np.zeros_like(column)]))
        return row

    def _weights(self, asked: Sequence[Sequence[Meant]]) -> tuple[dict[str, float], float]:
        """The known words that are *asked* for, weighted; and the query's length, with its unknown words."""
        weights: dict[str, float] = {}
        squares = 0.0
        for meant in asked:
            rarities = [self.lexicon.rarity(known) for known, _ in meant]
            squares += max(rarities, default=self.lexicon.usual_rarity()) ** 2
            for (known, likeness), rarity in zip(meant, rarities, strict=True):
                weights[known] = max(weights.get(known, 0.0), likeness * rarity)
        return weights, math.sqrt(squares)

    def _likely(self, weights: Mapping[str, float], length: float, home: int | None) -> list[int]:
        """The rows that seem most like the query: words that they do not share with it are taken for usual ones."""
        usual = self.lexicon.usual_rarity() ** 2
        found = []
        for word, weight in weights.items():
            rows = self._mentions.of(self.lexicon.number(word))
            if home is not None:
                rows = rows[self._homes[rows] == home]
            rarity = self.lexicon.rarity(word)
            self._sums[rows] += complex(weight * rarity, rarity**2 - usual)
            found.append(rows)
        every = np.concatenate(found)
        sums = self._sums[every]
        self._sums[every] = 0
        # A word rarer than usual may leave less than nothing for the others; a key is as long as one word at least.
        squares = np.maximum(sums.imag + self._sizes[every] * usual, _SHORTEST)
        return _best(every, sums.real / (np.sqrt(squares) * length), len(found))

    def _match(self, row: int, weights: Mapping[str, float], length: float) -> Match:
        fact, words = self._facts[row], self._words[row]
        assert fact is not None, "an empty row is mentioned"
        product = square = 0.0
        for word in words:
            rarity = self.lexicon.rarity(word)
            square += rarity * rarity
            product += rarity * weights.get(word, 0.0)
        return Match(fact, min(product / (math.sqrt(square) * length), 1.0), words)


def _best(rows: Rows, cosines: npt.NDArray[np.floating], times: int) -> list[int]:
    """The *rows* with the largest *cosines*, each once, in order; a row may be given several *times*."""
    if not len(rows):
        return []
    likely = np.flatnonzero(cosines >= max(float(cosines.max()) - _BEHIND, _LEAST))
    if len(likely) > times * _COMPARED:
        likely = likely[np.argpartition(-cosines[likely], times * _COMPARED)[: times * _COMPARED]]
    places = dict(zip(rows[likely].tolist(), cosines[likely].tolist(), strict=True))
    return sorted(places if len(places) <= _COMPARED else nlargest(_COMPARED, places, key=places.__getitem__))
