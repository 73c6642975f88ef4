"""What terms add to the scores of a small shelf's documents, kept for as long as none of these changes.

Questions have many of their words in common: what is known of one is added up in less than a third of the time that it
takes to work it out. Kept are numbers of terms and documents, and weights, but no word.
"""

from typing import Final

import numpy as np

from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.fields import (
    MOST_TOGETHER,
    BaseScores,
    Impact,
    QueryTerms,
    ScoredDocuments,
    base_scores,
    impacts_of,
    total,
)

_BYTES: Final = 1 << 23  #: kept at most: of some 100,000 postings
_NO_ORPHANS: Final = np.zeros(0, np.int64)


class Impacts:
    """Gives the base scores of all documents, of queries that may return no hidden one."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._revision = -1  # of the contents that all is from
        self._kept: dict[int, Impact] = {}  # by number of the term
        self._bytes = 0

    def base_scores(self, terms: QueryTerms, most: int) -> BaseScores | None:
        """Return b for every document; None if the *terms* have *most* postings or more, or are too many."""
        contents, numbers = self._contents, terms.numbers
        if len(numbers) > MOST_TOGETHER:
            return None
        is_first = self._revision != contents.revision
        if is_first:
            self._forget()
            self._revision = contents.revision
        known = list(map(self._kept.get, numbers))
        lacking = [at for at, impact in enumerate(known) if impact is None]
        count = sum([len(impact.here) for impact in known if impact is not None])
        size = contents.columns.size
        if lacking:
            view = ScoredDocuments(contents.columns, size, _NO_ORPHANS, None)
            postings = contents.postings.lookup([numbers[at] for at in lacking])
            if count + len(postings[0]) >= most:
                return None
            if is_first:  # where something is written between any two queries nothing is worth keeping
                return base_scores(view, terms, postings, explain=False)
            for at, impact in zip(lacking, impacts_of(view, terms.only(lacking), postings), strict=True):
                known[at] = impact
                self._keep(numbers[at], impact)
        elif count >= most:
            return None
        return BaseScores(total(size, [impact for impact in known if impact is not None]), {})

    def _keep(self, number: int, impact: Impact) -> None:
        size = sum([each.nbytes for each in impact])
        if self._bytes + size > _BYTES:
            self._forget()
        self._kept[number] = impact
        self._bytes += size

    def _forget(self) -> None:
        self._kept.clear()
        self._bytes = 0
