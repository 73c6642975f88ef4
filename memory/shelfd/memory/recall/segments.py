"""Segments: what an index holds of consecutive ordinals, immutable, by document and by term."""

from collections.abc import Generator, Sequence
from typing import Any, Final, NamedTuple, cast
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from shelfd.memory.recall.columns import IntArray
from shelfd.memory.recall.delta import Delta, frequencies_in, places_in, terms_in
from shelfd.memory.recall.inverted import Alive, Inverted, Numbers, invert, inverted, merged

#: Documents whose terms are copied in one step: some 3 ms.
_STEP: Final = 16_384
_BYTES: Final = 1 << 18  #: of ids copied in one step
_LOW: Final = 16  #: bits of a term that are kept with all others
_FOUR_BYTES: Final = int(np.iinfo(np.int32).max)
#: To copy a document's term takes less than to merge a posting, by this factor.
_LIGHT: Final = 8
NO_COUNTS: Final = np.zeros(0, np.uint8)


class Lists(NamedTuple):
    """Several lists of one kind, one after another: that of document *i* is ``values[start[i]:start[i + 1]]``."""

    start: IntArray
    values: npt.NDArray[Any]  #: numbers or bytes

    def of(self, document: int) -> npt.NDArray[Any]:
        """Return one list."""
        return self.values[self.start.item(document) : self.start.item(document + 1)]


class TermLists(NamedTuple):
    """The terms of documents, two bytes each.

    Common terms were met first, so that their numbers are small. What a number has beyond two bytes is kept beside.

    Attributes:
        start: Where the terms of each document begin, and where the last ones end.
        low: The lower sixteen bits of each term.
        far: Where terms are that have more, ascending.
        high: What these have.
    """

    start: IntArray
    low: npt.NDArray[np.uint16]
    far: IntArray
    high: npt.NDArray[np.uint16]

    def of(self, document: int) -> Numbers:
        """Return the terms of one document."""
        return self.between(self.start.item(document), self.start.item(document + 1))

    def listed(self, document: int, most: int | None = None) -> list[int]:
        """Return the terms of one document, at *most* so many; :meth:`of` takes longer for one alone."""
        begin, end = self.start.item(document), self.start.item(document + 1)
        if most is not None and end - begin > most:
            end = begin + most
        found: list[int] = (self.between(begin, end) if len(self.far) else self.low[begin:end]).tolist()
        return found

    def between(self, begin: int, end: int) -> Numbers:
        """Return the terms from the place *begin* to before *end*."""
        found = self.low[begin:end].astype(np.int32)
        if len(self.far):
            # By numbers of another type it would be copied to look them up.
            first, last = self.far.searchsorted(np.array((begin, end), self.far.dtype)).tolist()
            if first < last:
                found[self.far[first:last] - begin] |= self.high[first:last].astype(np.int32) << _LOW
        return found

    def erase(self, document: int) -> None:
        """Keep nothing of the terms of one document."""
        places = self.start[document : document + 2]
        self.low[places[0] : places[1]] = 0
        first, last = self.far.searchsorted(places.astype(self.far.dtype)).tolist()
        self.high[first:last] = 0


def term_lists(sizes: IntArray, parts: Sequence[Numbers]) -> TermLists:
    """Return the terms of documents, of which each has so many; they are given in several *parts*."""
    far, high, begin = [np.zeros(0, np.int64)], [np.zeros(0, np.uint16)], 0
    low = np.empty(sum(map(len, parts)), np.uint16)
    for part in parts:
        low[begin : begin + len(part)] = part.astype(np.uint16)
        (beyond,) = (part >> _LOW).nonzero()
        far.append(beyond + begin)
        high.append((part[beyond] >> _LOW).astype(np.uint16))
        begin += len(part)
    return TermLists(starts_at(sizes), low, narrow(np.concatenate(far)), np.concatenate(high))


class IndexSegment(NamedTuple):
    """The documents with the ordinals from *first* to before *last*.

    Attributes:
        name: Unlike that of any other segment of any index.
        terms: The distinct terms of each document; of one that was dead when the segment was made, none.
        ids: Their ids in UTF-8.
        postings: By term.
        tags: By the code of a tag; nobody counts.
        holes: Whether there are postings with a frequency of 0, which are none: see :func:`erase`.
    """

    name: str
    first: int
    last: int
    terms: TermLists
    ids: Lists
    postings: Inverted
    tags: Inverted
    holes: bool = False

    @property
    def size(self) -> int:
        """How many ordinals it has."""
        return self.last - self.first

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(array.nbytes for part in self.parts for array in part)

    @property
    def parts(self) -> "tuple[TermLists, Lists, Inverted, Inverted]":
        """What it has, each some arrays."""
        return self.terms, self.ids, self.postings, self.tags


def new_name() -> str:
    """Return a name for a segment."""
    return uuid4().hex


