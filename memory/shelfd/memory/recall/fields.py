"""BM25 of the two fields of every document in view, and the base score made of them.

Each posting adds to the scores of its document and of the neighbours; all of them are added up in one pass, so that
a query costs what its postings do and hardly more on a larger shelf. The previous-note field has no postings of its
own: its term frequency is ``tf(d) + tf(previous(d))``, read through the pointers.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, cast

import numpy as np

from shelfd.memory.recall.columns import HIDDEN, QUESTION, BoolArray, Codes, Columns, FloatArray, IntArray
from shelfd.memory.recall.inverted import Numbers
from shelfd.memory.recall.postings import PostingLists

K1: Final = 0.9
B: Final = 0.3
PREVIOUS: Final = 1.2  #: weight of the previous-note field
#: Weight of terms of the note before the previous one that neither of the two after it has. They count for a note
#: that has another term of the query itself, so that they bring in no further notes.
EARLIER: Final = 0.5
QUESTION_BEFORE: Final = 0.4  #: weight of a previous note that asks
NEXT: Final = 0.15  #: weight of the next note

_BLOCK = 32  # terms scored at once; bounds the frequency table of very long queries
_FLAGS: Final = np.arange(256)
#: By flags: what a document's own score adds to the next document, and to the previous one. Nobody's is a hidden one.
_TO_NEXT: Final = np.where(_FLAGS & QUESTION, QUESTION_BEFORE, 0.0)
_TO_PREVIOUS: Final = np.where(_FLAGS & HIDDEN, 0.0, NEXT)

#: Places in the view and what is added there: arrays of one length.
Added = tuple[IntArray | Numbers, FloatArray]


class QueryTerms(NamedTuple):
    """The query's known terms and their weights, arrays of one length."""

    numbers: Sequence[int]
    own_idf: FloatArray
    previous_idf: FloatArray
    own_average: float  #: tokens
    previous_average: float  #: tokens


class ScoredDocuments(NamedTuple):
    """The documents a query is scored on: *size* of them, whose places are numbered from 1 on.

    Place 0 takes what is added to documents outside of the view, and through the pointer -1.
    """

    columns: Columns
    size: int
    orphans: IntArray  #: ordinals of the hidden documents to be scored that have a previous one in view
    place: Numbers | None  #: by ordinal, with one 0 more at the end; ``None`` if the view is the complete shelf

    def places(self, ordinals: IntArray) -> IntArray | Numbers:
        """Return the places of *ordinals*, of which each may be -1."""
        return ordinals + 1 if self.place is None else self.place[ordinals]


class BaseScores(NamedTuple):
    """The base score b, and its parts if they were asked for; each of shape ``(documents in view,)``."""

    total: FloatArray
    parts: dict[str, FloatArray]


def base_scores(view: ScoredDocuments, terms: QueryTerms, postings: PostingLists, *, explain: bool) -> BaseScores:
    """Return b for every document of *view* from the *postings* of its documents; terms in the query's order."""
    added: dict[str, list[Added]] = {}
    has_any = np.zeros(view.size + 1, np.bool_)
    has_any[view.places(postings[0])] = True
    has_any[0] = False
    for first, block in _blocks(terms, postings):
        for name, places, weights in _contributions(view, terms, block, first, has_any):
            added.setdefault(name, []).append((places, weights))
    if len(view.orphans):
        # A previous document has only one next one: what it adds to the hidden ones after it is read from here.
        own = _sum(view, added["own"])
        before = view.columns.previous[view.orphans]
        asked = _TO_NEXT[view.columns.flags[before]] * np.append(0.0, own)[view.places(before)]
        added["question_before"].append((view.places(view.orphans), asked))
    if not explain:
        return BaseScores(_sum(view, [each for some in added.values() for each in some]), {})
    parts = {name: _sum(view, some) for name, some in added.items()}
    return BaseScores(sum(parts.values(), np.zeros(view.size)), parts)


