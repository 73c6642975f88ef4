"""BM25 of the two fields of every document in view, and the base score made of them.

Each posting adds to the scores of its document and of the neighbours; all of them are added up in one pass, so that
a query costs what its postings do and hardly more on a larger shelf. The previous-note field has no postings of its
own: its term frequency is ``tf(d) + tf(previous(d))``, read through the pointers.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from shelfd.memory.recall.columns import HIDDEN, QUESTION, Codes, Columns, FloatArray, IntArray
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

MOST_TOGETHER: Final = 32  #: terms scored at once; bounds the frequency table of very long queries
_FLAGS: Final = np.arange(256)
#: By flags: what a document's own score adds to the next document, and to the previous one. Nobody's is a hidden one.
_TO_NEXT: Final = np.where(_FLAGS & QUESTION, QUESTION_BEFORE, 0.0)
_TO_PREVIOUS: Final = np.where(_FLAGS & HIDDEN, 0.0, NEXT)

#: Numbers of documents in the view, of four bytes each or eight.
Places: TypeAlias = npt.NDArray[np.integer]


class QueryTerms(NamedTuple):
    """The query's known terms and their weights, of one length."""

    numbers: Sequence[int]
    own_idf: Sequence[float]
    previous_idf: Sequence[float]
    own_average: float  #: tokens
    previous_average: float  #: tokens

    def only(self, slots: Sequence[int]) -> "QueryTerms":
        """Return those at these places alone."""
        own, previous = [self.own_idf[slot] for slot in slots], [self.previous_idf[slot] for slot in slots]
        return self._replace(numbers=[self.numbers[slot] for slot in slots], own_idf=own, previous_idf=previous)


class ScoredDocuments(NamedTuple):
    """The documents a query is scored on: *size* of them, whose places are numbered from 1 on.

    Place 0 takes what is added to documents outside of the view, and through the pointer -1.
    """

    columns: Columns
    size: int
    orphans: IntArray  #: ordinals of the hidden documents to be scored that have a previous one in view
    place: Numbers | None  #: by ordinal, with one 0 more at the end; ``None`` if the view is the complete shelf

    def places(self, ordinals: IntArray) -> Places:
        """Return the places of *ordinals*, of which each may be -1."""
        return ordinals + 1 if self.place is None else self.place[ordinals]


class Impact(NamedTuple):
    """What terms add to base scores: places in the view, and what is added there; arrays in pairs of one length."""

    here: Places  #: the documents that have the terms
    own: FloatArray
    previous: FloatArray  #: of the previous-note field, at the same places
    heirs: Places  #: documents that have them in that field alone
    inherited: FloatArray
    later: Places  #: the documents after those, for which it counts if they have any term of the query
    earlier: FloatArray
    after: Places
    question_before: FloatArray
    before: Places
    next: FloatArray


class Added(NamedTuple):
    """The same where nobody asks for its parts: half as many numbers, for most documents are no questions."""

    here: Places
    said: FloatArray  #: by the documents and in their previous-note fields
    heirs: Places
    inherited: FloatArray
    after: Places  #: those only to which anything is added
    question_before: FloatArray
    before: Places
    next: FloatArray
    later: Places
    earlier: FloatArray


_NOWHERE: Final[Places] = np.zeros(0, np.int64)
_NO: Final[FloatArray] = np.zeros(0)
_NO_IMPACT: Final = Impact(_NOWHERE, _NO, _NO, _NOWHERE, _NO, _NOWHERE, _NO, _NOWHERE, _NO, _NOWHERE, _NO)


class BaseScores(NamedTuple):
    """The base score b, and its parts if they were asked for; each of shape ``(documents in view,)``."""

    total: FloatArray
    parts: dict[str, FloatArray]


