"""BM25 of the two fields of every document in view, and the base score made of them.

The previous-note field has no postings of its own: its term frequency is
``tf(d) + tf(previous(d))``, read through the pointers.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from shelfd.memory.recall.columns import QUESTION, BoolArray, Codes, Columns, FloatArray, IntArray

K1: Final = 0.9
B: Final = 0.3
PREVIOUS: Final = 1.2  #: weight of the previous-note field
QUESTION_BEFORE: Final = 0.4  #: weight of a previous note that asks
NEXT: Final = 0.15  #: weight of the next note

_BLOCK = 32  # terms scored at once; bounds the frequency table of very long queries


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The query's known terms and their weights, arrays of one length."""

    numbers: list[int]
    own_idf: FloatArray
    previous_idf: FloatArray
    own_average: float  #: tokens
    previous_average: float  #: tokens


@dataclass(frozen=True, slots=True)
class View:
    """The documents a query is scored on; pointers are positions in the view, -1 for none."""

    ordinals: IntArray
    previous: IntArray
    following: IntArray
    length: Codes
    span: Codes
    asks: BoolArray  #: the document ends with a question mark
    orphans: IntArray  #: positions of documents that are not their previous note's next


@dataclass(frozen=True, slots=True)
class Matches:
    """Postings restricted to a view: positions in the view, positions in the query, frequencies."""

    positions: IntArray
    slots: IntArray
    frequencies: FloatArray


@dataclass(frozen=True, slots=True)
class BaseScores:
    """The parts of the base score b, each of shape ``(documents in view,)``."""

    own: FloatArray
    previous: FloatArray
    question_before: FloatArray
    following: FloatArray
    total: FloatArray


def view_of(columns: Columns, ordinals: IntArray, place: IntArray | None, hidden: IntArray) -> View:
    """Gather what scoring needs of *ordinals*.

    Args:
        columns: The shelf.
        ordinals: Ascending.
        place: Position in the view by ordinal, -1 outside of it, with one -1 more at
            the end; ``None`` if the view is the whole shelf.
        hidden: Positions of the hidden documents to be scored.
    """
    # The whole shelf is read in place, without copies.
    chosen = slice(columns.size) if place is None else ordinals
    previous, following = columns.previous[chosen], columns.following[chosen]
    if place is not None:
        previous, following = place[previous], place[following]
    return View(
        ordinals=ordinals,
        previous=previous,
        following=following,
        length=columns.length[chosen],
        span=columns.span[chosen],
        asks=(columns.flags[chosen] & QUESTION) != 0,
        orphans=hidden,
    )


def base_scores(view: View, terms: QueryTerms, matches: Matches) -> BaseScores:
    """Return b and its parts for every document of *view*. Terms are summed in the query's order."""
    own, previous = np.zeros(len(view.ordinals)), np.zeros(len(view.ordinals))
    if len(terms.numbers) <= _BLOCK:
        _add_fields(view, terms, matches, 0, (own, previous))
    else:
        bounds = np.searchsorted(matches.slots, np.arange(0, len(terms.numbers) + _BLOCK, _BLOCK)).tolist()
        for block, (begin, end) in enumerate(pairwise(bounds)):
            part = Matches(matches.positions[begin:end], matches.slots[begin:end], matches.frequencies[begin:end])
            _add_fields(view, terms, part, block * _BLOCK, (own, previous))
    # The extra zero at the end is what the pointer -1 reads.
    padded = np.append(own, 0.0)
    asked = np.append(own * view.asks, 0.0)
    weighted = PREVIOUS * previous
    question_before = QUESTION_BEFORE * asked[view.previous]
    following = NEXT * padded[view.following]
    return BaseScores(own, weighted, question_before, following, own + weighted + question_before + following)


def _add_fields(
    view: View, terms: QueryTerms, matches: Matches, first: int, sums: tuple[FloatArray, FloatArray]
) -> None:
    """Add the BM25 of the terms from slot *first* on to *sums* (own, previous), in place."""
    own, previous = sums
    size = len(view.ordinals)
    at, slots, frequencies = matches.positions, matches.slots, matches.frequencies
    saturated = saturation(frequencies, view.length[at], terms.own_average)
    own += np.bincount(at, terms.own_idf[slots] * saturated, size)

    # Frequencies by term and document. Each row ends in a zero, where the pointer -1 of the next
    # row (of the first row: of the last) lands.
    stride = size + 1
    table = np.zeros(min(_BLOCK, len(terms.numbers)) * stride, np.uint8)
    row = (slots - first) * stride
    table[row + at] = frequencies
    both = frequencies + table[row + view.previous[at]]
    # A next note without the term itself still has it in its previous-note field.
    after = view.following[at]
    heirs = np.flatnonzero((after >= 0) & (table[row + after] == 0))
    at = np.concatenate([at, after[heirs]])
    slots = np.concatenate([slots, slots[heirs]])
    both = np.concatenate([both, frequencies[heirs]])
    if len(view.orphans):
        grid = table.reshape(-1, stride)
        before = grid[:, view.previous[view.orphans]] * (grid[:, view.orphans] == 0)
        row, column = np.nonzero(before)
        at = np.concatenate([at, view.orphans[column]])
        slots = np.concatenate([slots, row + first])
        both = np.concatenate([both, before[row, column]])
    saturated = saturation(both, view.span[at], terms.previous_average)
    previous += np.bincount(at, terms.previous_idf[slots] * saturated, size)


def saturation(frequency: FloatArray, length: Codes, average: float) -> FloatArray:
    """Return the term frequency part of BM25; *length* and *average* in tokens."""
    return frequency * (K1 + 1) / (frequency + (K1 * (1 - B) + (K1 * B / average) * length))