def _sum(view: ScoredDocuments, added: list[Added]) -> FloatArray:
    places, weights = zip(*added, strict=True)
    sums = np.bincount(np.concatenate(places), np.concatenate(weights), view.size + 1).astype(np.float64, copy=False)
    return sums[1:]


def _blocks(terms: QueryTerms, postings: PostingLists) -> Iterator[tuple[int, PostingLists]]:
    """Yield the first slot and the postings of so many terms at a time."""
    if len(terms.numbers) <= _BLOCK:
        yield 0, postings
        return
    ordinals, slots, frequencies = postings
    for first in range(0, len(terms.numbers), _BLOCK):
        inside = np.flatnonzero((slots >= first) & (slots < first + _BLOCK))
        yield first, (ordinals[inside], slots[inside], frequencies[inside])


def _contributions(
    view: ScoredDocuments, terms: QueryTerms, postings: PostingLists, first: int, has_any: BoolArray
) -> Iterator[tuple[str, IntArray | Numbers, FloatArray]]:
    """Yield what the terms from slot *first* on add to the parts of the base score: part, places, weights."""
    columns = view.columns
    ordinals, slots, frequencies = postings
    following = columns.following[ordinals]
    here, before, after = view.places(ordinals), view.places(columns.previous[ordinals]), view.places(following)
    # Frequencies by term and place; place 0 has none.
    stride = view.size + 1
    table = np.zeros(min(_BLOCK, len(terms.numbers)) * stride, np.uint8)
    row = (slots - first if first else slots) * stride
    table[row + here] = frequencies
    if view.place is not None:
        table[::stride] = 0
    # A next document without the term itself still has it in its previous-note field.
    (heirs,) = (table[row + after] < (after > 0)).nonzero()
    inheriting = following[heirs]
    places, spans = [here, after[heirs]], [columns.span[ordinals], columns.span[inheriting]]
    counts, numbers = [frequencies + table[row + before], frequencies[heirs]], [slots, slots[heirs]]
    if len(view.orphans):
        grid = table.reshape(-1, stride)
        hidden, previous_ones = view.places(view.orphans), columns.previous[view.orphans]
        lacking = grid[:, hidden] == 0
        inherited = grid[:, view.places(previous_ones)] * lacking
        term, which = np.nonzero(inherited)
        places.append(hidden[which])
        spans.append(columns.span[view.orphans[which]])
        counts.append(inherited[term, which].astype(np.float64))
        numbers.append(term + first)
        earlier = columns.previous[previous_ones]
        alone = grid[:, view.places(earlier)] * (has_any[hidden] & lacking & (inherited == 0))
        term, which = np.nonzero(alone)
        weights = saturation(alone[term, which], columns.length[earlier[which]], terms.own_average)
        yield "earlier", hidden[which], EARLIER * terms.own_idf[term + first] * weights
    own = saturation(frequencies, columns.length[ordinals], terms.own_average)
    own *= terms.own_idf[slots]
    previous = saturation(np.concatenate(counts), np.concatenate(spans), terms.previous_average)
    previous *= (PREVIOUS * terms.previous_idf)[np.concatenate(numbers)]
    flags = columns.flags[ordinals]
    # And the one after that, if neither of them has it.
    later = view.places(columns.following.take(inheriting))
    (chosen,) = has_any.take(later).nonzero()
    later, source = later[chosen], heirs[chosen]
    yield "own", here, own
    yield "earlier", later, EARLIER * own[source] * (table[row[source] + later] == 0)
    yield "previous", cast("IntArray", np.concatenate(places)), previous
    yield "question_before", after, _TO_NEXT.take(flags) * own  # by bytes, that takes half of what an index does
    yield "next", before, _TO_PREVIOUS.take(flags) * own


def saturation(frequency: FloatArray, length: Codes, average: float) -> FloatArray:
    """Return the term frequency part of BM25; *length* and *average* in tokens."""
    norm: FloatArray = np.multiply(length, K1 * B / average, dtype=np.float64)
    norm += K1 * (1 - B)
    norm += frequency
    np.divide(frequency, norm, out=norm)
    norm *= K1 + 1
    return norm
