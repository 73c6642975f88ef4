"""How probable it is that a document says what is asked: a calibrated judgement on what its words match.

The constants are data, ``calibration.json``, fitted by ``benchmarks/questions.py --fit`` on questions written for this
project.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp, log
from operator import attrgetter, mul
from typing import Final, NamedTuple, TypeAlias

from shelfd.memory.recall.document import Words, made
from shelfd.memory.recall.index import RecallIndex
from shelfd.memory.recall.meaning import ANSWER_TYPES
from shelfd.memory.recall.question import MOST_TERMS, OF_TIME, WHEN, AskedTerm, Question

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
#: The bits of terms; see :attr:`ResolvedQuestion.found_by`.
TERMS: Final = (1 << MOST_TERMS) - 1
_BITS: Final = tuple(1 << at for at in range(MOST_TERMS))
_other_of: Final = attrgetter("other")
_is_number: Final = attrgetter("is_number")
#: Answers that are numbers or times.
_NAME: Final = ANSWER_TYPES["name"]
_TOLD: Final = ~(_NAME | ANSWER_TYPES["cause"])
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

#: Those that are 0 unless a name of the document stands or the query has a script without spaces.
_SPECIAL: Final = frozenset({"stands", "bare", "stands_lacks", "spaceless", "spaceless_coverage"})
#: Those that :class:`Bound` goes by.
_BOUNDED: Final = frozenset({"coverage", "held_words", "lacks", "ratio"})
#: What sums of rounded numbers may be beside each other, with room to spare.
_ROUNDING: Final = 1e-9

Features: TypeAlias = tuple[float, ...]
#: Tells of what a document's words match, and its score as a share of the best, that it cannot be relevant.
IsBelow: TypeAlias = "Callable[[Matched, float], bool]"


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was fitted."""

    weights: tuple[float, ...]  #: one for each of :data:`FEATURES`
    intercept: float
    threshold: float  #: probability from which on a document is relevant

    def probability(self, features: Features) -> float:
        """Return how probable it is that a document with these *features* says what is asked."""
        return 1 / (1 + exp(-self.intercept - sum(map(mul, self.weights, features))))

    def bound(self) -> "Bound":
        """Return by which documents without a name are known not to be relevant before all features are."""
        weight = dict(zip(FEATURES, self.weights, strict=True))
        others = sum(max(0.0, weight[name]) for name in FEATURES if name not in _SPECIAL | _BOUNDED)
        needed = log(self.threshold / (1 - self.threshold)) - self.intercept - others
        # What is lacking may be one more in the end, and what is covered a smaller share.
        lacks = min(0.0, weight["lacks"])
        counts = range(MOST_TERMS + 1)
        return Bound(
            least=needed - max(0.0, weight["lacks"]) * _MANY - _ROUNDING,
            coverage=max(0.0, weight["coverage"]),
            held_words=tuple(weight["held_words"] * min(count, _MANY) for count in counts),
            lacks=tuple(lacks * min(count, _MANY) for count in counts),
            ratio=weight["ratio"],
        )


class Bound(NamedTuple):
    """What a document without a name must have of four features to be relevant, the others being as good as can be."""

    least: float  #: sum of what the four add
    coverage: float  #: what complete coverage adds
    held_words: tuple[float, ...]  #: what so many telling words add
    lacks: tuple[float, ...]
    ratio: float  #: what the best score adds

    @property
    def least_ratio(self) -> float:
        """The share of the best score below which no such document is relevant, whatever it matches."""
        return (self.least - self.coverage - max(self.held_words)) / self.ratio if self.ratio > 0 else 0.0

    def for_question(self, question: "ResolvedQuestion") -> "IsBelow":
        """Return what tells that a document cannot be relevant to *question*; not for scripts without spaces."""
        least, coverage, held_words, lacks, best = self
        telling, total = question.telling, question.total or 1.0
        count = telling.bit_count()

        def is_below(found: Matched, ratio: float) -> bool:
            weight, matched, _ = found
            held = (telling & matched).bit_count()
            return best * ratio + (held_words[held] + lacks[count - held]) + coverage * weight / total < least

        return is_below


@cache
def calibration() -> Calibration:
    """Return the constants that were fitted."""
    data = json.loads(files("shelfd.memory.recall").joinpath("calibration.json").read_text(encoding="utf-8"))
    weights = tuple(data["weights"][name] for name in FEATURES)
    return Calibration(weights, data["intercept"], data["threshold"])


