"""From text to terms, for documents and for queries."""

import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date, tzinfo
from typing import Final, NamedTuple

import Stemmer

from shelfd.memory.notes.wordlists import word_lists
from shelfd.memory.notes.words import addresses, characters, compounds, emoji, ends_as_question, fold, split
from shelfd.memory.recall.dates import (
    MONTHS,
    OF_A_DAY,
    OTHER_MONTHS,
    GradedDays,
    date_line,
    days_in_figures,
    explicit_dates,
    local_day,
)
from shelfd.memory.recall.document import made
from shelfd.memory.recall.frames import subject_of
from shelfd.memory.recall.german import parts_of
from shelfd.memory.recall.languages import (
    ForeignLanguage,
    by_common_words,
    common_words_of_others,
    is_open,
    language_of,
)
from shelfd.memory.recall.meaning import answer_types_of, meaning_lists, types_of_characters
from shelfd.memory.recall.quantities import quantities
from shelfd.memory.recall.time_spans import (
    ASKS_FOR_ANYTHING,
    RelativeSpan,
    asked_dates,
    relative_spans,
    told_date,
    told_spans,
)
from shelfd.memory.recall.word_traits import (
    COMMON,
    DIGITS,
    FOREIGN,
    OPENS_TIME,
    TELLS,
    TIME,
    TYPES,
    Signs,
    WordTraits,
    signs_of_words,
)

_CACHED_WORDS = 1 << 17
#: How much more the days count of a query that asks for nothing else: more than all words of their date.
_TIME_ALONE: Final = 8


class ParsedQuery(NamedTuple):
    """A query as the formula sees it."""

    terms: tuple[str, ...]  #: distinct, sorted: sums must not depend on the order of words
    words: list[str]  #: all folded words, for names
    asks_when: bool
    dates: list[GradedDays]
    relative: tuple[RelativeSpan, ...] = ()  #: times as seen from today
    timed: frozenset[int] = frozenset()  #: the places of the words that say nothing but such a time
    timeless: tuple[str, ...] = ()  #: the terms without those words
    wants: int = 0  #: what kinds of answer it asks for, bits of :data:`~shelfd.memory.recall.meaning.ANSWER_TYPES`
    language: ForeignLanguage | None = None  #: None for the analyzer's own

    def dates_on(self, today: date) -> list[GradedDays]:
        """Return the days that it speaks of when it is asked on the day *today*."""
        return [*self.dates, *(days for span in self.relative if (days := span.days(today)) is not None)]

    def wanting(self, wants: int) -> "ParsedQuery":
        """Return the same as a query for these kinds of answer; to replace a field takes five times as long."""
        return made(ParsedQuery, (*self[:7], wants, self.language))


#: A later word of a query, and one behind a quotation mark.
_LATER_WORD: Final = re.compile(r"(?<=\w )\w+")
_QUOTED: Final = re.compile(r"(?<=[\"“„«‘])\w+")
_ENGLISH, _GERMAN, _FRENCH = "english", "german", "french"
#: Microseconds; no zone begins a day within one.
QUARTER_HOUR = 15 * 60 * 1_000_000
_CACHED_QUARTERS = 4096


class ParsedText(NamedTuple):
    """A document's text as the formula sees it."""

    words: list[str]  #: folded, not yet stemmed
    telling: int  #: how many different ones of them say something of what a fact is about; if none does, of all
    beside: list[str]  #: words it is found by as well, which do not count in its length
    temporal: bool  #: holds an expression of time
    question: bool  #: ends with a question mark
    answer_types: int  #: which types of answer it holds, bits of :data:`~shelfd.memory.recall.meaning.ANSWER_TYPES`
    told: tuple[RelativeSpan, ...] = ()  #: times of which it tells as seen from its own day


