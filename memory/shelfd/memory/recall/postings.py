"""The index of words: which documents have which terms and tags, and by document which terms it has.

What was added last is the *delta*, plain lists in memory. A delta that has grown becomes a *segment*, arrays that never
change, and several segments become one a step at a time, so that nothing ever waits for it. All speak of the same
ordinals. Dead ones stay until their segment is merged: they are masked, which is cheaper than finding them.
"""

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Generator, Hashable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias, TypeVar, overload

import numpy as np

from shelfd.memory.recall.columns import FloatArray, IntArray
from shelfd.memory.recall.inverted import STEP, Alive, Bytes, Inverted, Numbers
from shelfd.memory.recall.segments import IndexSegment, Lists, erase, merge, segment_of

K = TypeVar("K", bound=Hashable)
D = TypeVar("D")


def new_array() -> "array[int]":
    """Return an empty list of numbers."""
    return array("q")


class Stretch(NamedTuple):
    """Where all documents of one code of a column are, perhaps between others."""

    code: int
    first: int  #: ordinal
    end: int  #: the ordinal after the last one


class Layered(defaultdict[K, "array[int]"]):
    """Takes a list over, as a copy, when it is first added to. Good for as long as nothing is added below."""

    def __init__(self, below: "Mapping[K, array[int]]") -> None:
        super().__init__(new_array)
        self._below = below

    def __missing__(self, key: K) -> "array[int]":
        own = self[key] = array("q", self._below.get(key, ()))
        return own

    @overload
    def get(self, key: K, default: None = None, /) -> "array[int] | None": ...
    @overload
    def get(self, key: K, default: "array[int]", /) -> "array[int]": ...
    @overload
    def get(self, key: K, default: D, /) -> "array[int] | D": ...
    def get(self, key: K, default: D | None = None, /) -> "array[int] | D | None":
        """Return the list, from below if nothing was added to it here."""
        return super().get(key) or self._below.get(key, default)


#: Ordinals, positions in the list of terms, frequencies: arrays of one length.
PostingLists: TypeAlias = tuple[IntArray, IntArray, FloatArray]
#: Ordinals, ascending, and frequencies: arrays of one length.
Run: TypeAlias = tuple[Numbers, Bytes]

