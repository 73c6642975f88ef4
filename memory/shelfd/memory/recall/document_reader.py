"""From documents to arrays: what an index has of some documents that are put together."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from shelfd.memory.facts.lexicon import telling_count
from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.authors import Authors
from shelfd.memory.recall.columns import (
    ALIVE,
    HIDDEN,
    PRIVATE,
    QUARANTINED,
    QUESTION,
    SUPERSEDED,
    TEMPORAL,
)
from shelfd.memory.recall.delta import Written, written
from shelfd.memory.recall.document import Document
from shelfd.memory.recall.note_search import word_bits
from shelfd.memory.recall.vocabulary import Vocabulary

#: The columns of what is read, in this order.
_READ: Final = (
    "flags", "answer_types", "length", "speaker", "day", "boost", "title", "telling", "standing", "row", "turn",
)  # fmt: skip
_CACHED_DAYS: Final = 10_000
_MOST_TELLING: Final = 255  #: that are counted


class ReadDocuments(NamedTuple):
    """Some documents.

    Attributes:
        written: What they say.
        columns: What they are by themselves: the values of columns by their names.
    """

    written: Written
    columns: Mapping[str, Sequence[Any]]


class DocumentReader:
    """Reads documents for an index.

    Args:
        analyzer: Tells words, and what they are.
        vocabulary: Numbers words.
        authors: Numbers authors.
    """

    def __init__(self, analyzer: Analyzer, vocabulary: Vocabulary, authors: Authors) -> None:
        self._analyzer = analyzer
        self._vocabulary = vocabulary
        self._authors = authors
        self._days: dict[int, list[int]] = {}  # the terms of a date line, by day

    def read(self, documents: Sequence[Document]) -> ReadDocuments:
        """Return what an index has of *documents*; of it only words and authors have changed.

        Raises:
            Exception: If one of them cannot be read.
        """
        number, parse, author, day = (
            self._vocabulary.__getitem__,
            self._analyzer.parse_text,
            self._authors.parse,
            self._day,
        )
        numbers: list[int] = []
        sizes, read = [], []
        for document in documents:
            parsed = parse(document.text)
            speaker, name = author(document.author)
            on, terms = day(document.when)
            begin = len(numbers)
            numbers += terms
            numbers += map(number, name)
            numbers += map(number, parsed.words)
            length = len(numbers) - begin
            numbers += map(number, parsed.beside)
            if parsed.told:
                told = self._analyzer.told_words(parsed.told, self._analyzer.day(document.when))
                numbers += map(number, told)
            sizes.append(len(numbers) - begin)
            flags = (
                ALIVE
                | (HIDDEN if document.hidden else 0)
                | (SUPERSEDED if document.superseded else 0)
                | (PRIVATE if document.scope == "session" and document.session is not None else 0)
                | (QUESTION if parsed.question else 0)
                | (TEMPORAL if parsed.temporal else 0)
                | (QUARANTINED if document.quarantined else 0)
            )
            title = word_bits(self._analyzer.words(document.title)) if document.title else 0
            telling = min(telling_count(parsed.distinct), _MOST_TELLING)
            read.append((
                flags, parsed.answer_types, length, speaker, on, document.boost, title, telling, document.standing,
                document.row, document.turn or 0,
            ))  # fmt: skip
        columns = dict(zip(_READ, zip(*read, strict=True), strict=True))
        return ReadDocuments(written(np.array(numbers, np.int64), sizes), columns)

    def _day(self, when: int) -> tuple[int, list[int]]:
        """Return the local day of *when* as proleptic ordinal, and the terms of its date line."""
        day = self._analyzer.day(when)
        number = day.toordinal()
        terms = self._days.get(number)
        if terms is None:
            if len(self._days) >= _CACHED_DAYS:
                self._days.clear()
            terms = [self._vocabulary[word] for word in self._analyzer.day_words(day)]
            self._days[number] = terms
        return number, terms