class Analyzer:
    """Tokenise text: fold, split, lemma and Snowball stem.

    Words of a to z and digits are stemmed with *language*, any algorithm of
    PyStemmer; other scripts are taken as they are. Stop words, question
    words and lemmas exist for English only and are empty otherwise.

    Args:
        language: Snowball algorithm.
        timezone: In which zone the day of a document begins.

    Raises:
        KeyError: If Snowball has no such *language*.
    """

    def __init__(self, language: str = "english", timezone: tzinfo = UTC) -> None:
        self.language = language
        self.timezone = timezone
        self.is_english = language == _ENGLISH  #: whether it reads English first
        self.has_parts = language == _GERMAN  #: whether parts of words are found in text that shows no other language
        self._days: dict[int, date] = {}
        self.lists = word_lists(language)
        self.meanings = meaning_lists(language)
        self._without_content = self.lists.stop | self.lists.question
        # Every caller keeps what it needs of the result, so the stemmer's own cache would only cost.
        stemmer = Stemmer.Stemmer(language, 0)
        self._stem: Callable[[str], str] = stemmer.stemWord
        self._stem_all: Callable[[list[str]], list[str]] = stemmer.stemWords
        self._terms: dict[str, str] = {}
        self.traits = WordTraits(language, self.lists, self.meanings, _CACHED_WORDS)

    def is_content(self, word: str) -> bool:
        """Return whether a folded *word* is neither a stop word nor a question word."""
        return word not in self._without_content

    def has_content(self, words: Iterable[str]) -> bool:
        """Return whether any of folded *words* is neither a stop word nor a question word."""
        return not self._without_content.issuperset(words)

    def words(self, text: str) -> list[str]:
        """Return the folded words of *text* in order."""
        return split(fold(text))

    def term(self, word: str) -> str:
        """Return the index term of one folded *word*."""
        known = self._terms.get(word)
        if known is None:
            lemma = self.lists.lemmas.get(word, word)
            known = self._stem(lemma) if lemma.isascii() else lemma
            if len(self._terms) >= _CACHED_WORDS:
                self._terms.clear()
            self._terms[word] = known
        return known

    def terms_of(self, words: Iterable[str]) -> list[str]:
        """Return what :meth:`term` does of each of some folded *words*; of many it remembers none."""
        lemma_of = self.lists.lemmas.get
        lemmas = [lemma_of(word, word) for word in words]
        stems = self._stem_all(lemmas)
        return [stem if lemma.isascii() else lemma for lemma, stem in zip(lemmas, stems, strict=True)]

    def terms(self, text: str) -> list[str]:
        """Return the index terms of *text* in order, repeated ones included."""
        return [self.term(word) for word in self.words(text)]

    def day(self, when: int) -> date:
        """Return the local day of *when*, microseconds since 1970 UTC."""
        quarter = when // QUARTER_HOUR
        known = self._days.get(quarter)
        if known is None:
            if len(self._days) >= _CACHED_QUARTERS:
                self._days.clear()
            known = self._days[quarter] = local_day(when, self.timezone)
        return known

    def day_words(self, day: date) -> list[str]:
        """Return the folded words of a document's date line."""
        return self.words(date_line(day))

    def beside(self, text: str) -> list[str]:
        """Return the folded words that a document's *text* is found by beside its :meth:`words`.

        These are emoji, single characters of scripts without spaces, the parts of compound names, and such names
        as a whole; numbers with their units, versions, paths and addresses, each as one word; and what days in figures
        are called. They change the length
        of no document, and thus the scores of no other words.
        """
        folded = fold(text)
        found = [*emoji(folded), *characters(folded), *compounds(text), *addresses(folded), *quantities(folded)]
        return [*found, *days_in_figures(folded)]

    def language_of(self, words: Sequence[str]) -> ForeignLanguage | None:
        """Return the language of folded *words* if it is not the analyzer's own and they show it."""
        return language_of(words, self.language, self._without_content)

    def idle_words(self, words: Sequence[str]) -> frozenset[str]:
        """Return those of a text's folded *words* that say nothing of what it is about: stop and question words.

        They are those of its language and of the analyzer's own. Where it shows no language and has none of the
        analyzer's own, words that are such in any language with lists are.
        """
        distinct = frozenset(words)
        own = distinct & self._without_content
        language = self.language_of(words)
        if language is not None:
            return own.union(filter(language.is_idle, distinct))
        return own or distinct & common_words_of_others(self.language)

    def foreign_term(self, word: str, language: ForeignLanguage) -> str:
        """Return the index term of a folded *word* by the word forms of another *language*."""
        return self.term(language.stem(word))

    def language_by_common_words(self, words: Iterable[str]) -> ForeignLanguage | None:
        """Return what :meth:`language_of` does of words of which none is a sign of another language."""
        return by_common_words(frozenset(words), self.language, self._without_content)

    def forms_beside(self, words: list[str], language: ForeignLanguage | None) -> list[str]:
        """Return by which forms of its folded *words* a text in a *language* is found as well."""
        if language is None:
            return [part for word in words for part in parts_of(word)] if self.has_parts else []
        content, said = language.content(words), frozenset(words)
        if language.name == _GERMAN:
            content += [part for word in content for part in parts_of(word)]
        found = [form for form in language.stems(content) if form not in said]
        if not OTHER_MONTHS.keys().isdisjoint(said):
            found += [MONTHS[number - 1].lower() for word in words if (number := OTHER_MONTHS.get(word)) is not None]
        return found

    def told_spans(
        self, words: list[str], language: ForeignLanguage | None, places: Sequence[int] | None = None
    ) -> tuple[RelativeSpan, ...]:
        """Return the times of which the folded *words* of a text in a *language* tell: :attr:`ParsedText.told`.

        Args:
            words: All of them.
            language: Of the text.
            places: Of those that may tell, if that is known.
        """
        return told_spans(words, is_french=_is_french(language, self.language), places=places)

    def parse_text(self, text: str) -> ParsedText:
        """Return what the formula needs of a document's *text*."""
        folded = fold(text)
        words = split(folded)
        signs = signs_of_words(words, self.traits)
        return self._parsed(text, folded, words, signs._replace(bits=signs.bits | types_of_characters(text)))

    def _parsed(self, text: str, folded: str, words: list[str], signs: Signs) -> ParsedText:
        bits, is_ascii = signs.bits, folded.isascii()
        temporal = bits & TIME != 0
        if bits & OPENS_TIME and not temporal:
            temporal = self.lists.temporal.search(folded) is not None
        closer = signs.closer or not is_ascii
        beside = [*([] if is_ascii else [*emoji(folded), *characters(folded)]), *compounds(text), *addresses(folded)]
        if bits & DIGITS and (closer or "$" in text or "%" in text):
            beside += quantities(folded)
            if signs.numbers >= OF_A_DAY or not is_ascii:
                beside += days_in_figures(folded)
        language = None
        if bits & FOREIGN or not is_ascii:
            language = self.language_of(words)
        elif bits & COMMON and is_open(signs.distinct, signs.idle):
            language = self.language_by_common_words(words)
        beside += self.forms_beside(words, language)
        told: tuple[RelativeSpan, ...] = ()
        if bits & TELLS and (temporal or language is not None or not self.is_english):
            told = self.told_spans(words, language)
        answers = answer_types_of(
            self.meanings, text, bits & TYPES, signs.numbers, closer=closer, clock=signs.clock or closer
        )
        telling = signs.distinct - signs.stop or signs.distinct
        return made(ParsedText, (words, telling, beside, temporal, ends_as_question(text), answers, told))

    def told_words(self, told: Iterable[RelativeSpan], day: date) -> list[str]:
        """Return the folded words of the dates that a text written on a *day* tells of: :attr:`ParsedText.told`."""
        return [word for span in told for word in self.words(told_date(span, day))]

    def found_by(self, text: str, day: date) -> list[str]:
        """Return all folded words that a document's *text* is found by, those of its *day* included."""
        parsed = self.parse_text(text)
        return [*parsed.words, *parsed.beside, *self.told_words(parsed.told, day), *self.day_words(day)]

    def parse_query(self, query: str) -> ParsedQuery:
        """Return what the formula needs of a *query*.

        Stop and question words are dropped, unless nothing else is left, and so are those by which it asks for all that
        is known of something.
        """
        folded = fold(query)
        words = split(folded)
        if (subject := subject_of(query)) is not query and self.has_content(about := split(fold(subject))):
            query, folded, words = subject, fold(subject), about
        # In a question "well-known" is two words; as one more, the compound costs more than it finds (measured).
        asked = [*words, *emoji(folded), *compounds(query, "_"), *quantities(folded), *addresses(folded)]
        idle = self._without_content
        language = self.language_of(words)
        content = [word for word in asked if word not in idle]
        if language is not None:
            content = language.content(content)
        content = content or words
        dates = explicit_dates(folded)
        if dates:  # notes have the English name of the month in their date lines
            content = [*content, *(MONTHS[OTHER_MONTHS[word] - 1].lower() for word in words if word in OTHER_MONTHS)]
            content += days_in_figures(folded)
        terms = tuple(sorted(self._forms(frozenset(content), language)))
        asks_when = self.lists.asks_when.search(folded) is not None
        relative = relative_spans(words, is_french=_is_french(language, self.language))
        if relative:
            relative = _without_names(relative, query, words)
        timed = self._timed(words, relative)
        parsed = made(ParsedQuery, (terms, words, asks_when, dates, relative, timed, terms, 0, language))
        if not timed:
            return parsed
        others = frozenset(word for at, word in enumerate(words) if at not in timed)
        dropped = self._forms({words[at] for at in timed} - others, language)
        dropped -= self._forms(others.difference(self._without_content), language)
        return parsed._replace(timeless=tuple(term for term in terms if term not in dropped))

    def _forms(self, words: AbstractSet[str], language: ForeignLanguage | None) -> set[str]:
        """Return the terms by which a query of a *language* looks for folded *words*."""
        if (language.name if language is not None else self.language) == _GERMAN:
            words = frozenset(words).union(*map(parts_of, words))
        found = {self.term(word) for word in words}
        if language is not None:
            found.update(self.foreign_term(word, language) for word in words)
        return found

    def _timed(self, words: list[str], spans: Sequence[RelativeSpan]) -> frozenset[int]:
        """Return the places of *words* that only say when."""
        places = {at for span in spans for at in span.places}
        if not places:
            return frozenset()
        idle = self.idle_words(words)
        others = {at for at, word in enumerate(words) if at not in places and word not in idle}
        if all(words[at] in ASKS_FOR_ANYTHING for at in others):  # "what happened last week?"
            return frozenset(places | others)
        # Of longer times notes tell in the same words: what was "last week" is not far from what tells of it.
        return frozenset(at for span in spans if span.what == "day" for at in span.places)

    def dated(self, parsed: ParsedQuery, now: int) -> ParsedQuery:
        """Return a query with the days that it speaks of as seen from *now*, asked for by their dates.

        "Yesterday" in a note is the day before that note's: words that say nothing but when are not looked for.
        """
        if not parsed.relative:
            return parsed
        today = self.day(now)
        said = []
        for span in parsed.relative:
            if span.places and parsed.timed.issuperset(span.places):
                said += asked_dates(span, today)
            elif span.is_date:
                said.append(told_date(span, today))
        terms = {*parsed.timeless, *(self.term(word) for date in said for word in self.words(date))}
        dates = parsed.dates_on(today)
        if not parsed.timeless:  # nothing else decides
            dates = [days._replace(grade=days.grade * _TIME_ALONE) for days in dates]
        return parsed._replace(dates=dates, terms=tuple(sorted(terms)), relative=())


def _is_french(language: ForeignLanguage | None, own: str) -> bool:
    return (own if language is None else language.name) == _FRENCH


def _without_names(spans: tuple[RelativeSpan, ...], query: str, words: list[str]) -> tuple[RelativeSpan, ...]:
    """Leave out days that are names in the *query*: "who sang Yesterday?"."""
    named = {fold(word) for word in _LATER_WORD.findall(query) if word[0].isupper()}
    named.update(fold(word) for word in _QUOTED.findall(query))
    return tuple(
        span for span in spans if span.what != "day" or len(span.places) != 1 or words[span.places[0]] not in named
    )
