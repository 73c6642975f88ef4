"""The delta: what an index holds of the documents written last, which are in no segment yet."""

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from shelfd.memory.recall.columns import IntArray
from shelfd.memory.recall.inverted import Bytes, Numbers

V = TypeVar("V", bound=np.generic)

MAX_FREQUENCY: Final = 255  # term frequencies are bytes; BM25 is flat long before
#: A posting of the delta is one number: the term, the place of the document in the delta, the frequency.
_TERM: Final = 32
_PLACE: Final = 8
_WITHOUT_TERM: Final = (1 << _TERM) - 1
_PLACES: Final = (1 << (_TERM - _PLACE)) - 1
#: A run of postings is merged with the one before if that is not longer than this many times.
_TIMES: Final = 2


class Written(NamedTuple):
    """Some documents as they are written; arrays.

    Attributes:
        sizes: How many distinct terms each has; shape (documents,).
        terms: Those of each, one after the other, in the order in which it has them first.
        postings: The same as postings, sorted: the term << 32 | the place among these documents << 8 | the frequency.
    """

    sizes: IntArray
    terms: IntArray
    postings: IntArray


def written(numbers: IntArray, lengths: Sequence[int] | IntArray) -> Written:
    """Return documents as they are written.

    Args:
        numbers: Terms of each, as often as it has them.
        lengths: How many these are; shape (documents,).
    """
    count = len(numbers)
    # The place of a term tells its document, and which of equal terms comes first.
    order = numbers << _TERM
    order |= np.arange(count)
    order.sort()
    places = order & _WITHOUT_TERM
    both = order - places
    documents = np.repeat(np.arange(len(lengths)), lengths)[places]
    both |= documents << _PLACE
    first = starts_of(both)
    ends = np.append(first[1:], count)
    ends -= first
    postings = both[first]
    sizes = np.bincount(documents[first], minlength=len(lengths))
    is_first = np.zeros(count, np.bool_)
    is_first[places[first]] = True
    return Written(sizes, numbers[is_first], postings | np.minimum(ends, MAX_FREQUENCY))


def written_alone(numbers: Sequence[int]) -> Written:
    """Return what :func:`written` does of a single document: of so little, arrays cost more than they spare."""
    frequencies: dict[int, int] = {}
    for number in numbers:
        frequencies[number] = frequencies.get(number, 0) + 1
    postings = [number << _TERM | min(times, MAX_FREQUENCY) for number, times in frequencies.items()]
    postings.sort()
    return Written(
        np.array([len(frequencies)], np.int64), np.array(list(frequencies), np.int64), np.array(postings, np.int64)
    )


def starts_of(ascending: IntArray) -> IntArray:
    """Return where in a sorted array each distinct value is first."""
    differs = np.empty(len(ascending), np.bool_)
    differs[:1] = True
    np.not_equal(ascending[1:], ascending[:-1], out=differs[1:])
    (found,) = differs.nonzero()
    return found


