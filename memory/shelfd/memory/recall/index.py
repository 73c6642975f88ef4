"""The recall index: documents in, rankings out."""

from collections.abc import Callable, Collection, Iterable, Sequence
from math import log
from threading import Lock
from typing import Final

import numpy as np

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.dense import Likeness
from shelfd.memory.ports.image import Frozen
from shelfd.memory.recall.analyzer import Analyzer, ParsedQuery
from shelfd.memory.recall.authors import Authors
from shelfd.memory.recall.columns import QUESTION, Columns, IntArray, Living
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.dates import GradedDays
from shelfd.memory.recall.document import Document, Ranked, Ranking, Words, made
from shelfd.memory.recall.document_writer import DocumentWriter
from shelfd.memory.recall.filtering import Filtering
from shelfd.memory.recall.inverted import distinct
from shelfd.memory.recall.links import Links
from shelfd.memory.recall.note_search import NoteSearch
from shelfd.memory.recall.overlap import WordOverlap, overlap
from shelfd.memory.recall.postings import DELTA, Postings
from shelfd.memory.recall.rarity import rarities
from shelfd.memory.recall.search import Search
from shelfd.memory.recall.statistics import Statistics
from shelfd.memory.recall.stored import freeze, thaw
from shelfd.memory.recall.vocabulary import Vocabulary
from shelfd.memory.recall.with_words import having, near

_LOOKED_AT: Final = 4_096  # distinct terms of one document; there are as many in 40 pages of a novel
_RARE: Final = log(100)  #: idf of a term that one of a hundred documents has
_NO_TERMS: Final[frozenset[int]] = frozenset()
#: Documents whose terms are kept as sets: some 2 KiB each.
_CACHED_SETS: Final = 2_048


