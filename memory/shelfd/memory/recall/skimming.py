"""What the words of many texts show at once: one pass for all of them, and arrays instead of a loop for each."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from shelfd.memory.notes.latin import LETTERS, SIGNS, WORDS, with_letters
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

_SEPARATOR: Final = f" {MARK} ".encode()
#: Words, folded, and marks, with blanks for all that is in neither.
_WORDS_AND_MARKS: Final = MARK.encode() + WORDS[1:]
#: What a character is, by its byte.
_ALNUM, _INNER, _UPPER, _LOWER, _BEFORE_NAME, _BLANK, _IN_ADDRESS, _COLON = (1 << at for at in range(8))
_ASCII: Final = [chr(code) for code in range(128)]
_CHARACTERS: Final = bytes(
    sum(
        bit
        for bit, holds in (
            (_ALNUM, one.isalnum()),
            (_INNER, one.isupper() or one in "_-"),
            (_UPPER, one.isupper()),
            (_LOWER, one.islower()),
            (_BEFORE_NAME, one.islower() or one.isdigit() or one in ",;"),
            (_BLANK, one == " "),
            (_IN_ADDRESS, one in "/@\\"),
            (_COLON, one == ":"),
        )
        if holds
    )
    for one in _ASCII
) + bytes(_ALNUM if byte in LETTERS else 0 for byte in range(128, 256))
_NAME, _COMPOUND, _ADDRESS, _MONEY, _PERCENT, _SIGN = 1, 2, 4, 8, 16, 32
#: What signs show, by their bytes: a sum of money, percents, or that the text is not ASCII once it is folded.
_SHOWN: Final = bytes(
    {"$": _MONEY, "%": _PERCENT}.get(chr(byte), 0)
    if byte < 128
    else (_SIGN if byte in SIGNS.values() else 0) | (_MONEY if byte in {SIGNS[sign] for sign in "€£¥"} else 0)
    for byte in range(256)
)
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
        priced: Whether there are signs of sums of money or percents.
        signed: Whether there are signs by which they are not ASCII once they are folded.
        figures: Whether three words in a row begin with digits, as those of a day in figures or of a version do.
        measured: Whether there may be a quantity or a version.
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
    signed: BoolArray
    figures: BoolArray
    measured: BoolArray

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


def skimmed(texts: Sequence[bytes], traits_of: WordTraits) -> Skimmed:
    """Return what the words of *texts* show, one at least, which :func:`as_latin` made of some without marks."""
    characters = _SEPARATOR.join(texts) + _SEPARATOR
    places = _places(list(map(len, texts)))
    by_characters = _by_characters(characters, places[:-1])
    if not characters.isascii() and len(more := with_letters(characters)) > len(characters):
        characters, places = more, _places([len(with_letters(text)) for text in texts])
    folded = characters.translate(_WORDS_AND_MARKS)
    traits_of.make_room()
    traits = traits_of.of_words(folded)
    word_numbers = traits >> NUMBERED_FROM
    (ends,) = (word_numbers == traits_of[MARK] >> NUMBERED_FROM).nonzero()
    begins = np.empty_like(ends)
    begins[0] = 0
    begins[1:] = ends[:-1] + 1
    bits = traits & BITS
    counted = ((bits & SAYS_NUMBER) != 0).astype(np.int64)
    counted += (bits & DIGITS) != 0
    closer, clock, figures, measured = (np.logical_or.reduceat(any_, begins) for any_ in _beside_numbers(bits))
    signed, priced = by_characters & _SIGN != 0, by_characters & (_MONEY | _PERCENT) != 0
    shown = np.bitwise_or.reduceat(bits, begins)
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
        closer | signed,
        clock | signed,
        *_distinct(word_numbers, bits, ends - begins + 1),
        by_characters & _COMPOUND != 0,
        by_characters & _ADDRESS != 0,
        priced,
        signed,
        figures,
        measured | figures | priced | signed,
    )


def _beside_numbers(bits: IntArray) -> tuple[BoolArray, BoolArray, BoolArray, BoolArray]:
    """Return of which words follow :class:`Skimmed`'s *closer* and *clock*, *figures* and *measured*.

    A mark is no word: so nothing stands beside words of another text.
    """
    now, after, is_number = bits[:-1], bits[1:], (bits & DIGITS) != 0
    closer = (bits & CLOSER) != 0
    measured, figures = closer.copy(), np.zeros_like(closer)
    figures[1:-1] = is_number[:-2] & is_number[1:-1] & is_number[2:]
    measured[:-1] |= ((now & LAST_DIGIT) != 0) & ((after & UNIT) != 0)
    closer[:-1] |= ((now & LAST_DIGIT) != 0) & ((after & (DIGITS | UNIT)) != 0)
    clock = (bits & CLOCK) != 0
    clock[:-1] |= ((now & BEFORE_CLOCK) != 0) & ((after & OPENS_CLOCK) != 0)
    clock |= closer
    return closer, clock, figures, measured


def _places(lengths: Sequence[int]) -> IntArray:
    """Return where each of some texts begins that are joined, and where one after the last would."""
    sizes = np.array([0, *lengths], np.int64)
    sizes[1:] += len(_SEPARATOR)
    return sizes.cumsum()


def _by_characters(characters: bytes, begins: IntArray) -> IntArray:
    """Return for each text what its characters show."""
    # The quickest look-up of many bytes there is.
    what = np.frombuffer(characters.translate(_CHARACTERS), np.uint8)
    shown = np.frombuffer(bytearray(characters.translate(_SHOWN)), np.uint8)
    # A blank, a capital and a small letter after one of those that may precede a name.
    named = (what[:-3] & _BEFORE_NAME != 0) & (what[1:-2] & _BLANK != 0)
    named &= (what[2:-1] & _UPPER != 0) & (what[3:] & _LOWER != 0)
    shown[:-3] |= named * np.uint8(_NAME)
    shown[1:] |= ((what[1:] & _INNER != 0) & (what[:-1] & _ALNUM != 0)) * np.uint8(_COMPOUND)
    address = what & _IN_ADDRESS != 0
    address[1:] |= what[1:] & what[:-1] & _COLON != 0
    shown |= address * np.uint8(_ADDRESS)
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
