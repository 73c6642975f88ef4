"""One query against the index: scoring of all that its terms reach, or in two stages if that is much."""

from collections.abc import Sequence
from math import log10
from typing import Final

import numpy as np

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.dense import Likeness
from shelfd.memory.recall.analyzer import ParsedQuery
from shelfd.memory.recall.candidates import (
    MEMBERS,
    FirstStage,
    members_of_best_sessions,
    neighbourhood,
    orphans_of,
    surrounded,
)
from shelfd.memory.recall.columns import BoolArray, IntArray
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.document import Hit, Ranked, Ranking, made
from shelfd.memory.recall.engine import MOST_TERMS, Singles, engine
from shelfd.memory.recall.fields import BaseScores, QueryTerms, ScoredDocuments, base_scores
from shelfd.memory.recall.hybrid import STRENGTH, with_likeness
from shelfd.memory.recall.impacts import Impacts
from shelfd.memory.recall.inverted import Numbers
from shelfd.memory.recall.kept_columns import KeptColumns
from shelfd.memory.recall.postings import PostingLists, Run, joined, side_by_side
from shelfd.memory.recall.ranking import EQUAL, Rules, Scored, best_first, final_scores, signals
from shelfd.memory.recall.rarity import rarities
from shelfd.memory.recall.strength import strength

_POSTINGS: Final = 250_000  #: read for one query: about 8 ms
#: Of so many documents all are scored at once, wherever the words of a query are: to look for those that have any, or
#: for the sessions that matter, takes longer (measured); compiled loops look for the former, which changes no result.
_WHOLE: Final = 16_384
#: Unless there are so many times the postings from which on that is looked for on a larger shelf.
_MUCH: Final = 4
#: With this many times more documents than postings, only those that have one and their neighbours are looked at.
_SPARSE: Final = 6
#: A term that more than one document in so many has, or one in so many of a very large shelf, is looked up in those
#: alone that other terms find. The sessions that matter have one of the others, too (measured).
_COMMON: Final = 20
_COMMON_AMONG_MANY: Final = 100
_FEW: Final = 2_000  #: documents do not make a term common
_MANY_DOCUMENTS: Final = 5_000  #: do, if they are one in a hundred
#: Documents that the other terms have to find for that, beside twice those that are wanted.
_ENOUGH: Final = 100
#: The documents that choose which sessions are scored are as many as is said up to this size of a shelf.
_LARGE: Final = 10_000
#: Of one ten times as large so many times as many: the fewest that find, of a million notes, what scoring all finds.
_GROWTH: Final = 1.7
#: From how many times more postings than edges of stretches on these are looked for in them (measured).
_MANY: Final = 20
#: Postings that are looked through as they are.
_LONG: Final = 16_384
#: A shelf of so many documents takes milliseconds to rank, most of them in loops of numpy. On a smaller one, another
#: thread would mostly wait for the interpreter while this one is at work (measured).
_WIDE: Final = 300_000
#: Ordinals apart that belong to two stretches.
_GAP: Final = 64
_NOBODY: Final = np.zeros(0, np.int32)
_NO_ORDINALS: Final = np.zeros(0, np.int64)