class ResolvedQuestion(NamedTuple):
    """A question as the index knows it. Sets of its terms are bits, for they are compared with ten documents a query.

    The bit of a term is 1 for the first, 2 for the second, 4 for the third.
    """

    terms: tuple[AskedTerm, ...]
    worth: tuple[tuple[int, float], ...]  #: bit and weight of each of the terms
    total: float  #: weight of all terms
    found_by: Mapping[int, int]  #: by number in the index: which term that is, and above all these which it relates to
    numbers: frozenset[int]  #: all of those
    numerals: frozenset[int]  #: of the terms that are numbers
    telling: int
    subject: int  #: the telling ones that are neither names nor numbers
    kinds: int  #: the telling ones that name the kind of thing asked for
    wanting: tuple[tuple[int, int], ...]  #: a term and the types of answer that stand for it
    runs: int  #: how many terms are pieces of scripts without spaces
    wants: int

    def among(self, terms: AbstractSet[str]) -> int:
        """Return those of its terms that are among *terms*."""
        return sum(1 << at for at, asked in enumerate(self.terms) if asked.term in terms)


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

    def __init__(self, index: RecallIndex, related: Callable[[str], Iterable[str]]) -> None:
        self._index = index
        self._related = related
        self._vocabulary = index.vocabulary_size()
        self._numbers: dict[tuple[str, str], frozenset[int]] = {}

    def of(self, terms: Iterable[AskedTerm]) -> list[frozenset[int]]:
        """Return for each of the *terms* asked for the numbers of those that are related to it."""
        if self._vocabulary != (now := self._index.vocabulary_size()):
            self._vocabulary = now
            self._numbers.clear()
        known = self._numbers
        return [
            _NOTHING if one.joined is None
            else known[one.term, one.joined] if (one.term, one.joined) in known
            else self._found(one.term, one.joined)
            for one in terms
        ]  # fmt: skip

    def _found(self, term: str, joined: str) -> frozenset[int]:
        if len(self._numbers) >= _KEPT_TERMS:
            self._numbers.clear()
        related = self._related(term)
        found = self._numbers[term, joined] = self._index.numbers(related if joined == term else (*related, joined))
        return found


def resolve(index: RecallIndex, question: Question, related_terms: RelatedTerms) -> ResolvedQuestion:
    """Return the terms of *question* with their numbers in the index and their weights."""
    terms, number_of = question.terms, index.number_of
    numbers = [number_of(asked.term) for asked in terms]
    by_own_forms: dict[int, int] = {}
    if any(map(_other_of, terms)):
        forms = [None if asked.other is None else number_of(asked.other) for asked in terms]
        by_own_forms = {at: other for at, other in enumerate(forms) if other is not None}
        numbers = [by_own_forms.get(at) if number is None else number for at, number in enumerate(numbers)]
    term_bits = _BITS[: len(terms)]
    found_by = {number: bit for number, bit in zip(numbers, term_bits, strict=True) if number is not None}
    for at, other in by_own_forms.items():
        found_by.setdefault(other, 1 << at)
    numerals = _NOTHING
    if any(map(_is_number, terms)):
        numerals = frozenset(
            number for one, number in zip(terms, numbers, strict=True) if one.is_number and number is not None
        )
    if terms and terms[-1] is WHEN:
        found_by[OF_TIME] = term_bits[-1]
    worth: list[tuple[int, float]] = []
    wanting = []
    total = 0.0
    telling = subject = kinds = runs = 0
    for asked, bit, number, weight, related in zip(
        terms, term_bits, numbers, index.rarities(numbers), related_terms.of(terms), strict=True
    ):
        _, light, _, wants, kind, run, is_name, _, _ = asked
        own_weight = weight * _LIGHT if light else weight
        worth.append((bit, own_weight))
        total += own_weight
        for other in related:
            found_by[other] = found_by.get(other, 0) | bit << MOST_TERMS
        if wants:
            wanting.append((bit, wants))
        if run:
            runs += 1
        elif not light:
            telling |= bit
            if kind:
                kinds |= bit
            if not is_name and number not in numerals:
                subject |= bit
    values = (
        terms, tuple(worth), total, found_by, frozenset(found_by), numerals,
        telling, subject, kinds, tuple(wanting), runs, question.wants,
    )  # fmt: skip
    return made(ResolvedQuestion, values)


def holds_all(question: ResolvedQuestion, name: AbstractSet[str], own: AbstractSet[int]) -> bool:
    """Return whether a document of the terms *own* holds all words of a *name*, as far as the query has them."""
    asked = question.among(name)
    held = 0
    for number in own:
        held |= question.found_by[number]
    return asked != 0 and asked & ~held == 0


