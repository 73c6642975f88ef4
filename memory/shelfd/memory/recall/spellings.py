"""The words of an index by their letters: found by a part of them, or by a spelling with slips."""

from collections.abc import Iterable
from itertools import islice
from typing import Final

import numpy as np
import numpy.typing as npt

from shelfd.memory.facts.spelling import Knows, Meant, is_correctable, likeliest
from shelfd.memory.recall.vocabulary import Vocabulary

_EDGE: Final = "\n"  #: between words; no word has it
_AT_ONCE: Final = 8_192  #: words indexed at once: some 3 ms
_COMPARED: Final = 48  #: spellings compared letter by letter
#: Pairs of neighbouring letters in which a misspelt word differs from the right one: three on either side for two
#: letters swapped, and as many again for a second slip.
_DIFFERENT: Final = 12

_FIRST_LETTER, _SECOND_LETTER = np.uint32(0x9E3779B1), np.uint32(0x85EBCA77)  #: odd numbers that mix letters well


class JoinedWords:
    """Words in the order in which they came, as one text that is searched at once: 0.3 ms for 100,000 of them."""

    __slots__ = ("_starts", "_text", "pairs")

    def __init__(self) -> None:
        self._text = _EDGE
        self._starts = np.zeros(0, np.int32)  #: where each word begins
        self.pairs = np.zeros(0, np.uint64)  #: pairs of neighbouring letters of each word, as a set of 64 bits

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, number: int) -> str:
        begin = int(self._starts[number])
        return self._text[begin : self._text.index(_EDGE, begin)]

    def extend(self, words: Iterable[str]) -> None:
        """Add *words*, whose numbers are how many there were before each."""
        added = "".join(word + _EDGE for word in words)
        if added:
            starts, pairs = _pairs_of(_EDGE + added)
            self._starts = np.concatenate([self._starts, starts + len(self._text)], dtype=np.int32)
            self.pairs = np.concatenate([self.pairs, pairs])
            self._text += added

    def find(self, part: str, limit: int, *, begins: bool = False, ends: bool = False) -> list[int]:
        """Return numbers of words that have *part* in them, *limit* at most; if asked, only at an end of theirs."""
        sought = (_EDGE if begins else "") + part + (_EDGE if ends else "")
        places: list[int] = []
        place = self._text.find(sought)
        while place >= 0 and len(places) < limit:
            places.append(place + begins)
            place = self._text.find(sought, self._text.index(_EDGE, place + len(sought) - ends))
        found: list[int] = (np.searchsorted(self._starts, np.array(places, np.int64), side="right") - 1).tolist()
        return found


class Spellings:
    """The surface words of a vocabulary by their letters; some 20 bytes a word, made when they are first asked for."""

    __slots__ = ("_vocabulary", "_words")

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._words = JoinedWords()

    def __contains__(self, word: str) -> bool:
        return word in self._vocabulary

    def follow(self) -> bool:
        """Index some of the words added since; return whether all are known now."""
        count = len(self._words)
        self._words.extend(islice(self._vocabulary, count, count + _AT_ONCE) if count < len(self._vocabulary) else ())
        return len(self._words) == len(self._vocabulary)

    def containing(self, part: str, limit: int, *, begins: bool = False, ends: bool = False) -> list[str]:
        """Return words that have *part* in them, *limit* at most; if asked, only at an end of theirs."""
        return [self._words[number] for number in self._words.find(part, limit, begins=begins, ends=ends)]

    def meant(self, word: str, knows: Knows | None = None) -> list[Meant]:
        """Return the words that an unknown *word* may stand for, each with its likeness, best first."""
        if not is_correctable(word) or not len(self._words):
            return []
        differing = np.bitwise_count(self._words.pairs ^ _pairs_of(_EDGE + word + _EDGE)[1][0])
        close = np.flatnonzero(differing <= _DIFFERENT)
        close = close[np.argsort(differing[close], kind="stable")[:_COMPARED]]
        near = filter(is_correctable, map(self._words.__getitem__, close.tolist()))
        return likeliest(word, filter(knows, near))


def _pairs_of(text: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Return where each word of *text* begins, its edge included, and its pairs of letters as bits."""
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    mixed = letters[:-1] * _FIRST_LETTER + letters[1:] * _SECOND_LETTER
    bits = np.uint64(1) << (mixed >> np.uint32(26)).astype(np.uint64)
    starts = np.flatnonzero(letters[:-1] == ord(_EDGE))
    return starts, np.bitwise_or.reduceat(bits, starts)
