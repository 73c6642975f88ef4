"""The index of words: which documents have which terms and tags, and by document which terms it has.

What was added last is the *delta*, plain lists in memory. A delta that has grown becomes a *segment*, arrays that never
change, and several segments become one a step at a time, so that nothing ever waits for it. All speak of the same
ordinals. Dead ones stay until their segment is merged: they are masked, which is cheaper than finding them.
"""

from bisect import bisect_right
from collections.abc import Callable, Generator, Sequence
from math import inf
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from shelfd.memory.recall.columns import FloatArray, IntArray
from shelfd.memory.recall.delta import Delta, Written, edges_of
from shelfd.memory.recall.inverted import STEP, Alive, Bytes, Numbers
from shelfd.memory.recall.segments import IndexSegment, erase, merge, moved, segment_of


class Stretch(NamedTuple):
    """Where all documents of one code of a column are, perhaps between others."""

    code: int
    first: int  #: ordinal
    end: int  #: the ordinal after the last one


#: Ordinals, positions in the list of terms, frequencies: arrays of one length.
PostingLists: TypeAlias = tuple[IntArray, IntArray, FloatArray]
#: Ordinals, ascending, and frequencies: arrays of one length.
Run: TypeAlias = tuple[Numbers, Bytes]

DELTA: Final = 2_048  #: documents in the delta at most: some 6 ms to make them a segment
#: How often a posting is merged until it is in the largest segment of a million documents, with something to spare.
_TIMES: Final = 14
#: When nothing is written, a segment is merged with those after it that is so many times as large as all of them, if
#: these are so many documents at most: half a second of steps. To copy more would take much memory for a while.
_LARGER: Final = 4
_QUIETLY: Final = 300_000
_NOTHING: Final = np.zeros(0, np.int64)
_NO_RUN: Final = np.zeros(0, np.int32), np.zeros(0, np.uint8)


