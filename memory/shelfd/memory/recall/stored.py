"""A recall index as arrays for an image, and made of them again.

What a purged note alone had must not be in an image: words, and values of columns, that no living document has are
left out. Their numbers stay, under names that nobody can ask for.
"""

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.ports.image import Arrays, Frozen
from shelfd.memory.recall.columns import ALIVE, CHANGING, HIDDEN, LASTING, BoolArray, IntArray
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.filtering import TAGS
from shelfd.memory.recall.inverted import Inverted
from shelfd.memory.recall.segments import IndexSegment, Lists, TermLists

_SEGMENT: Final = "segment-"
#: Beside it: columns are copied when they are read, and what is mapped of them is let go then.
_COLUMNS: Final = "columns-"
_STATE: Final = "state"
_VALUES: Final = "values "
#: Begins what stands for a value that is left out; no text has it.
_NOBODY: Final = "\0"
#: Columns of ordinals of other documents, kept as how far away these are; and one that mostly counts ordinals.
_BESIDE: Final = frozenset({"previous", "following"})
_COUNTED: Final = frozenset({"row"})
_NARROW: Final = {"i": (np.int8, np.int16, np.int32), "u": (np.uint8, np.uint16, np.uint32)}
#: Documents looked at together.
_STEP: Final = 65_536


def texts(values: Sequence[str]) -> Arrays:
    """Return *values* as arrays: their lengths in characters, and all of them in UTF-8."""
    lengths = np.fromiter(map(len, values), np.int32, len(values))
    return {"lengths": lengths, "text": np.frombuffer("".join(values).encode("utf-8", "surrogatepass"), np.uint8)}


def texts_of(arrays: Arrays) -> list[str]:
    """Return the texts of which *arrays* were made."""
    together = arrays["text"].tobytes().decode("utf-8", "surrogatepass")
    ends = np.concatenate([[0], np.cumsum(arrays["lengths"], dtype=np.int64)]).tolist()
    return [together[begin:end] for begin, end in pairwise(ends)]


def without(values: Sequence[str], used: BoolArray) -> list[str]:
    """Return *values* with something that is no text in place of those that are not *used*."""
    return [
        value if is_used else f"{_NOBODY}{at}" for at, (value, is_used) in enumerate(zip(values, used, strict=True))
    ]


class _Now(NamedTuple):
    """An index at one moment: copies of what changes, and what does not change."""

    segments: Sequence[IndexSegment]
    columns: Arrays
    lasting: Mapping[str, npt.NDArray[Any]]  #: whose values up to here never change again
    facts: Mapping[str, Any]
    terms: tuple[list[str], list[str], list[int]]
    own: npt.NDArray[np.int32]
    previous: npt.NDArray[np.int32]
    codes: Mapping[str, list[str]]
    authors: list[tuple[str, ...]]
    arrays: Arrays


def freeze(contents: Contents, stored: Collection[str]) -> Callable[[], Frozen]:
    """Return what gives an index as it is now; see :meth:`~shelfd.memory.ports.projection.Pictured.freeze`."""
    contents.postings.flush()
    columns, statistics, size = contents.columns, contents.statistics, contents.columns.size
    now = _Now(
        segments=contents.postings.segments,
        columns={name: _narrowed(getattr(columns, name)[:size]) for name in CHANGING},
        lasting={name: getattr(columns, name)[:size] for name in LASTING},
        facts={
            "documents": statistics.documents,
            "own_tokens": statistics.own_tokens,
            "previous_tokens": statistics.previous_tokens,
            "segments": [[one.name, one.first, one.last, one.holes] for one in contents.postings.segments],
        },
        terms=contents.vocabulary.stored(),
        own=np.array(statistics.own, np.int32),
        previous=np.array(statistics.previous, np.int32),
        codes=contents.filtering.stored(),
        authors=contents.authors.stored(),
        arrays={**contents.links.stored(), "dated": contents.filtering.dated()},
    )
    return lambda: Frozen(now.facts, _parts(now, stored))


def _parts(now: _Now, stored: Collection[str]) -> dict[str, Arrays | None]:
    parts: dict[str, Arrays | None] = {}
    for segment in now.segments:
        is_stored = _SEGMENT + segment.name in stored
        parts[_SEGMENT + segment.name] = None if is_stored else _of_segment(segment)
        own = slice(segment.first, segment.last)
        parts[_COLUMNS + segment.name] = None if is_stored else _packed_columns(now.lasting, own)
    return parts | {_STATE: _state(now), **_values(now)}


def _of_segment(segment: IndexSegment) -> Arrays:
    arrays: dict[str, npt.NDArray[Any]] = {}
    for part, value in (
        ("terms", segment.terms),
        ("ids", segment.ids),
        ("postings", segment.postings),
        ("tags", segment.tags),
    ):
        arrays |= {f"{part} {name}": array for name, array in value._asdict().items()}
    return arrays


def _state(now: _Now) -> Arrays:
    size = len(now.columns["flags"])
    columns = {f"column {name}": column for name, column in _packed_columns(now.columns, slice(0, size)).items()}
    return {**columns, **now.arrays, "own": now.own, "previous": now.previous}


