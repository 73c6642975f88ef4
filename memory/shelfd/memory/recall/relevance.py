"""How probable it is that a document says what is asked: a calibrated judgement on what its words match.

The constants are data, ``calibration.json``, fitted by ``benchmarks/questions.py --fit`` on questions written for this
project.
"""

import json
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp, log
from operator import mul
from typing import Final, NamedTuple, TypeAlias

from shelfd.memory.recall.document import Words
from shelfd.memory.recall.index import RecallIndex
from shelfd.memory.recall.meaning import ANSWER_TYPES
from shelfd.memory.recall.question import AskedTerm, Question

#: Weight of a word that says little of what a query is about.
_LIGHT: Final = 0.25
#: What a match is worth that is not the word itself: one that often speaks of the same, the word in the previous note
#: of the session, a number of the requested kind.
_RELATED: Final = 0.6
_PREVIOUS: Final = 0.6
_NUMBER: Final = 0.5
#: More words than these add nothing.
_MANY: Final = 3
_FEW: Final = 2
#: Share of the query beside a name from which on it is more than the name.
_REST: Final = 0.05
#: Terms whose related ones are kept, by number.
_KEPT_TERMS: Final = 1 << 12
_NOTHING: Final[frozenset[int]] = frozenset()
#: Answers that are numbers or times.
_TOLD: Final = ~(ANSWER_TYPES["name"] | ANSWER_TYPES["cause"])
#: A document that holds nothing of the requested kind lacks as much as one that lacks the rarest word.
_KIND: Final = 1.0

#: What the judgement rests on, in the order of :func:`observe`.
FEATURES: Final = (
    "coverage",  # share of the query's weight that is matched
    "held_words",  # how many telling words are matched
    "empty",  # none of those, names and numbers apart, is in its own text, though the question has such
    "lacks",  # how many telling words are not, and the requested kind if it is missing
    "lacks_what",  # whether the word is among them that names the kind of thing asked for
    "lacks_first",  # whether the first one is among them
    "lacks_kind",  # a number or a time is requested, and there is none of its kind
    "no_person",  # a person is requested, and there is no name
    "stands",  # a name of the document stands in the query
    "bare",  # and the query has nothing else
    "stands_lacks",  # what is lacking where its name stands
    "beside",  # another document's name stands, and that one covers as much
    "ratio",  # score, as a share of the best
    "asks",  # it ends with a question mark
    "spaceless",  # most words of the query are of a script without spaces
    "spaceless_coverage",
)

#: The highest values of those that are not at most 1.
_MOST: Final = {"held_words": _MANY, "lacks": _MANY}
#: Those that are 0 unless a name of the document stands or the query has a script without spaces; and the ratio.
_SPECIAL: Final = frozenset({"stands", "bare", "stands_lacks", "spaceless", "spaceless_coverage", "ratio"})