class RecallIndex:
    """Lexical recall over one shelf, in memory.

    Every ``put`` gives the document a fresh ordinal; the old version, if any,
    is marked dead and leaves the postings at a later compaction. No call does
    I/O. All calls belong to one thread, but for what :meth:`scan` returns:
    while another thread runs that, a change waits until it has ended.

    Args:
        analyzer: Tokeniser of texts and queries.
        two_stage_from: From this many postings of a query's terms on, only the most promising sessions are
            scored exactly. Below, scoring everything is faster, however large the shelf is (measured).
        candidates: How many documents choose those sessions, per two query terms, on a shelf of 10,000; on one ten
            times as large 1.7 times as many.
        delta: How many documents are kept in plain lists before they become a segment.
    """

    def __init__(
        self, analyzer: Analyzer, *, two_stage_from: int = 5_000, candidates: int = 50, delta: int = DELTA
    ) -> None:
        self.analyzer = analyzer
        columns, statistics = Columns(), Statistics()
        postings = Postings(columns.alive, delta)
        self._contents = Contents(
            vocabulary=Vocabulary(analyzer.term),
            authors=Authors(analyzer.words),
            columns=columns,
            postings=postings,
            statistics=statistics,
            links=Links(columns, postings, statistics),
            filtering=Filtering(columns, postings),
        )
        self._two_stage_from, self._candidates = two_stage_from, candidates
        self.notes = NoteSearch(self._contents, analyzer)
        self._living = Living()
        self._changing = Lock()
        self._is_frozen = False  # for an image that is being made
        self._gone: set[int] = set()  # rows of what is to be erased when it is written
        self._term_sets: dict[int, frozenset[int]] = {}  # by ordinal; recall finds the same documents again and again
        self._begin()

    def _begin(self) -> None:
        """Read and write what there is."""
        contents, asked = self._contents, (self._two_stage_from, self._candidates)
        self._search = Search(contents, self.analyzer.language, *asked)
        self._beside = Search(contents, self.analyzer.language, *asked)  # with scratch memory of its own
        self._writer = DocumentWriter(contents, self._living, self.analyzer, renumbered=self._term_sets.clear)

    def __len__(self) -> int:
        return len(self._living)

    def __contains__(self, row: int) -> bool:
        return row in self._living

    @property
    def nbytes(self) -> int:
        """Bytes of what it has of each document, as arrays; words, authors and sessions are not counted."""
        return self._contents.postings.nbytes + self._contents.columns.nbytes

    @property
    def is_large(self) -> bool:
        """Whether it may take so long to rank that it had better not hold anybody up; see :meth:`scan`."""
        return self._search.is_wide

    def put(self, document: Document) -> None:
        """Add *document*, or replace the one of the same row."""
        self.extend((document,))

    def extend(self, documents: Iterable[Document]) -> None:
        """Put many documents, which together take a small part of the time."""
        with self._changing:
            self._writer.extend(documents)

    def remove(self, row: int) -> None:
        """Remove the document of *row*; an unknown row is no error."""
        with self._changing:
            self._writer.remove((row,))

    def erase(self, rows: Iterable[int]) -> None:
        """Remove documents and keep nothing of them, nor of what they said before: an image has no trace of them.

        While one is made of what is erased, that takes place when it is written.
        """
        gone = set(rows)
        with self._changing:
            if self._is_frozen:
                self._writer.remove(gone)
                self._gone |= gone
            else:
                self._writer.erase(gone)

    def flush(self) -> None:
        """Make a segment of the documents that are in none yet."""
        with self._changing:
            self._contents.postings.flush()

    def freeze(self, stored: Collection[str]) -> Callable[[], Frozen]:
        """Return what gives the index as it is now; see :class:`~shelfd.memory.ports.projection.Pictured`.

        Another thread may call it, before :meth:`release` is.
        """
        with self._changing:
            frozen = freeze(self._contents, stored)
        self._is_frozen = True
        return frozen

    def release(self) -> None:
        """Erase what was to be erased since there is a frozen state, of which parts are what the index has itself."""
        with self._changing:
            self._is_frozen = False
            gone, self._gone = self._gone, set()
            if gone:
                self._writer.erase(gone)

    def restore(self, frozen: Frozen) -> None:
        """Be what was frozen; this index is empty.

        Raises:
            Exception: If that is not what :meth:`freeze` gives.
        """
        self._contents.revision += 1
        thaw(self._contents, frozen)
        self._living.fill(self._contents.columns)

    def search(self, query: str, filters: NoteFilter, k: int, *, explain: bool = False) -> Ranking:
        """Return the *k* best documents for *query* that *filters* admit.

        Args:
            query: A question or key words, in any script.
            filters: Applied before anything is ranked or cut.
            k: At most so many hits; 0 or less gives none.
            explain: Whether hits carry their signals.
        """
        return self.rank(self.analyzer.parse_query(query), filters, k, explain=explain)

    def rank(
        self,
        parsed: ParsedQuery,
        filters: NoteFilter,
        k: int,
        *,
        explain: bool = False,
        like: Likeness | None = None,
    ) -> Ranking:
        """Return what :meth:`search` does for a parsed query; with what documents are *like* it, if that is known."""
        return self._search.run(self.analyzer.dated(parsed, filters.now), filters, k, explain=explain, like=like)

    def scan(
        self,
        parsed: ParsedQuery,
        filters: NoteFilter,
        k: int,
        *,
        explain: bool = False,
        like: Likeness | None = None,
    ) -> Callable[[], Ranking] | None:
        """Return what does as :meth:`rank` in another thread; None if that takes less than to hand it over."""
        if not self._search.is_long(parsed, filters):
            return None
        dated = self.analyzer.dated(parsed, filters.now)

        def ranked() -> Ranking:
            with self._changing:
                return self._beside.run(dated, filters, k, explain=explain, like=like)

        return ranked

    def neighbours(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows of the documents before and after those of *rows*, in their sessions; -1 for none."""
        columns = self._contents.columns
        ordinals = self._living.of(rows)
        beside = [np.where(ordinals < 0, -1, pointer[ordinals]) for pointer in (columns.previous, columns.following)]
        before, after = (np.where(one < 0, -1, columns.row[one]) for one in beside)
        return before, after

    def place(
        self, parsed: ParsedQuery, filters: NoteFilter, k: int, row: int, like: Likeness | None = None
    ) -> Ranked | None:
        """Return where the document of *row* is among all that a search for *k* scores; None if it is not scored."""
        if row not in self._living:
            return None
        return self._search.place(self.analyzer.dated(parsed, filters.now), filters, k, self._living.get(row), like)

    def beside(self, rows: Sequence[int]) -> list[int]:
        """Return the rows of the two documents before each of *rows* in its session, and of the one after it."""
        before, after = self.neighbours(np.array(rows, np.int64))
        earlier, _ = self.neighbours(before[before >= 0])
        beside = np.concatenate([before, after, earlier])
        found: list[int] = distinct(beside[beside >= 0]).tolist()
        return found

    def is_of(self, row: int, days: Sequence[GradedDays]) -> bool:
        """Return whether the document of *row* is of one of these *days*."""
        day = self._contents.columns.day.item(self._living.get(row))
        return any(span.first <= day <= span.last for span in days)

    def overlap(self, query: str, filters: NoteFilter) -> WordOverlap:
        """Return which documents have words of *query*, of those that *filters* admit, and what share of them."""
        return overlap(self._contents, self.analyzer.parse_query(query).terms, filters)

    def admitted(self, rows: Sequence[int], filters: NoteFilter) -> list[int]:
        """Return those of *rows* that *filters* let through; an unknown one they do not."""
        known = [(row, ordinal) for row in rows if (ordinal := self._living.get(row)) >= 0]
        ordinals = np.array([ordinal for _, ordinal in known], np.int64)
        passed = self._contents.filtering.admitted(filters, ordinals).tolist()
        return [row for (row, _), passes in zip(known, passed, strict=True) if passes]

    def number(self, term: str) -> int | None:
        """Return the number of *term*; None if no document has it."""
        return self._contents.vocabulary.number(term)

    @property
    def number_of(self) -> Callable[[str], int | None]:
        """What :meth:`number` does, for those who look several terms up one after the other."""
        return self._contents.vocabulary.number_of

    def documents_with(self, term: str) -> int:
        """Return how many documents that are not hidden have *term*."""
        number = self.number(term)
        return 0 if number is None else int(self._contents.statistics.own[number])

    def vocabulary_size(self) -> int:
        """Return how many terms have a number; they keep it."""
        return self._contents.vocabulary.size

    def numbers(self, terms: Iterable[str]) -> frozenset[int]:
        """Return the numbers of those of *terms* that documents have."""
        return self._contents.vocabulary.numbers(terms)

    @property
    def score_version(self) -> int:
        """By which table the scores are made that compare."""
        return rarities(self.analyzer.language).version

    def rarities(self, numbers: Iterable[int | None]) -> list[float]:
        """Return the idf of terms as a share of that of a rare one, at most 1; None, which no document has, is rare.

        What one of a hundred documents has is rare on a shelf of any size: else the words of a question would weigh
        less against its names the more other notes there are.
        """
        idfs, own = self._contents.statistics.idfs, self._contents.statistics.own
        rare = min(idfs[1], _RARE)
        return [1.0 if number is None or own[number] <= 1 else min(1.0, idfs[own[number]] / rare) for number in numbers]

    def id_of(self, row: int) -> str:
        """Return the id of the document of *row*, which is known."""
        return self._contents.postings.id_of(self._living.get(row))

    def session_of(self, row: int) -> int:
        """Return the number of the session of the document of *row*, which is its own if it is in none."""
        return self._contents.columns.group.item(self._living.get(row))

    def words_of(self, row: int, asked: frozenset[int]) -> Words:
        """Return which of the terms *asked* (numbers) the document of *row* has, and what else its words say."""
        return self.words_of_all((row,), asked)[0]

    def words_of_all(self, rows: Iterable[int], asked: frozenset[int]) -> list[Words]:
        """Return what :meth:`words_of` does for the documents of *rows*."""
        columns, known, term_set = self._contents.columns, self._term_sets.get, self._term_set
        before_that, types_of, flags_of = columns.previous.item, columns.answer_types.item, columns.flags.item
        found: list[Words] = []
        for ordinal in self._living.of_each(rows):
            before = before_that(ordinal)
            own = asked & (known(ordinal) or term_set(ordinal))
            previous = _NO_TERMS if before < 0 else asked & (known(before) or term_set(before))
            found.append(made(Words, (own, previous, types_of(ordinal), flags_of(ordinal) & QUESTION != 0)))
        return found

    def words_among(self, row: int) -> Callable[[frozenset[int]], Words]:
        """Return what does the same as :meth:`words_of` with the document of *row*, which is known, until a change."""
        columns, ordinal = self._contents.columns, self._living.get(row)
        before = columns.previous.item(ordinal)
        all_own = self._term_sets.get(ordinal) or self._term_set(ordinal)
        all_previous = _NO_TERMS if before < 0 else self._term_sets.get(before) or self._term_set(before)
        rest = columns.answer_types.item(ordinal), columns.flags.item(ordinal) & QUESTION != 0
        return lambda asked: made(Words, (asked & all_own, asked & all_previous, *rest))

    def _term_set(self, ordinal: int) -> frozenset[int]:
        found = frozenset(self._contents.postings.terms_of(ordinal, _LOOKED_AT))
        if len(self._term_sets) >= _CACHED_SETS:
            self._term_sets.clear()  # to forget those alone that were found first costs as much as to make them again
        self._term_sets[ordinal] = found
        return found

    def overlay(self, documents: Sequence[Document]) -> "RecallIndex":
        """Return an index that is searched as this one would be with *documents* put; this one does not change.

        It is good until this one changes. Making it copies counts and what links change in the columns, not the
        postings: some 0.6 ms of 100,000 documents.
        """
        other = RecallIndex(self.analyzer, two_stage_from=self._two_stage_from, candidates=self._candidates)
        other._contents, other._living = self._contents.layer(len(documents)), self._living.copy()
        other._begin()
        other._writer.store(documents)
        return other

    def near(
        self, words: Iterable[str], filters: NoteFilter, *, terms: int, missing: int | None, limit: int
    ) -> list[str]:
        """Return ids of documents that have the rarest of *words*, those with the most telling ones first.

        Takes well under a millisecond: of a term in thousands of documents it sees the most recent ones. Terms in a
        single document find nothing and are passed over.

        Args:
            words: Folded words.
            filters: Which documents may be returned.
            terms: How many terms to go by.
            missing: How many of the terms of *words* a document may lack; None for any but all.
            limit: At most so many ids.
        """
        return near(self._contents, {self.analyzer.term(word) for word in words}, filters, terms, missing)[:limit]

    def having(self, words: Iterable[str], filters: NoteFilter, most: int | None) -> list[int]:
        """Return rows of the documents that have all folded *words*, in whatever form and order: the *most* newest."""
        return having(self._contents, {self.analyzer.term(word) for word in words}, filters, most)

    def compact(self) -> None:
        """Make everything one segment and free what dead documents hold; no result changes.

        Copies all postings. What is needed of it happens by itself, in small steps.
        """
        with self._changing:
            self._writer.compact()

    def merge_some(self) -> bool:
        """Take a step of what merging there is to do, some milliseconds; return whether there was any.

        While another thread ranks, none is taken.
        """
        if not self._changing.acquire(blocking=False):
            return True
        try:
            return self._writer.merge_some()
        finally:
            self._changing.release()
