"""Standing queries: which of them a changed note enters the results of.

Two steps, for there may be thousands of queries and one note. First the words: of each query that shares some with the
note, how much of its weight that is, for all of them at once. What is left, mostly nothing, is asked as recall would
be, and the note has to be among the best, and relevant.
"""

from array import array
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.log.history import states_after
from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.projection import PurgedNote
from shelfd.memory.ports.watches import Watch
from shelfd.memory.ports.watching import MatchRun, Watching, WatchMatch
from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.document import Document
from shelfd.memory.recall.focus import Aim
from shelfd.memory.recall.intents import is_exploratory
from shelfd.memory.recall.shelf_index import ShelfIndex, document_of
from shelfd.memory.shelf.shelf import Shelf

#: Changes that can bring a note into a result.
_ENTERING: Final = frozenset({"note.created", "note.updated", "note.restored", "note.merged", "note.superseded"})
#: A note enters the results of a query if it is among so many.
_BEST: Final = 10
#: Share of a query's weight that a note's words have, at least, to be looked at closer. None that covers less was
#: relevant among those of ``benchmarks/questions.py``, where half as much again is needed.
_LEAST_COVERAGE: Final = 0.3
#: Standing queries read from the store, or weighed again, without looking at the clock: about a millisecond.
_SOME: Final = 32
#: The shelf has to grow by this factor for its words to be weighed again.
_GROWTH: Final = 1.25


def filters_of_watch(watch: Watch, now: int) -> NoteFilter:
    """Return which notes a standing query looks at."""
    filters = dict(watch.filters)
    tags = tuple(filters.pop("tags", ()))
    return RECALLABLE._replace(nugget=watch.nugget, tags=tags, now=now, **filters)


class _Asked(NamedTuple):
    """A standing query as it is matched."""

    watch: Watch
    terms: tuple[str, ...]
    aim: Aim


class StandingQueries(Watching):
    """All standing queries of an open shelf; read from its rows when the first change is looked at."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._unread: int | None = 0 if shelf.view.watches.count() else None  #: after which to read on; None: all read
        self._asked: list[_Asked | None] = []
        self._free: list[int] = []  #: places of those that were removed
        self._place: dict[str, int] = {}  #: by id
        self._having: dict[str, array[int]] = {}  #: places by term, ascending
        self._weights: npt.NDArray[np.float64] = np.zeros(0)
        self._weighed = 0  #: how many of them stand for the shelf as it is
        self._weighed_at = 0  #: notes it had then
        self._exposed: set[str] = set()  #: words of standing queries that purged notes had
        self._opened_at = shelf.clock.now()

    def __bool__(self) -> bool:
        return self._unread is not None or bool(self._place)

    # ------------------------------------------------------------------ keeping them

    def add(self, watch: Watch) -> None:
        """Match *watch* from now on; one that is known already is no error."""
        if watch.id in self._place or self._unread is not None:
            return  # it will be read
        self._enter(watch)

    def remove(self, watch_id: str) -> None:
        """Match it no more; an unknown one is no error."""
        place = self._place.pop(watch_id, None)
        if place is None:
            return
        asked = self._asked[place]
        assert asked is not None
        self._asked[place] = None
        self._free.append(place)
        for term in asked.terms:
            having = self._having[term]
            having.remove(place)
            if not having:
                del self._having[term]
        if not self._place:
            self._start_over()

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Note which words of standing queries these notes have, before they are gone from the index."""
        if not self._place:
            return
        index = self._shelf.projection(ShelfIndex).index
        numbers = {number: term for term in self._having if (number := index.number(term)) is not None}
        asked = frozenset(numbers)
        for row, _ in purged:
            if row in index:
                self._exposed.update(numbers[number] for number in index.words_of(row, asked).own)

    def telling(self, *, began_at: int) -> list[str]:
        """Return the standing queries with a word that only notes had which are purged now. See the port."""
        while self._unread is not None:
            self._read_some()
        index = self._shelf.projection(ShelfIndex).index
        exposed = {term for term in self._exposed if not index.documents_with(term)}
        self._exposed -= exposed  # of the others, another purge may be about to take the last note
        found = []
        for asked in self._asked:
            if asked is None:
                continue
            terms = set(asked.terms)
            suspects = terms if began_at < self._opened_at else terms & exposed
            if any(not index.documents_with(term) for term in suspects):
                found.append(asked.watch.id)
        return found

    def _enter(self, watch: Watch) -> None:
        place = self._free.pop() if self._free else len(self._asked)
        aim: Aim = "topic" if is_exploratory(watch.query) else "answer"
        terms = self._shelf.projection(ShelfIndex).index.analyzer.parse_query(watch.query).terms
        asked = _Asked(watch, terms, aim)
        self._asked[place : place + 1] = [asked]
        self._place[watch.id] = place
        for term in asked.terms:
            self._having.setdefault(term, array("q")).append(place)
        if place >= len(self._weights):
            self._weights = np.append(self._weights, np.zeros(max(64, place)))
        self._weights[place] = self._weight(asked)

    def _weight(self, asked: _Asked) -> float:
        index = self._shelf.projection(ShelfIndex).index
        return sum(index.rarities(map(index.number, asked.terms)))

    def _start_over(self) -> None:
        self._unread = None
        self._asked.clear()
        self._free.clear()
        self._place.clear()
        self._having.clear()
        self._weights = np.zeros(0)
        self._weighed = self._weighed_at = 0

    # ------------------------------------------------------------------ matching

    def begin(self, row: LogRow) -> MatchRun | None:
        """Begin to look at a change; None if it can bring no note into any result."""
        if row.kind not in _ENTERING or row.row is None or not self:
            return None
        return _Run(self, self._shelf, row)

    def until(self, seconds: float) -> float:
        """Return when so many seconds will be over. See the port."""
        return self._shelf.clock.monotonic() + seconds

    def prepare(self) -> bool:
        """Take the next step towards knowing every standing query and its weight; return whether all is known."""
        if self._unread is not None:
            self._read_some()
            return False
        size = len(self._shelf.projection(ShelfIndex).index)
        if self._weighed >= len(self._asked):
            if self._asked and (size > self._weighed_at * _GROWTH or size * _GROWTH < self._weighed_at):
                self._weighed, self._weighed_at = 0, size
                return False
            return True
        for place in range(self._weighed, min(self._weighed + _SOME, len(self._asked))):
            if (asked := self._asked[place]) is not None:
                self._weights[place] = self._weight(asked)
        self._weighed = min(self._weighed + _SOME, len(self._asked))
        return False

    def _read_some(self) -> None:
        assert self._unread is not None
        some, self._unread = self._shelf.view.watches.page(after=self._unread, limit=_SOME)
        for watch in some:
            self._enter(watch)
        if self._unread is None:
            self._weighed, self._weighed_at = len(self._asked), len(self._shelf.projection(ShelfIndex).index)

    def near(self, note: Note) -> dict[str, float]:
        """Return the standing queries whose words *note* covers enough of, each with the share of its weight."""
        index = self._shelf.projection(ShelfIndex).index
        known = [term for term in _terms(index.analyzer, document_of(note)) if term in self._having]
        if not known:
            return {}
        rarities = index.rarities(map(index.number, known))
        places = [np.frombuffer(self._having[term], np.int64) for term in known]
        weights = np.repeat(rarities, [len(some) for some in places])
        covered = np.bincount(np.concatenate(places), weights, len(self._asked))
        totals = self._weights[: len(self._asked)]
        (enough,) = ((covered >= _LEAST_COVERAGE * totals) & (covered > 0)).nonzero()
        return {
            asked.watch.id: covered[place] / max(totals[place], 1e-9)
            for place in enough.tolist()
            if (asked := self._asked[place]) is not None
        }

    def asked(self, watch_id: str) -> _Asked | None:
        """Return a standing query; None if it is gone."""
        place = self._place.get(watch_id)
        return None if place is None else self._asked[place]


