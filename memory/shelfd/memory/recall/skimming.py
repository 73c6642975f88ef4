"""What the words of many texts show at once: one pass for all of them, and arrays instead of a loop for each."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from shelfd.memory.recall.columns import IntArray
from shelfd.memory.recall.delta import starts_of
from shelfd.memory.recall.word_traits import (
    BEFORE_CLOCK,
    BITS,
    CLOCK,
    CLOSER,
    DIGITS,
    IDLE,
    LAST_DIGIT,
    MARK,
    NUMBERED_FROM,
    OPENS_CLOCK,
    SAYS_NUMBER,
    STOP,
    UNIT,
    Signs,
    WordTraits,
)

_SEPARATOR: Final = f" {MARK} "
#: Of ASCII, words in lower case and marks, with blanks for all that is in neither.
_WORDS_AND_MARKS: Final = bytes(
    code if code == ord(MARK) else ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else ord(" ")
    for code in range(256)
)
#: What is sorted to count the different words of a text: the text, the word, and two of its bits.
_TEXT, _WORD = 34, 2


class Skimmed(NamedTuple):
    """Some texts.

    Attributes:
        words: Of all of them, folded; after those of each comes a mark.
        numbers: Of the words, as :class:`WordTraits` has them.
        begins: Where the words of each text begin.
        ends: Where its mark is.
        signs: What the words of each show.
    """

    words: list[str]
    numbers: IntArray
    begins: list[int]
    ends: list[int]
    signs: list[Signs]


def skimmed(texts: Sequence[str], traits_of: WordTraits) -> Skimmed:
    """Return what the words of *texts*, which are ASCII without marks, show, one text at least."""
    joined = _SEPARATOR.join(texts) + _SEPARATOR
    words = joined.encode().translate(_WORDS_AND_MARKS).decode().split()
    traits_of.make_room()
    traits = np.fromiter(map(traits_of.__getitem__, words), np.int64, len(words))
    numbers = traits >> NUMBERED_FROM
    (ends,) = (numbers == traits_of[MARK] >> NUMBERED_FROM).nonzero()
    begins = np.empty_like(ends)
    begins[0] = 0
    begins[1:] = ends[:-1] + 1
    bits = traits & BITS
    # A mark is no word: so every text has something here, and nothing stands beside words of another one.
    counted = ((bits & SAYS_NUMBER) != 0).astype(np.int64)
    counted += (bits & DIGITS) != 0
    now, after = bits[:-1], bits[1:]
    closer = (bits & CLOSER) != 0
    closer[:-1] |= ((now & LAST_DIGIT) != 0) & ((after & (DIGITS | UNIT)) != 0)
    clock = (bits & CLOCK) != 0
    clock[:-1] |= ((now & BEFORE_CLOCK) != 0) & ((after & OPENS_CLOCK) != 0)
    clock |= closer
    shown = np.bitwise_or.reduceat(bits, begins)
    columns = (
        shown.tolist(),
        np.add.reduceat(counted, begins).tolist(),
        np.logical_or.reduceat(closer, begins).tolist(),
        np.logical_or.reduceat(clock, begins).tolist(),
        *_distinct(numbers, bits, ends - begins + 1),
    )
    return Skimmed(words, numbers, begins.tolist(), ends.tolist(), list(map(Signs, *columns)))


def _distinct(numbers: IntArray, bits: IntArray, sizes: IntArray) -> tuple[list[int], list[int], list[int]]:
    """Return how many different words each text has, and how many of these are stop words, and idle ones."""
    keys = np.repeat(np.arange(len(sizes)) << _TEXT, sizes)
    keys |= numbers << _WORD
    keys |= (bits & STOP) // STOP << 1 | (bits & IDLE) // IDLE
    keys.sort()
    found = keys[starts_of(keys)]
    texts, count = found >> _TEXT, len(sizes)
    every = np.bincount(texts, minlength=count) - 1  # but for the mark
    stop, idle = (np.bincount(texts[found & bit != 0], minlength=count) for bit in (2, 1))
    return every.tolist(), stop.tolist(), idle.tolist()