class Matched(NamedTuple):
    """What a document's words match of a question; terms are bits, see :class:`ResolvedQuestion`."""

    weight: float  #: of the question's terms, each as far as it is matched
    matched: int  #: the terms that are matched in any way
    said: int  #: those that stand in the document, or in a name of it that stands in the query, or related ones


def match(question: ResolvedQuestion, words: Words, names: int = 0) -> Matched:
    """Return what a document's *words* match of a *question*, and its *names* that stand there."""
    said, previous, answer_types, _ = words
    _, worth, _, found_by, _, _, _, _, _, wanting, runs, _ = question
    both, before, stood_for = names, 0, 0
    for number in said:
        both |= found_by[number]
    for number in previous:
        before |= found_by[number]
    for bit, wants in wanting:
        if wants & answer_types:
            stood_for |= bit
    own, related, before = both & TERMS, both >> MOST_TERMS, before & TERMS
    matched = own | before | related | stood_for
    if runs:
        return _match_by_characters(question, own, before, related, matched)
    weight = 0.0
    for bit, whole in worth:
        if not matched & bit:
            continue
        if own & bit:
            weight += whole
        elif before & bit:
            weight += _PREVIOUS * whole
        elif related & bit:
            weight += _RELATED * whole
        else:
            weight += _NUMBER * whole
    return made(Matched, (weight, matched, own | related))


def _match_by_characters(question: ResolvedQuestion, own: int, before: int, related: int, matched: int) -> Matched:
    parts = [
        0.0 if not matched & bit
        else 1.0 if own & bit
        else _PREVIOUS if before & bit
        else _RELATED if related & bit
        else _NUMBER
        for bit, _ in question.worth
    ]  # fmt: skip
    parts = _by_characters(question.terms, parts)
    covered = [(bit, whole * part) for (bit, whole), part in zip(question.worth, parts, strict=True) if part]
    return Matched(sum(weight for _, weight in covered), sum(bit for bit, _ in covered), own | related)


def observe(question: ResolvedQuestion, words: Words, found: Matched, context: DocumentContext) -> Features:
    """Return by what a document is judged, whose *words* match *found* of a *question*."""
    terms, _, total, _, _, _, telling, subject, kinds, _, runs, _ = question
    (weight, matched, said), (names, rival, ratio) = found, context
    missing = _missing(question, words)
    lacking = telling & ~matched
    lacks, held = lacking.bit_count(), (telling & matched).bit_count()
    lacks_told = missing & _TOLD != 0
    if lacks_told:
        lacks += 1
        total += _KIND
    coverage = weight / total if total else 0.0
    stands = bool(names)
    spaceless = 2 * runs > len(terms)
    return (
        coverage,
        min(_MANY, held),
        subject != 0 and subject & said == 0 and not runs,
        min(_MANY, lacks),
        lacking & kinds != 0,
        lacking & subject & -subject != 0,
        lacks_told,
        missing & _NAME != 0,
        stands,
        stands and total - _weight(question, names) <= _REST * total,
        min(lacks, _FEW) if stands else 0,
        not stands and coverage <= rival,
        ratio,
        words.question,
        spaceless,
        spaceless * coverage,
    )


def _weight(question: ResolvedQuestion, names: AbstractSet[str]) -> float:
    return sum(whole for (_, whole), one in zip(question.worth, question.terms, strict=True) if one.term in names)


def _missing(question: ResolvedQuestion, words: Words) -> int:
    """What the question wants if the document holds none of it, else 0."""
    if not (wants := question.wants):
        return 0
    answer_types = words.answer_types
    if not answer_types & ANSWER_TYPES["numbers"] and not question.numerals.isdisjoint(words.own):
        answer_types &= ~ANSWER_TYPES["number"]  # its only number is one that the question has
    return 0 if wants & answer_types else wants


def _by_characters(terms: Sequence[AskedTerm], matches: Sequence[float]) -> list[float]:
    """Scripts without spaces cover by characters: of a pair one character is covered if a neighbouring pair is."""
    found = list(matches)
    for at, (term, match) in enumerate(zip(terms, matches, strict=True)):
        if match < 1:
            left = matches[at - 1] if at and term.run else 0.0
            right = matches[at + 1] if at + 1 < len(terms) and terms[at + 1].run else 0.0
            found[at] = max(match, (left + right) / 2)
    return found