def base_scores(view: ScoredDocuments, terms: QueryTerms, postings: PostingLists, *, explain: bool) -> BaseScores:
    """Return b for every document of *view* from the *postings* of its documents; terms in the query's order."""
    impacts = [_impact(view, terms, block, first)[0] for first, block in _blocks(terms, postings)]
    if len(view.orphans):
        # A previous document has only one next one: what it adds to the hidden ones after it is read from here.
        own = _sum(view.size, [impact.here for impact in impacts], [impact.own for impact in impacts])
        before = view.columns.previous[view.orphans]
        asked = _TO_NEXT[view.columns.flags[before]] * np.append(0.0, own)[view.places(before)]
        impacts.append(_NO_IMPACT._replace(after=view.places(view.orphans), question_before=asked))
    if not explain:
        return BaseScores(total(view.size, [_added(impact)[0] for impact in impacts]), {})
    parts = {name: _sum(view.size, *added) for name, added in _parts(view.size, impacts).items()}
    return BaseScores(sum(parts.values(), np.zeros(view.size)), parts)


def total(size: int, every: Sequence[Added]) -> FloatArray:
    """Return b for a view of *size* documents from what all terms of a query add, in the query's order.

    How many terms are together in one of *every* changes nothing, not even the last bits.
    """
    heres, said, heirs, inherited, after, asked, before, following, later, earlier = zip(*every, strict=True)
    places = np.concatenate([*heres, *heirs, *after, *before, *later])
    weights = np.concatenate([*said, *inherited, *asked, *following, *earlier])
    has_any = np.zeros(size + 1, np.bool_)
    has_any[places[: sum(map(len, heres))]] = True
    has_any[0] = False
    first = len(places) - sum(map(len, later))
    weights[first:] *= has_any.take(places[first:])
    sums: FloatArray = np.bincount(places, weights, size + 1).astype(np.float64, copy=False)
    return sums[1:]


def added_by(view: ScoredDocuments, terms: QueryTerms, postings: PostingLists) -> list[Added]:
    """Return what each of the *terms*, :data:`MOST_TOGETHER` at most, adds to the documents of *view*, in their order.

    The view has no orphans.
    """
    impact, slots, of_heirs = _impact(view, terms, postings, 0)
    added, asking = _added(impact)
    every = np.arange(len(terms.numbers) + 1)
    edges = [some.searchsorted(every).tolist() for some in (slots, of_heirs, slots[asking])]
    own, others, asked = (list(map(slice, some, some[1:])) for some in edges)
    return [
        Added(
            added.here[at], added.said[at], added.heirs[heirs], added.inherited[heirs],
            added.after[some], added.question_before[some], added.before[at], added.next[at],
            added.later[heirs], added.earlier[heirs],
        )
        for at, heirs, some in zip(own, others, asked, strict=True)
    ]  # fmt: skip


def _added(impact: Impact) -> tuple[Added, IntArray]:
    """Return what is added in all, and which of the documents that have the terms are questions."""
    (asking,) = impact.question_before.nonzero()
    return (
        Added(
            impact.here, impact.own + impact.previous, impact.heirs, impact.inherited,
            impact.after.take(asking), impact.question_before.take(asking), impact.before, impact.next,
            impact.later, impact.earlier,
        ),
        asking,
    )  # fmt: skip


def _parts(size: int, impacts: Sequence[Impact]) -> dict[str, tuple[Sequence[Places], Sequence[FloatArray]]]:
    """Return for each part of the base score what is added where: arrays that are one length together."""
    heres, own, previous, heirs, inherited, laters, earliers, after, question_before, before, following = zip(
        *impacts, strict=True
    )
    here, later = np.concatenate(heres), np.concatenate(laters)
    has_any = np.zeros(size + 1, np.bool_)
    has_any[here] = True
    has_any[0] = False
    earlier = np.concatenate(earliers)
    earlier *= has_any.take(later)
    return {
        "own": ([here], own),
        "earlier": ([later], [earlier]),
        "previous": ([here, *heirs], [*previous, *inherited]),
        "question_before": (after, question_before),
        "next": (before, following),
    }


def _sum(size: int, places: Sequence[Places], weights: Sequence[FloatArray]) -> FloatArray:
    sums = np.bincount(np.concatenate(places), np.concatenate(weights), size + 1).astype(np.float64, copy=False)
    return sums[1:]


