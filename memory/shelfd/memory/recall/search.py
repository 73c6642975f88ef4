"""One query against the index: scoring of the whole shelf, or in two stages if it is large."""

from typing import Final

import numpy as np

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.recall.analyzer import ParsedQuery
from shelfd.memory.recall.candidates import MEMBERS, members_of_best_sessions, orphans_of
from shelfd.memory.recall.columns import IntArray
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.document import Hit, Ranking
from shelfd.memory.recall.fields import PREVIOUS, Matches, QueryTerms, View, base_scores, view_of
from shelfd.memory.recall.ranking import Rules, best_first, final_scores, signals

_POSTINGS: Final = 250_000  #: read for one query: about 8 ms


class Search:
    """Ranks documents for queries; changes nothing but its own scratch memory."""

    def __init__(self, contents: Contents, candidates: int) -> None:
        self._contents = contents
        self._candidates = candidates
        self._place = np.full(1, -1)  # position in the view by ordinal; -1 everywhere between queries

    def run(self, query: ParsedQuery, filters: NoteFilter, k: int, *, two_stage: bool, explain: bool) -> Ranking:
        """Return the *k* best documents that *filters* admit."""
        contents = self._contents
        terms, ceiling, matched = self._weights(query.terms)
        nothing = Ranking([], 0.0, matched, len(query.terms))
        if not terms.numbers:
            return nothing
        rules = Rules(contents.authors.named(query.words), query.asks_when, query.dates)
        view, matches = self._view(terms, filters, rules, k, two_stage=two_stage)
        base = base_scores(view, terms, matches)
        reached = np.flatnonzero(base.total > 0)
        eligible = reached[contents.filtering.admitted(filters, view.ordinals[reached])]
        if not len(eligible):
            return nothing
        totals = final_scores(base, eligible, view.ordinals, contents.columns, rules)
        strength = min(1.0, float(base.total[eligible].max()) / ceiling)
        # The best total is at least about 1: it belongs to a document at or above the one with b = max b.
        scale = strength / float(totals.total.max())
        hits = []
        for position in best_first(totals, contents.columns.row[view.ordinals[eligible]], k):
            ordinal = int(view.ordinals[eligible[position]])
            score = min(1.0, max(0.0, float(totals.total[position]) * scale))
            parts = signals(totals, position, scale) if explain else {}
            hits.append(Hit(int(contents.columns.row[ordinal]), contents.ids[ordinal], score, parts))
        return Ranking(hits, strength, matched, len(query.terms))

    def _weights(self, terms: tuple[str, ...]) -> tuple[QueryTerms, float, int]:
        """Return the known terms with their weights, the ceiling of the base score, and how many match.

        Unknown terms count in the ceiling: a query that is mostly unknown is answered weakly. Of a query so long
        that its postings are too many, the most common terms count as unknown.
        """
        statistics = self._contents.statistics
        known: list[tuple[int, float, float]] = []
        ceiling, matched = 0.0, 0
        for term in terms:
            number = self._contents.vocabulary.number(term)
            in_own = statistics.own[number] if number is not None else 0
            in_previous = statistics.previous[number] if number is not None else 0
            own_idf, previous_idf = statistics.idf(in_own), statistics.idf(in_previous)
            ceiling += own_idf + PREVIOUS * previous_idf
            matched += in_own > 0
            if number is not None:
                known.append((number, own_idf, previous_idf))
        known = self._affordable(known)
        own, previous = np.array([weights[1] for weights in known]), np.array([weights[2] for weights in known])
        return QueryTerms([term[0] for term in known], own, previous, *statistics.averages()), ceiling, matched

    def _affordable(self, terms: list[tuple[int, float, float]]) -> list[tuple[int, float, float]]:
        """Return *terms*, each a number with its weights, but only the rarest if they have too many postings."""
        sizes = [self._contents.postings.size(number) for number, _, _ in terms]
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

    def _view(
        self, terms: QueryTerms, filters: NoteFilter, rules: Rules, k: int, *, two_stage: bool
    ) -> tuple[View, Matches]:
        contents = self._contents
        columns = contents.columns
        postings = contents.postings.lookup(terms.numbers)
        orphans = orphans_of(columns, filters)
        if not two_stage:
            return view_of(columns, np.arange(columns.size), None, orphans), Matches(*postings)
        limit = min(max(self._candidates * len(terms.numbers) // 2, 2 * k, 1), MEMBERS)
        members = members_of_best_sessions(contents, filters, terms, postings, rules, limit)
        place = self._scratch()
        try:
            place[members] = np.arange(len(members))
            positions = place[postings[0]]
            inside = np.flatnonzero(positions >= 0)
            matches = Matches(positions[inside], postings[1][inside], postings[2][inside])
            hidden = place[orphans]
            return view_of(columns, members, place, hidden[hidden >= 0]), matches
        finally:
            place[members] = -1

    def _scratch(self) -> IntArray:
        # One slot more than ordinals: the pointer -1 reads the last one.
        if len(self._place) <= self._contents.columns.size:
            self._place = np.full(2 * self._contents.columns.size + 1, -1)
        return self._place
