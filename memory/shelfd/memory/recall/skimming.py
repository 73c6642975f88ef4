"""What the words of many texts show at once: one pass for all of them, and arrays instead of a loop for each."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from shelfd.memory.recall.columns import BoolArray, IntArray, narrowed
from shelfd.memory.recall.delta import starts_of
from shelfd.memory.recall.meaning import ANSWER_TYPES
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
    TELLS,
    UNIT,
    WordTraits,
)

_SEPARATOR: Final = f" {MARK} "
#: Of ASCII, words in lower case and marks, with blanks for all that is in neither.
_WORDS_AND_MARKS: Final = bytes(
    code if code == ord(MARK) else ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else ord(" ")
    for code in range(256)
)
#: What a character of ASCII is.
_ALNUM, _INNER, _UPPER, _LOWER, _BEFORE_NAME, _BLANK, _IN_ADDRESS, _COLON = (1 << at for at in range(8))
_CHARACTERS: Final = np.array(
    [
        sum(
            bit
            for bit, holds in (
                (_ALNUM, chr(code).isalnum()),
                (_INNER, chr(code).isupper() or chr(code) in "_-"),
                (_UPPER, chr(code).isupper()),
                (_LOWER, chr(code).islower()),
                (_BEFORE_NAME, chr(code).islower() or chr(code).isdigit() or chr(code) in ",;"),
                (_BLANK, chr(code) == " "),
                (_IN_ADDRESS, chr(code) in "/@\\"),
                (_COLON, chr(code) == ":"),
            )
            if holds
        )
        for code in range(128)
    ],
    np.uint8,
)
_NAME, _COMPOUND, _ADDRESS, _MONEY, _PERCENT = 1, 2, 4, 8, 16
_COUNTED: Final = 2  #: bits of a word by which the different ones of a text are counted


class Skimmed(NamedTuple):
    """Some texts; of what their words show an array each, by text.

    Attributes:
        folded: All of them in words, folded; after those of each comes a mark.
        places: Where there each text begins, and where one after the last would.
        word_numbers: Of the words, as :class:`WordTraits` has them.
        begins: Where the words of each text begin.
        ends: Where its mark is.
        tells: Which of all the words may tell of a day as seen from another.
        bits: As in :class:`Signs`, as are those that follow.
        numbers: How many words are numbers.
        closer: Whether what stands beside these may tell more.
        clock: Whether that may be a time of day.
        distinct: How many different words there are.
        stop: How many of these say nothing of what a fact is about.
        idle: How many are stop or question words of the shelf's language.
        compounds: Whether there may be names made of several words.
        addresses: Whether there may be addresses.
        priced: Whether there are signs of dollars or percents.
    """

    folded: bytes
    places: IntArray
    word_numbers: IntArray
    begins: IntArray
    ends: IntArray
    tells: IntArray
    bits: IntArray
    numbers: IntArray
    closer: BoolArray
    clock: BoolArray
    distinct: IntArray
    stop: IntArray
    idle: IntArray
    compounds: BoolArray
    addresses: BoolArray
    priced: BoolArray

    def places_that_tell(self, some: Sequence[int]) -> list[list[int]]:
        """Return for each of *some* texts which of its words may tell of a day as seen from another."""
        begins, tells = self.begins[some], self.tells.tolist()
        edges = zip(
            self.tells.searchsorted(begins).tolist(), self.tells.searchsorted(self.ends[some]).tolist(), strict=True
        )
        return [
            [place - begin for place in tells[first:last]]
            for begin, (first, last) in zip(begins.tolist(), edges, strict=True)
        ]

    def words_of(self, at: int) -> list[str]:
        """Return the words of a text."""
        text = self.folded[self.places.item(at) : self.places.item(at + 1) - len(_SEPARATOR)]
        return text.decode().split()


def skimmed(texts: Sequence[str], traits_of: WordTraits) -> Skimmed:
    """Return what the words of *texts*, which are ASCII without marks, show, one text at least."""
    joined = _SEPARATOR.join(texts) + _SEPARATOR
    characters = joined.encode()
    folded = characters.translate(_WORDS_AND_MARKS)
    traits_of.make_room()
    traits = traits_of.of_words(folded)
    word_numbers = traits >> NUMBERED_FROM
    (ends,) = (word_numbers == traits_of[MARK] >> NUMBERED_FROM).nonzero()
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
    lengths = np.array([0, *map(len, texts)], np.int64)
    lengths[1:] += len(_SEPARATOR)
    places = lengths.cumsum()
    by_characters = _by_characters(characters, places[:-1])
    shown |= np.where(by_characters & _NAME, ANSWER_TYPES["name"], 0)
    shown |= np.where(by_characters & _MONEY, ANSWER_TYPES["money"], 0)
    return Skimmed(
        folded,
        places,
        word_numbers,
        begins,
        ends,
        (bits & TELLS).nonzero()[0],
        shown,
        np.add.reduceat(counted, begins),
        np.logical_or.reduceat(closer, begins),
        np.logical_or.reduceat(clock, begins),
        *_distinct(word_numbers, bits, ends - begins + 1),
        by_characters & _COMPOUND != 0,
        by_characters & _ADDRESS != 0,
        by_characters & (_MONEY | _PERCENT) != 0,
    )


def _by_characters(characters: bytes, begins: IntArray) -> IntArray:
    """Return for each text what its characters show."""
    given = np.frombuffer(characters, np.uint8)
    what = _CHARACTERS[given]
    shown = np.zeros(len(what), np.uint8)
    # A blank, a capital and a small letter after one of those that may precede a name.
    named = (what[:-3] & _BEFORE_NAME != 0) & (what[1:-2] & _BLANK != 0)
    named &= (what[2:-1] & _UPPER != 0) & (what[3:] & _LOWER != 0)
    shown[:-3] |= named * np.uint8(_NAME)
    shown[1:] |= ((what[1:] & _INNER != 0) & (what[:-1] & _ALNUM != 0)) * np.uint8(_COMPOUND)
    address = what & _IN_ADDRESS != 0
    address[1:] |= what[1:] & what[:-1] & _COLON != 0
    shown |= address * np.uint8(_ADDRESS)
    shown |= (given == ord("$")) * np.uint8(_MONEY)
    shown |= (given == ord("%")) * np.uint8(_PERCENT)
    found: IntArray = np.bitwise_or.reduceat(shown, begins).astype(np.int64)
    return found


def _distinct(numbers: IntArray, bits: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return how many different words each text has, and how many of these are stop words, and idle ones."""
    count, word_bits = len(sizes), int(numbers.max()).bit_length() + _COUNTED
    keys = np.arange(count).repeat(sizes) << word_bits
    keys |= numbers << _COUNTED | (bits & STOP) // STOP << 1 | (bits & IDLE) // IDLE
    keys = narrowed(keys, count.bit_length() + word_bits)
    keys.sort()
    found = keys[starts_of(keys)]
    texts = found >> word_bits
    every = np.bincount(texts, minlength=count) - 1  # but for the mark
    stop, idle = (np.bincount(texts[found & bit != 0], minlength=count) for bit in (2, 1))
    return every, stop, idle