def _blocks(terms: QueryTerms, postings: PostingLists) -> Iterator[tuple[int, PostingLists]]:
    """Yield the first slot and the postings of so many terms at a time."""
    if len(terms.numbers) <= MOST_TOGETHER:
        yield 0, postings
        return
    ordinals, slots, frequencies = postings
    for first in range(0, len(terms.numbers), MOST_TOGETHER):
        inside = np.flatnonzero((slots >= first) & (slots < first + MOST_TOGETHER))
        yield first, (ordinals[inside], slots[inside], frequencies[inside])


def _impact(
    view: ScoredDocuments, terms: QueryTerms, postings: PostingLists, first: int
) -> tuple[Impact, IntArray, IntArray]:
    """Return what the terms from slot *first* on add, and the slots of what is here and of heirs without orphans."""
    columns = view.columns
    ordinals, slots, frequencies = postings
    following = columns.following.take(ordinals)  # take() needs half of what an index does
    here, before, after = view.places(ordinals), view.places(columns.previous.take(ordinals)), view.places(following)
    # Frequencies by term and place; place 0 has none.
    stride = view.size + 1
    table = np.zeros(min(MOST_TOGETHER, len(terms.numbers)) * stride, np.uint8)
    row = (slots - first if first else slots) * stride
    table[row + here] = frequencies
    if view.place is not None:
        table[::stride] = 0
    # A next document without the term itself still has it in its previous-note field.
    (at,) = (table.take(row + after) < (after > 0)).nonzero()
    inheriting, of_heirs = following.take(at), slots.take(at)
    own = saturation(frequencies, columns.length.take(ordinals), terms.own_average)
    own_idf = np.array(terms.own_idf)
    own *= own_idf.take(slots)
    # And the one after that, if neither of them has it.
    later = view.places(columns.following.take(inheriting))
    earlier = own.take(at)
    earlier *= EARLIER
    earlier *= table.take(row.take(at) + later) == 0
    heirs, spans = after.take(at), [columns.span.take(ordinals), columns.span.take(inheriting)]
    counts, numbers = [frequencies + table.take(row + before), frequencies.take(at)], [slots, of_heirs]
    if len(view.orphans):
        grid = table.reshape(-1, stride)
        hidden, previous_ones = view.places(view.orphans), columns.previous[view.orphans]
        lacking = grid[:, hidden] == 0
        found = grid[:, view.places(previous_ones)] * lacking
        term, which = np.nonzero(found)
        heirs = np.concatenate([heirs, hidden[which]])
        spans.append(columns.span[view.orphans[which]])
        counts.append(found[term, which].astype(np.float64))
        numbers.append(term + first)
        before_that = columns.previous[previous_ones]
        found = grid[:, view.places(before_that)] * (lacking & (found == 0))
        term, which = np.nonzero(found)
        weights = saturation(found[term, which], columns.length[before_that[which]], terms.own_average)
        later = np.concatenate([later, hidden[which]])
        earlier = np.concatenate([earlier, EARLIER * own_idf[term + first] * weights])
    previous = saturation(np.concatenate(counts), np.concatenate(spans), terms.previous_average)
    previous *= (PREVIOUS * np.array(terms.previous_idf)).take(np.concatenate(numbers))
    flags, count = columns.flags.take(ordinals), len(ordinals)
    return (
        Impact(
            here, own, previous[:count], heirs, previous[count:], later, earlier,
            after, _TO_NEXT.take(flags) * own, before, _TO_PREVIOUS.take(flags) * own,
        ),
        slots,
        of_heirs,
    )  # fmt: skip


def saturation(frequency: FloatArray, length: Codes, average: float) -> FloatArray:
    """Return the term frequency part of BM25; *length* and *average* in tokens."""
    norm: FloatArray = np.multiply(length, K1 * B / average, dtype=np.float64)
    norm += K1 * (1 - B)
    norm += frequency
    np.divide(frequency, norm, out=norm)
    norm *= K1 + 1
    return norm