Features: TypeAlias = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was fitted."""

    weights: tuple[float, ...]  #: one for each of :data:`FEATURES`
    intercept: float
    threshold: float  #: probability from which on a document is relevant

    def probability(self, features: Features) -> float:
        """Return how probable it is that a document with these *features* says what is asked."""
        return 1 / (1 + exp(-self.intercept - sum(map(mul, self.weights, features))))

    def least_ratio(self) -> float:
        """Return the share of the best score below which no document is relevant.

        Unless its name stands, or the query is of a script without spaces.
        """
        weight = dict(zip(FEATURES, self.weights, strict=True))
        best = sum(max(0.0, weight[name]) * _MOST.get(name, 1) for name in FEATURES if name not in _SPECIAL)
        needed = log(self.threshold / (1 - self.threshold)) - self.intercept - best
        return needed / weight["ratio"] if weight["ratio"] > 0 else 0.0


@cache
def calibration() -> Calibration:
    """Return the constants that were fitted."""
    data = json.loads(files("shelfd.memory.recall").joinpath("calibration.json").read_text(encoding="utf-8"))
    weights = tuple(data["weights"][name] for name in FEATURES)
    return Calibration(weights, data["intercept"], data["threshold"])


class ResolvedTerm(NamedTuple):
    """A term of a question as the index knows it; see :class:`~shelfd.memory.recall.question.AskedTerm`."""

    term: str
    number: int  #: -1 for a term that no document has
    related: frozenset[int]
    weight: float
    telling: bool
    answer_types: int  #: what it wants
    kind: bool
    run: bool
    is_name: bool


class ResolvedQuestion(NamedTuple):
    """A question as the index knows it."""

    terms: tuple[ResolvedTerm, ...]
    numbers: frozenset[int]  #: all that count, related ones included
    numerals: frozenset[int]  #: of the terms that are numbers
    total: float  #: weight of all terms
    first: str | None  #: the first telling term that is no name
    runs: int  #: how many terms are pieces of scripts without spaces
    wants: int


class DocumentContext(NamedTuple):
    """What is known of a document beside its words."""

    names: AbstractSet[str]  #: terms of the names that stand in the query, if one of them is the document's
    rival: float  #: best coverage of a document whose name stands; below 0 if none does
    ratio: float  #: its score as a share of the best


class RelatedTerms:
    """Which terms of an index a note may have instead of another, found once and kept until the index has new words.

    Args:
        related: Gives what a note may say instead of a term, known to the index or not.
    """

    def __init__(self, index: RecallIndex, related: Callable[[str], frozenset[str]]) -> None:
        self._index = index
        self._related = related
        self._vocabulary = index.vocabulary_state()
        self._numbers: dict[str, frozenset[int]] = {}

    def of(self, asked: AskedTerm) -> frozenset[int]:
        """Return the numbers of the terms that are related to one *asked* for."""
        if asked.joined is None:
            return _NOTHING
        if self._vocabulary != (now := self._index.vocabulary_state()):
            self._vocabulary = now
            self._numbers.clear()
        known = self._numbers.get(asked.term)
        if known is None:
            if len(self._numbers) >= _KEPT_TERMS:
                self._numbers.clear()
            known = self._numbers[asked.term] = self._index.numbers(self._related(asked.term))
        joined = None if asked.joined == asked.term else self._index.number(asked.joined)
        return known if joined is None else known | {joined}


def resolve(index: RecallIndex, question: Question, related_terms: RelatedTerms) -> ResolvedQuestion:
    """Return the terms of *question* with their numbers in the index and their weights."""
    found = []
    numerals = []
    for asked in question.terms:
        number = index.number(asked.term)
        weight = index.rarity(number) * (_LIGHT if asked.light else 1.0)
        related = related_terms.of(asked)
        telling = not asked.light and not asked.run
        own = -1 if number is None else number
        found.append(
            ResolvedTerm(asked.term, own, related, weight, telling, asked.wants, asked.kind, asked.run, asked.is_name)
        )
        if asked.is_number and number is not None:
            numerals.append(own)
    return ResolvedQuestion(
        tuple(found),
        frozenset(term.number for term in found).union(*(term.related for term in found)),
        frozenset(numerals),
        sum(term.weight for term in found),
        next((one.term for one in found if one.telling and not one.is_name and one.number not in numerals), None),
        sum(term.run for term in found),
        question.wants,
    )


def holds_all(terms: Sequence[ResolvedTerm], name: AbstractSet[str], own: AbstractSet[int]) -> bool:
    """Return whether a document of the terms *own* holds all words of a *name*, as far as the query has them."""
    numbers = [term.number for term in terms if term.term in name]
    return bool(numbers) and all(number in own for number in numbers)


def observe(question: ResolvedQuestion, words: Words, context: DocumentContext) -> Features:
    """Return what a document's *words* match of a *question*."""
    total = question.total
    matched = named = 0.0
    held = lacks = 0
    lacks_first = lacks_kind = holds_own = False
    matches = _matches(question, words, context)
    for (term, number, related, weight, telling, _, kind, _, is_name), match in zip(
        question.terms, matches, strict=True
    ):
        matched += weight * match
        if term in context.names:
            named += weight
        if match:
            held += telling
            if telling and not is_name and number not in question.numerals:
                holds_own |= number in words.own or term in context.names or not related.isdisjoint(words.own)
        elif telling:
            lacks += 1
            lacks_kind |= kind
            lacks_first |= term == question.first
    missing = _missing(question, words)
    lacks_told = missing & _TOLD != 0
    if lacks_told:
        lacks += 1
        total += _KIND
    coverage = matched / total if total else 0.0
    stands = bool(context.names)
    spaceless = 2 * question.runs > len(question.terms)
    return (
        coverage,
        min(held, _MANY),
        question.first is not None and not holds_own and not question.runs,
        min(lacks, _MANY),
        lacks_kind,
        lacks_first,
        lacks_told,
        missing & ANSWER_TYPES["name"] != 0,
        stands,
        stands and total - named <= _REST * total,
        min(lacks, _FEW) if stands else 0,
        not stands and coverage <= context.rival,
        context.ratio,
        words.question,
        spaceless,
        spaceless * coverage,
    )


def _matches(question: ResolvedQuestion, words: Words, context: DocumentContext) -> Sequence[float]:
    """How much of each term the document has, from 0 to 1."""
    own, previous, answer_types = words.own, words.previous, words.answer_types
    found = [
        1.0 if number in own or term in context.names
        else _PREVIOUS if number in previous
        else _RELATED if not related.isdisjoint(own)
        else _NUMBER if wants & answer_types
        else 0.0
        for term, number, related, _, _, wants, _, _, _ in question.terms
    ]  # fmt: skip
    return _by_characters(question.terms, found) if question.runs else found


def _missing(question: ResolvedQuestion, words: Words) -> int:
    """What the question wants if the document holds none of it, else 0."""
    answer_types = words.answer_types
    if not answer_types & ANSWER_TYPES["numbers"] and not question.numerals.isdisjoint(words.own):
        answer_types &= ~ANSWER_TYPES["number"]  # its only number is one that the question has
    return 0 if question.wants & answer_types else question.wants


def _by_characters(terms: Sequence[ResolvedTerm], matches: Sequence[float]) -> list[float]:
    """Scripts without spaces cover by characters: of a pair one character is covered if a neighbouring pair is."""
    found = list(matches)
    for at, (term, match) in enumerate(zip(terms, matches, strict=True)):
        if match < 1:
            left = matches[at - 1] if at and term.run else 0.0
            right = matches[at + 1] if at + 1 < len(terms) and terms[at + 1].run else 0.0
            found[at] = max(match, (left + right) / 2)
    return found
