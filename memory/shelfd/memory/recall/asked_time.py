"""The time that a query speaks of as seen from today, and which documents are of it."""

from collections.abc import Iterable
from typing import Final

from shelfd.memory.recall.analyzer import ParsedQuery
from shelfd.memory.recall.dates import GradedDays
from shelfd.memory.recall.document import Words
from shelfd.memory.recall.index import RecallIndex
from shelfd.memory.recall.question import MOST_TERMS, OF_TIME, WHEN, Question
from shelfd.memory.recall.time_spans import told_date

_NOTHING: Final[frozenset[int]] = frozenset()


class AskedTime:
    """Says of documents whether they are of the time that a query speaks of, or tell of it.

    Args:
        index: Of the documents.
        parsed: The query, not yet dated.
        now: In microseconds since 1970 UTC.
    """

    def __init__(self, index: RecallIndex, parsed: ParsedQuery, now: int) -> None:
        self._index = index
        self._days: list[GradedDays] = []
        self._told: list[frozenset[int]] = []
        if parsed.timed:
            analyzer = index.analyzer
            today = analyzer.day(now)
            spans = [span for span in parsed.relative if span.places and parsed.timed.issuperset(span.places)]
            self._days = [days for span in spans if (days := span.days(today)) is not None]
            self._told = [_numbers(index, told_date(span, today)) for span in spans if span.is_date]
        self._asked = _NOTHING.union(*self._told) if self._told else _NOTHING

    @property
    def is_asked(self) -> bool:
        """Whether the query speaks of a time at all; if not, it is all one which documents are of it."""
        return bool(self._days)

    def asked_by(self, question: Question) -> Question:
        """Return a *question* that asks for the time, too."""
        if not self._days or len(question.terms) == MOST_TERMS:
            return question
        return question._replace(terms=(*question.terms, WHEN))

    def words_of_all(self, rows: Iterable[int], asked: frozenset[int]) -> list[Words]:
        """Return what :meth:`RecallIndex.words_of` does, with :data:`OF_TIME` if the document is of the time."""
        return [self._words_of(row, asked) for row in rows]

    def _words_of(self, row: int, asked: frozenset[int]) -> Words:
        words = self._index.words_of(row, asked | self._asked)
        is_told = any(told and told <= words.own for told in self._told)
        own = words.own & asked
        if OF_TIME in asked and (is_told or self._index.is_of(row, self._days)):
            own |= {OF_TIME}
        return words._replace(own=own, previous=words.previous & asked)


def _numbers(index: RecallIndex, said: str) -> frozenset[int]:
    """The numbers of the terms of a date; none if no document has one of them."""
    numbers = [index.number(index.analyzer.term(word)) for word in index.analyzer.words(said)]
    return frozenset() if None in numbers else frozenset(number for number in numbers if number is not None)
