"""Say only what is known: the stage after ranking that cuts what is clearly not meant and marks what is relevant.

Ranking shows which documents are best, never that none is meant, or just this one. Names do: a document whose name
stands in the query is meant, one with another name is not, unless it covers more of the query. Documents without a
name are never cut.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.ports.dense import Likeness
from shelfd.memory.recall.ahead import NOTHING_AHEAD, Ahead, RankedFor
from shelfd.memory.recall.analyzer import ParsedQuery
from shelfd.memory.recall.asked_time import AskedTime
from shelfd.memory.recall.chance import COMPARED, FEW, rivals
from shelfd.memory.recall.document import Hit, Ranked, made
from shelfd.memory.recall.index import RecallIndex
from shelfd.memory.recall.inspection import NO_NAMES, Aim, Candidate, Inspection
from shelfd.memory.recall.names import NONE_STANDS, Admitted, Names, named_first
from shelfd.memory.recall.passages import PassageJudge
from shelfd.memory.recall.question import AskedTerm, Question, Questions, reduced
from shelfd.memory.recall.relevance import (
    TERMS,
    Calibration,
    DocumentContext,
    RelatedTerms,
    ResolvedQuestion,
    calibration,
    match,
    observe,
    resolve,
)

#: Documents looked at beyond those wanted, so that what is cut leaves no hole.
_SPARE: Final = 16
#: If no name stands, a named document is kept from this coverage and this share of the best score on. These three
#: change little over a wide range (measured).
_LEAST_COVERAGE: Final = 0.4
_LEAST_SHARE: Final = 0.7
#: If a name stands, another named document that covers more is kept from this share of the best score on.
_RIVAL_SHARE: Final = 0.8
#: Coverage from which on the best named document is kept when none passes.
_FALLBACK: Final = 0.2


class Judged(NamedTuple):
    """A document that was kept, and what is thought of it."""

    hit: Hit
    coverage: float  #: 0 to 1: share of the query's weight that the document's words match
    relevance: float  #: 0 to 1: how probable it is that the document says what is asked
    relevant: bool  #: whether that is probable enough
    stands: bool = False  #: a name of it stands in the query


class Cut(NamedTuple):
    """A document that ranking has among the best and that is clearly not meant."""

    hit: Hit
    coverage: float
    reason: Literal["another_name", "little_in_common"]  #: a name stands, and it is another's; or none does
    needed_coverage: float  #: to be kept, together with the score
    needed_score: float


class Focused(NamedTuple):
    """What a query finds."""

    found: list[Judged]  #: best first
    cut: list[Cut]


class Focus:
    """Cuts and judges what an index finds.

    Args:
        index: Ranks.
        names: Of the documents in the index.
        questions: Reads queries; made for the index's language if not given.
        constants: By which it cuts and judges; those that were fitted if none are given.
    """

    def __init__(
        self,
        index: RecallIndex,
        names: Names,
        constants: Calibration | None = None,
        questions: Questions | None = None,
    ) -> None:
        self._index = index
        self._names = names
        self._questions = questions or Questions(index.analyzer)
        self._related = RelatedTerms(index, self._questions.related_to)
        self._constants = constants or calibration()
        self._bound = self._constants.bound()
        self._least_ratio = self._bound.least_ratio
        self._no_time = AskedTime(index, index.analyzer.parse_query(""), 0)
        # The last query: one that is ranked in another thread is read before and after.
        self._last: tuple[str, tuple[ParsedQuery, Question]] | None = None

    def place(self, query: str, filters: NoteFilter, k: int, row: int, like: Likeness | None = None) -> Ranked | None:
        """Return where ranking has a document, before anything is cut; None if it has it nowhere."""
        return self._index.place(self._parsed(query)[0], filters, k, row, like)

    def _parsed(self, query: str) -> tuple[ParsedQuery, Question]:
        if self._last is None or self._last[0] != query:
            parsed = self._index.analyzer.parse_query(query)
            question = self._questions.parse_in(parsed.language, query, parsed.words, parsed.timed)
            self._last = query, (parsed.wanting(question.wants) if question.wants else parsed, question)
        return self._last[1]

    def matched(self, query: str, row: int) -> int:
        """Return how many content words of *query* the document of *row*, or its previous one, has."""
        index = self._index
        question = self._questions.parse(query, index.analyzer.parse_query(query).words)
        resolved = resolve(index, question, self._related)
        words = index.words_of(row, resolved.numbers)
        return len({resolved.found_by[number] & TERMS for number in words.own | words.previous} - {0})

    def says_nothing(self, query: str) -> bool:
        """Return whether *query* has neither a content word nor a name."""
        analyzer = self._index.analyzer
        return not analyzer.has_content(analyzer.words(query)) and not self._has_name(query)

    def going_on(self, query: str, last: str | None) -> str:
        """Return what *query* asks if the *last* one was asked before: "and why?" asks the same as it.

        What begins with a conjunction ("and on which days?") and has no name asks for more of the same.
        """
        if last is None:
            return query
        if self.says_nothing(query):
            return last
        return f"{last} {query}" if self._questions.goes_on(query) and not self._has_name(query) else query

    def _has_name(self, query: str) -> bool:
        return self._names.standing(query, self._admitted(RECALLABLE._replace(include_hidden=True))).names > 0

    def recall(
        self,
        query: str,
        filters: NoteFilter,
        k: int,
        aim: Aim = "answer",
        *,
        explain: bool = False,
        ahead: Ahead = NOTHING_AHEAD,
    ) -> Focused:
        """Return the *k* best documents that are not clearly beside what is asked, judged.

        Args:
            query: A question, key words or a name, in any script.
            filters: Applied before anything is ranked or cut.
            k: At most so many; 0 or less gives none.
            aim: What the query is after.
            explain: Whether hits carry their signals.
            ahead: What is known of the query already.
        """
        best, rival = self.candidates(query, filters, k, aim, explain=explain, ahead=ahead)
        kept = self.kept(best, rival, aim)
        found = self._judged(kept[: max(k, 0)])
        if kept is best:
            return made(Focused, (found, []))
        here = {one.hit.row for one in found}
        reason: Literal["another_name", "little_in_common"] = "another_name" if rival >= 0 else "little_in_common"
        coverage, share = (rival, _RIVAL_SHARE) if rival >= 0 else (_LEAST_COVERAGE, _LEAST_SHARE)
        return Focused(
            found,
            [
                Cut(one.hit, one.coverage, reason, coverage, share * one.hit.score / one.ratio)
                for one in best[: max(k, 0)]
                if one.hit.row not in here
            ],
        )

    def question(self, query: str) -> Question:
        """Return what *query* asks for."""
        return self._questions.parse(query, self._index.analyzer.parse_query(query).words)

    def forms(self, asked: AskedTerm) -> frozenset[str]:
        """Return by which other terms a note may say it: those listed, the one it makes with the next, and reduced."""
        if asked.joined is None:
            return frozenset()
        return self._questions.listed(asked.term) | {asked.joined} | reduced(asked.term)

    def resolve(self, question: Question) -> ResolvedQuestion:
        """Return a *question* as the index knows it now."""
        return resolve(self._index, question, self._related)

    def relevance_of(self, row: int, filters: NoteFilter) -> Callable[[str, ResolvedQuestion], float]:
        """Return what tells how relevant a document is to a query, if no other one is better; 0 if it is not.

        It is good until the index changes. Its arguments are a query, and the same resolved, which may be somewhat out
        of date.

        Args:
            row: Of a document in the index.
            filters: Which notes count as having the same name.
        """
        has_name, words_among = row in self._names, self._index.words_among(row)
        for_question, constants = self._bound.for_question, self._constants
        alone = made(DocumentContext, (NO_NAMES, -1.0, 1.0))

        def relevance(query: str, question: ResolvedQuestion) -> float:
            if has_name or question.runs:
                return self._relevance_of_named(query, question, row, filters)
            words = words_among(question.numbers)  # as of most: the same, without what only names need
            found = match(question, words)
            if for_question(question)(found, 1.0):
                return 0.0
            probable = constants.probability(observe(question, words, found, alone))
            return probable if probable >= constants.threshold else 0.0

        return relevance

    def _relevance_of_named(self, query: str, question: ResolvedQuestion, row: int, filters: NoteFilter) -> float:
        admitted = self._admitted(filters)
        standing = self._names.standing(query, admitted) if row in self._names else NONE_STANDS
        aim: Aim = "answer"
        look = Inspection(self._index, self._names, admitted, standing, question, aim, self._constants, self._no_time)
        if not question.runs:
            look.is_below, look.least_ratio = self._bound.for_question(question), self._least_ratio
        hit = Hit(row, "", 1.0, {})
        kept = self.kept(look.at([hit], [hit]), look.rival, aim)
        return kept[0].relevance if kept and kept[0].relevance >= self._constants.threshold else 0.0

    def passages(self, query: str) -> PassageJudge:
        """Return what judges parts of notes by *query*."""
        question = self._questions.parse(query, self._index.analyzer.parse_query(query).words)
        return PassageJudge(self._index, resolve(self._index, question, self._related), self._constants)

    def candidates(
        self,
        query: str,
        filters: NoteFilter,
        k: int,
        aim: Aim = "answer",
        *,
        explain: bool = False,
        ahead: Ahead = NOTHING_AHEAD,
    ) -> tuple[list[Candidate], float]:
        """Return the best documents for *query*, and the best coverage of one whose name stands, -1 if none does.

        If one of the best *k* is cut, there are a few more.
        """
        index = self._index
        parsed, question = self._parsed(query)
        time = AskedTime(index, parsed, filters.now)
        question = time.asked_by(question)
        admitted = self._admitted(filters)
        standing = self._names.standing(query, admitted)
        if aim != "all" and not question.terms and not standing.names:
            return [], -1.0
        hits = self._hits(parsed, filters, self._ranked(k), explain, ahead)
        if standing.notes and hits and aim != "all" and standing.terms.issuperset(one.term for one in question.terms):
            hits = named_first(hits, standing.notes, index.id_of, explain=explain)
        resolved = resolve(index, question, self._related)
        look = Inspection(index, self._names, admitted, standing, resolved, aim, self._constants, time)
        if not explain and aim != "topic" and not resolved.runs:
            look.is_below, look.least_ratio = self._bound.for_question(resolved), self._least_ratio
        best = look.at(hits[:k], hits)
        if len(hits) > k and len(self.kept(best, look.rival, aim)) < len(best):
            best += look.at(hits[k:], hits)
        if aim != "topic":  # of which many notes speak
            self._share(best, look.at(hits[len(best) : COMPARED], hits))
        return best, look.rival

    def scan(
        self, query: str, filters: NoteFilter, k: int, *, explain: bool = False, like: Likeness | None = None
    ) -> Callable[[], Ahead] | None:
        """Return what ranks for :meth:`recall` in another thread; None if that takes less than to hand it over."""
        asked = RankedFor(self._parsed(query)[0], filters, self._ranked(k), explain)
        ranked = self._index.scan(asked.query, filters, asked.most, explain=explain, like=like)
        return ranked and (lambda: Ahead(like, asked, ranked()))

    def _ranked(self, k: int) -> int:
        """Return how many documents are ranked if *k* are wanted."""
        return max(k + _SPARE if len(self._names) else k, COMPARED) if k > 0 else k

    def _hits(self, parsed: ParsedQuery, filters: NoteFilter, most: int, explain: bool, ahead: Ahead) -> list[Hit]:
        if ahead.ranking is None or ahead.ranked_for != (parsed, filters, most, explain):
            return self._index.rank(parsed, filters, most, explain=explain, like=ahead.like).hits
        return [hit for hit in ahead.ranking.hits if hit.row in self._index]  # some may be gone since

    def _share(self, best: list[Candidate], others: Sequence[Candidate]) -> None:
        """Let the *best* candidates that are as good as many share their probability, with *others*, too."""
        threshold = self._constants.threshold
        likely = [one for one in (*best[:COMPARED], *others) if one.relevance >= threshold]
        if len(likely) <= FEW:  # nearly always
            return
        shared = rivals([(one.features, self._index.session_of(one.hit.row)) for one in likely])
        of_row = {one.hit.row: count for one, count in zip(likely, shared, strict=True) if count}
        for at, one in enumerate(best):
            if one.hit.row in of_row:
                best[at] = one._replace(relevance=one.relevance / (1 + of_row[one.hit.row]))

    def kept(self, best: Sequence[Candidate], rival: float, aim: Aim = "answer") -> Sequence[Candidate]:
        """Return which of the *best* candidates are not clearly beside what is asked; *rival* as in candidates."""
        if aim == "all" or True not in [one.named for one in best]:
            return best
        if rival >= 0:
            many = aim == "topic" or sum(one.stands for one in best) > 1
            return [
                one for one in best
                if not one.named or one.stands or (many and one.mentions)
                or (one.coverage > rival and one.ratio >= _RIVAL_SHARE)
            ]  # fmt: skip
        passing = [
            one for one in best
            if one.named and one.coverage >= _LEAST_COVERAGE and one.ratio >= _LEAST_SHARE
        ]  # fmt: skip
        if not passing:
            passing = [one for one in best if one.named][:1]
            passing = [one for one in passing if one.coverage >= _FALLBACK]
        return [one for one in best if not one.named or one in passing]

    def _judged(self, candidates: Sequence[Candidate]) -> list[Judged]:
        threshold = self._constants.threshold
        return [
            made(Judged, (hit, features[0] if features else 0.0, relevance, relevance >= threshold, stands))
            for hit, _, _, stands, _, features, relevance in candidates
        ]

    def _admitted(self, filters: NoteFilter) -> Admitted:
        return lambda rows: self._index.admitted(rows, filters)
