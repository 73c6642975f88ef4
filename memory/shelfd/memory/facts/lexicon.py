"""The words that keys are made of: how rare each is, and which one a misspelt word was meant to be."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from shelfd.memory.facts.algebra import WHOLE_NUMBERS
from shelfd.memory.facts.phasors import Phasors
from shelfd.memory.facts.signs import Bits, SignRows, distance_at, sign_bits
from shelfd.memory.facts.words import is_correctable, spelling_likeness

_DIMENSION = 512  #: of the spellings' vectors: likeness of 0.35 stands out from 100,000 unrelated words
_LIKE_ENOUGH = 0.3  #: cosine of spellings below which none is compared letter by letter
_COMPARED = 6  #: spellings compared letter by letter
_MEANT = 3  #: known words that one misspelt word may stand for at most

_READ = 64  #: words of a query that are read
_CORRECTED = 16  #: words up to which a query's spelling is looked at
_RESPACED = 0.95  #: likeness of a word that was joined with another, or taken apart
_TAKEN_APART = 128  #: letters of the longest word that is looked at for a lost blank

#: Tells whether a word is one to find.
Knows = Callable[[str], bool]

_NGRAMS = Phasors("ngram", _DIMENSION)
_REAL = WHOLE_NUMBERS[:, 0].astype(np.int8)  #: real parts by angle
_ASKED = 1024  #: unknown words whose spellings are kept at hand: askers repeat themselves
_EDGE = "\x02"


class Meant(NamedTuple):
    """A known word that a word of a query stands for."""

    word: str
    likeness: float  #: 1 for the word itself


class Lexicon:
    """Counts, for every word, in how many of the things it is part of; a clean-up memory of spellings.

    A spelling is the superposition of the phasors of its pairs of neighbouring letters, ends included, so that words
    with a slip in common still are alike. Costs about 64 bytes a word beside the word.
    """

    __slots__ = ("_count", "_free", "_mentions", "_numbers", "_signs", "_words", "total")

    def __init__(self) -> None:
        self.total = 0  #: how many things there are
        self._numbers: dict[str, int] = {}
        self._words: list[str] = []
        self._count: list[int] = []
        self._free: list[int] = []
        self._mentions = 0
        self._signs = SignRows(_DIMENSION)

    def __contains__(self, word: str) -> bool:
        return word in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, word: str) -> int:
        """Count *word* once more and return its number."""
        self._mentions += 1
        number = self._numbers.get(word)
        if number is not None:
            self._count[number] += 1
            return number
        bits = _spelling(word) if is_correctable(word) else _NO_SPELLING
        if self._free:
            number = self._free.pop()
            self._words[number], self._count[number] = word, 1
            self._signs.replace(number, bits)
        else:
            number = self._signs.append(bits)
            self._words.append(word)
            self._count.append(1)
        self._numbers[word] = number
        return number

    def discard(self, word: str) -> int:
        """Count *word* once less and return the number it had; if that was the last, the number becomes free."""
        number = self._numbers[word]
        self._mentions -= 1
        self._count[number] -= 1
        if not self._count[number]:
            del self._numbers[word]
            self._words[number] = ""
            self._free.append(number)
        return number

    def number(self, word: str) -> int:
        """Return the number of a known *word*."""
        return self._numbers[word]

    def canonical(self, word: str) -> str:
        """Return the one copy of a known *word*, so that many lists of words share it."""
        return self._words[self._numbers[word]]

    def rarity(self, word: str) -> float:
        """Return the weight of a known *word*: 0.7 if it is everywhere, more the rarer it is (smoothed idf)."""
        return math.log1p(self.total / self._count[self._numbers[word]])

    def usual_rarity(self) -> float:
        """Return the weight of a word as common as the average one, for words that are not known."""
        return math.log1p(self.total * len(self._numbers) / self._mentions) if self._mentions else 1.0

    def meant(self, word: str, knows: Knows | None = None) -> list[Meant]:
        """Return the words that an unknown *word* may stand for, each with its likeness, best first.

        Args:
            word: Any word.
            knows: Tells which of the words here it may stand for; if not given, it may for any.
        """
        if not is_correctable(word) or not self._numbers:
            return []
        close, distances = self._signs.within(_asked_spelling(word), distance_at(_LIKE_ENOUGH, _DIMENSION))
        near = (known for _, known in sorted((distances[at], self._words[number]) for at, number in enumerate(close)))
        compared = islice(filter(knows, filter(is_correctable, near)), _COMPARED)
        found = [Meant(known, likeness) for known in compared if (likeness := spelling_likeness(word, known))]
        found.sort(key=lambda meant: (-meant.likeness, meant.word))
        return found[:_MEANT]


def understood(words: Sequence[str], lexicon: Lexicon, knows: Knows | None = None) -> list[list[Meant]]:
    """Return, for each of the *words* of a query, the known words it stands for; none for one nobody knows.

    A word that is not known may be two with the blank between them lost or mistyped, one with a blank put in, or
    another one misspelt. Of a long text only the beginning is read, and misspelt words are left as they are.

    Args:
        words: Of the query.
        lexicon: All words.
        knows: Tells whether a word is to be taken for known; if not given, all of the lexicon are.
    """
    knows = lexicon.__contains__ if knows is None else knows
    found: list[list[Meant]] = []
    corrects = len(words) <= _CORRECTED
    words = words[:_READ]
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if knows(word):
            found.append([Meant(word, 1.0)])
            continue
        joined = word + words[at] if at < len(words) else ""
        if knows(joined):
            found.append([Meant(joined, _RESPACED)])
            at += 1
            continue
        parts = _parts(word, knows)
        if parts:
            found.extend([Meant(part, _RESPACED)] for part in parts)
        else:
            found.append(lexicon.meant(word, knows) if corrects else [])
    return found


def _parts(word: str, knows: Knows) -> tuple[str, str] | None:
    """Two known words that *word* is made of, with one character between them or none."""
    if len(word) > _TAKEN_APART:
        return None
    for at in range(2, len(word) - 1):
        if knows(word[:at]):
            for rest in (word[at:], word[at + 1 :]):
                if len(rest) > 1 and knows(rest):
                    return word[:at], rest
    return None


def _spelling(word: str) -> Bits:
    edged = _EDGE + word + _EDGE
    pairs = np.stack([_NGRAMS.phases(edged[at : at + 2]) for at in range(len(edged) - 1)])
    return sign_bits(np.add.reduce(_REAL[pairs], axis=0, dtype=np.int32))


#: Of words that no other is a misspelling of.
_NO_SPELLING = sign_bits(np.zeros(_DIMENSION, dtype=np.int32))

_asked_spelling = lru_cache(_ASKED)(_spelling)
