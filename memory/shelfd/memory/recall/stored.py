"""A recall index as arrays for an image, and made of them again.

What a purged note alone had must not be in an image: words, and values of columns, that no living document has are
left out. Their numbers stay, under names that nobody can ask for.
"""

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.ports.image import Arrays, Frozen
from shelfd.memory.recall.columns import ALIVE, CHANGING, HIDDEN, LASTING, BoolArray, IntArray
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.filtering import TAGS
from shelfd.memory.recall.inverted import Inverted
from shelfd.memory.recall.packing import (
    packed_columns,
    packed_counts,
    packed_steps,
    unpacked_column,
    unpacked_counts,
    unpacked_steps,
)
from shelfd.memory.recall.segments import NO_COUNTS, IndexSegment, Lists, TermLists, narrow

_SEGMENT: Final = "segment-"
#: Beside it what is made of it in memory when it is read, after which nothing of it is mapped.
_PACKED: Final = "packed-"
_STATE: Final = "state"
_VALUES: Final = "values "
#: Begins what stands for a value that is left out; no text has it.
_NOBODY: Final = "\0"
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
        parts[_PACKED + segment.name] = None if is_stored else _packed(segment, now.lasting)
    return parts | {_STATE: _state(now), **_values(now)}


def _of_segment(segment: IndexSegment) -> Arrays:
    return {
        "terms low": segment.terms.low,
        "terms high": segment.terms.high,
        "ids values": segment.ids.values,
        "postings keys": segment.postings.keys,
        "tags keys": segment.tags.keys,
    }


def _packed(segment: IndexSegment, lasting: Arrays) -> Arrays:
    return {
        **packed_columns(lasting, slice(segment.first, segment.last)),
        **packed_steps("terms start", segment.terms.start),
        **packed_steps("terms far", segment.terms.far),
        **packed_steps("ids start", segment.ids.start),
        **packed_steps("postings pointer", segment.postings.pointer),
        **packed_steps("postings documents", segment.postings.documents),
        **packed_counts("postings frequencies", segment.postings.frequencies),
        **packed_steps("tags pointer", segment.tags.pointer),
        **packed_steps("tags documents", segment.tags.documents),
    }


def _state(now: _Now) -> Arrays:
    size = len(now.columns["flags"])
    columns = {f"column {name}": column for name, column in packed_columns(now.columns, slice(0, size)).items()}
    return {**columns, **now.arrays, "own": now.own, "previous": now.previous}


def _narrowed(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy, of which numbers take four bytes at most: it is made while nothing else runs."""
    return column.astype(np.int32) if column.dtype == np.int64 else column.copy()


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
    with ThreadPoolExecutor(1) as beside:  # numpy needs the interpreter there for a small part of the time
        segments = beside.submit(_segments, arrays, facts["segments"])
        _thaw_values(contents, facts, arrays)
        contents.postings.restore(segments.result())


def _thaw_values(contents: Contents, facts: Mapping[str, Any], arrays: Mapping[str, Arrays]) -> None:
    """Fill *contents* with all but its segments."""
    state = arrays[_STATE]
    owned = [(name, slice(first, last)) for name, first, last, _ in facts["segments"]]
    every = slice(0, owned[-1][1].stop if owned else 0)
    columns = {name: [(every, unpacked_column(name, state[f"column {name}"], every))] for name in CHANGING}
    for name in LASTING:
        columns[name] = [(own, unpacked_column(name, arrays[_PACKED + segment][name], own)) for segment, own in owned]
    contents.columns.fill(every.stop, columns)
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


def _segments(arrays: Mapping[str, Arrays], listed: Sequence[Sequence[Any]]) -> list[IndexSegment]:
    return [
        _segment(arrays[_SEGMENT + name], arrays[_PACKED + name], name, first, last, holes)
        for name, first, last, holes in listed
    ]


def _segment(arrays: Arrays, packed: Arrays, name: str, first: int, last: int, holes: bool) -> IndexSegment:
    def steps(name: str, kind: npt.DTypeLike) -> npt.NDArray[Any]:
        return unpacked_steps(name, packed, kind)

    documents = steps("postings documents", np.int32)
    counts = unpacked_counts("postings frequencies", packed, len(documents))
    start, far = (narrow(steps(f"terms {name}", np.int64)) for name in ("start", "far"))
    return IndexSegment(
        name,
        first,
        last,
        TermLists(start, arrays["terms low"], far, arrays["terms high"]),
        Lists(narrow(steps("ids start", np.int64)), arrays["ids values"]),
        Inverted(arrays["postings keys"], steps("postings pointer", np.int64), documents, counts),
        Inverted(arrays["tags keys"], steps("tags pointer", np.int64), steps("tags documents", np.int32), NO_COUNTS),
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
