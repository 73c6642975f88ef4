"""Which documents have words of a query, and how many of them: from the postings, without a look at any text."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.recall.columns import FloatArray, IntArray
from shelfd.memory.recall.contents import Contents

_POSTINGS: Final = 250_000  #: read for one query: about 8 ms
_TERMS: Final = 1_024  #: of a query that are looked up


class WordOverlap(NamedTuple):
    """Documents that have at least one term of a query: arrays of one length, in no particular order."""

    rows: IntArray
    shares: FloatArray  #: of the query's distinct terms, those the document has
    weights: FloatArray  #: more for rare terms, and for what is said more than once


_NOTHING: Final = WordOverlap(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


def overlap(contents: Contents, terms: Sequence[str], filters: NoteFilter) -> WordOverlap:
    """Return which documents have some of *terms*. Of terms that too many have, the most common find nothing."""
    number_of, statistics = contents.vocabulary.number, contents.statistics
    numbers = [number for term in terms[:_TERMS] if (number := number_of(term)) is not None]
    pairs = sorted(zip(contents.postings.sizes(numbers), range(len(numbers)), numbers, strict=True))
    numbers = [number for _, _, number in pairs]
    room = np.cumsum([size for size, _, _ in pairs])
    numbers = numbers[: max(1, int(np.searchsorted(room, _POSTINGS, side="right")))]
    if not numbers:
        return _NOTHING
    ordinals, places, frequencies = contents.postings.lookup(numbers)
    idf = np.array([statistics.idfs[statistics.own[number]] for number in numbers])
    counts = np.bincount(ordinals, minlength=1)
    weights: FloatArray = np.bincount(ordinals, idf[places] * frequencies / (frequencies + 1), len(counts)).astype(
        np.float64
    )
    (reached,) = np.nonzero(counts)
    reached = reached[contents.filtering.admitted(filters, reached)]
    return WordOverlap(contents.columns.row[reached], counts[reached] / len(terms), weights[reached])
