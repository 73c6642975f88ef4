"""Sorted lists of documents by key, immutable, and the merging of several into one in small steps."""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from shelfd.memory.recall.columns import BoolArray, IntArray

Numbers: TypeAlias = npt.NDArray[np.int32]
Bytes: TypeAlias = npt.NDArray[np.uint8]
#: Returns for each of some ordinals whether it is alive by now.
Alive: TypeAlias = Callable[[Any], BoolArray]

#: Postings merged in one step: some 3 ms.
STEP: Final = 100_000


class Inverted(NamedTuple):
    """The documents that have each key.

    Attributes:
        keys: Distinct keys, ascending; shape (k,).
        pointer: Where the documents of each key begin, and where the last ones end; shape (k + 1,).
        documents: Ordinals, ascending for each key; shape (n,).
        frequencies: How often the document has the key; shape (n,), or empty where nobody counts.
    """

    keys: Numbers
    pointer: IntArray
    documents: Numbers
    frequencies: Bytes

    def spans(self, keys: Sequence[int]) -> list[tuple[int, int]]:
        """Return where the postings of each of *keys* begin and end; an unknown one has none."""
        key_at, begins, count = self.keys.item, self.pointer.item, len(self.keys)
        places = self.keys.searchsorted(np.array(keys, np.int32)).tolist()
        # Of a handful of keys Python looks faster than numpy, whose every call takes a microsecond.
        return [
            (begins(at), begins(at + 1)) if at < count and key_at(at) == key else (0, 0)
            for at, key in zip(places, keys, strict=True)
        ]


def invert(keys: Numbers, documents: Numbers, frequencies: Bytes) -> Inverted:
    """Return the postings that say that ``documents[i]``, ascending, has ``keys[i]``."""
    order = np.argsort(keys, kind="stable")
    return inverted(keys[order], documents[order], frequencies[order] if len(frequencies) else frequencies)


def inverted(keys: npt.NDArray[np.integer], documents: Numbers, frequencies: Bytes) -> Inverted:
    """Return the postings that say that ``documents[i]`` has ``keys[i]``, sorted by both."""
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    pointer = np.append(first, len(keys)).astype(np.int64)
    return Inverted(keys[first].astype(np.int32), pointer, documents, frequencies)


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return each of *values*, none of which is negative, once, in order."""
    # numpy's own way takes longer, and imports masked arrays when it is first called: a tenth of a second.
    ascending = np.sort(values)
    return ascending[np.flatnonzero(np.diff(ascending, prepend=-1))]


def merged(parts: Sequence[Inverted], alive: Alive) -> Generator[int, None, Inverted]:
    """Yield before every step, of a few milliseconds, how many postings it takes; return all that are alive of *parts*.

    Args:
        parts: Each of documents that come after those of the one before.
        alive: Asked at every step; what dies later stays in the result.
    """
    keys = distinct(np.concatenate([part.keys for part in parts]))
    yield len(keys)
    sizes = np.zeros(len(keys), np.int64)
    for part in parts:
        sizes[keys.searchsorted(part.keys)] += np.diff(part.pointer)
    has_frequencies = any(len(part.frequencies) for part in parts)
    total = int(sizes.sum())
    documents, frequencies = np.empty(total, np.int32), np.empty(total if has_frequencies else 0, np.uint8)
    kept_sizes = np.zeros(len(keys), np.int64)
    done = 0
    for begin, end in _slices(sizes):
        for among in _divided(parts, int(keys[begin])) if sizes[begin] > STEP else (parts,):
            yield min(int(sizes[begin:end].sum()), STEP)
            places, some, counts = _between(among, keys, begin, end)
            living = alive(some) & (counts > 0) if has_frequencies else alive(some)
            if not living.all():
                places, some, counts = places[living], some[living], counts[living] if has_frequencies else counts
            documents[done : done + len(some)] = some
            if has_frequencies:
                frequencies[done : done + len(some)] = counts
            kept_sizes[begin:end] += np.bincount(places, minlength=end - begin)
            done += len(some)
    yield len(keys)
    used = kept_sizes > 0
    pointer = np.concatenate([[0], np.cumsum(kept_sizes[used])]).astype(np.int64)
    return Inverted(keys[used], pointer, documents[:done], frequencies[:done])


def _divided(parts: Sequence[Inverted], key: int) -> Iterator[Sequence[Inverted]]:
    """Yield the postings of a key that has many, :data:`STEP` of them at a time."""
    for part in parts:
        ((first, last),) = part.spans((key,))
        for begin in range(first, last, STEP):
            pointer = np.array((begin, min(begin + STEP, last)), np.int64)
            yield (part._replace(keys=np.array((key,), np.int32), pointer=pointer),)


def _between(parts: Sequence[Inverted], keys: Numbers, begin: int, end: int) -> tuple[IntArray, Numbers, Bytes]:
    """The postings of ``keys[begin:end]``, sorted: which of these keys, documents, frequencies."""
    places, documents, frequencies = [], [], []
    for part in parts:
        first, last = part.keys.searchsorted(keys[begin]), part.keys.searchsorted(keys[end - 1], "right")
        if first == last:
            continue
        postings = slice(part.pointer[first], part.pointer[last])
        own = keys[begin:end].searchsorted(part.keys[first:last])
        places.append(np.repeat(own, np.diff(part.pointer[first : last + 1])))
        documents.append(part.documents[postings])
        frequencies.append(part.frequencies[postings])
    if len(places) == 1:
        return places[0], documents[0], frequencies[0]
    every = np.concatenate(places)
    if end - begin == 1:
        return every, np.concatenate(documents), np.concatenate(frequencies)
    order = np.argsort(every, kind="stable")  # of runs that are sorted: nearly a merge
    counts = np.concatenate(frequencies)
    return every[order], np.concatenate(documents)[order], counts[order] if len(counts) else counts


def _slices(sizes: IntArray) -> Iterator[tuple[int, int]]:
    """Divide keys with that many postings each so that a part has some :data:`STEP`, or is a single key."""
    total = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes):
        before = total[begin - 1] if begin else 0
        end = max(begin + 1, int(total.searchsorted(before + STEP, "right")))
        yield begin, end
        begin = end
