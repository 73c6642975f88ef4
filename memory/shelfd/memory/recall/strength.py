"""How well one document fits a query by itself, whatever else is on the shelf: the measure of all scores.

The base score once more, but with everything that depends on other documents fixed: each word weighs what it does in
general, lengths are compared with those of usual notes, and each word counts once. It is given as a share of what the
shortest document with all words of the query would get. A word nobody ever used counts there, too: a query that is
mostly unknown words is answered weakly.
"""

from collections.abc import Sequence
from typing import Final

from shelfd.memory.recall.columns import QUESTION
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.fields import K1, NEXT, PREVIOUS, QUESTION_BEFORE, B
from shelfd.memory.recall.rarity import UNKNOWN, Rarities

#: Tokens of a usual note, date and author included, and of two of them.
_LENGTH: Final = 26.0
_SPAN: Final = 2 * _LENGTH
_NO_TERMS: Final[frozenset[int | None]] = frozenset()


def strength(contents: Contents, terms: Sequence[str], rarities: Rarities, ordinal: int) -> float:
    """Return how well the document *ordinal* fits a query of those distinct *terms*, 0 to 1."""
    columns, number_of = contents.columns, contents.vocabulary.number_of
    before, after = columns.previous.item(ordinal), columns.following.item(ordinal)
    asks = before >= 0 and columns.flags.item(before) & QUESTION
    numbers = list(map(number_of, terms))
    wanted = frozenset(numbers)
    own = wanted.intersection(contents.postings.terms_of(ordinal))
    previous, following = _said(contents, before, wanted), _said(contents, after, wanted)
    in_own = _saturation(columns.length.item(ordinal), _LENGTH)
    in_both = PREVIOUS * _saturation(columns.span.item(ordinal), _SPAN)
    asked = QUESTION_BEFORE if asks else 0.0
    found = most = 0.0
    rarity_of = rarities.known.get
    for term, number in zip(terms, numbers, strict=True):
        weight = rarity_of(term, UNKNOWN)
        most += weight
        if number in own:
            found += weight * (in_own + in_both)
        elif number in previous:
            found += weight * in_both
        if asked and number in previous:
            found += weight * asked
        if number in following:
            found += weight * NEXT
    return min(1.0, found / (most * (1 + PREVIOUS) * _saturation(0, _LENGTH))) if most else 0.0


def _said(contents: Contents, ordinal: int, wanted: frozenset[int | None]) -> frozenset[int | None]:
    return _NO_TERMS if ordinal < 0 else wanted.intersection(contents.postings.terms_of(ordinal))


def _saturation(length: int, usual: float) -> float:
    """Return what BM25 gives a word that is once in a text of so many tokens."""
    return (K1 + 1) / (1 + K1 * (1 - B + B * length / usual))