def _narrowed(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy, of which numbers take four bytes at most: it is made while nothing else runs."""
    return column.astype(np.int32) if column.dtype == np.int64 else column.copy()


def _packed_columns(columns: Arrays, own: slice) -> Arrays:
    """The values of some ordinals in few bytes; see :func:`_packed`."""
    packed = {}
    for name, column in columns.items():
        values = column[own]
        if name in _BESIDE:  # no other document is itself: 0 for none
            values = np.where(values < 0, 0, values - np.arange(own.start, own.stop, dtype=np.int32))
        elif name in _COUNTED:
            values = values - np.arange(own.start, own.stop)
        packed[name] = _packed(values)
    return packed


def _packed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
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


def _unpacked(name: str, values: npt.NDArray[Any], own: slice) -> npt.NDArray[Any]:
    """The values of the ordinals *own*, or one for all."""
    if name in _BESIDE:
        return np.where(values == 0, -1, values + np.arange(own.start, own.stop))
    return values + np.arange(own.start, own.stop) if name in _COUNTED else values


def _values(now: _Now) -> dict[str, Arrays | None]:
    """What has a number: terms, words, authors and the values of columns, of each those that are used."""
    alive = (now.columns["flags"] & ALIVE) != 0
    used = _used_terms(now, alive)
    terms, words, numbers = now.terms
    numbered = np.array(numbers, np.int32)
    kept = np.flatnonzero(used[numbered])
    parts: dict[str, Arrays | None] = {
        "terms": texts(without(terms, used)),
        "words": {**texts([words[at] for at in kept.tolist()]), "numbers": numbered[kept]},
        "authors": texts(
            without([" ".join(name) for name in now.authors], _used(now.lasting["speaker"][alive], len(now.authors)))
        ),
    }
    for name, values in now.codes.items():
        is_used = _used_tags(now, alive, len(values)) if name == TAGS else _used(now.lasting[name][alive], len(values))
        parts[_VALUES + name] = texts(without(values, is_used))
    return parts


def _used(codes: npt.NDArray[np.int32], count: int) -> BoolArray:
    used: BoolArray = np.zeros(count, np.bool_)
    used[codes[codes >= 0]] = True
    return used


def _used_terms(now: _Now, alive: BoolArray) -> BoolArray:
    """Which terms a living document has: those that are counted, and those of hidden ones, which are not."""
    used: BoolArray = np.zeros(len(now.terms[0]), np.bool_)
    used[: len(now.own)] = now.own > 0
    hidden = alive & ((now.columns["flags"] & HIDDEN) != 0)
    for segment in now.segments:
        for begin in range(0, segment.size, _STEP):
            end = min(begin + _STEP, segment.size)
            chosen = hidden[segment.first + begin : segment.first + end]
            if chosen.any():
                start = segment.terms.start[begin : end + 1]
                terms = segment.terms.between(int(start[0]), int(start[-1]))
                used[terms[np.repeat(chosen, np.diff(start))]] = True
    return used


def _used_tags(now: _Now, alive: BoolArray, count: int) -> BoolArray:
    used: BoolArray = np.zeros(count, np.bool_)
    for segment in now.segments:
        tags = segment.tags
        if len(tags.keys):
            living = np.add.reduceat(alive[tags.documents], tags.pointer[:-1], dtype=np.int64) > 0
            used[tags.keys[living]] = True
    return used


# ------------------------------------------------------------------- thawing


def thaw(contents: Contents, frozen: Frozen) -> None:
    """Fill empty *contents* with what was frozen.

    Raises:
        Exception: If that is not what :func:`freeze` gives.
    """
    facts, parts = frozen
    arrays = {name: some for name, some in parts.items() if some is not None}
    state = arrays[_STATE]
    segments = [
        _segment(arrays[_SEGMENT + name], name, first, last, holes) for name, first, last, holes in facts["segments"]
    ]
    every = slice(0, segments[-1].last if segments else 0)
    columns = {name: [(every, _unpacked(name, state[f"column {name}"], every))] for name in CHANGING}
    for name in LASTING:
        columns[name] = [
            (own := slice(one.first, one.last), _unpacked(name, arrays[_COLUMNS + one.name][name], own))
            for one in segments
        ]
    contents.columns.fill(every.stop, columns)
    contents.postings.restore(segments)
    statistics = contents.statistics
    statistics.documents, statistics.own_tokens = facts["documents"], facts["own_tokens"]
    statistics.previous_tokens = facts["previous_tokens"]
    statistics.own, statistics.previous = array("i", state["own"].tobytes()), array("i", state["previous"].tobytes())
    words = arrays["words"]
    contents.vocabulary.restore(texts_of(arrays["terms"]), texts_of(words), words["numbers"].tolist())
    contents.authors.restore(_names(texts_of(arrays["authors"])), _counts(contents))
    codes = {
        name.removeprefix("values "): texts_of(some) for name, some in arrays.items() if name.startswith("values ")
    }
    contents.filtering.restore(codes, state["dated"])
    contents.links.restore(state)


def _segment(arrays: Arrays, name: str, first: int, last: int, holes: bool) -> IndexSegment:
    def made(kind: Callable[..., Any], part: str, fields: Iterable[str]) -> Any:  # noqa: ANN401
        return kind(**{each: arrays[f"{part} {each}"] for each in fields})

    return IndexSegment(
        name,
        first,
        last,
        made(TermLists, "terms", TermLists._fields),
        made(Lists, "ids", Lists._fields),
        made(Inverted, "postings", Inverted._fields),
        made(Inverted, "tags", Inverted._fields),
        holes,
    )


def _names(authors: Iterable[str]) -> list[tuple[str, ...]]:
    return [(name,) if name.startswith(_NOBODY) else tuple(name.split(" ")) for name in authors]


def _counts(contents: Contents) -> IntArray:
    """How many visible documents each author has."""
    columns = contents.columns
    size = columns.size
    visible = (columns.flags[:size] & (ALIVE | HIDDEN)) == ALIVE
    speakers = columns.speaker[:size][visible]
    return np.bincount(speakers[speakers >= 0])
