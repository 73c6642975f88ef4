"""Sign bits of vectors: an eighth of a byte per element, scanned to find the few worth a closer look.

Of each element only the sign of the real part is kept. Two vectors with cosine c differ in a share arccos(c) / pi of
their bits (M. S. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002), give or take half
over the square root of the number of bits.
"""

import math

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]

_BLOCK = 16_384  #: rows per block; a full block is never copied again, so that no write pays for all earlier ones
_FIRST = 8
_GLANCE = 3  #: words of 64 bits by which rows are passed over
_MANY = 512  #: rows of a block from which on that pays


def sign_bits(real: npt.NDArray[np.floating] | npt.NDArray[np.integer]) -> Bits:
    """Return the bits of a vector given by its *real* parts, shape (d,), padded with zeros to whole words of 64."""
    packed = np.packbits(real > 0)
    padded = np.zeros(-(-len(packed) // 8) * 8, dtype=np.uint8)
    padded[: len(packed)] = packed
    return padded.view(np.uint64)


def distance_at(cosine: float, dimension: int) -> int:
    """Return in how many of *dimension* bits two vectors of this *cosine* are expected to differ."""
    return round(math.acos(max(-1.0, min(1.0, cosine))) / math.pi * dimension)


class SignRows:
    """Growing rows of sign bits, numbered from 0.

    Args:
        dimension: Bits per row.
    """

    __slots__ = ("_blocks", "_count", "_words", "dimension")

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._words = -(-dimension // 64)
        self._blocks: list[Bits] = []  #: shape (words, rows): a scan runs along the rows
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, bits: Bits) -> int:
        """Add a row and return its number."""
        number = self._count
        block, row = divmod(number, _BLOCK)
        if block == len(self._blocks):
            self._blocks.append(np.zeros((self._words, _FIRST if block == 0 else _BLOCK), dtype=np.uint64))
        elif row == self._blocks[block].shape[1]:
            grown = np.zeros((self._words, 2 * row), dtype=np.uint64)  # only the first block: 8 rows, 16, … _BLOCK
            grown[:, :row] = self._blocks[block]
            self._blocks[block] = grown
        self._blocks[block][:, row] = bits
        self._count += 1
        return number

    def replace(self, number: int, bits: Bits) -> None:
        """Put *bits* in the place of row *number*."""
        block, row = divmod(number, _BLOCK)
        self._blocks[block][:, row] = bits

    def within(self, bits: Bits, limit: int) -> tuple[Numbers, Numbers]:
        """Return the numbers of the rows that differ from *bits* in at most *limit* bits, and in how many.

        Of many rows, one is compared in full only if its first bits, at half a standard deviation, leave it a
        chance: of rows just within the limit one in three is passed over, of those clearly within it none in practice.
        """
        found = [
            self._within(block[:, : self._count - number * _BLOCK], number * _BLOCK, bits, limit)
            for number, block in enumerate(self._blocks)
        ]
        if not found:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        if len(found) == 1:
            return found[0]
        numbers, distances = zip(*found, strict=True)
        return np.concatenate(numbers), np.concatenate(distances)

    def _within(self, rows: Bits, first: int, bits: Bits, limit: int) -> tuple[Numbers, Numbers]:
        """The same for one block, whose first row has the number *first*."""
        if rows.shape[1] < _MANY or self._words <= _GLANCE:
            differing = _differing(rows, bits)
            close = np.flatnonzero(differing <= limit)
            return close + first, differing[close].astype(np.int64)
        share, seen = limit / self.dimension, 64 * _GLANCE
        chance = share * seen + math.sqrt(share * (1 - share) * seen) / 2
        promising = np.flatnonzero(_differing(rows[:_GLANCE], bits[:_GLANCE]) <= chance)
        differing = _differing(rows[:, promising], bits)
        close = np.flatnonzero(differing <= limit)
        return promising[close] + first, differing[close].astype(np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes taken by the rows, room to grow included."""
        return sum(block.nbytes for block in self._blocks)


def _differing(rows: Bits, bits: Bits) -> npt.NDArray[np.uint16]:
    """In how many bits each of *rows*, shape (words, rows), differs."""
    counts = np.bitwise_count(np.bitwise_xor(rows, bits[:, None]))
    return np.asarray(np.add.reduce(counts, axis=0, dtype=np.uint16))