MAX_FREQUENCY: Final = 255  # term frequencies are bytes; BM25 is flat long before
DELTA: Final = 2_048  #: documents in the delta at most: some 6 ms to make them a segment
#: How often a posting is merged until it is in the largest segment of a million documents, with something to spare.
_TIMES: Final = 14
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
        self._delta = delta
        self._first = 0  #: ordinal of the delta's first document
        self._below: Postings | None = None
        self._segments: tuple[IndexSegment, ...] = ()
        self._ends: list[int] = []  #: of the segments
        self._terms: defaultdict[int, array[int]] = defaultdict(new_array)  # term -> ordinal << 8 | frequency
        self._tags: defaultdict[int, array[int]] = defaultdict(new_array)  # code of a tag -> ordinals
        self._merges: list[tuple[Sequence[IndexSegment], Generator[int, None, IndexSegment]]] = []
        self._credit = 0  #: postings that may be merged by now
        self._begin()

    def _begin(self) -> None:
        """Begin a delta."""
        self._start: array[int] = array("q", [0])  # where a document's terms begin
        self._own: array[int] = array("i")
        self._frequencies: array[int] = array("B")
        self._ids: list[str] = []

    # --------------------------------------------------------------- writing

    def append(self, counts: Mapping[int, int], document_id: str, tags: Sequence[int]) -> None:
        """Add the next ordinal.

        Args:
            counts: Frequency by term number, at most ``MAX_FREQUENCY``.
            document_id: Its id.
            tags: Codes of its tags.
        """
        ordinal = self._first + len(self._ids)
        self._own.extend(counts)
        self._frequencies.extend(counts.values())
        self._start.append(len(self._own))
        self._ids.append(document_id)
        base, terms = ordinal << 8, self._terms
        for term, frequency in counts.items():
            terms[term].append(base | frequency)
        for tag in tags:
            self._tags[tag].append(ordinal)
        self._credit += _TIMES * len(counts)

    def tidy(self) -> None:
        """Make a grown delta a segment, or take a step of merging, if there is need; both take some milliseconds."""
        if len(self._ids) >= self._delta:
            self.flush()
        elif self._credit >= STEP:
            self._credit = self._credit - self.merge_some() if self._merges else STEP

    def flush(self) -> None:
        """Make the delta a segment."""
        if not self._ids:
            return
        lists = Lists(np.array(self._start, np.int64), np.array(self._own, np.int32))
        tags = sorted(self._tags)
        tagged = [np.array(self._tags[tag], np.int32) for tag in tags]
        codes = np.repeat(np.array(tags, np.int32), [len(ordinals) for ordinals in tagged])
        every = np.concatenate(tagged) if tagged else np.zeros(0, np.int32)
        order = np.argsort(every, kind="stable")
        frequencies = np.array(self._frequencies, np.uint8)
        made = segment_of(self._first, lists, frequencies, self._ids, (codes[order], every[order]), self._alive)
        self._first = made.last
        self._terms, self._tags = defaultdict(new_array), defaultdict(new_array)
        self._begin()
        self._use((*self._segments, made))
        self._plan()

    def _use(self, segments: tuple[IndexSegment, ...]) -> None:
        self._segments = segments
        self._ends = [segment.last for segment in segments]

    def _plan(self) -> None:
        """Begin to merge segments that are not being merged yet, if the sizes of the last ones call for it."""
        busy = self._merges[-1][0][-1].last if self._merges else 0
        free = [segment for segment in self._segments if segment.first >= busy]
        after = sum(segment.size for segment in free)
        for at, segment in enumerate(free[:-1]):
            after -= segment.size
            if segment.size <= after:
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
            if ordinal < self._first:
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
        self._first = self._ends[-1] if self._ends else 0
        self._plan()

    def layer(self, alive: Alive) -> "Postings":
        """Return postings to which more can be added without adding them here; good until these change."""
        other = Postings(alive)
        other._first, other._below = self._first + len(self._ids), self
        other._use(self._segments)
        other._terms, other._tags = Layered(self._terms), Layered(self._tags)
        return other

    def terms_of(self, ordinal: int) -> Sequence[int]:
        """Return the distinct terms of *ordinal*, which is alive."""
        at = ordinal - self._first
        if at >= 0:
            return self._own[self._start[at] : self._start[at + 1]]
        if self._below is not None:
            return self._below.terms_of(ordinal)
        segment = self._segments[bisect_right(self._ends, ordinal)]
        found: list[int] = segment.terms.of(ordinal - segment.first).tolist()
        return found

    def id_of(self, ordinal: int) -> str:
        """Return the id of *ordinal*."""
        at = ordinal - self._first
        if at >= 0:
            return self._ids[at]
        if self._below is not None:
            return self._below.id_of(ordinal)
        segment = self._segments[bisect_right(self._ends, ordinal)]
        return segment.ids.of(ordinal - segment.first).tobytes().decode("utf-8", "surrogatepass")

    def runs(self, terms: Sequence[int]) -> list[list[Run]]:
        """Return the postings of each of *terms* as they are stored: runs of ascending ordinals, one after another."""
        found: list[list[Run]] = [[] for _ in terms]
        for segment in self._segments:
            documents, frequencies = segment.postings.documents, segment.postings.frequencies
            for runs, (begin, end) in zip(found, segment.postings.spans(terms), strict=True):
                if begin < end:
                    run = documents[begin:end], frequencies[begin:end]
                    runs.append((run[0][run[1] > 0], run[1][run[1] > 0]) if segment.holes else run)
        for runs, term in zip(found, terms, strict=True):
            packed = self._terms.get(term)
            if packed:
                # A copy: an array that lends its buffer cannot grow until every borrower is gone.
                recent = np.array(packed, np.int64)
                runs.append(((recent >> 8).astype(np.int32), recent.astype(np.uint8)))
        return found

    def lookup(self, terms: Sequence[int]) -> PostingLists:
        """Return the postings of *terms*: ordinals, position in *terms*, frequencies; equal lengths."""
        return joined(self.runs(terms))

    def size(self, term: int) -> int:
        """Return how many documents have *term*, dead ones included."""
        return self.sizes((term,))[0]

    def sizes(self, terms: Sequence[int]) -> list[int]:
        """Return how many documents have each of *terms*, dead ones included."""
        found = [len(self._terms.get(term, ())) for term in terms]
        for segment in self._segments:
            for at, (begin, end) in enumerate(segment.postings.spans(terms)):
                found[at] += end - begin
        return found

    def some(self, term: int, count: int) -> IntArray:
        """Return ordinals of documents with *term*, at most *count*, the most recent ones; dead ones, too."""
        found = [np.array(self._terms.get(term, ())[-count:], np.int64) >> 8]
        left = count - len(found[0])
        for segment in reversed(self._segments):
            if left <= 0:
                break
            ((begin, end),) = segment.postings.spans((term,))
            some = slice(max(begin, end - left), end)
            documents = segment.postings.documents[some]
            found.append(documents[segment.postings.frequencies[some] > 0] if segment.holes else documents)
            left -= len(found[-1])
        return np.concatenate(found[::-1], dtype=np.int64)

    def tagged(self, tag: int) -> IntArray:
        """Return the ordinals that have a tag, by its code; dead ones, too."""
        found = [segment.tags.documents[slice(*segment.tags.spans((tag,))[0])] for segment in self._segments]
        return np.concatenate([*found, np.array(self._tags.get(tag, ()), np.int64)], dtype=np.int64)

    # --------------------------------------------------------------- renumbering

    def retain(self, kept: IntArray, numbers: IntArray, terms: int) -> IntArray:
        """Keep the ordinals *kept* (ascending) only, as one segment, and renumber them and their terms in order.

        Args:
            kept: Old ordinals, all that are alive.
            numbers: New ordinal of each old one.
            terms: How many term numbers exist.

        Returns:
            The new number of each old term, -1 for one that nothing has.
        """
        self.compact()
        if not self._segments:
            return np.full(terms, -1)
        (old,) = self._segments
        used = np.zeros(terms, np.bool_)
        used[old.postings.keys] = True
        renumbered = np.where(used, np.cumsum(used) - 1, -1)
        ids = [self.id_of(ordinal) for ordinal in kept.tolist()]
        lists = Lists(_compressed(old.terms.start, kept), renumbered[old.terms.values].astype(np.int32))
        texts = [each.encode("utf-8", "surrogatepass") for each in ids]
        starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
        name_lists = Lists(starts, np.frombuffer(b"".join(texts), np.uint8))

        def moved(part: Inverted, keys: IntArray) -> Inverted:
            documents = numbers[part.documents].astype(np.int32)
            return part._replace(keys=keys.astype(np.int32), documents=documents)

        postings, tags = (
            moved(old.postings, renumbered[old.postings.keys]),
            moved(old.tags, old.tags.keys.astype(np.int64)),
        )
        self._use((IndexSegment(old.name, 0, len(kept), lists, name_lists, postings, tags),))
        self._first = len(kept)
        return renumbered


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


def between(run: Run, some: Stretch) -> Run:
    """Return the part of a run that is in a stretch of ordinals."""
    documents, frequencies = run
    if not len(documents) or (documents[0] >= some.first and documents[-1] < some.end):
        return run
    begin, end = documents.searchsorted((some.first, some.end)).tolist()
    return documents[begin:end], frequencies[begin:end]


def _compressed(start: IntArray, kept: IntArray) -> IntArray:
    """Where the lists of the documents *kept* begin; the others have none."""
    return np.concatenate([[0], np.cumsum(np.diff(start)[kept])]).astype(np.int64)


def _result(work: Generator[int, None, IndexSegment]) -> IndexSegment:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
