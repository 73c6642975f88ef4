"""Standing queries: which of them a changed note enters the results of.

A note enters when recall would call it relevant if nothing were better: on the questions of ``benchmarks/data`` that
agrees with recall in 512 of 514 cases, and adds 43 notes that others outrank. There may be thousands of queries and one
note, so first comes what words alone rule out, for all queries at once; what is left is judged one by one.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple, TypeAlias

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
from shelfd.memory.recall.question import reduced
from shelfd.memory.recall.shelf_index import ShelfIndex, document_of
from shelfd.memory.recall.standing_query import (
    MOST_TELLING,
    Having,
    StandingQuery,
    coverage_needed,
    filters_of_watch,
    gained,
)
from shelfd.memory.shelf.shelf import Shelf

#: Changes that can bring a note into a result.
_ENTERING: Final = frozenset({"note.created", "note.updated", "note.restored", "note.merged", "note.superseded"})
#: A note has a score by recall if it is among so many.
_BEST: Final = 200
#: Standing queries read from the store, or resolved again, without looking at the clock: about a millisecond.
_SOME: Final = 16
#: The shelf has to grow by this factor for words to be weighed again.
_GROWTH: Final = 1.25
#: What a related term is worth at most; see :mod:`shelfd.memory.recall.relevance`.
_WORTH_RELATED: Final = 0.6
#: Coverage that words alone may add: the note before it may have some, a number may stand for one.
_BESIDE: Final = 0.1
#: The weight of a query whose words weigh nothing, so that nothing is divided by zero.
_LEAST_WEIGHT: Final = 1e-9
#: Coverage from which on a note with a name is looked at closer: its name may stand in the query.
_OF_NAMED: Final = 0.2


#: Returns of the id of a standing query that query, and how relevant a note is to it; None if it is not.
_Relevance: TypeAlias = Callable[[str], tuple[Watch, float] | None]


class StandingQueries(Watching):
    """All standing queries of an open shelf; read from its rows when the first change is looked at."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._unread: int | None = 0 if shelf.view.watches.count() else None  #: after which to read on; None: all read
        self._asked: list[StandingQuery | None] = []
        self._free: list[int] = []  #: places of those that were removed
        self._place: dict[str, int] = {}  #: by id
        self._having: dict[str, Having] = {}  #: by term
        self._weights: npt.NDArray[np.float64] = np.zeros(0)
        self._tellings: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._weighed = 0  #: how many of them stand for the shelf as it is
        self._weighed_at = 0  #: notes it had then
        self._needed = coverage_needed()
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
        self._withdraw(asked, place)
        self._asked[place] = None
        self._free.append(place)
        if not self._place:
            self._start_over()

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Note which words of standing queries these notes have, before they are gone from the index."""
        if not self._place:
            return
        index = self._index.index
        terms = {term for asked in self._asked if asked is not None for term in asked.terms}
        numbers = {number: term for term in terms if (number := index.number(term)) is not None}
        asked = frozenset(numbers)
        for row, _ in purged:
            if row in index:
                self._exposed.update(numbers[number] for number in index.words_of(row, asked).own)

    def telling(self, *, began_at: int) -> list[str]:
        """Return the standing queries with a word that only notes had which are purged now. See the port."""
        while self._unread is not None:
            self._read_some()
        index = self._index.index
        exposed = {term for term in self._exposed if not index.documents_with(term)}
        self._exposed -= exposed  # of the others, another purge may be about to take the last note
        found = []
        for asked in self._asked:
            if asked is None:
                continue
            terms = asked.terms
            suspects = terms if began_at < self._opened_at else terms & exposed
            if any(not index.documents_with(term) for term in suspects):
                found.append(asked.watch.id)
        return found

    @property
    def _index(self) -> ShelfIndex:
        return self._shelf.projection(ShelfIndex)

    def _enter(self, watch: Watch) -> None:
        place = self._free.pop() if self._free else len(self._asked)
        if place >= len(self._weights):
            self._weights = np.append(self._weights, np.zeros(max(64, place)))
            self._tellings = np.append(self._tellings, np.zeros(max(64, place), np.int64))
        asked = StandingQuery(watch, self._index.focus)
        self._asked[place : place + 1] = [asked]
        self._place[watch.id] = place
        self._post(asked, place)

    def _post(self, asked: StandingQuery, place: int) -> None:
        resolved = asked.resolved
        self._weights[place] = max(resolved.total, _LEAST_WEIGHT)
        self._tellings[place] = min(resolved.telling.bit_count(), MOST_TELLING)
        for term, (bit, worth) in zip(asked.question.terms, resolved.worth, strict=True):
            tells = resolved.telling & bit != 0
            self._having.setdefault(term.term, Having()).add(place, worth, tells=tells)
            for form in self._index.focus.forms(term) - {term.term}:
                self._having.setdefault(form, Having()).add(place, worth * _WORTH_RELATED, tells=tells)

    def _withdraw(self, asked: StandingQuery, place: int) -> None:
        for term in asked.question.terms:
            for form in {term.term} | self._index.focus.forms(term):
                having = self._having[form]
                having.remove(place)
                if not having.places:
                    del self._having[form]

    def _start_over(self) -> None:
        self._unread = None
        self._asked.clear()
        self._free.clear()
        self._place.clear()
        self._having.clear()
        self._weights, self._tellings = np.zeros(0), np.zeros(0, np.int64)
        self._weighed = self._weighed_at = 0

    # ------------------------------------------------------------------ matching

    def begin(self, row: LogRow, note: Note | None = None) -> MatchRun | None:
        """Begin to look at a change; None if it can bring no note into any result. See the port."""
        if row.kind not in _ENTERING or row.row is None or not self:
            return None
        return _Run(self, self._shelf, row, note)

    def until(self, seconds: float) -> float:
        """Return when so many seconds will be over. See the port."""
        return self._shelf.clock.monotonic() + seconds

    def prepare(self) -> bool:
        """Take the next step towards knowing every standing query and its weight; return whether all is known."""
        if self._unread is not None:
            self._read_some()
            return False
        size = len(self._index.index)
        if self._weighed >= len(self._asked):
            if self._asked and (size > self._weighed_at * _GROWTH or size * _GROWTH < self._weighed_at):
                self._weighed, self._weighed_at = 0, size
                return False
            return True
        for place in range(self._weighed, min(self._weighed + _SOME, len(self._asked))):
            if (asked := self._asked[place]) is not None:
                self._withdraw(asked, place)
                asked.resolve(self._index.focus)
                self._post(asked, place)
        self._weighed = min(self._weighed + _SOME, len(self._asked))
        return False

    def _read_some(self) -> None:
        assert self._unread is not None
        some, self._unread = self._shelf.view.watches.page(after=self._unread, limit=_SOME)
        for watch in some:
            self._enter(watch)
        if self._unread is None:
            self._weighed, self._weighed_at = len(self._asked), len(self._index.index)

    def read(self, note: Note) -> "_ReadNote":
        """Return *note* with what is the same for all standing queries."""
        forms = _forms(self._index.index.analyzer, document_of(note))
        return _ReadNote(note, forms, RECALLABLE._replace(now=self._shelf.clock.now()))

    def near(self, read: "_ReadNote") -> dict[str, float]:
        """Return the standing queries that a note's words do not rule out, each with the share they cover."""
        note = read.note
        known = [having for term in read.forms if (having := self._having.get(term))]
        if not known:
            return {}
        reached, counted, summed = gained(known)
        telling = self._tellings[reached]
        held = np.minimum(counted, telling)
        shares = summed / self._weights[reached]
        enough = self._needed[telling, held] <= shares + _BESIDE
        if note.title or note.key is not None or note.extra.aliases:
            enough |= shares >= _OF_NAMED
        return {
            asked.watch.id: share
            for place, share in zip(reached[enough].tolist(), shares[enough].tolist(), strict=True)
            if (asked := self._asked[place]) is not None
        }

    def relevance_of(self, read: "_ReadNote") -> _Relevance | None:
        """Return what judges a note by each of its standing queries, until the next change; None if it is gone.

        That returns a standing query and how relevant the note is to it by itself; None if it is not, or not wanted.
        """
        (note, forms, filters), focus = read, self._index.focus
        if note.row not in self._index.index:
            return None
        place_of, asked_at = self._place.get, self._asked
        relevance_of = focus.relevance_of(note.row, filters)

        def judge(watch_id: str) -> tuple[Watch, float] | None:
            place = place_of(watch_id)
            asked = None if place is None else asked_at[place]
            if asked is None:
                return None
            if not asked.unknown.isdisjoint(forms):
                asked.resolve(focus)
            relevance = relevance_of(asked.watch.query, asked.resolved)
            if not relevance:
                return None
            # Its nugget may have another name by now, if it is about one.
            watch = asked.watch if asked.watch.nugget is None else self._shelf.view.watches.get(watch_id)
            if watch is None or not filters_of_watch(watch, filters.now).admits(note):
                return None
            return watch, relevance

        return judge

    def score(self, watch: Watch, note: Note) -> float:
        """Return the score that recall gives *note*; 0 if it is not among the best."""
        filters = filters_of_watch(watch, self._shelf.clock.now())
        found = self._index.focus.recall(watch.query, filters, _BEST).found
        return next((one.hit.score for one in found if one.hit.row == note.row), 0.0)


