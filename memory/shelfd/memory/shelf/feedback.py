"""Feedback at work: how much callers' opinions of earlier results speak for a note when a similar query is asked."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final
from zlib import crc32

from shelfd.memory.ports.feedback import Feedback
from shelfd.memory.ports.projection import PurgedNote
from shelfd.memory.ports.view import View

#: Opinions kept in a shelf, the latest.
KEPT: Final = 10_000
#: Two queries are similar if they share at least this part of all their terms.
_SIMILAR: Final = 0.5
#: Read without yielding to other tasks: about a millisecond.
_SLICE: Final = 256
_NOTHING: Final[Mapping[int, float]] = {}


def hashes_of(terms: Collection[str]) -> tuple[int, ...]:
    """Return by what feedback knows a query of these index terms."""
    return tuple(sorted({crc32(term.encode("utf-8", "surrogatepass")) for term in terms}))


class QueryFeedback:
    """All feedback of an open shelf."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._by_term: defaultdict[int, dict[tuple[tuple[int, ...], int], bool]] = defaultdict(dict)
        self._terms_of_note: defaultdict[int, set[tuple[int, ...]]] = defaultdict(set)

    def __bool__(self) -> bool:
        return bool(self._by_term)

    async def read(self) -> None:
        """Read what is stored, a little at a time."""
        after: int | None = 0
        while after is not None:
            some, after = self._view.feedback.page(after=after, limit=_SLICE)
            for one in some:
                self.add(one)
            await asyncio.sleep(0)

    def add(self, feedback: Feedback) -> None:
        """Count an opinion; a later one on the same note for the same terms replaces it."""
        terms, note, useful, _ = feedback
        for term in terms:
            self._by_term[term][terms, note] = useful
        self._terms_of_note[note].add(terms)

    def remove(self, terms: tuple[int, ...], note: int) -> None:
        """Count an opinion no more; an unknown one is no error."""
        for term in terms:
            self._by_term[term].pop((terms, note), None)
            if not self._by_term[term]:
                del self._by_term[term]
        known = self._terms_of_note.get(note)
        if known is not None:
            known.discard(terms)
            if not known:
                del self._terms_of_note[note]

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Forget what was said of these notes."""
        for row, _ in purged:
            for terms in tuple(self._terms_of_note.get(row, ())):
                self.remove(terms, row)

    def of(self, terms: Collection[str]) -> Mapping[int, float]:
        """Return by row of note what speaks for it when these index terms are asked: -1, against it, to 1.

        Opinions on similar queries count as much as the queries share of all their terms, and add up.
        """
        if not self._by_term or not terms:
            return _NOTHING
        asked = hashes_of(terms)
        shared: defaultdict[tuple[tuple[int, ...], int], int] = defaultdict(int)
        said: dict[tuple[tuple[int, ...], int], bool] = {}
        for term in asked:
            if term in self._by_term:
                for key, useful in self._by_term[term].items():
                    shared[key] += 1
                    said[key] = useful
        found: defaultdict[int, float] = defaultdict(float)
        for (other, note), count in shared.items():
            similarity = count / (len(asked) + len(other) - count)
            if similarity >= _SIMILAR:
                found[note] += similarity if said[other, note] else -similarity
        return {note: max(-1.0, min(1.0, opinion)) for note, opinion in found.items() if opinion}
