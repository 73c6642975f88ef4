"""The largest of many, chosen in linear time however many of them are equal."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from shelfd.memory.recall.columns import IntArray

#: From positions to their values, of the same length.
Key: TypeAlias = Callable[[IntArray], npt.NDArray[Any]]


def largest(count: int, positions: IntArray, key: Key, *others: Key) -> IntArray:
    """Return the *count* of *positions* with the largest *key*, in no particular order.

    Of those equal at the cut the largest by the next key are taken, and so on; each key is asked only for the
    positions it has to decide between.
    """
    if len(positions) <= count:
        return positions
    values = key(positions)
    cut = np.partition(values, len(values) - count)[len(values) - count]
    above, equal = positions[values > cut], positions[values == cut]
    room = count - len(above)
    chosen = largest(room, equal, *others) if others else equal[:room]
    return np.concatenate([above, chosen])
