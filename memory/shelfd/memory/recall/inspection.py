"""A query's look at documents, one after another: what is known of each that ranking found, before anything is cut."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from shelfd.memory.recall.asked_time import AskedTime
from shelfd.memory.recall.document import Hit, Words, made
from shelfd.memory.recall.index import RecallIndex
from shelfd.memory.recall.names import Admitted, Names, Standing
from shelfd.memory.recall.relevance import (
    Calibration,
    DocumentContext,
    Features,
    IsBelow,
    Matched,
    ResolvedQuestion,
    holds_all,
    match,
    observe,
)

#: What a query is after: an answer, everything that mentions its topic, or all that ranking finds, nothing cut.
Aim: TypeAlias = Literal["answer", "topic", "all"]

#: Features of a document that cannot be relevant, whatever its words match.
_NOT_LOOKED_AT: Final[Features] = ()
NO_NAMES: Final[frozenset[str]] = frozenset()


class Candidate(NamedTuple):
    """One of the best documents of a query, before anything is cut.

    A named tuple because ten are made for every query.
    """

    hit: Hit
    ratio: float  #: score as a share of the best
    named: bool  #: has a name
    stands: bool  #: has one that stands in the query
    mentions: bool  #: is not so named, and holds a name that stands, or two if several do
    features: Features
    relevance: float = 0.0  #: 0 to 1: how probable it is that the document says what is asked

    @property
    def coverage(self) -> float:
        """Share of the query's weight that its words match."""
        return self.features[0] if self.features else 0.0


class Inspection:
    """A query's look at documents, one after another."""

    def __init__(
        self,
        index: RecallIndex,
        names: Names,
        admitted: Admitted,
        standing: Standing,
        question: ResolvedQuestion,
        aim: Aim,
        constants: Calibration,
        time: AskedTime,
    ) -> None:
        self._probability = constants.probability
        self._index = index
        self._names = names
        self._named = names.named
        self._admitted = admitted
        self._standing = standing
        self._question = question
        self._words_of_all = time.words_of_all if time.is_asked else index.words_of_all
        self._aim = aim
        self._rival: float | None = None  # not known yet
        self.is_below: IsBelow | None = None  #: documents without a name that it tells of are not looked at any closer
        self.least_ratio = 0.0  #: nor those that score less

    def at(self, chosen: Sequence[Hit], hits: Sequence[Hit]) -> list[Candidate]:
        """Return what is known of the *chosen* of all *hits* that score at all."""
        best = hits[0].score if hits else 1.0
        question, named, names_stand = self._question, self._named, self._standing.names
        is_below, least_ratio = self.is_below, self.least_ratio
        scored = [hit for hit in chosen if hit.score > 0]
        words_of_all = self._words_of_all([hit.row for hit in scored], question.numbers)
        found: list[Candidate] = []
        for hit, words in zip(scored, words_of_all, strict=True):
            row, _, score, _ = hit
            ratio, has_name = score / best, row in named
            features, relevance = _NOT_LOOKED_AT, 0.0
            if has_name or ratio >= least_ratio:
                matched = match(question, words)
                if has_name or names_stand:
                    found.append(self._beside_names(hit, ratio, words, matched, has_name=has_name))
                    continue
                if is_below is None or not is_below(matched, ratio):
                    features = observe(question, words, matched, made(DocumentContext, (NO_NAMES, -1.0, ratio)))
                    relevance = self._probability(features)
            found.append(made(Candidate, (hit, ratio, False, False, False, features, relevance)))
        return found

    def _beside_names(self, hit: Hit, ratio: float, words: Words, found: Matched, *, has_name: bool) -> Candidate:
        """Return what is known of a document that has a name, or beside which one stands."""
        question, standing, row = self._question, self._standing, hit.row
        stands = row in standing.notes
        mentions = standing.names > 0 and not stands and self._mentions(words)
        if mentions and self._aim == "topic":  # whatever mentions it is wanted, however much else it says
            context = DocumentContext(NO_NAMES, -1.0, 1.0)
        else:
            context = DocumentContext(standing.terms if stands else NO_NAMES, self.rival, ratio)
        if stands:
            found = match(question, words, question.among(context.names))
        features = observe(question, words, found, context)
        named = has_name and self._names.is_named(row, self._admitted)
        return Candidate(hit, ratio, named, stands, mentions, features, self._probability(features))

    def _mentions(self, words: Words) -> bool:
        """Whether a document holds all words of a name that stands, or of two if several do."""
        held = sum(holds_all(self._question, name, words.own) for name in {*self._standing.notes.values()})
        return held >= min(2, self._standing.names)

    @property
    def rival(self) -> float:
        """The best coverage of a document whose name stands; -1 if no name does."""
        if self._rival is None:
            self._rival = self._best_standing() if self._standing.notes else -1.0
        return self._rival

    def _best_standing(self) -> float:
        context = DocumentContext(self._standing.terms, -1.0, 1.0)
        asked = self._question.numbers
        names = self._question.among(context.names)
        best = -1.0
        for said in self._words_of_all(self._standing.notes, asked):
            words = said._replace(previous=frozenset())
            best = max(best, observe(self._question, words, match(self._question, words, names), context)[0])
        return best