class _ReadNote(NamedTuple):
    """A note that is looked at.

    Attributes:
        forms: The terms that it has, and each without the endings it may have.
        filters: Which notes count as having the same name.
    """

    note: Note
    forms: AbstractSet[str]
    filters: NoteFilter


class _Run(MatchRun):
    """The look at one change: first all words, then one standing query after the other."""

    def __init__(self, standing: StandingQueries, shelf: Shelf, row: LogRow, note: Note | None) -> None:
        self._found: list[WatchMatch] = []
        self._standing = standing
        self._shelf = shelf
        self._row = row
        self._note = note
        self._left: list[str] | None = None
        self._read: _ReadNote | None = None

    @property
    def matches(self) -> Sequence[WatchMatch]:
        """What was found by now."""
        return self._found

    @property
    def note(self) -> Note | None:
        """The note that was changed. See the port."""
        return self._note

    def advance(self, until: float) -> bool:
        """Go on until that time; at least one step is taken. See the port."""
        monotonic = self._shelf.clock.monotonic
        while self._left is None:
            if self._standing.prepare():
                self._left = self._candidates()
            if monotonic() >= until and self._left != []:
                return False
        if not self._left:
            return True
        assert self._read is not None
        if (judge := self._standing.relevance_of(self._read)) is None:
            self._left.clear()
            return True
        while self._left:
            self._ask(judge, self._left.pop())
            if monotonic() >= until and self._left:
                return False
        return True

    def _candidates(self) -> list[str]:
        assert self._row.row is not None
        if self._note is None:
            self._note = self._shelf.view.notes.by_rows([self._row.row]).get(self._row.row)
        if (note := self._note) is None:
            return []
        read = self._read = self._standing.read(note)
        near = self._standing.near(read)
        if not near:
            return []
        before = self._before()
        if before is not None and read.filters.admits(before):
            # What was as near as now was in the results then, unless a filter kept it out.
            was_near = self._standing.near(self._standing.read(before))
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

    def _ask(self, judge: _Relevance, watch_id: str) -> None:
        if (found := judge(watch_id)) is None:
            return
        watch, relevance = found
        if self._row.seq <= watch.since_seq:
            return
        assert self._note is not None
        if watch.min_score is None or self._standing.score(watch, self._note) >= watch.min_score:
            self._found.append(WatchMatch(watch.id, self._note.id, relevance, watch.principal))


def _forms(analyzer: Analyzer, document: Document) -> set[str]:
    """The index terms of a document, and each without the endings it may have."""
    words = {*analyzer.found_by(document.text, analyzer.day(document.when))}
    if document.author:
        words.update(analyzer.words(document.author))
    terms = {analyzer.term(word) for word in words if analyzer.is_content(word)}
    return terms.union(*map(reduced, terms))
