"""From documents to arrays: what an index has of some documents that are put together."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from shelfd.memory.recall.analyzer import QUARTER_HOUR, Analyzer, ParsedText
from shelfd.memory.recall.authors import Authors
from shelfd.memory.recall.columns import (
    ALIVE,
    HIDDEN,
    PRIVATE,
    QUARANTINED,
    QUESTION,
    SUPERSEDED,
    TEMPORAL,
    IntArray,
)
from shelfd.memory.recall.delta import Written, written, written_alone
from shelfd.memory.recall.document import Document
from shelfd.memory.recall.note_search import word_bits
from shelfd.memory.recall.vocabulary import Vocabulary
from shelfd.memory.recall.word_traits import MARK, WordTraits

#: The columns of what is read, in this order.
_READ: Final = (
    "flags", "answer_types", "length", "speaker", "day", "boost", "title", "telling", "standing", "row", "turn",
)  # fmt: skip
_CACHED_DAYS: Final = 10_000
_CACHED_HEADS: Final = 4_096
_UNKNOWN: Final = -1
_SOME: Final = 4  #: documents that are read together; of fewer, arrays cost more than they spare
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
        vocabulary: Numbers terms.
        authors: Numbers authors.
    """

    def __init__(self, analyzer: Analyzer, vocabulary: Vocabulary, authors: Authors) -> None:
        self._analyzer = analyzer
        self._vocabulary = vocabulary
        self._authors = authors
        self._days: dict[int, list[int]] = {}  # the terms of a date line, by day
        #: What stands before the words of a document, by its author and a time within which no day begins.
        self._heads: dict[tuple[str | None, int], tuple[int, int, list[int], IntArray]] = {}
        self._terms = _KnownTerms(analyzer.traits, vocabulary)

    def read(self, documents: Sequence[Document]) -> ReadDocuments:
        """Return what an index has of *documents*; of it only words and authors have changed.

        Raises:
            Exception: If one of them cannot be read.
        """
        return self._read_some(documents) if len(documents) >= _SOME else self._read_few(documents)

    def _read_few(self, documents: Sequence[Document]) -> ReadDocuments:
        number = self._vocabulary.__getitem__
        numbers: list[int] = []
        sizes, read = [], []
        for document in documents:
            parsed = self._analyzer.parse_text(document.text)
            begin = len(numbers)
            speaker, day, before, _ = self._before(document)
            numbers += before
            numbers += map(number, parsed.words)
            length = len(numbers) - begin
            numbers += self._after(document, parsed)
            sizes.append(len(numbers) - begin)
            read.append(self._columns(document, parsed, length, speaker, day))
        said = written_alone(numbers) if len(sizes) == 1 else written(np.array(numbers, np.int64), sizes)
        return _read(said, read)

    def _read_some(self, documents: Sequence[Document]) -> ReadDocuments:
        texts, skim = self._analyzer.parse_texts([document.text for document in documents])
        terms = self._terms.of(skim.numbers)
        parts: list[IntArray] = []
        sizes, read = [], []
        for document, parsed, begin, end in zip(documents, texts, skim.begins, skim.ends, strict=True):
            speaker, day, _, before = self._before(document)
            words = terms[begin:end]
            if begin == end and parsed.words:
                words = np.array(list(map(self._vocabulary.__getitem__, parsed.words)), np.int64)
            length = len(before) + len(words)
            parts += (before, words)
            if after := self._after(document, parsed):
                parts.append(np.array(after, np.int64))
            sizes.append(length + len(after))
            read.append(self._columns(document, parsed, length, speaker, day))
        return _read(written(np.concatenate(parts), sizes), read)

    def _before(self, document: Document) -> tuple[int, int, list[int], IntArray]:
        """Return the author of a document, its day, and the terms of both, which stand before its words; twice."""
        place = document.author, document.when // QUARTER_HOUR
        known = self._heads.get(place)
        if known is None:
            speaker, name = self._authors.parse(document.author)
            day, terms = self._day(document.when)
            if len(self._heads) >= _CACHED_HEADS:
                self._heads.clear()
            before = [*terms, *map(self._vocabulary.__getitem__, name)]
            known = self._heads[place] = speaker, day, before, np.array(before, np.int64)
        return known

    def _after(self, document: Document, parsed: ParsedText) -> list[int]:
        """Return the terms that a document has beside its words."""
        number = self._vocabulary.__getitem__
        found = list(map(number, parsed.beside)) if parsed.beside else []
        if parsed.told:
            found += map(number, self._analyzer.told_words(parsed.told, self._analyzer.day(document.when)))
        return found

    def _columns(self, document: Document, parsed: ParsedText, length: int, speaker: int, day: int) -> tuple[Any, ...]:
        """Return the values of the columns *_READ*."""
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
        return (
            flags, parsed.answer_types, length, speaker, day, document.boost, title,
            min(parsed.telling, _MOST_TELLING), document.standing, document.row, document.turn or 0,
        )  # fmt: skip

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


class _KnownTerms:
    """The numbers of terms by those of words."""

    def __init__(self, words: WordTraits, vocabulary: Vocabulary) -> None:
        self._words = words
        self._vocabulary = vocabulary
        self._edition = words.edition
        self._terms: IntArray = np.zeros(0, np.int64)

    def of(self, numbers: IntArray) -> IntArray:
        """Return the numbers of the terms of words by their *numbers*; for a mark, any."""
        words = self._words
        if words.edition != self._edition or len(self._terms) < len(words.words):
            kept = self._terms if words.edition == self._edition else self._terms[:0]
            room = np.full(len(words.words) * 2 - len(kept), _UNKNOWN, np.int64)
            self._terms, self._edition = np.concatenate([kept, room]), words.edition
        found = self._terms[numbers]
        (missing,) = (found == _UNKNOWN).nonzero()
        if len(missing):
            number = self._vocabulary.__getitem__
            wanted = list(dict.fromkeys(numbers[missing].tolist()))
            new = [words.words[at] for at in wanted]
            self._terms[wanted] = [0 if word == MARK else number(word) for word in new]
            found = self._terms[numbers]
        return found


def _read(said: Written, columns: Sequence[tuple[Any, ...]]) -> ReadDocuments:
    return ReadDocuments(said, dict(zip(_READ, zip(*columns, strict=True), strict=True)))