class Postings:
    """Terms, tags and ids of documents by their ordinal, and documents by term and tag.

    Args:
        alive: Returns for each of some ordinals whether it is alive.
        delta: Documents that are a segment together.
    """

    def __init__(self, alive: Alive, delta: int = DELTA) -> None:
        self._alive = alive
        self._limit = delta
        self._delta = Delta(0)
        self._below: tuple[Delta, ...] = ()  #: deltas before this one, which belong to others
        self._segments: tuple[IndexSegment, ...] = ()
        self._ends: list[int] = []  #: of the segments
        self._merges: list[tuple[Sequence[IndexSegment], Generator[int, None, IndexSegment]]] = []
        self._held = 0  #: segments before this ordinal are not merged
        self._credit = 0  #: postings that may be merged by now

    # --------------------------------------------------------------- writing

    @property
    def room(self) -> int:
        """How many documents may be added before there is a segment to be made: one at least."""
        return max(1, self._limit - len(self._delta))

    def extend(self, some: Written, ids: Sequence[str], tags: Sequence[Sequence[int]]) -> None:
        """Add the next ordinals: what they say, their ids, and the codes of the tags of each."""
        self._delta.extend(some, ids, tags)
        self._credit += _TIMES * len(some.terms)

    def tidy(self, first: Callable[[], int]) -> None:
        """Make a grown delta a segment, and take steps of what there is to do as far as documents were added.

        Args:
            first: Takes a step of what goes before merging; returns how many postings that was, 0 for nothing to do.
        """
        if len(self._delta) >= self._limit:
            self.flush()
        while self._credit >= STEP:
            done = first() or self.merge_some()
            self._credit = self._credit - done if done else 0

    def flush(self) -> None:
        """Make the delta a segment."""
        if not self._delta:
            return
        made = segment_of(self._delta, self._alive)
        self._delta = Delta(made.last)
        self._use((*self._segments, made))
        self._plan()

    def _use(self, segments: tuple[IndexSegment, ...]) -> None:
        self._segments = segments
        self._ends = [segment.last for segment in segments]

    def _plan(self, larger: int = 1, most: float = inf) -> None:
        """Begin to merge segments that are not being merged yet, if the sizes of the last ones call for it.

        Args:
            larger: A segment is merged with those after it that is so many times as large as all of them.
            most: Documents, of all that are merged.
        """
        busy = self._merges[-1][0][-1].last if self._merges else self._held
        free = [segment for segment in self._segments if segment.first >= busy]
        after = sum(segment.size for segment in free)
        for at, segment in enumerate(free[:-1]):
            after -= segment.size
            if segment.size <= larger * after and segment.size + after <= most:
                some = free[at:]
                self._merges.append((some, merge(some, self._alive)))
                return

    def merge_some(self) -> int:
        """Take a step of the merge that was begun last, which is the smallest; return how many postings that were."""
        if not self._merges:
            return 0
        some, work = self._merges[-1]
        try:
            return max(next(work), 1)
        except StopIteration as end:
            self._merges.pop()
            at = self._segments.index(some[0])
            self._use((*self._segments[:at], end.value, *self._segments[at + len(some) :]))
            self._plan()
            return 1

    def merge_quietly(self) -> int:
        """Do what :meth:`merge_some` does, and merge further as far as pays when nothing is written."""
        if not self._merges:
            self._plan(_LARGER, _QUIETLY)
        return self.merge_some()

    def compact(self) -> None:
        """Make everything one segment without what is dead. It takes as long as there are many postings."""
        self.flush()
        self._merges.clear()
        if self._segments:
            work = merge(self._segments, self._alive)
            self._use((_result(work),))

    def erase(self, ordinals: Sequence[int]) -> None:
        """Keep nothing of dead documents in segments. What is in the delta goes when it becomes one."""
        found: dict[int, list[int]] = {}
        for ordinal in ordinals:
            if ordinal < self._delta.first:
                found.setdefault(bisect_right(self._ends, ordinal), []).append(ordinal)
        if found:
            self._merges.clear()
            self._use(tuple(erase(one, found[at]) if at in found else one for at, one in enumerate(self._segments)))
            self._plan()

    # --------------------------------------------------------------- reading

    @property
    def segments(self) -> tuple[IndexSegment, ...]:
        """What is not in the delta."""
        return self._segments

    @property
    def nbytes(self) -> int:
        """Bytes of the segments' arrays."""
        return sum(segment.nbytes for segment in self._segments)

    def restore(self, segments: Sequence[IndexSegment]) -> None:
        """Begin with these segments."""
        self._use(tuple(segments))
        self._delta = Delta(self._ends[-1] if self._ends else 0)
        self._plan()

    def layer(self, alive: Alive) -> "Postings":
        """Return postings to which more can be added without adding them here; good until these change."""
        other = Postings(alive)
        other._delta = Delta(self._delta.first + len(self._delta))
        other._below = (self._delta,)
        other._use(self._segments)
        return other

    def terms_of(self, ordinal: int, most: int | None = None) -> Sequence[int]:
        """Return the distinct terms of *ordinal*, which is alive; at *most* so many, the first ones."""
        delta = self._delta
        if ordinal < delta.first and self._below:  # as in a layer alone
            delta = self._delta_of(ordinal) or delta
        if ordinal >= delta.first:
            return delta.terms_of(ordinal)[:most]
        segment = self._segments[bisect_right(self._ends, ordinal)]
        return segment.terms.listed(ordinal - segment.first, most)

    def gather(self, ordinals: IntArray) -> tuple[IntArray, IntArray]:
        """Return how many terms each of *ordinals*, which are alive, has, and the terms, one after the other."""
        if self._delta_of(int(ordinals.min(initial=self._delta.first))) is self._delta:
            return self._delta.gather(ordinals)
        sizes: list[int] = []
        terms: list[int] = []
        for ordinal in ordinals.tolist():
            own = self.terms_of(ordinal)
            sizes.append(len(own))
            terms += own
        return np.array(sizes, np.int64), np.array(terms, np.int64)

    def _delta_of(self, ordinal: int) -> Delta | None:
        """The delta that has *ordinal*, None if it is in a segment."""
        for delta in (self._delta, *self._below):
            if ordinal >= delta.first:
                return delta
        return None

    def id_of(self, ordinal: int) -> str:
        """Return the id of *ordinal*."""
        delta = self._delta_of(ordinal)
        if delta is not None:
            return delta.ids[ordinal - delta.first]
        segment = self._segments[bisect_right(self._ends, ordinal)]
        return segment.ids.of(ordinal - segment.first).tobytes().decode("utf-8", "surrogatepass")

    def ids_of(self, ordinals: Sequence[int]) -> list[str]:
        """Return the id of each of *ordinals*."""
        first, ids, id_of = self._delta.first, self._delta.ids, self.id_of
        if not first:
            return list(map(ids.__getitem__, ordinals))
        return [ids[ordinal - first] if ordinal >= first else id_of(ordinal) for ordinal in ordinals]

    def runs(self, terms: Sequence[int], within: Stretch | None = None) -> list[list[Run]]:
        """Return the postings of each of *terms* as they are stored: runs of ascending ordinals, one after another.

        Args:
            terms: Numbers of terms.
            within: Only what is in this stretch is returned, and other segments are not even looked at.
        """
        found: list[list[Run]] = [[] for _ in terms]
        for segment in self._segments:
            if within is not None and (segment.last <= within.first or within.end <= segment.first):
                continue
            documents, frequencies = segment.postings.documents, segment.postings.frequencies
            for runs, (begin, end) in zip(found, segment.postings.spans(terms), strict=True):
                if begin < end:
                    run = documents[begin:end], frequencies[begin:end]
                    runs.append((run[0][run[1] > 0], run[1][run[1] > 0]) if segment.holes else run)
        deltas = [delta for delta in (*self._below, self._delta) if delta]
        edges = edges_of(terms) if deltas else _NOTHING
        for delta in deltas:
            for some, places in delta.within(edges):
                spans = list(zip(places[::2], places[1::2], strict=True))
                documents, frequencies = delta.posted(np.concatenate([_NOTHING, *(some[b:e] for b, e in spans)]))
                first = 0
                for runs, (begin, end) in zip(found, spans, strict=True):
                    if begin < end:
                        last = first + end - begin
                        runs.append((documents[first:last], frequencies[first:last]))
                        first = last
        return found if within is None else _cut(found, within)

    def lookup(self, terms: Sequence[int]) -> PostingLists:
        """Return the postings of *terms*: ordinals, position in *terms*, frequencies; equal lengths."""
        if not self.is_young:
            return joined(self.runs(terms))
        found = self._delta.within(edges_of(terms))
        parts, sizes = [_NOTHING], []
        for at in range(0, 2 * len(terms), 2):
            parts += [run[places[at] : places[at + 1]] for run, places in found]
            sizes.append(sum([places[at + 1] - places[at] for _, places in found]))
        documents, frequencies = self._delta.posted(np.concatenate(parts))
        return documents.astype(np.int64), np.arange(len(terms)).repeat(sizes), frequencies.astype(np.float64)

    @property
    def is_young(self) -> bool:
        """Whether all documents are in the delta: then :meth:`lookup` takes less time than :meth:`runs`."""
        return not self._segments and not self._below

    def size(self, term: int) -> int:
        """Return how many documents have *term*, dead ones included."""
        return self.sizes((term,))[0]

    def sizes(self, terms: Sequence[int]) -> list[int]:
        """Return how many documents have each of *terms*, dead ones included."""
        found = [0] * len(terms)
        edges = edges_of(terms)
        for delta in (*self._below, self._delta):
            for _, places in delta.within(edges):
                for at, (begin, end) in enumerate(zip(places[::2], places[1::2], strict=True)):
                    found[at] += end - begin
        for segment in self._segments:
            for at, (begin, end) in enumerate(segment.postings.spans(terms)):
                found[at] += end - begin
        return found

    def some(self, term: int, count: int) -> IntArray:
        """Return ordinals of documents with *term*, at most *count*, the most recent ones; dead ones, too."""
        found: list[Numbers] = []
        left, edges = count, edges_of((term,))
        for delta in (self._delta, *self._below):
            for run, (begin, end) in reversed(delta.within(edges)):
                if left > 0:
                    found.append(delta.posted(run[max(begin, end - left) : end])[0])
                    left -= len(found[-1])
        for segment in reversed(self._segments):
            if left <= 0:
                break
            ((begin, end),) = segment.postings.spans((term,))
            some = slice(max(begin, end - left), end)
            documents = segment.postings.documents[some]
            found.append(documents[segment.postings.frequencies[some] > 0] if segment.holes else documents)
            left -= len(found[-1])
        return np.concatenate([_NOTHING, *found[::-1]], dtype=np.int64)

    def tagged(self, tag: int) -> IntArray:
        """Return the ordinals that have a tag, by its code; dead ones, too."""
        found = [np.zeros(0, np.int32)]
        found += [segment.tags.documents[slice(*segment.tags.spans((tag,))[0])] for segment in self._segments]
        found += [delta.tagged(tag) for delta in (*self._below, self._delta)]
        return np.concatenate(found, dtype=np.int64)

    # --------------------------------------------------------------- renumbering

    def hold(self) -> tuple[IndexSegment, ...]:
        """Return all documents as segments, which are not merged until :meth:`release` or :meth:`renumber`."""
        self.flush()
        self._merges.clear()
        self._held = self._delta.first
        return self._segments

    def release(self) -> None:
        """Merge all segments again."""
        self._held = 0
        self._plan()

    def renumber(self, made: IndexSegment, size: int, shift: int) -> None:
        """Use a segment in place of those that are held; the delta is empty.

        Args:
            made: The segment.
            size: How many documents those have.
            shift: By how much less the ordinals after theirs are from now on.
        """
        later = [segment for segment in self._segments if segment.first >= size]
        self._merges.clear()
        self._use((made, *(moved(segment, -shift) for segment in later)))
        self._delta = Delta(self._delta.first - shift)
        self.release()


