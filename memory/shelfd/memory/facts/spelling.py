"""Which known words a word of a query stands for: itself, or what it was meant to be when it is misspelt.

This is the one home of spelling: an index that has words of its own to be found is a :class:`Corrector`, which picks
the words worth a comparison its own way, and is asked by :func:`understood`.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np

from shelfd.memory.facts.algebra import WHOLE_NUMBERS, Phasors
from shelfd.memory.facts.signs import Bits, SignRows, distance_at, sign_bits

_DIMENSION = 512  #: of the spellings' vectors: likeness of 0.35 stands out from 100,000 unrelated words
_LIKE_ENOUGH = 0.3  #: cosine of spellings below which none is compared letter by letter
_COMPARED = 6  #: spellings compared letter by letter
_MEANT = 3  #: known words that one misspelt word may stand for at most

_READ = 64  #: words of a query that are read
_CORRECTED = 16  #: words up to which a query's spelling is looked at
_RESPACED = 0.95  #: likeness of a word that was joined with another, or taken apart
_TAKEN_APART = 128  #: letters of the longest word that is looked at for a lost blank

_SHORTEST = 3  #: letters a word needs to be taken for a misspelling: of two letters any other pair is one away
#: Letters from which on it is no word that anybody mistypes, but data; comparing takes as many steps as its square.
_LONGEST = 48
_LONG = 8  #: letters from which on two edits are forgiven
_STEM = 4  #: letters that two forms of one word share at least
_ENDING = 3  #: letters in which they may differ after that
_SAME_STEM = 0.75  #: how alike they are

_NGRAMS = Phasors("ngram", _DIMENSION)
_REAL = WHOLE_NUMBERS[:, 0].astype(np.int8)  #: real parts by angle
_ASKED = 1024  #: unknown words whose spellings are cached: queries repeat themselves
_EDGE = "\x02"

#: Returns whether a word is one to find.
Knows = Callable[[str], bool]


class Meant(NamedTuple):
    """A known word that a word of a query stands for."""

    word: str
    likeness: float  #: 1 for the word itself


class Corrector(Protocol):
    """Words, and those of them that a misspelt one may stand for."""

    def __contains__(self, word: str, /) -> bool: ...

    def meant(self, word: str, knows: Knows | None = None) -> list[Meant]:
        """Return the words that an unknown *word* may stand for, best first."""
        ...


class KnownWords:
    """Known words, numbered from 0, and a clean-up memory of their spellings.

    A spelling is the superposition of the phasors of its pairs of neighbouring letters, ends included, so that words
    with a slip in common still are alike. Costs about 64 bytes a word beside the word.
    """

    __slots__ = ("_free", "_numbers", "_signs", "_words")

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._words: list[str] = []  #: by number; "" for one that is free
        self._free: list[int] = []
        self._signs = SignRows(_DIMENSION)

    def __contains__(self, word: str) -> bool:
        return word in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, word: str) -> int:
        """Make *word* known, if it is not yet, and return its number."""
        number = self._numbers.get(word)
        if number is not None:
            return number
        bits = _spelling(word) if is_correctable(word) else _NO_SPELLING
        if self._free:
            number = self._free.pop()
            self._words[number] = word
            self._signs.replace(number, bits)
        else:
            number = self._signs.append(bits)
            self._words.append(word)
        self._numbers[word] = number
        return number

    def discard(self, word: str) -> int:
        """Remove a known *word* and return the number it had, which becomes free."""
        number = self._numbers.pop(word)
        self._words[number] = ""
        self._free.append(number)
        return number

    def number(self, word: str) -> int:
        """Return the number of a known *word*."""
        return self._numbers[word]

    def word(self, number: int) -> str:
        """Return the known word with this *number*: the one copy of it, for many lists of words to share."""
        return self._words[number]

    def meant(self, word: str, knows: Knows | None = None) -> list[Meant]:
        """Return the words that an unknown *word* may stand for, each with its likeness, best first.

        Args:
            word: Any word.
            knows: Returns which of the words here it may stand for; if not given, it may for any.
        """
        if not is_correctable(word) or not self._numbers:
            return []
        close, distances = self._signs.within(_asked_spelling(word), distance_at(_LIKE_ENOUGH, _DIMENSION))
        near = (known for _, known in sorted((distances[at], self._words[number]) for at, number in enumerate(close)))
        likely = filter(knows, filter(is_correctable, near))
        return likeliest(word, islice(likely, _COMPARED))


def likeliest(word: str, likely: Iterable[str]) -> list[Meant]:
    """Return those of some *likely* words that *word* may stand for, three at most, best first."""
    found = [Meant(known, likeness) for known in likely if (likeness := spelling_likeness(word, known))]
    found.sort(key=lambda meant: (-meant.likeness, meant.word))
    return found[:_MEANT]


def understood(words: Sequence[str], corrector: Corrector, knows: Knows | None = None) -> list[list[Meant]]:
    """Return, for each of the *words* of a query, the known words it stands for; none for an unknown one.

    A word that is not known may be two with the blank between them lost or mistyped, one with a blank put in, or
    another one misspelt. Of a long text only the beginning is read, and misspelt words are left as they are.

    Args:
        words: Of the query.
        corrector: All words.
        knows: Returns whether a word is to be taken for known; if not given, all of the corrector's are.
    """
    knows = corrector.__contains__ if knows is None else knows
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
            found.append(corrector.meant(word, knows) if corrects else [])
    return found


def is_correctable(word: str) -> bool:
    """Return whether *word* may be a misspelling of another: neither too short nor too long, and no number or code."""
    return _SHORTEST <= len(word) <= _LONGEST and word.isalpha()


def spelling_likeness(a: str, b: str) -> float:
    """Return how likely *a* and *b* are one word, 0 to 1: a slip of the pen, or two endings of one stem.

    One insertion, deletion, substitution or swap of neighbours is forgiven, two if both words have eight letters or
    more (the optimal string alignment distance).
    """
    longer = max(len(a), len(b))
    allowed = 2 if min(len(a), len(b)) >= _LONG else 1
    edits = edit_distance()(a, b, score_cutoff=allowed)
    if edits <= allowed:
        return 1 - edits / (longer + 1)
    stem = _shared_prefix(a, b)
    return _SAME_STEM if stem >= _STEM and longer - stem <= _ENDING else 0.0


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


def _shared_prefix(a: str, b: str) -> int:
    shared = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        shared += 1
    return shared


@cache
def edit_distance() -> Callable[..., int]:
    """Return what counts edits; the first call takes 30 ms, in any thread, and may come before any is needed."""
    from rapidfuzz.distance import OSA  # not at start-up

    return OSA.distance


def _spelling(word: str) -> Bits:
    edged = _EDGE + word + _EDGE
    pairs = np.stack([_NGRAMS.phases(edged[at : at + 2]) for at in range(len(edged) - 1)])
    return sign_bits(np.add.reduce(_REAL[pairs], axis=0, dtype=np.int32))


#: Of words that no other is a misspelling of.
_NO_SPELLING = sign_bits(np.zeros(_DIMENSION, dtype=np.int32))

_asked_spelling = lru_cache(_ASKED)(_spelling)
