"""What terms add to the scores of a small shelf's documents, kept for as long as none of these changes.

Questions have many of their words in common: what is known of one is added up in less than a third of the time that it
takes to work it out. Kept are numbers of terms and documents, and weights, but no word.
"""

from typing import Final

import numpy as np

from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.document import made
from shelfd.memory.recall.fields import (
    MOST_TOGETHER,
    Added,
    BaseScores,
    QueryTerms,
    ScoredDocuments,
    added_by,
    base_scores,
    total,
)

_BYTES: Final = 1 << 23  #: kept at most: of some 100,000 postings
_NO_ORPHANS: Final = np.zeros(0, np.int64)


class Impacts:
    """Gives the base scores of all documents, of queries that may return no hidden one."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._revision = -1  # of the contents that all is from
        self._kept: dict[int, Added] = {}  # by number of the term
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
        lacking = [at for at, added in enumerate(known) if added is None]
        count = sum([len(added.here) for added in known if added is not None])
        size = contents.columns.size
        if lacking:
            view = ScoredDocuments(contents.columns, size, _NO_ORPHANS, None)
            postings = contents.postings.lookup([numbers[at] for at in lacking])
            if count + len(postings[0]) >= most:
                return None
            if is_first:  # where something is written between any two queries nothing is worth keeping
                return base_scores(view, terms, postings, explain=False)
            for at, added in zip(lacking, added_by(view, terms.only(lacking), postings), strict=True):
                known[at] = added
                self._keep(numbers[at], added)
        elif count >= most:
            return None
        return made(BaseScores, (total(size, [added for added in known if added is not None]), {}))

    def _keep(self, number: int, added: Added) -> None:
        size = sum([each.nbytes for each in added])
        if self._bytes + size > _BYTES:
            self._forget()
        self._kept[number] = added
        self._bytes += size

    def _forget(self) -> None:
        self._kept.clear()
        self._bytes = 0