def joined(runs: Sequence[Sequence[Run]]) -> PostingLists:
    """Return the postings of some terms together, with the position of each one's term."""
    every = [run for some in runs for run in some]
    if not every:
        return _NOTHING, _NOTHING, np.zeros(0)
    return (
        np.concatenate([run[0] for run in every], dtype=np.int64),
        np.repeat(np.arange(len(runs)), [sum(len(run[0]) for run in some) for some in runs]),
        np.concatenate([run[1] for run in every], dtype=np.float64),
    )


def side_by_side(runs: Sequence[Sequence[Run]]) -> tuple[Numbers, Bytes, IntArray]:
    """Return the postings of some terms as they are stored, and where those of each term end."""
    every = [run for some in runs for run in some] or [_NO_RUN]
    ends = np.cumsum([sum(len(run[0]) for run in some) for some in runs], dtype=np.int64)
    return np.concatenate([run[0] for run in every]), np.concatenate([run[1] for run in every]), ends


def _cut(runs: Sequence[Sequence[Run]], within: Stretch) -> list[list[Run]]:
    """Return the parts of runs that are in a stretch of ordinals."""
    # In numbers of another type the ordinals would be copied to look them up.
    edges = np.array((within.first, within.end), np.int32)
    found: list[list[Run]] = []
    for some in runs:
        found.append([])
        for documents, frequencies in some:
            begin, end = documents.searchsorted(edges).tolist()
            if begin < end:
                found[-1].append((documents[begin:end], frequencies[begin:end]))
    return found


def _result(work: Generator[int, None, IndexSegment]) -> IndexSegment:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
