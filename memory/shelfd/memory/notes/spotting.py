"""Which words of much text are among some known ones: arrays for all of its words instead of a look-up of each.

A word is its bytes as whole numbers, eight to a number, which are compared: exact, in a third of the time of a dict.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

_IntArray = npt.NDArray[np.int64]
_Parts = npt.NDArray[np.uint64]

_BLANK: Final = ord(" ")
_BYTES: Final = 8  #: of a part of a word
#: Bytes of the longest word that can be known: three parts.
LONGEST: Final = 3 * _BYTES
#: Of a part that has so many bytes of a word, those that count.
_COUNTING: Final = np.array([(1 << 8 * count) - 1 for count in range(_BYTES + 1)], np.uint64)
#: Odd numbers by which parts are multiplied, so that the upper bits of the result depend on all of theirs.
_FACTORS: Final = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)))
_FOLDED: Final = np.uint64(29)
#: Places in the table for each known word, at least: few words then are at a place that another one wants.
_ROOM: Final = 6


class Spotted(NamedTuple):
    """The words of a text, one after the other.

    Attributes:
        begins: Where each begins, in bytes.
        ends: Where each ends.
        numbers: Which known word it is, counted from 1; 0 for any other.
    """

    begins: _IntArray
    ends: _IntArray
    numbers: _IntArray


class Spotter:
    """Knows some words.

    Args:
        words: Those, each once, not empty, without blanks and zeros.

    Raises:
        ValueError: If one has a zero or is longer than :data:`LONGEST`.
    """

    def __init__(self, words: Sequence[bytes]) -> None:
        text = b" ".join(words)
        if b"\0" in text or max(map(len, words)) > LONGEST:
            raise ValueError("a word is too long, or has a zero, which stands behind each")
        self._lengths = np.array([0, *map(len, words)], np.int64)
        self._parts = np.concatenate([np.zeros((3, 1), np.uint64), _parts(text, *_cut(text))], axis=1)
        bits = (len(words) * _ROOM).bit_length()
        self._shift, self._last = np.uint64(64 - bits), (1 << bits) - 1
        self._table = np.zeros(1 << bits, np.int64)
        for number, place in enumerate(self._places(self._parts[:, 1:]).tolist(), 1):
            while self._table[place]:
                place = (place + 1) & self._last  # noqa: PLW2901 - the next free one
            self._table[place] = number

    def spot(self, text: bytes) -> Spotted:
        """Return the words of *text* between its blanks, and which of them are known."""
        begins, ends = _cut(text)
        parts = _parts(text, begins, ends)
        places = self._places(parts)
        numbers = self._table[places]
        at = self._differing(numbers, parts)
        while len(at):  # the place after those
            places[at] = (places[at] + 1) & self._last
            numbers[at] = self._table[places[at]]
            at = at[self._differing(numbers[at], parts[:, at])]
        numbers[self._lengths[numbers] != ends - begins] = 0  # longer, or a known one with zeros behind it
        return Spotted(begins, ends, numbers)

    def _places(self, parts: _Parts) -> _IntArray:
        """Where in the table words are looked for first."""
        mixed = parts[0] * _FACTORS[0]
        mixed ^= parts[1] * _FACTORS[1]
        mixed >>= _FOLDED
        mixed += parts[2] * _FACTORS[2]
        mixed *= _FACTORS[2]
        mixed >>= self._shift
        places: _IntArray = mixed.astype(np.int64)
        return places

    def _differing(self, numbers: _IntArray, parts: _Parts) -> _IntArray:
        """Return where another known word was found than the one that is looked for."""
        differs = numbers != 0
        unlike = self._parts[0][numbers] != parts[0]
        for known, looked_for in zip(self._parts[1:], parts[1:], strict=True):
            unlike |= known[numbers] != looked_for
        differs &= unlike
        found: _IntArray = differs.nonzero()[0]
        return found


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
    parts = np.zeros((3, len(begins)), np.uint64)
    lengths = ends - begins
    parts[0] = eight[begins] & _COUNTING[np.minimum(lengths, _BYTES)]
    (longer,) = (lengths > _BYTES).nonzero()
    for part in (1, 2):
        beyond = np.minimum(lengths[longer] - part * _BYTES, _BYTES)
        parts[part, longer] = eight[begins[longer] + part * _BYTES] & _COUNTING[np.maximum(beyond, 0)]
    return parts