class Delta:
    """Terms, tags and ids of consecutive documents, and documents by term and tag.

    Written is at the end only. Postings are kept as they come; a reader sorts them into runs, of which there are few.
    Two readers may do so at once, in two threads: both come to the same runs.

    Args:
        first: Ordinal of the first document.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.ids: list[str] = []
        self._start = array("q", [0])  # where a document's terms begin
        self._terms = array("i")
        self._postings: tuple[list[IntArray], list[IntArray]] = [], []  # runs, and what came since
        self._tags = array("i")  # codes
        self._tagged = array("i")  # the ordinal that has each

    def __len__(self) -> int:
        return len(self.ids)

    def extend(self, some: Written, ids: Sequence[str], tags: Sequence[Sequence[int]]) -> None:
        """Add documents: what they say, their ids, and the codes of the tags of each."""
        count = len(self.ids)
        ends = some.sizes.cumsum()
        ends += len(self._terms)
        self._start.frombytes(ends.tobytes())
        self._terms.frombytes(some.terms.astype(np.int32).tobytes())
        self._postings[1].append(some.postings + (count << _PLACE) if count else some.postings)
        self._tags.extend(chain.from_iterable(tags))
        first = self.first + count
        ordinals = np.arange(first, first + len(tags), dtype=np.int32)
        self._tagged.frombytes(ordinals.repeat(list(map(len, tags))).tobytes())
        self.ids += ids

    @property
    def terms(self) -> tuple[IntArray, Numbers]:
        """Where each document's terms begin, and where the last ones end; and the terms."""
        return np.array(self._start, np.int64), np.array(self._terms, np.int32)

    def terms_of(self, ordinal: int) -> Sequence[int]:
        """Return the distinct terms of a document."""
        at = ordinal - self.first
        return self._terms[self._start[at] : self._start[at + 1]]

    def gather(self, ordinals: IntArray) -> tuple[IntArray, IntArray]:
        """Return how many terms each of *ordinals* has, and the terms, one document after the other."""
        # Views, which must be gone before anything is written.
        start, terms = np.frombuffer(self._start, np.int64), np.frombuffer(self._terms, np.int32)
        return gathered(start, terms, ordinals - self.first)

    def runs(self) -> list[IntArray]:
        """Return the postings as sorted arrays, the documents of each after those of the one before."""
        runs, new = self._postings
        if new:
            runs = [*runs, _sorted(new)]
            while len(runs) > 1 and len(runs[-2]) <= _TIMES * len(runs[-1]):
                runs[-2:] = [_sorted(runs[-2:])]
            self._postings = runs, []
        return runs

    def within(self, edges: IntArray) -> list[tuple[IntArray, list[int]]]:
        """Return each run, and where in it the *edges* are; see :func:`edges_of`."""
        return [(run, run.searchsorted(edges).tolist()) for run in self.runs()]

    def posted(self, postings: IntArray) -> tuple[Numbers, Bytes]:
        """Return the ordinals and the frequencies of some of the postings."""
        return (places_in(postings) + self.first).astype(np.int32), frequencies_in(postings)

    def tagged(self, code: int) -> Numbers:
        """Return the ordinals that have a tag."""
        tags, tagged = self.tags()
        found: Numbers = tagged[tags == code]
        return found

    def tags(self) -> tuple[Numbers, Numbers]:
        """Return the codes of tags and the ordinals that have them, ascending."""
        return np.array(self._tags, np.int32), np.array(self._tagged, np.int32)

    def postings(self) -> IntArray:
        """Return all postings as one sorted array."""
        runs, new = self._postings
        every = [*runs, *new]
        return _sorted(every) if every else np.zeros(0, np.int64)


def gathered(start: IntArray, values: Numbers, lists: IntArray) -> tuple[IntArray, IntArray]:
    """Return the lengths of some *lists*, each of which is ``values[start[i]:start[i + 1]]``, and what is in them."""
    begin = start[lists]
    sizes = start[lists + 1] - begin
    return sizes, joined(values, begin, sizes).astype(np.int64)


def joined(values: npt.NDArray[V], begins: IntArray, sizes: IntArray) -> npt.NDArray[V]:
    """Return what parts of *values*, of these *sizes*, have one after the other."""
    ends = sizes.cumsum()
    places = np.repeat(begins + sizes - ends, sizes)
    places += np.arange(len(places))
    found: npt.NDArray[V] = values[places]
    return found


def _sorted(parts: Sequence[IntArray]) -> IntArray:
    if len(parts) == 1:
        return parts[0]
    together: IntArray = np.concatenate(parts)
    together.sort()
    return together


def edges_of(terms: Sequence[int]) -> IntArray:
    """Return what is before and what is after the postings of each of *terms*; shape (2 * terms,)."""
    # Of a handful of terms Python makes them faster than numpy, whose every call takes a microsecond.
    return np.array([edge for term in terms for edge in (term << _TERM, (term + 1) << _TERM)], np.int64)


def terms_in(postings: IntArray) -> IntArray:
    """Return the terms of postings of a delta."""
    return postings >> _TERM


def places_in(postings: IntArray) -> IntArray:
    """Return the places in the delta of the documents of postings."""
    return postings >> _PLACE & _PLACES


def frequencies_in(postings: IntArray) -> Bytes:
    """Return the frequencies of postings."""
    return postings.astype(np.uint8)  # the lowest eight bits
