"""From documents to arrays: what an index has of some documents that are put together."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

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
from shelfd.memory.recall.delta import Written, joined, written, written_alone
from shelfd.memory.recall.document import Document, Fields
from shelfd.memory.recall.note_search import word_bits
from shelfd.memory.recall.texts_together import TextsTogether, read_together
from shelfd.memory.recall.time_spans import RelativeSpan
from shelfd.memory.recall.vocabulary import Vocabulary
from shelfd.memory.recall.word_traits import MARK

#: The columns of what is read, in this order.
_READ: Final = (
    "flags", "answer_types", "length", "speaker", "day", "boost", "title", "telling", "standing", "row", "turn",
)  # fmt: skip
_CACHED_DAYS: Final = 10_000
_CACHED_HEADS: Final = 4_096
_UNKNOWN: Final = -1
_FEW: Final = 8  #: words that are known for each that is read, from which on no table is made for these alone
_SOME: Final = 4  #: documents that are read together; of fewer, arrays cost more than they spare
_MOST_TELLING: Final = 255  #: that are counted
_OF_SESSION: Final = "session"  #: a scope
#: Flags that are fields of a document.
_FLAGS: Final = {"hidden": HIDDEN, "superseded": SUPERSEDED, "quarantined": QUARANTINED}


#: The values of a column.
Values: TypeAlias = Sequence[Any] | npt.NDArray[Any]


class ReadDocuments(NamedTuple):
    """Some documents.

    Attributes:
        written: What they say.
        columns: What they are by themselves: the values of columns by their names.
    """

    written: Written
    columns: Mapping[str, Values]


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
        self._heads: dict[tuple[str | None, int], tuple[int, int, list[int]]] = {}
        self._terms = _KnownTerms(analyzer, vocabulary)

    def read(self, documents: Sequence[Document], fields: Fields) -> ReadDocuments:
        """Return what an index has of *documents*, with these *fields*; of it only words and authors have changed.

        Raises:
            Exception: If one of them cannot be read.
        """
        return self._read_some(fields) if len(documents) >= _SOME else self._read_few(documents)

    def _read_few(self, documents: Sequence[Document]) -> ReadDocuments:
        number = self._vocabulary.__getitem__
        numbers: list[int] = []
        sizes, read = [], []
        for document in documents:
            parsed = self._analyzer.parse_text(document.text)
            begin = len(numbers)
            speaker, day, before = self._before(document.author, document.when)
            numbers += before
            numbers += map(number, parsed.words)
            length = len(numbers) - begin
            numbers += self._after(parsed.beside, parsed.told, document.when)
            sizes.append(len(numbers) - begin)
            read.append(self._columns(document, parsed, length, speaker, day))
        said = written_alone(numbers) if len(sizes) == 1 else written(np.array(numbers, np.int64), sizes)
        return _read(said, read)

    def _read_some(self, fields: Fields) -> ReadDocuments:
        texts = read_together(self._analyzer, fields["text"])
        terms = self._terms.of(texts.skim.word_numbers)
        number, whens, heads = self._vocabulary.__getitem__, fields["when"], self._heads
        speakers, days, before = zip(
            *[
                heads.get((author, when // QUARTER_HOUR)) or self._before(author, when)
                for author, when in zip(fields["author"], whens, strict=True)
            ],
            strict=True,
        )
        #: Terms that stand before the words of each; of a text that was read alone, its words, too.
        opening = list(before)
        for at, parsed in texts.alone.items():
            opening[at] = [*before[at], *map(number, parsed.words)]
        #: Those that stand after them, which most have none of.
        closing: list[Sequence[int]] = [()] * len(whens)
        for at in sorted(texts.beside.keys() | texts.told.keys()):
            closing[at] = self._after(texts.beside.get(at, ()), texts.told.get(at, ()), whens[at])
        sizes = np.array([*map(len, opening), *map(len, closing)], np.int64)
        ahead, after, words = sizes[: len(whens)], sizes[len(whens) :], texts.skim.ends - texts.skim.begins
        lengths = ahead + words
        begins = sizes.cumsum() - sizes + len(terms)
        around = np.array([*chain.from_iterable(opening), *chain.from_iterable(closing)], np.int64)
        numbers = joined(
            np.concatenate([terms, around]),
            np.stack([begins[: len(whens)], texts.skim.begins, begins[len(whens) :]], axis=1).ravel(),
            np.stack([ahead, words, after], axis=1).ravel(),
        )
        columns = self._columns_of(fields, texts) | {"length": lengths.tolist(), "speaker": speakers, "day": days}
        return ReadDocuments(written(numbers, lengths + after), columns)

    def _before(self, author: str | None, when: int) -> tuple[int, int, list[int]]:
        """Return the number of an author, the day of a time, and the terms of both, which stand before words."""
        place = author, when // QUARTER_HOUR
        known = self._heads.get(place)
        if known is None:
            speaker, name = self._authors.parse(author)
            day, terms = self._day(when)
            if len(self._heads) >= _CACHED_HEADS:
                self._heads.clear()
            known = self._heads[place] = speaker, day, [*terms, *map(self._vocabulary.__getitem__, name)]
        return known

    def _after(self, beside: Sequence[str], told: Sequence[RelativeSpan], when: int) -> list[int]:
        """Return the terms that a document has beside its words."""
        number = self._vocabulary.__getitem__
        found = list(map(number, beside)) if beside else []
        if told:
            found += map(number, self._analyzer.told_words(told, self._analyzer.day(when)))
        return found

    def _columns(self, document: Document, parsed: ParsedText, length: int, speaker: int, day: int) -> tuple[Any, ...]:
        """Return the values of the columns *_READ*."""
        flags = (
            ALIVE
            | (HIDDEN if document.hidden else 0)
            | (SUPERSEDED if document.superseded else 0)
            | (PRIVATE if document.scope == _OF_SESSION and document.session is not None else 0)
            | (QUESTION if parsed.question else 0)
            | (TEMPORAL if parsed.temporal else 0)
            | (QUARANTINED if document.quarantined else 0)
        )
        return (
            flags, parsed.answer_types, length, speaker, day, document.boost, self._title_bits(document.title),
            min(parsed.telling, _MOST_TELLING), document.standing, document.row, document.turn or 0,
        )  # fmt: skip

    def _columns_of(self, fields: Fields, texts: TextsTogether) -> dict[str, Values]:
        """Return what :meth:`_columns` does of many documents, but for their lengths, authors and days."""
        flags = np.full(len(texts.telling), ALIVE, np.uint8)
        for name, flag in _FLAGS.items():
            if any(fields[name]):
                flags |= np.array(fields[name], np.bool_) * np.uint8(flag)
        if _OF_SESSION in fields["scope"]:
            sessions = zip(fields["scope"], fields["session"], strict=True)
            private = [scope == _OF_SESSION and session is not None for scope, session in sessions]
            flags |= np.array(private, np.bool_) * np.uint8(PRIVATE)
        flags |= texts.question * np.uint8(QUESTION) | texts.temporal * np.uint8(TEMPORAL)
        return {
            "flags": flags,
            "answer_types": texts.answer_types,
            "boost": fields["boost"],
            "title": list(map(self._title_bits, fields["title"])),
            "telling": np.minimum(texts.telling, _MOST_TELLING),
            "standing": fields["standing"],
            "row": fields["row"],
            "turn": [turn or 0 for turn in fields["turn"]],
        }

    def _title_bits(self, title: str) -> int:
        return word_bits(self._analyzer.words(title)) if title else 0

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

    def __init__(self, analyzer: Analyzer, vocabulary: Vocabulary) -> None:
        self._analyzer = analyzer
        self._words = analyzer.traits
        self._vocabulary = vocabulary
        self._edition = self._words.edition
        self._terms: IntArray = np.zeros(0, np.int64)

    def of(self, numbers: IntArray) -> IntArray:
        """Return the numbers of the terms of words by their *numbers*; for a mark, any."""
        words = self._words
        if not len(self._terms) and len(numbers) * _FEW < len(words.words):
            return self._of_few(numbers)
        if words.edition != self._edition or len(self._terms) < len(words.words):
            kept = self._terms if words.edition == self._edition else self._terms[:0]
            room = np.full(len(words.words) * 2 - len(kept), _UNKNOWN, np.int64)
            self._terms, self._edition = np.concatenate([kept, room]), words.edition
        found = self._terms[numbers]
        (missing,) = (found == _UNKNOWN).nonzero()
        if len(missing):
            wanted = list(dict.fromkeys(numbers[missing].tolist()))
            new = [words.words[at] for at in wanted]
            if MARK in new:  # which has no term
                at = new.index(MARK)
                del new[at]
                self._terms[wanted.pop(at)] = 0
            self._terms[wanted] = self._vocabulary.extend(new, self._analyzer.terms_of(new))
            found = self._terms[numbers]
        return found

    def _of_few(self, numbers: IntArray) -> IntArray:
        """Do the same without a table of all words, which would take longer to make."""
        known, words, number_of = self._words.words, numbers.tolist(), self._vocabulary
        return np.array([0 if (word := known[at]) == MARK else number_of[word] for at in words], np.int64)


def _read(said: Written, columns: Sequence[tuple[Any, ...]]) -> ReadDocuments:
    return ReadDocuments(said, dict(zip(_READ, zip(*columns, strict=True), strict=True)))