class _Run(MatchRun):
    """The look at one change: first all words, then one standing query after the other."""

    def __init__(self, standing: StandingQueries, shelf: Shelf, row: LogRow) -> None:
        self.matches: list[WatchMatch] = []
        self._standing = standing
        self._shelf = shelf
        self._row = row
        self._left: list[str] | None = None
        self._note: Note | None = None
        self._answers: dict[tuple[str, NoteFilter], list[tuple[int, float]]] = {}

    def advance(self, until: float) -> bool:
        """Go on until that time; at least one step is taken. See the port."""
        clock = self._shelf.clock
        while True:
            if self._left is None:
                if self._standing.prepare():
                    self._left = self._candidates()
            elif self._left:
                self._ask(self._left.pop())
            else:
                self._answers.clear()
                return True
            if clock.monotonic() >= until and self._left != []:
                return False

    def _candidates(self) -> list[str]:
        assert self._row.row is not None
        note = self._note = self._shelf.view.notes.by_rows([self._row.row]).get(self._row.row)
        if note is None:
            return []
        near = self._standing.near(note)
        if not near:
            return []
        before = self._before()
        if before is not None and RECALLABLE._replace(now=self._shelf.clock.now()).admits(before):
            # What was as near as now was in the results then, unless a filter kept it out.
            was_near = self._standing.near(before)
            near = {
                watch_id: share
                for watch_id, share in near.items()
                if share > was_near.get(watch_id, 0.0) or not self._admitted(watch_id, before)
            }
        # Of the best it is popped first.
        return sorted(near, key=lambda watch_id: (near[watch_id], watch_id))

    def _before(self) -> Note | None:
        """The note as it was before the change; None if there was none, or that is not known any more."""
        row = self._row
        if row.kind == "note.created" or not row.before or row.before.get("redacted"):
            return None
        after = states_after([row], self._shelf.view).get(row.seq)
        return None if after is None else after._replace(**row.before)

    def _admitted(self, watch_id: str, note: Note) -> bool:
        watch = self._shelf.view.watches.get(watch_id)
        return watch is not None and filters_of_watch(watch, self._shelf.clock.now()).admits(note)

    def _ask(self, watch_id: str) -> None:
        asked, note = self._standing.asked(watch_id), self._note
        assert note is not None
        if asked is None or self._row.seq <= asked.watch.since_seq:
            return
        watch = self._shelf.view.watches.get(watch_id)  # its nugget may have another name by now
        if watch is None:
            return
        filters = filters_of_watch(watch, self._shelf.clock.now())
        if not filters.admits(note):
            return
        key = (watch.query, filters)
        if (answer := self._answers.get(key)) is None:
            focus = self._shelf.projection(ShelfIndex).focus
            found = focus.recall(watch.query, filters, _BEST, asked.aim).found
            answer = self._answers[key] = [(one.hit.row, one.hit.score) for one in found if one.relevant]
        for row, score in answer:
            if row == note.row and (watch.min_score is None or score >= watch.min_score):
                self.matches.append(WatchMatch(watch.id, note.id, score, watch.principal))


def _terms(analyzer: Analyzer, document: Document) -> set[str]:
    parsed = analyzer.parse_text(document.text)
    words = {*parsed.words, *parsed.beside, *analyzer.day_words(analyzer.day(document.when))}
    if document.author:
        words.update(analyzer.words(document.author))
    return set(map(analyzer.term, words))
