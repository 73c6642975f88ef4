"""One query against the index: scoring of all that its terms reach, or in two stages if that is much."""

from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.dense import Likeness
from shelfd.memory.recall.analyzer import ParsedQuery
from shelfd.memory.recall.candidates import MEMBERS, members_of_best_sessions, neighbourhood, orphans_of
from shelfd.memory.recall.columns import IntArray
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.document import Hit, Ranked, Ranking
from shelfd.memory.recall.fields import PREVIOUS, BaseScores, QueryTerms, ScoredDocuments, base_scores
from shelfd.memory.recall.hybrid import with_likeness
from shelfd.memory.recall.ranking import EQUAL, Rules, Scored, best_first, final_scores, signals

_POSTINGS: Final = 250_000  #: read for one query: about 8 ms
#: With this many times more documents than postings, only those that have one and their neighbours are looked at.
_SPARSE: Final = 6


class Search:
    """Ranks documents for queries; changes nothing but its own scratch memory."""

    def __init__(self, contents: Contents, two_stage_from: int, candidates: int) -> None:
        self._contents = contents
        self._two_stage_from = two_stage_from
        self._candidates = candidates
        self._place = np.zeros(1, np.int64)  # place in the view by ordinal; 0 everywhere between queries

    def run(
        self, query: ParsedQuery, filters: NoteFilter, k: int, *, explain: bool, like: Likeness | None = None
    ) -> Ranking:
        """Return the *k* best documents that *filters* admit, by their words and, if that is known, their meaning."""
        contents = self._contents
        terms, ceiling, matched = self._weights(query.terms)
        scored = self._admitted(query, terms, ceiling, filters, k, explain=explain)
        if like is not None:
            scored = with_likeness(contents, filters, scored, like)
        if scored is None:
            return Ranking([], 0.0, matched, len(query.terms))
        totals, ordinals, scale, strength = scored
        best = best_first(totals, ordinals, contents.columns, k)
        hits = [
            Hit(row, contents.postings.id_of(ordinal), min(1.0, max(0.0, total * scale)), {})
            for row, ordinal, total in zip(
                contents.columns.row[ordinals[best]].tolist(),
                ordinals[best].tolist(),
                totals.total[best].tolist(),
                strict=True,
            )
        ]
        if totals.dense is not None:
            for hit, share in zip(hits, (totals.dense[best] * scale).tolist(), strict=True):
                hit.signals["dense"] = share
        if explain:
            for hit, position in zip(hits, best.tolist(), strict=True):
                hit.signals.update(signals(totals, position, scale))
        return Ranking(hits, strength, matched, len(query.terms))

    def place(
        self, query: ParsedQuery, filters: NoteFilter, k: int, ordinal: int, like: Likeness | None = None
    ) -> Ranked | None:
        """Return where among the documents that *filters* admit one of them is; None if it is not scored at all."""
        terms, ceiling, _ = self._weights(query.terms)
        scored = self._admitted(query, terms, ceiling, filters, k, explain=False)
        if like is not None:
            scored = with_likeness(self._contents, filters, scored, like)
        if scored is None:
            return None
        totals, ordinals, scale, _ = scored
        (found,) = (ordinals == ordinal).nonzero()
        if not len(found):
            return None
        total = totals.total[found[0]]
        better = np.count_nonzero(totals.total > total + EQUAL)
        return Ranked(min(1.0, max(0.0, float(total) * scale)), int(better) + 1, len(ordinals))

    def _admitted(
        self, query: ParsedQuery, terms: QueryTerms, ceiling: float, filters: NoteFilter, k: int, *, explain: bool
    ) -> Scored | None:
        """Score the documents that have any of *terms* and that *filters* admit; None if there are none."""
        contents = self._contents
        if not terms.numbers:
            return None
        rules = Rules(contents.authors.named(query.words), query.asks_when, query.dates)
        members, base = self._scored(terms, filters, rules, k, explain=explain)
        (reached,) = (base.total > 0).nonzero()
        ordinals = reached if members is None else members[reached]
        admitted = contents.filtering.admitted(filters, ordinals)
        if np.count_nonzero(admitted) < len(admitted):
            reached, ordinals = reached[admitted], ordinals[admitted]
        if not len(reached):
            return None
        totals = final_scores(base, reached, ordinals, contents.columns, rules)
        strength = min(1.0, totals.best / ceiling)
        # The best total is at least about 1: it belongs to a document at or above the one with b = max b.
        return Scored(totals, ordinals, strength / float(totals.total.max()), strength)

    def _weights(self, terms: tuple[str, ...]) -> tuple[QueryTerms, float, int]:
        """Return the known terms with their weights, the ceiling of the base score, and how many match.

        Unknown terms count in the ceiling: a query that is mostly unknown is answered weakly. Of a query so long
        that its postings are too many, the most common terms count as unknown.
        """
        statistics, number_of = self._contents.statistics, self._contents.vocabulary.number
        known: list[tuple[int, float, float]] = []
        ceiling, matched = 0.0, 0
        for term in terms:
            number = number_of(term)
            in_own, in_previous = (0, 0) if number is None else (statistics.own[number], statistics.previous[number])
            own_idf, previous_idf = statistics.idf(in_own), statistics.idf(in_previous)
            ceiling += own_idf + PREVIOUS * previous_idf
            matched += in_own > 0
            if number is not None:
                known.append((number, own_idf, previous_idf))
        known = self._affordable(known)
        numbers, own, previous = zip(*known, strict=True) if known else ((), (), ())
        return QueryTerms(numbers, np.array(own), np.array(previous), *statistics.averages()), ceiling, matched

    def _affordable(self, terms: list[tuple[int, float, float]]) -> list[tuple[int, float, float]]:
        """Return *terms*, each a number with its weights, but only the rarest if they have too many postings."""
        if len(terms) * self._contents.columns.size <= _POSTINGS:
            return terms
        sizes = self._contents.postings.sizes([number for number, _, _ in terms])
        if sum(sizes) <= _POSTINGS:
            return terms
        rarest = sorted(range(len(terms)), key=lambda at: (sizes[at], at))
        total = 0
        kept: list[int] = []
        for at in rarest:
            total += sizes[at]
            if kept and total > _POSTINGS:
                break
            kept.append(at)
        return [terms[at] for at in sorted(kept)]

    def _scored(
        self, terms: QueryTerms, filters: NoteFilter, rules: Rules, k: int, *, explain: bool
    ) -> tuple[IntArray | None, BaseScores]:
        """Return the documents scored, ``None`` for all of them, and their base scores."""
        contents = self._contents
        columns = contents.columns
        postings = contents.postings.lookup(terms.numbers)
        if filters.nugget is not None:  # what is beside a document is in its nugget, too
            code = contents.filtering.codes("nugget").get(filters.nugget, -1)
            (inside,) = (columns.nugget[postings[0]] == code).nonzero()
            postings = (postings[0][inside], postings[1][inside], postings[2][inside])
        orphans = orphans_of(columns, filters)
        if len(postings[0]) >= self._two_stage_from:
            limit = min(max(self._candidates * len(terms.numbers) // 2, 2 * k, 1), MEMBERS)
            members = members_of_best_sessions(contents, filters, terms, postings, rules, limit)
        elif len(postings[0]) * _SPARSE > columns.size:
            return None, base_scores(
                ScoredDocuments(columns, columns.size, orphans, None), terms, postings, explain=explain
            )
        else:
            members = neighbourhood(columns, postings[0], orphans)
        place = self._scratch()
        try:
            place[members] = np.arange(1, len(members) + 1)
            (inside,) = place[postings[0]].nonzero()
            postings = (postings[0][inside], postings[1][inside], postings[2][inside])
            view = ScoredDocuments(columns, len(members), orphans[place[orphans] > 0], place)
            return members, base_scores(view, terms, postings, explain=explain)
        finally:
            place[members] = 0

    def _scratch(self) -> IntArray:
        # One slot more than ordinals: the pointer -1 reads the last one.
        if len(self._place) <= self._contents.columns.size:
            self._place = np.zeros(2 * self._contents.columns.size + 1, np.int64)
        return self._place


_NEAR_POSTINGS: Final = 6_000  #: read for one text


def near(
    contents: Contents, words: AbstractSet[str], filters: NoteFilter, terms: int, missing: int | None
) -> list[str]:
    """Return ids of documents that have the rarest of *words* (index terms); see :meth:`RecallIndex.near`."""
    statistics = contents.statistics
    known = [number for word in words if (number := contents.vocabulary.number(word)) is not None]
    rarest = sorted((statistics.own[number], number) for number in known if statistics.own[number] > 1)[:terms]
    if missing is not None:
        # Terms of one document only are lacking everywhere else.
        missing -= len(words) - sum(statistics.own[number] > 1 for number in known)
    if not rarest or (missing is not None and missing < 0):
        return []
    lists, weights, room = [], [], _NEAR_POSTINGS
    for frequency, number in rarest:
        found = contents.postings.some(number, max(room, 1))
        lists.append(found)
        weights.append(np.full(len(found), statistics.idf(frequency)))
        room -= len(found)
        if room <= 0:
            break
    fewest = 1 if missing is None else max(1, len(lists) - missing)
    ordinals, place, counts = np.unique(np.concatenate(lists), return_inverse=True, return_counts=True)
    enough = np.flatnonzero(counts >= fewest)
    enough = enough[contents.filtering.admitted(filters, ordinals[enough])]
    weight = np.bincount(place, np.concatenate(weights), len(ordinals))[enough]
    best = np.lexsort((contents.columns.row[ordinals[enough]], -weight))
    return [contents.postings.id_of(ordinal) for ordinal in ordinals[enough][best].tolist()]