class Search:
    """Ranks documents for queries; changes nothing but its own scratch memory.

    Ranking goes by what is on the shelf. The best document has the score that it has by itself, see
    :func:`~shelfd.memory.recall.strength.strength`, and the others have the same share of it as of its rank value.
    """

    def __init__(self, contents: Contents, language: str, two_stage_from: int, candidates: int) -> None:
        self._contents = contents
        self._language = language
        self._two_stage_from = two_stage_from
        self._candidates = candidates
        self._impacts = Impacts(contents)
        self._kept = KeptColumns(contents)
        # By ordinal, and zero everywhere between queries: the place in the view, and what the first stage adds up.
        self._place: Numbers = np.zeros(1, np.int32)
        self._own: Singles = np.zeros(1, np.float32)
        self._marks: BoolArray = np.zeros(1, np.bool_)  #: whether it has a place: read faster

    def run(
        self, query: ParsedQuery, filters: NoteFilter, k: int, *, explain: bool, like: Likeness | None = None
    ) -> Ranking:
        """Return the *k* best documents that *filters* admit, by their words and, if that is known, their meaning."""
        contents = self._contents
        engine.look_at(contents.columns.size)
        terms, matched = self._weights(query.terms)
        scored = self._admitted(query, terms, filters, k, explain=explain)
        if like is not None:
            scored = with_likeness(contents, filters, scored, like)
        if scored is None or k <= 0:
            return Ranking([], matched, len(query.terms))
        totals, ordinals = scored.totals, scored.ordinals
        best = best_first(totals, ordinals, contents.columns, k)
        scale = self._scale(query, scored, best.item(0))
        chosen = ordinals.take(best)
        hits = [
            made(Hit, (row, note_id, 0.0 if total <= 0 else 1.0 if total >= 1 else total, {}))
            for row, note_id, total in zip(
                contents.columns.row.take(chosen).tolist(),
                contents.postings.ids_of(chosen.tolist()),
                (totals.total.take(best) * scale).tolist(),
                strict=True,
            )
        ]
        if totals.dense is not None:
            for hit, share in zip(hits, (totals.dense[best] * scale).tolist(), strict=True):
                hit.signals["dense"] = share
        if explain:
            for hit, position in zip(hits, best.tolist(), strict=True):
                hit.signals.update(signals(totals, position, scale))
        return made(Ranking, (hits, matched, len(query.terms)))

    @property
    def is_wide(self) -> bool:
        """Whether ranking may take so long that another thread had better do it, while this one serves others."""
        return self._contents.columns.size >= _WIDE

    def is_long(self, query: ParsedQuery, filters: NoteFilter) -> bool:
        """Return whether ranking what *filters* admit for that query takes so long."""
        if not self.is_wide:
            return False
        contents = self._contents
        if filters.nugget is not None:
            nugget = contents.filtering.nugget(filters.nugget)
            if nugget.end - nugget.first < _WIDE:
                return False
        own, number_of = contents.statistics.own, contents.vocabulary.number_of
        known = [number for term in query.terms if (number := number_of(term)) is not None]
        return sum([own[number] for number in known]) >= self._two_stage_from

    def _scale(self, query: ParsedQuery, scored: Scored, best: int) -> float:
        """Return by what totals become scores, of which the one at the position *best* is the first."""
        if scored.is_alone:
            return 1.0
        value = strength(self._contents, query.terms, rarities(self._language), scored.ordinals.item(best))
        if scored.likeness is not None:
            value = max(value, STRENGTH * float(scored.likeness[best]))
        # The best total is at least about 1: it belongs to a document at or above the one with b = max b.
        return value / float(np.maximum.reduce(scored.totals.total))

    def place(
        self, query: ParsedQuery, filters: NoteFilter, k: int, ordinal: int, like: Likeness | None = None
    ) -> Ranked | None:
        """Return where among the documents that *filters* admit one of them is; None if it is not scored at all."""
        terms, _ = self._weights(query.terms)
        scored = self._admitted(query, terms, filters, k, explain=False)
        if like is not None:
            scored = with_likeness(self._contents, filters, scored, like)
        if scored is None:
            return None
        totals, ordinals = scored.totals, scored.ordinals
        (found,) = (ordinals == ordinal).nonzero()
        if not len(found):
            return None
        total = totals.total[found[0]]
        better = np.count_nonzero(totals.total > total + EQUAL)
        scale = self._scale(query, scored, int(best_first(totals, ordinals, self._contents.columns, 1)[0]))
        return Ranked(min(1.0, max(0.0, float(total) * scale)), int(better) + 1, len(ordinals))

    def _admitted(
        self, query: ParsedQuery, terms: QueryTerms, filters: NoteFilter, k: int, *, explain: bool
    ) -> Scored | None:
        """Score the documents that have any of *terms* and that *filters* admit; None if there are none."""
        contents = self._contents
        if not terms.numbers:
            return None
        rules = made(Rules, (contents.authors.named(query.words), query.asks_when, query.dates, query.wants))
        ordinals, members, base = self._scored(terms, filters, rules, k, explain=explain)
        kept = None
        if ordinals is None:
            passing: BoolArray = base.total > 0
            if contents.columns.size <= _WHOLE and self._kept.are_current():
                passing &= self._kept.admitted(filters)
                kept = self._kept.rule
            else:
                passing &= contents.filtering.admitted(filters, slice(contents.columns.size))
            (reached,) = passing.nonzero()
            ordinals = reached
        else:
            reached = (base.total > 0).nonzero()[0] if members is None else members[base.total[members] > 0]
            ordinals = ordinals[reached]
            admitted = contents.filtering.admitted(filters, ordinals)
            if np.count_nonzero(admitted) < len(admitted):
                reached, ordinals = reached[admitted], ordinals[admitted]
        if not len(reached):
            return None
        totals = final_scores(base, reached, ordinals, contents.columns, rules, kept)
        return made(Scored, (totals, ordinals, None, False))

    def _weights(self, terms: tuple[str, ...]) -> tuple[QueryTerms, int]:
        """Return the known terms with their weights, and how many match.

        Of a query so long that its postings are too many, the most common terms count as unknown.
        """
        statistics, number_of = self._contents.statistics, self._contents.vocabulary.number_of
        idfs, in_own, in_previous = statistics.idfs, statistics.own, statistics.previous
        known: list[tuple[int, float, float]] = []
        matched = 0
        for term in terms:
            number = number_of(term)
            if number is not None:
                matched += in_own[number] > 0
                known.append((number, idfs[in_own[number]], idfs[in_previous[number]]))
        known = self._affordable(known)
        numbers, own, previous = zip(*known, strict=True) if known else ((), (), ())
        return made(QueryTerms, (numbers, own, previous, *statistics.averages())), matched

    def _affordable(self, terms: list[tuple[int, float, float]]) -> list[tuple[int, float, float]]:
        """Return *terms*, each a number with its weights, but only the rarest if they have too many postings."""
        if len(terms) * self._contents.columns.size <= _POSTINGS:
            return terms
        sizes = [self._contents.statistics.own[number] for number, _, _ in terms]
        most = max(self._most(), MEMBERS)  # of a common term no more are looked at
        if sum(min(size, most) for size in sizes) <= _POSTINGS:
            return terms
        rarest = sorted(range(len(terms)), key=lambda at: (sizes[at], at))
        total = 0
        kept: list[int] = []
        for at in rarest:
            total += min(sizes[at], most)
            if kept and total > _POSTINGS:
                break
            kept.append(at)
        return [terms[at] for at in sorted(kept)]

    def _scored(
        self, terms: QueryTerms, filters: NoteFilter, rules: Rules, k: int, *, explain: bool
    ) -> tuple[IntArray | None, IntArray | None, BaseScores]:
        """Return documents, which of them (positions) may be returned, both None for all, and the base scores."""
        contents = self._contents
        columns = contents.columns
        is_small = columns.size <= _WHOLE
        most = self._two_stage_from * (_MUCH if is_small else 1)
        is_whole = is_small and engine.loops is None
        if is_whole and filters.nugget is None and not filters.include_hidden and not explain:  # as nearly always
            base = self._impacts.base_scores(terms, most)
            if base is not None:
                return None, None, base
        nugget = None if filters.nugget is None else contents.filtering.nugget(filters.nugget)
        runs = contents.postings.runs(terms.numbers, nugget)
        count = sum([len(run[0]) for some in runs for run in some])
        if count < most:
            orphans = orphans_of(columns, filters)
            found: IntArray = _NO_ORDINALS
            if not is_whole and (nugget is not None or count * _SPARSE <= columns.size):
                found = np.concatenate([_NOBODY, *(run[0] for some in runs for run in some)], dtype=np.int64)
                if nugget is not None:  # what is beside a document is in its nugget, too
                    found = found[columns.nugget[found] == nugget.code]
                    count = len(found)
            if is_whole or count * _SPARSE > columns.size:
                view = ScoredDocuments(columns, columns.size, orphans, None)
                return None, None, self._base(view, np.arange(columns.size), terms, runs, explain=explain)
            members = ordinals = neighbourhood(columns, found, orphans)
        else:
            members, ordinals, orphans = self._members(terms, runs, filters, rules, k)
        self._make_room()
        place = self._place
        try:
            place[ordinals] = np.arange(1, len(ordinals) + 1)
            self._marks[ordinals] = True
            view = ScoredDocuments(columns, len(ordinals), orphans[place[orphans] > 0], place)
            if count > _LONG:
                stretches = _stretches(ordinals)
                runs = [[_narrowed(run, stretches) for run in some] for some in runs]
            base = self._base(view, ordinals, terms, runs, explain=explain)
            return ordinals, None if members is ordinals else place[members].astype(np.int64) - 1, base
        finally:
            place[ordinals], self._marks[ordinals] = 0, False

    def _members(
        self, terms: QueryTerms, runs: Sequence[Sequence[Run]], filters: NoteFilter, rules: Rules, k: int
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Return the documents that may be returned, those with all that their scores need, and orphans; ascending."""
        contents = self._contents
        columns = contents.columns
        self._make_room()
        rare, common = self._by_rarity(terms)
        orphans = orphans_of(columns, filters)
        stage = FirstStage(contents, filters, terms, self._own)
        try:
            stage.add(rare, runs)
            while common and not stage.admits(_ENOUGH + 2 * k):
                stage.add(common[:1], runs)
                del common[0]
            reached = stage.reached()
            limit = self._limit(len(terms.numbers), k)
            if len(reached) > 2 * limit:
                members = members_of_best_sessions(contents, stage, self._own, orphans, rules, limit)
            else:
                members = neighbourhood(columns, reached, orphans)
        finally:
            stage.clear()
        if not common:  # documents outside have no terms
            return members, members, orphans
        return members, surrounded(columns, members), orphans

    def _limit(self, terms: int, k: int) -> int:
        """Return how many documents choose the sessions to be scored: more on a larger shelf."""
        growth: float = max(1.0, self._contents.columns.size / _LARGE) ** log10(_GROWTH)
        return min(max(round(self._candidates * growth * terms / 2), 2 * k, 1), MEMBERS)

    def _by_rarity(self, terms: QueryTerms) -> tuple[list[int], list[int]]:
        """Return the positions of the *terms* that are not common, and of those that are; of both the rarest first."""
        frequencies = [self._contents.statistics.own[number] for number in terms.numbers]
        order = sorted(range(len(frequencies)), key=lambda at: (frequencies[at], at))
        most = self._most()
        return (
            [at for at in order if frequencies[at] <= most],
            [at for at in order if frequencies[at] > most],
        )

    def _most(self) -> int:
        """Return how many documents have a term at most that is not common."""
        size = self._contents.columns.size
        return max(min(size // _COMMON, _MANY_DOCUMENTS), size // _COMMON_AMONG_MANY, _FEW)

    def _base(
        self,
        view: ScoredDocuments,
        ordinals: IntArray,
        terms: QueryTerms,
        runs: Sequence[Sequence[Run]],
        *,
        explain: bool,
    ) -> BaseScores:
        """Return the base scores of the documents in *view*, *ordinals*; *runs* may have postings of others, too."""
        loops = engine.loops
        if loops is not None and not explain and len(terms.numbers) <= MOST_TERMS:
            idf = np.array(terms.own_idf), np.array(terms.previous_idf)
            averages = terms.own_average, terms.previous_average
            found = loops.base_totals(side_by_side(runs), ordinals, view.place, view.columns, idf, averages)
            return BaseScores(found, {})
        postings = joined(runs) if view.place is None else self._placed(runs)
        return base_scores(view, terms, postings, explain=explain)

    def _placed(self, runs: Sequence[Sequence[Run]]) -> PostingLists:
        """Return the postings of the documents that have a place: of all runs at once, for there are tens."""
        documents, counts, ends = side_by_side(runs)
        (at,) = self._marks.take(documents).nonzero()
        return documents[at].astype(np.int64), ends.searchsorted(at, "right"), counts[at].astype(np.float64)

    def _make_room(self) -> None:
        # One slot more than ordinals: the pointer -1 reads the last one.
        if len(self._place) <= self._contents.columns.size:
            self._place = np.zeros(2 * self._contents.columns.size + 1, np.int32)
            self._own = np.zeros(2 * self._contents.columns.size + 1, np.float32)
            self._marks = np.zeros(2 * self._contents.columns.size + 1, np.bool_)


def _stretches(ordinals: IntArray) -> Numbers:
    """Return where each stretch of *ordinals*, ascending, begins and ends: those of a session are near each other."""
    if not len(ordinals):
        return _NOBODY
    (gaps,) = (np.diff(ordinals) > _GAP).nonzero()
    ends = np.empty(2 * len(gaps) + 2, np.int32)
    ends[0], ends[-1] = ordinals[0], ordinals[-1]
    ends[1:-1:2], ends[2:-1:2] = ordinals[gaps], ordinals[gaps + 1]
    ends[1::2] += 1
    return ends


def _narrowed(run: Run, stretches: Numbers) -> Run:
    """Return the postings in a *run* of the documents in *stretches*; of a run that is not much longer, all."""
    documents, counts = run
    if len(documents) <= _MANY * len(stretches):
        return run
    edges = documents.searchsorted(stretches)
    begin, end = edges[::2], edges[1::2]
    sizes = end - begin
    at = np.repeat(end - sizes.cumsum(), sizes)
    at += np.arange(len(at))
    return documents[at], counts[at]
