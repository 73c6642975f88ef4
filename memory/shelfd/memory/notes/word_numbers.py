"""What is known of words, for many of them at once: arrays for all words of a text instead of a look-up of each.

A word is its bytes as whole numbers, eight to a number, and its length. These are compared: so what is found is what a
dict would find, in a third of the time, since no object is made, nor looked at, for a word.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

_IntArray = npt.NDArray[np.int64]
_Parts = npt.NDArray[np.uint64]

_BLANK: Final = ord(" ")
_BYTES: Final = 8  #: of a part of a word
_PARTS: Final = 3
#: Bytes of the longest word that can be known.
LONGEST: Final = _PARTS * _BYTES
#: Of a part that has so many bytes of a word, those that count.
_COUNTING: Final = np.array([(1 << 8 * count) - 1 for count in range(_BYTES + 1)], np.uint64)
#: Odd numbers by which parts are multiplied, so that the upper bits of the result depend on all of theirs.
_FACTORS: Final = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)))
_FOLDED: Final = np.uint64(29)
_SMALLEST: Final = 6  #: places of an empty table, as a power of two
_ROOM: Final = 3  #: places for each word, at least: few words then are at a place that another one wants


class WordsOfText(NamedTuple):
    """The words of a text, one after the other.

    Attributes:
        begins: Where each begins, in bytes.
        ends: Where each ends.
        values: What is known of each.
    """

    begins: _IntArray
    ends: _IntArray
    values: _IntArray


class WordNumbers:
    """A whole number for each of some words.

    Args:
        unknown: That of all other words.
        is_rare: Whether few words of texts are known: then most are told by their first letters and lengths.
    """

    def __init__(self, unknown: int, *, is_rare: bool = False) -> None:
        self._unknown = unknown
        self._may_be = np.zeros((256, LONGEST + 1), np.bool_) if is_rare else None
        # Of entries; the first stands for all words that have none. Then, by the place where one is looked for, its
        # number, 0 where there is none; a word whose place is taken is at the next free one.
        self._count = 1
        self._parts = np.zeros((_PARTS, 1), np.uint64)
        self._lengths = np.zeros(1, np.int16)
        self._values = np.array([unknown], np.int64)
        self._table = np.zeros(1 << _SMALLEST, np.int32)

    def add(self, words: Sequence[bytes], values: Sequence[int]) -> None:
        """Add words that have no number yet, each once.

        Args:
            words: Not empty, without blanks and no longer than :data:`LONGEST`.
            values: Their numbers.
        """
        first, self._count = self._count, self._count + len(words)
        if self._count > len(self._values):
            more = self._count * 2 - len(self._values)
            self._parts = np.pad(self._parts, ((0, 0), (0, more)))
            self._lengths, self._values = np.pad(self._lengths, (0, more)), np.pad(self._values, (0, more))
        text, added = b" ".join(words), slice(first, self._count)
        begins, ends = _cut(text)
        self._parts[:, added] = _parts(text, begins, ends)
        self._lengths[added], self._values[added] = ends - begins, values
        if self._may_be is not None:
            self._may_be[np.frombuffer(text, np.uint8)[begins], ends - begins] = True
        if self._count * _ROOM > len(self._table):
            self._table, first = np.zeros(1 << (self._count * _ROOM * 2).bit_length(), np.int32), 1
        self._enter(np.arange(first, self._count))

    def find(self, text: bytes) -> WordsOfText:
        """Return the words of *text* between its blanks, and what is known of them."""
        begins, ends = _cut(text)
        if self._may_be is None:
            return WordsOfText(begins, ends, self._values_of(text, begins, ends))
        lengths = ends - begins
        may_be = self._may_be[np.frombuffer(text, np.uint8)[begins], np.minimum(lengths, LONGEST)]
        (some,) = (may_be & (lengths <= LONGEST)).nonzero()
        values = np.full(len(begins), self._unknown, np.int64)
        values[some] = self._values_of(text, begins[some], ends[some])
        return WordsOfText(begins, ends, values)

    def _values_of(self, text: bytes, begins: _IntArray, ends: _IntArray) -> _IntArray:
        parts, lengths = _parts(text, begins, ends), ends - begins
        places = self._places(parts)
        entries = self._table.take(places).astype(np.int64)  # by which numpy takes at once
        at = self._differing(entries, parts, lengths)
        while len(at):
            places[at] = self._next(places[at])
            entries[at] = self._table[places[at]]
            at = at[self._differing(entries.take(at), parts[:, at], lengths[at])]
        values: _IntArray = self._values.take(entries)
        return values

    def _enter(self, entries: _IntArray) -> None:
        places = self._places(self._parts[:, entries])
        while len(entries):
            free = self._table[places] == 0
            # Of several for one place the first stays: what was known first comes most often.
            self._table[places[free][::-1]] = entries[free][::-1]
            (left,) = (self._table[places] != entries).nonzero()
            entries, places = entries[left], self._next(places[left])

    def _places(self, parts: _Parts) -> _IntArray:
        """Where in the table words are looked for first."""
        mixed = parts[0] * _FACTORS[0]
        mixed ^= parts[1] * _FACTORS[1]
        mixed >>= _FOLDED
        mixed += parts[2] * _FACTORS[2]
        mixed *= _FACTORS[2]
        mixed >>= np.uint64(65 - len(self._table).bit_length())
        places: _IntArray = mixed.astype(np.int64)
        return places

    def _next(self, places: _IntArray) -> _IntArray:
        return (places + 1) & (len(self._table) - 1)

    def _differing(self, entries: _IntArray, parts: _Parts, lengths: _IntArray) -> _IntArray:
        """Return where the entry is that of another word."""
        differs = self._lengths.take(entries) != lengths
        for known, looked_for in zip(self._parts, parts, strict=True):
            differs |= known.take(entries) != looked_for
        differs &= entries != 0
        found: _IntArray = differs.nonzero()[0]
        return found


def places_of(begins: _IntArray, lengths: _IntArray) -> _IntArray:
    """Return of which of some texts each word is.

    Args:
        begins: Where the words begin in these texts, which are joined by a blank each.
        lengths: Of the texts, in bytes.
    """
    first = begins.searchsorted((lengths + 1).cumsum() - lengths - 1)  # word of each text
    return np.arange(len(lengths)).repeat(np.diff(first, append=len(begins)))


def _cut(text: bytes) -> tuple[_IntArray, _IntArray]:
    """Return where the words of *text* begin, and where they end."""
    inside = np.zeros(len(text) + 2, np.bool_)
    np.not_equal(np.frombuffer(text, np.uint8), _BLANK, out=inside[1:-1])
    (edges,) = (inside[1:] != inside[:-1]).nonzero()
    return edges[::2], edges[1::2]


def _parts(text: bytes, begins: _IntArray, ends: _IntArray) -> _Parts:
    """Return the parts of words, shape (3, words); of a longer word those of its beginning."""
    # Eight bytes from each place on, without a copy of them.
    text += bytes(LONGEST)
    eight = np.ndarray((len(text) - _BYTES + 1,), "<u8", text, strides=(1,))
    parts = np.zeros((_PARTS, len(begins)), np.uint64)
    lengths = ends - begins
    parts[0] = eight.take(begins) & _COUNTING.take(np.minimum(lengths, _BYTES))
    (longer,) = (lengths > _BYTES).nonzero()
    for part in range(1, _PARTS):
        beyond = np.minimum(lengths[longer] - part * _BYTES, _BYTES)
        parts[part, longer] = eight[begins[longer] + part * _BYTES] & _COUNTING[np.maximum(beyond, 0)]
    return parts
