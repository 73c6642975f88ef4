"""Numbers in few bytes, as an image keeps them: columns as narrow as they can be, ascending numbers as differences.

What is read often is laid out in memory as it is used, which takes more; it is made of this when a shelf is opened.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from shelfd.memory.ports.image import Arrays
from shelfd.memory.recall.columns import IntArray
from shelfd.memory.recall.inverted import Bytes

#: Columns of ordinals of other documents, kept as how far away these are; and one that mostly counts ordinals.
_BESIDE: Final = frozenset({"previous", "following"})
_COUNTED: Final = frozenset({"row"})
_NARROW: Final[Mapping[str, tuple[npt.DTypeLike, ...]]] = {
    "i": (np.int8, np.int16, np.int32),
    "u": (np.uint8, np.uint16, np.uint32),
}
_TOGETHER: Final = 1 << 16  #: numbers looked at together: as many as stay in the processor's cache
#: And when they are read: more, for after each step this thread may have to wait for others.
_AT_ONCE: Final = 1 << 20


def packed_columns(columns: Arrays, own: slice) -> Arrays:
    """Return the values of the ordinals *own* in few bytes."""
    packed = {}
    for name, column in columns.items():
        values = column[own]
        if name in _BESIDE:  # no other document is itself: 0 for none
            values = np.where(values < 0, 0, values - np.arange(own.start, own.stop, dtype=np.int32))
        elif name in _COUNTED:
            values = values - np.arange(own.start, own.stop)
        packed[name] = _narrowest(values)
    return packed


def unpacked_column(name: str, values: npt.NDArray[Any], own: slice) -> npt.NDArray[Any]:
    """Return the values of the ordinals *own* in a column, or one for all."""
    if name in _BESIDE:
        return np.where(values == 0, -1, values + np.arange(own.start, own.stop))
    return values + np.arange(own.start, own.stop) if name in _COUNTED else values


def _narrowest(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers: one alone if all are equal, else in as many bytes as they need."""
    if not len(values):
        return values
    low, high = values.min(), values.max()
    if low == high:
        return values[:1]
    for kind in _NARROW.get(values.dtype.kind, ()):
        if np.dtype(kind).itemsize < values.itemsize and np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return values.astype(kind)
    return values


def packed_steps(name: str, values: npt.NDArray[np.integer]) -> Arrays:
    """Return numbers that mostly ascend, under a name, as their differences: those that are long beside the others."""
    found = []
    for kind in (np.uint8, np.uint16):
        short, long = np.empty(len(values), kind), [np.zeros(0, values.dtype)]
        most = np.iinfo(kind).max
        for begin in range(0, len(values), _TOGETHER):
            some = values[begin : begin + _TOGETHER]
            steps = np.diff(some, prepend=values[begin - 1] if begin else values.dtype.type(0))
            is_long = (steps < 0) | (steps >= most)
            long.append(steps[is_long])
            steps[is_long] = most
            short[begin : begin + len(some)] = steps
        found.append({f"{name} short": short, f"{name} long": np.concatenate(long)})
    return min(found, key=lambda arrays: sum(array.nbytes for array in arrays.values()))


def unpacked_steps(name: str, arrays: Arrays, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return the numbers of :func:`packed_steps`, of that type.

    Raises:
        ValueError: If that is not what it gives.
    """
    short, long = arrays[f"{name} short"], arrays[f"{name} long"]
    found, done, before = np.empty(len(short), kind), 0, 0
    for begin in range(0, len(short), _AT_ONCE):
        some = short[begin : begin + _AT_ONCE]
        steps = found[begin : begin + len(some)]
        steps[:] = some
        (at,) = (some == np.iinfo(short.dtype).max).nonzero()
        steps[at] = long[done : done + len(at)]
        steps[0] += before
        steps.cumsum(out=steps)
        done, before = done + len(at), steps[-1]
    if done != len(long):
        raise ValueError(name)
    return found


def packed_counts(name: str, counts: Bytes) -> Arrays:
    """Return numbers that are mostly 1, under a name: where they are not, and what they are there."""
    (other,) = (counts != 1).nonzero()
    return {**packed_steps(name, other), f"{name} other": counts[other]}


def unpacked_counts(name: str, arrays: Arrays, count: int) -> Bytes:
    """Return the numbers of :func:`packed_counts`, of which there are so many."""
    counts = np.ones(count, np.uint8)
    places: IntArray = unpacked_steps(name, arrays, np.int64)
    counts[places] = arrays[f"{name} other"]
    return counts
