"""Which notes have anything of a query, and about how much: note search's part of the index.

The postings tell which notes hold which terms, but not in which form, nor whether side by side. So the published
formula is estimated here for all notes at once; from the texts of the best the caller computes it.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np

from shelfd.memory.facts.lexicon import content_words
from shelfd.memory.facts.spelling import understood
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.words import emoji, fold, split
from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.columns import ALIVE, BoolArray, FloatArray, IntArray
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.dates import date_line_counts
from shelfd.memory.recall.labels import Labels
from shelfd.memory.recall.note_score import CONTAINED, MAX_BASIS, ROLES, AskedWord, NoteQuestion, raw_scores
from shelfd.memory.recall.ranking import largest
from shelfd.memory.recall.spellings import Spellings

#: Notes whose texts are worth a look, however many have something of the query.
LOOKED_AT: Final = 256

_SLICE: Final = 32_768  #: ordinals looked through without yielding to other tasks: 5 ms if all of them have a word
_READ: Final = 64  #: words of a query by which notes are found
_POSTINGS: Final = 250_000  #: read for one query: about 8 ms
_IN_WORDS: Final = 20_000  #: the same of words that one is a part of
_PARTS: Final = 1_000  #: different words that one is looked for in, at most: what is part of more says nothing
_RECENT: Final = 64  #: postings looked at for one of a living note

_NOWHERE: Final = np.zeros(0, np.int64)


def word_bits(words: Iterable[str]) -> int:
    """Return *words* as a set of 64 bits, one for each word: one that is not there may seem to be."""
    bits = 0
    for word in words:
        bits |= 1 << (crc32(word.encode("utf-8", "surrogatepass")) & 63)
    return bits


@dataclass(frozen=True, slots=True)
class Candidates:
    """The notes that may have anything of a query, the most promising ones by name; arrays in their order.

    Estimates are of the raw score. A bound is one for which the complete query stands wherever it may.
    """

    ids: list[str]
    bounds: FloatArray
    estimates: FloatArray
    rest: FloatArray  #: estimates of the other notes

    def and_older(self, older: "Candidates") -> "Candidates":
        """Return the candidates of both; among equals these come first."""
        if not older.ids:
            return self
        ids = self.ids + older.ids
        bounds, estimates = np.append(self.bounds, older.bounds), np.append(self.estimates, older.estimates)
        best, others = np.split(np.argsort(-bounds, kind="stable"), [LOOKED_AT])
        rest = np.concatenate([self.rest, older.rest, estimates[others]])
        return Candidates([ids[at] for at in best.tolist()], bounds[best], estimates[best], rest)


class _Holding(NamedTuple):
    """Where a term stands: ordinals and how often, of one length."""

    ordinals: IntArray
    frequencies: FloatArray


@dataclass(frozen=True, slots=True)
class _Found:
    """Where what a query asks for stands: lists of ordinals."""

    terms: Mapping[int, _Holding]  #: by number
    words: Mapping[str, IntArray]  #: of the terms of the query's words
    labelled: Mapping[str, IntArray]  #: of its words in labels
    first: IntArray  #: its first word, as part of a longer one
    last: IntArray  #: its last word, if it has several

    def lists(self) -> list[IntArray]:
        return [*(term.ordinals for term in self.terms.values()), *self.labelled.values(), self.first, self.last]

    def within(self, begin: int, end: int) -> "_Found":
        """Return what is at ordinals from *begin* to before *end*."""

        def cut(ordinals: IntArray) -> IntArray:
            return ordinals[(ordinals >= begin) & (ordinals < end)]

        terms = {}
        for number, term in self.terms.items():
            inside = (term.ordinals >= begin) & (term.ordinals < end)
            terms[number] = _Holding(term.ordinals[inside], term.frequencies[inside])
        words, labelled = ({word: cut(each) for word, each in some.items()} for some in (self.words, self.labelled))
        return _Found(terms, words, labelled, cut(self.first), cut(self.last))


class NoteSearch:
    """Finds notes by what an index holds of them. All calls belong to its thread."""

    def __init__(self, contents: Contents, analyzer: Analyzer) -> None:
        self._contents = contents
        self._spellings = Spellings(contents.vocabulary)
        self._labels = Labels(contents.columns, contents.filtering)
        self._term = analyzer.term
        self.known = contents.vocabulary  #: the numbers of folded words' index terms

    def follow(self) -> bool:
        """Index some of the words added since the last query; return whether all are known now."""
        return self._spellings.follow()

    def question(self, query: str) -> NoteQuestion:
        """Return what *query* asks for."""
        folded = fold(query).strip()
        terms: dict[int, AskedWord] = {}
        unknown = 0.0
        for meant in understood(content_words(query), self._spellings, self.knows):
            if not meant:
                unknown += self.usual_rarity() ** 2
            for word, likeness in meant:
                number = self.known.number(self._term(word))
                if number is not None:
                    known = terms.get(number, AskedWord(0.0, frozenset()))
                    terms[number] = AskedWord(max(known.weight, likeness * self.rarity(number)), known.words | {word})
        length = math.sqrt(sum(asked.weight**2 for asked in terms.values()) + unknown)
        words = split(folded)
        asked = tuple(words) or tuple(emoji(folded))
        return NoteQuestion(folded, asked, frozenset(asked), not words, terms, length, self._contents.columns.edition)

    def rarity(self, number: int) -> float:
        """Return the weight of a term: 0.7 if it is everywhere, more the rarer it is (smoothed idf)."""
        statistics = self._contents.statistics
        return math.log1p(max(statistics.documents, 1) / max(statistics.own[number], 1))

    def usual_rarity(self) -> float:
        """Return the weight of a term as common as the average one, for unknown words."""
        statistics = self._contents.statistics
        return math.log1p(statistics.documents * self._contents.vocabulary.size / max(statistics.own_tokens, 1))

    def candidates(self, question: NoteQuestion, filters: NoteFilter) -> Iterator[Candidates]:
        """Yield the notes that may have anything of the *question*, of those that *filters* let through.

        A large shelf is looked through in slices, after each of which other tasks may run; what is yielded last is
        all. If the index gives notes other ordinals meanwhile, this ends, and the question has to be asked again.
        """
        found = self._found(question)
        size = self._contents.columns.size
        best = Candidates([], np.zeros(0), np.zeros(0), np.zeros(0))
        for begin in range(0, size, _SLICE):
            if not self.is_current(question):
                return
            part = found if size <= _SLICE else found.within(begin, begin + _SLICE)
            best = self._estimated(question, filters, part, begin).and_older(best)
            yield best

    def is_current(self, question: NoteQuestion) -> bool:
        """Return whether notes have the ordinals that they had when the *question* was asked."""
        return question.edition == self._contents.columns.edition

    def _found(self, question: NoteQuestion) -> "_Found":
        words = list(dict.fromkeys(question.words))[:_READ]
        numbers = {word: self.known.number(self._term(word)) for word in words}
        forms = {number: next(iter(asked.words)) for number, asked in question.terms.items()}
        terms = self._holding(forms | {number: word for word, number in numbers.items() if number is not None})
        self._labels.follow()
        labelled = {word: self._labels.having(word) for word in words}
        edges = self._edges(question.words, labelled)
        held = {word: _NOWHERE if number is None else terms[number].ordinals for word, number in numbers.items()}
        return _Found(terms, held, {word: whole for word, (whole, _) in labelled.items()}, *edges)

    def _estimated(self, question: NoteQuestion, filters: NoteFilter, found: "_Found", begin: int) -> Candidates:
        view = _View(self._contents, filters, found.lists(), begin)
        count = len(found.words)
        words = question.words
        share, possible = np.zeros(view.size), np.full(view.size, count > 0)
        for word, held in found.words.items():
            holds = view.marked(held, found.labelled[word])
            share += holds / count
            if word in words[1:-1]:
                possible &= holds
            if word in words[:1]:
                possible &= holds | view.marked(found.first)
            if word in words[1:][-1:]:
                possible &= holds | view.marked(found.last)
        cosines = self._cosines(question, found.terms, view)
        something = np.flatnonzero((share > 0) | possible | (cosines > 0))
        certain = possible if words == (question.folded,) else np.zeros_like(possible)
        return self._best(view.ordinals[something], cosines[something], *(
            share[something] + CONTAINED * stands[something] for stands in (certain, possible)
        ))  # fmt: skip

    def _best(self, ordinals: IntArray, cosines: FloatArray, text: FloatArray, most_text: FloatArray) -> Candidates:
        columns = self._contents.columns
        vector, boost = (1 + cosines) / 2, columns.boost[ordinals].astype(np.float64)
        estimates, bounds = raw_scores(vector, text, boost), raw_scores(vector, most_text, boost)
        # Of a long text's words only some are part of its vector, so that shorter ones come first.
        rows, shorter = columns.row[ordinals], -columns.telling[ordinals].astype(np.int64)
        keys = bounds.__getitem__, shorter.__getitem__, rows.__getitem__
        best = largest(LOOKED_AT, np.arange(len(ordinals)), *keys)
        best = best[np.lexsort((-rows[best], -shorter[best], -bounds[best]))]
        rest = np.ones(len(ordinals), np.bool_)
        rest[best] = False
        ids = [self._contents.postings.id_of(ordinal) for ordinal in ordinals[best].tolist()]
        return Candidates(ids, bounds[best], estimates[best], estimates[rest])

    def _cosines(self, question: NoteQuestion, holding: Mapping[int, _Holding], view: "_View") -> FloatArray:
        """Estimate the cosines of the notes in *view*: a word in the text is one of its vector, if it is not long."""
        columns = self._contents.columns
        cosines = np.zeros(view.size)
        for number, asked in question.terms.items():
            found = holding[number]
            titles = columns.title[found.ordinals]
            in_title = np.zeros(len(titles), np.bool_)
            for word in asked.words:
                in_title |= (titles & np.uint64(word_bits([word]))) != 0
            beside = in_title & (found.frequencies > 1)
            role = np.where(in_title, ROLES["title"], ROLES["content"]) + ROLES["content"] * beside
            places = view.places(found.ordinals)
            cosines[places[places >= 0]] += (asked.weight * role)[places >= 0]
        sizes = np.clip(columns.telling[view.ordinals], 1, MAX_BASIS)
        return np.asarray(np.minimum(cosines / (question.length or 1) / np.sqrt(sizes), 1))

    def _holding(self, words: Mapping[int, str]) -> dict[int, _Holding]:
        """Return where each of some terms stands in a text, in the form given or another; of too many the newest."""
        postings = self._contents.postings
        found, room = {number: _Holding(_NOWHERE, np.zeros(0)) for number in words}, _POSTINGS
        sizes = dict(zip(words, postings.sizes(list(words)), strict=True))
        for number in sorted(words, key=sizes.__getitem__):
            if sizes[number] <= room:
                ordinals, _, frequencies = postings.lookup([number])
            else:
                ordinals = postings.some(number, max(room, 1))
                frequencies = np.full(len(ordinals), 2.0)  # one of which may be the date's or the author's
            room -= len(ordinals)
            found[number] = self._in_text(words[number], ordinals, frequencies)
        return found

    def _in_text(self, word: str, ordinals: IntArray, frequencies: FloatArray) -> _Holding:
        """Leave out where *word* stands only in the date or the author, of which recall's documents have a line."""
        columns = self._contents.columns
        beside = date_line_counts(columns.day[ordinals], word)
        authors = self._contents.authors.having(word)
        if authors:
            beside = beside + np.isin(columns.speaker[ordinals], authors)
        elif isinstance(beside, int):  # as of most words
            return _Holding(ordinals, frequencies)
        frequencies = frequencies - beside
        stands = frequencies > 0
        return _Holding(ordinals[stands], frequencies[stands])

    def _edges(
        self, words: Sequence[str], labelled: Mapping[str, tuple[IntArray, IntArray]]
    ) -> tuple[IntArray, IntArray]:
        """Return where the first and the last of *words* stand as parts of words, as they may if all are in a row."""
        if not words:
            return _NOWHERE, _NOWHERE
        first, last = words[0], words[-1]
        _, in_label = labelled[first]
        if len(words) == 1:
            return np.concatenate([self._in_words(first), in_label]), _NOWHERE
        _, last_in_label = labelled.get(last, (_NOWHERE, _NOWHERE))
        return (
            np.concatenate([self._in_words(first, ends=True), in_label]),
            np.concatenate([self._in_words(last, begins=True), last_in_label]),
        )

    def _in_words(self, part: str, *, begins: bool = False, ends: bool = False) -> IntArray:
        """Return where *part* is a part of a longer word, of so many words that their postings are not too many."""
        contents = self._contents
        longer = self._spellings.containing(part, _PARTS, begins=begins, ends=ends)
        numbers, room = [], _IN_WORDS
        for number in {self.known[word] for word in longer if word != part}:
            room -= contents.postings.size(number)
            if room < 0:
                break
            numbers.append(number)
        return contents.postings.lookup(numbers)[0]

    def knows(self, word: str) -> bool:
        """Return whether a living note holds a form of *word*, hidden ones included."""
        contents = self._contents
        number = contents.vocabulary.number(self._term(word))
        if number is None:
            return False
        recent = contents.postings.some(number, _RECENT)
        return contents.statistics.own[number] > 0 or bool((contents.columns.flags[recent] & ALIVE).any())