def segment_of(delta: Delta, alive: Alive) -> IndexSegment:
    """Make a segment of the documents of *delta*; those that are not alive are left out."""
    first, last = delta.first, delta.first + len(delta)
    start, terms = delta.terms
    sizes = np.diff(start)
    living = alive(slice(first, last))
    postings = delta.postings()
    if not living.all():
        terms = terms[np.repeat(living, sizes)]
        sizes *= living
        postings = postings[living[places_in(postings)]]
    tags, tagged = delta.tags()
    kept = alive(tagged)
    texts = [each.encode("utf-8", "surrogatepass") for each in delta.ids]
    return IndexSegment(
        new_name(),
        first,
        last,
        term_lists(sizes, [terms]),
        Lists(starts_at(np.array([len(text) for text in texts], np.int64)), np.frombuffer(b"".join(texts), np.uint8)),
        inverted(terms_in(postings), (places_in(postings) + first).astype(np.int32), frequencies_in(postings)),
        invert(tags[kept], tagged[kept], NO_COUNTS),
    )


def merge(segments: Sequence[IndexSegment], alive: Alive) -> Generator[int, None, IndexSegment]:
    """Yield before every step about how many postings it takes; return one segment in place of consecutive ones."""
    terms = yield from _joined(segments, alive)
    postings = yield from merged([segment.postings for segment in segments], alive)
    tags = yield from merged([segment.tags for segment in segments], alive)
    ids = yield from _in_a_row([segment.ids for segment in segments])
    return IndexSegment(new_name(), segments[0].first, segments[-1].last, terms, ids, postings, tags)


def _in_a_row(parts: Sequence[Lists]) -> Generator[int, None, Lists]:
    """All lists of several, which may not have been read from the disk yet."""
    start = starts_at(np.concatenate([np.diff(part.start) for part in parts]))
    yield len(start)
    values, done = np.empty(int(start[-1]), parts[0].values.dtype), 0
    for part in parts:
        for begin in range(0, len(part.values), _BYTES):
            some = part.values[begin : begin + _BYTES]
            yield len(some) // _LIGHT
            values[done : done + len(some)] = some
            done += len(some)
    return Lists(start, values)


def _joined(segments: Sequence[IndexSegment], alive: Alive) -> Generator[int, None, TermLists]:
    """The terms of each document that is alive."""
    sizes = np.concatenate([np.diff(segment.terms.start) for segment in segments])
    low = np.empty(int(sizes.sum()), np.uint16)
    far, high = [np.zeros(0, np.int64)], [np.zeros(0, np.uint16)]
    done = at = 0
    for segment in segments:
        for begin in range(0, segment.size, _STEP):
            end = min(begin + _STEP, segment.size)
            places = segment.terms.start[begin], segment.terms.start[end]
            yield int(places[1] - places[0]) // _LIGHT
            living = alive(slice(segment.first + begin, segment.first + end))
            some = segment.terms.between(int(places[0]), int(places[1]))
            here = slice(at, at + end - begin)
            if not living.all():
                some = some[np.repeat(living, sizes[here])]
                sizes[here] *= living
            low[done : done + len(some)] = some.astype(np.uint16)
            (beyond,) = (some >> _LOW).nonzero()
            far.append(beyond + done)
            high.append((some[beyond] >> _LOW).astype(np.uint16))
            done, at = done + len(some), at + end - begin
    return TermLists(starts_at(sizes), low[:done], narrow(np.concatenate(far)), np.concatenate(high))


def starts_at(sizes: IntArray) -> IntArray:
    """Return where lists of these *sizes* begin if they are one after another, and where the last one ends."""
    return narrow(np.concatenate([[0], np.cumsum(sizes)]))


def narrow(ascending: IntArray) -> IntArray:
    """Return numbers in four bytes each, unless they are too large."""
    if len(ascending) and ascending[-1] > _FOUR_BYTES:
        return ascending
    return cast("IntArray", ascending.astype(np.int32))


def moved(segment: IndexSegment, by: int) -> IndexSegment:
    """Return a segment of the same documents under ordinals that are larger *by* some, and under another name."""
    postings, tags = (
        part._replace(documents=part.documents + np.int32(by)) for part in (segment.postings, segment.tags)
    )
    return segment._replace(
        name=new_name(), first=segment.first + by, last=segment.last + by, postings=postings, tags=tags
    )


def erase(segment: IndexSegment, ordinals: Sequence[int]) -> IndexSegment:
    """Keep nothing of dead documents, in the arrays of *segment*; return them under another name.

    A posting is replaced by one of a document beside it, with a frequency of 0.
    """
    for ordinal in ordinals:
        own = segment.terms.of(ordinal - segment.first)
        for begin, end in segment.postings.spans(own.tolist()):
            at = begin + int(segment.postings.documents[begin:end].searchsorted(ordinal))
            if at < end and segment.postings.documents[at] == ordinal:
                _cover(segment.postings.documents, begin, end, at, segment.first)
                segment.postings.frequencies[at] = 0
        segment.terms.erase(ordinal - segment.first)
    gone = np.zeros(segment.size, np.bool_)
    gone[np.array(ordinals) - segment.first] = True
    tags = segment.tags
    for at in np.flatnonzero(gone[tags.documents - segment.first]).tolist():
        tag = int(tags.pointer.searchsorted(at, "right")) - 1
        begin, end = tags.pointer[tag : tag + 2].tolist()
        _cover(tags.documents, begin, end, at, int(tags.documents[at]))
    return segment._replace(name=new_name(), holes=True)


def _cover(documents: Numbers, begin: int, end: int, at: int, other: int) -> None:
    """Put in the place *at* of a list what is beside it; of a list of one, an *other* document."""
    beside = at - 1 if at > begin else at + 1
    documents[at] = documents[beside] if beside < end else other
