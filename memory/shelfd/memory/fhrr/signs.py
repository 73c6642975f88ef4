"""Sign bits of vectors: an eighth of a byte per element, scanned to find the few worth a closer look.

Of each element only the sign of the real part is kept. Two vectors with cosine c differ in a share arccos(c) / pi of
their bits (M. S. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002), give or take half
over the square root of the number of bits.
"""

import math

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint64]

_BLOCK = 4096  #: rows per block; a full block is never copied again, so that no write pays for all earlier ones
_FIRST = 8


def sign_bits(real: npt.NDArray[np.floating] | npt.NDArray[np.integer]) -> Bits:
    """Return the bits of a vector given by its *real* parts, shape (d,), padded with zeros to whole words of 64."""
    packed = np.packbits(real > 0)
    padded = np.zeros(-(-len(packed) // 8) * 8, dtype=np.uint8)
    padded[: len(packed)] = packed
    return padded.view(np.uint64)


def cosine_at(distance: int, dimension: int) -> float:
    """Return the cosine to expect of two vectors that differ in *distance* of their *dimension* bits."""
    return math.cos(math.pi * distance / dimension)


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
            grown = np.zeros((self._words, 2 * row), dtype=np.uint64)  # only the first block: 8 rows, 16, … 4096
            grown[:, :row] = self._blocks[block]
            self._blocks[block] = grown
        self._blocks[block][:, row] = bits
        self._count += 1
        return number

    def replace(self, number: int, bits: Bits) -> None:
        """Put *bits* in the place of row *number*."""
        block, row = divmod(number, _BLOCK)
        self._blocks[block][:, row] = bits

    def pop_into(self, number: int) -> int:
        """Remove row *number*; the last row takes its number. Return the number that the last row had."""
        last = self._count - 1
        block, row = divmod(last, _BLOCK)
        if number != last:
            self.replace(number, self._blocks[block][:, row])
        self._count = last
        if row == 0:
            del self._blocks[block:]
        return last

    def distances(self, bits: Bits) -> npt.NDArray[np.uint16]:
        """Return in how many bits each row differs from *bits*, shape (rows,)."""
        found = np.empty(self._count, dtype=np.uint16)
        asked = bits[:, None]
        for number, block in enumerate(self._blocks):
            start = number * _BLOCK
            rows = block[:, : self._count - start]
            differing = np.bitwise_count(np.bitwise_xor(rows, asked))
            np.add.reduce(differing, axis=0, dtype=np.uint16, out=found[start : start + rows.shape[1]])
        return found

    @property
    def nbytes(self) -> int:
        """Bytes taken by the rows, room to grow included."""
        return sum(block.nbytes for block in self._blocks)