class _View:
    """The notes of several lists that may be returned, numbered from 0. What it costs follows from their lengths.

    Args:
        begin: No ordinal of the lists is below.
    """

    def __init__(self, contents: Contents, filters: NoteFilter, lists: Sequence[IntArray], begin: int) -> None:
        every = np.concatenate(lists) if lists else _NOWHERE
        self._begin = begin
        # Never filled: of this array only what the lists name is written, and read.
        self._place = np.empty(min(contents.columns.size - begin, _SLICE), np.int64)
        self._place[every - begin] = np.arange(len(every))
        each = every[self._place[every - begin] == np.arange(len(every))]
        self.ordinals = each[contents.filtering.admitted(filters, each)]
        self.size = len(self.ordinals)
        self._place[every - begin] = -1
        self._place[self.ordinals - begin] = np.arange(self.size)

    def places(self, ordinals: IntArray) -> IntArray:
        """Return the places of *ordinals*, all of which are of the lists; -1 for one that may not be returned."""
        return self._place[ordinals - self._begin]

    def marked(self, *lists: IntArray) -> BoolArray:
        """Return which notes are in one of *lists*."""
        marked = np.zeros(self.size + 1, np.bool_)
        for ordinals in lists:
            marked[self.places(ordinals)] = True
        return marked[:-1]
