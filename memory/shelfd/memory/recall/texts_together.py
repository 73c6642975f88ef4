"""What many texts say, read together: arrays for what their words show, a closer look at those that need one."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from shelfd.memory.notes.latin import as_latin
from shelfd.memory.notes.words import addresses, compounds, ends_as_question, fold
from shelfd.memory.recall.analyzer import Analyzer, ParsedText
from shelfd.memory.recall.columns import BoolArray, IntArray
from shelfd.memory.recall.dates import days_in_figures
from shelfd.memory.recall.languages import ForeignLanguage, is_open
from shelfd.memory.recall.meaning import ANSWER_TYPES, MEASURED, answer_types_of
from shelfd.memory.recall.quantities import quantities
from shelfd.memory.recall.skimming import Skimmed, skimmed
from shelfd.memory.recall.time_spans import RelativeSpan
from shelfd.memory.recall.word_traits import COMMON, DIGITS, FOREIGN, MARK, OPENS_TIME, TELLS, TIME, TYPES

_MARK: Final = MARK.encode()
_NUMBER: Final = ANSWER_TYPES["number"]
_NUMBERS: Final = ANSWER_TYPES["numbers"]


class TextsTogether(NamedTuple):
    """Some texts: what a :class:`ParsedText` says of each, as columns.

    Attributes:
        skim: Their words; of those that were read alone, none.
        alone: Those by their places.
        telling: As in :class:`ParsedText`, as are those that follow; what few texts have by the places of these.
    """

    skim: Skimmed
    alone: dict[int, ParsedText]
    telling: IntArray
    beside: dict[int, list[str]]
    temporal: BoolArray
    question: BoolArray
    answer_types: IntArray
    told: dict[int, tuple[RelativeSpan, ...]]

    def parsed(self) -> list[ParsedText]:
        """Return them one by one."""
        return [
            self.alone.get(at)
            or ParsedText(
                self.skim.words_of(at),
                self.telling.item(at),
                self.beside.get(at, []),
                self.temporal.item(at),
                self.question.item(at),
                self.answer_types.item(at),
                self.told.get(at, ()),
            )
            for at in range(len(self.telling))
        ]


def read_together(analyzer: Analyzer, texts: Sequence[str]) -> TextsTogether:
    """Return what :meth:`Analyzer.parse_text` does of each of some *texts*."""
    latin = [text.encode() if text.isascii() else as_latin(text) for text in texts]
    # First those of other scripts: whoever reads a text may forget all words, whose numbers the rest is told by.
    others = [at for at, text in enumerate(latin) if text is None or _MARK in text]
    alone = {at: analyzer.parse_text(texts[at]) for at in others}
    plain = ["" if at in alone else text for at, text in enumerate(texts)] if alone else texts
    skim = skimmed([b"" if at in alone else text or b"" for at, text in enumerate(latin)], analyzer.traits)
    temporal = (skim.bits & TIME) != 0
    for at in _where((skim.bits & OPENS_TIME != 0) & ~temporal):
        temporal[at] = analyzer.lists.temporal.search(fold(plain[at])) is not None
    beside = _beside(plain, skim)
    told = _in_languages(analyzer, skim, temporal, beside)
    found = TextsTogether(
        skim,
        alone,
        np.where(skim.distinct > skim.stop, skim.distinct - skim.stop, skim.distinct),
        beside,
        temporal,
        np.array(list(map(ends_as_question, plain)), np.bool_),
        _answer_types(analyzer, plain, skim),
        told,
    )
    for at, parsed in alone.items():
        _put(found, at, parsed)
    return found


def _put(found: TextsTogether, at: int, parsed: ParsedText) -> None:
    """Say of a text what was found when it was read alone."""
    found.telling[at], found.temporal[at], found.question[at] = parsed.telling, parsed.temporal, parsed.question
    found.answer_types[at] = parsed.answer_types
    found.beside[at], found.told[at] = parsed.beside, parsed.told


def _where(holds: BoolArray) -> list[int]:
    """Return for which texts something holds."""
    (found,) = holds.nonzero()
    places: list[int] = found.tolist()
    return places


def _beside(texts: Sequence[str], skim: Skimmed) -> dict[int, list[str]]:
    """Return what texts are found by beside their words, whatever their language."""
    beside = {at: compounds(texts[at]) for at in _where(skim.compounds)}
    for at in _where(skim.addresses):
        beside[at] = beside.get(at, []) + addresses(fold(texts[at]))
    for at in _where((skim.bits & DIGITS != 0) & skim.measured):
        folded = fold(texts[at])
        found = quantities(folded)
        if skim.figures[at]:
            found += days_in_figures(folded)
        beside[at] = beside[at] + found if at in beside else found
    return beside


def _in_languages(
    analyzer: Analyzer, skim: Skimmed, temporal: BoolArray, beside: dict[int, list[str]]
) -> dict[int, tuple[RelativeSpan, ...]]:
    """Add the forms that words have in the languages of texts; return the times of which these tell."""
    bits, languages, words = skim.bits, dict[int, ForeignLanguage](), dict[int, list[str]]()
    is_foreign = (bits & FOREIGN != 0) | skim.signed
    for at in _where(is_foreign | ((bits & COMMON != 0) & is_open(skim.distinct, skim.idle))):
        find = analyzer.language_of if is_foreign[at] else analyzer.language_by_common_words
        if (language := find(said := skim.words_of(at))) is not None:
            languages[at], words[at] = language, said
    for at in range(len(bits)) if analyzer.has_parts else languages:
        if forms := analyzer.forms_beside(words.get(at) or skim.words_of(at), languages.get(at)):
            beside[at] = [*beside.get(at, ()), *forms]
    tells = bits & TELLS != 0
    if analyzer.is_english:
        temporal = temporal.copy()
        temporal[list(languages)] = True
        tells &= temporal
    found: dict[int, tuple[RelativeSpan, ...]] = {}
    for at, places in zip(some := _where(tells), skim.places_that_tell(some), strict=True):
        if spans := analyzer.told_spans(words.get(at) or skim.words_of(at), languages.get(at), places):
            found[at] = spans
    return found


def _answer_types(analyzer: Analyzer, texts: Sequence[str], skim: Skimmed) -> IntArray:
    """Return which types of answer texts hold."""
    shown, numbers = skim.bits & TYPES, skim.numbers
    found = np.where(numbers == 0, shown & ~MEASURED, shown | _NUMBER | np.where(numbers > 1, _NUMBERS, 0))
    closer, clock = skim.closer, skim.clock
    for at in _where((numbers != 0) & clock):
        found[at] = answer_types_of(
            analyzer.meanings, texts[at], shown.item(at), numbers.item(at), closer=closer.item(at), clock=clock.item(at)
        )
    return found
