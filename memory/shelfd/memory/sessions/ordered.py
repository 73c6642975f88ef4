"""Sorted numbers that come and go: the orders in which a graph lists its notes."""

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

#: Numbers in one block, at most; a full one is split.
_BLOCK: Final = 1_024
#: Numbers from which on all are sorted anew, which is faster than one by one.
_MANY: Final = 2_000


class Ordered:
    """Distinct numbers of up to 63 bits in ascending order, eight bytes each. A change costs the same however many."""

    __slots__ = ("_blocks", "_firsts", "_size")

    def __init__(self) -> None:
        self._blocks: list[array[int]] = []
        self._firsts: list[int] = []  # of each block its smallest, or less
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, number: int) -> None:
        """Add a number that is not there."""
        self._size += 1
        if not self._blocks:
            self._blocks, self._firsts = [array("q", [number])], [number]
            return
        at = max(0, bisect_right(self._firsts, number) - 1)
        block = self._blocks[at]
        insort(block, number)
        self._firsts[at] = min(self._firsts[at], number)
        if len(block) > _BLOCK:
            # Numbers that mostly rise, as those of new notes do, leave full blocks behind.
            half = len(block) // 2 if block[-1] != number else len(block) - 1
            self._blocks[at : at + 1] = [block[:half], block[half:]]
            self._firsts.insert(at + 1, block[half])

    def remove(self, number: int) -> None:
        """Remove a number that is there."""
        at = bisect_right(self._firsts, number) - 1
        block = self._blocks[at]
        del block[bisect_left(block, number)]
        self._size -= 1
        if not block:
            del self._blocks[at], self._firsts[at]

    def add_all(self, numbers: Sequence[int]) -> None:
        """Add numbers that are not there."""
        if len(numbers) < _MANY:
            for number in numbers:
                self.add(number)
        else:
            self._fill(np.concatenate([*self._blocks, np.array(numbers, np.int64)]))

    def remove_all(self, numbers: Sequence[int]) -> None:
        """Remove numbers that are there."""
        if len(numbers) < _MANY:
            for number in numbers:
                self.remove(number)
        else:
            kept = np.concatenate(self._blocks)
            self._fill(kept[~np.isin(kept, np.array(numbers, np.int64))])

    def _fill(self, numbers: npt.NDArray[np.int64]) -> None:
        numbers = np.sort(numbers)
        starts = range(0, len(numbers), _BLOCK // 2)
        self._blocks = [array("q", numbers[start : start + _BLOCK // 2].tobytes()) for start in starts]
        self._firsts = [block[0] for block in self._blocks]
        self._size = len(numbers)

    def after(self, number: int | None) -> Iterator[int]:
        """Iterate over the numbers above *number*; over all for None. Good until a change."""
        if not self._blocks:
            return
        at = 0 if number is None else max(0, bisect_right(self._firsts, number) - 1)
        block = self._blocks[at]
        yield from block if number is None else block[bisect_right(block, number) :]
        for block in self._blocks[at + 1 :]:
            yield from block
