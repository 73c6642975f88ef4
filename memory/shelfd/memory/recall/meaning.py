"""Word lists by which recall judges whether a note speaks of what is asked, kept as data."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final

#: The kinds of answer that a text may hold and a question may want, by name: one bit each.
ANSWER_TYPES: Final = {
    name: 1 << at
    for at, name in enumerate(
        (
            "number",
            "numbers",
            "time",
            "year",
            "money",
            "age",
            "address",
            "weight",
            "length",
            "duration",
            "frequency",
            "rate",
            "phone",
            "cause",
            "name",
        )
    )
}
#: A text without a number holds none of these.
MEASURED: Final = sum(ANSWER_TYPES[name] for name in ("money", "age", "weight", "length", "rate"))
# For every note that is written. A pattern is searched several times faster if what a match begins with is given as
# characters, so these begin with what is rare in a text, and look back at what has to precede it.
#: A unit or an ending, with the blank before it; or nothing, where a phone number begins. One search for both, for each
#: has to look at every digit.
_AFTER_DIGIT: Final = re.compile(r"[0-9](?:( ?[a-z]{1,4})\b|(?=[0-9 ()/-]{5})(?=(?:[ ()/-]{0,2}[0-9]){5}))")
_PHONE_NUMBER: Final = ""
_CLOCK: Final = re.compile(r":(?:(?<=\b[0-9]:)|(?<=\b[0-9]{2}:))[0-9]{2}\b")
_YEAR: Final = re.compile(r"(?:19|20)(?<=\b..)[0-9]{2}\b")
_MONEY_SIGN: Final = re.compile(r"[$€£¥]")
_NAME: Final = re.compile(r" [A-Z](?<=[a-z0-9,;]..)[a-z]")


@dataclass(frozen=True, slots=True)
class MeaningLists:
    """What is known of the words of a language; a language without lists has empty ones."""

    light: frozenset[str] = frozenset()  #: say little of what a question is about
    conjunctions: frozenset[str] = frozenset()  #: begin a question that continues another
    same: tuple[tuple[str, ...], ...] = ()  #: groups of words that often speak of one thing
    kinds: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()  #: words for a kind, and what is of it
    answer_types: Mapping[str, int] = field(
        default_factory=dict
    )  #: which types of answer a text with this word holds, see ANSWER_TYPES
    units: Mapping[str, int] = field(default_factory=dict)  #: the same of what follows digits, with the blank before it
    #: times of day, and days of the month that is also a verb, in a text with a number, and what is in every such text
    clock: tuple[tuple[str, re.Pattern[str]], ...] = ()
    #: folded words of which one is in every such text: by itself, or before a number, or one that begins like these
    clock_words: frozenset[str] = frozenset()
    before_clock: frozenset[str] = frozenset()
    opens_clock: tuple[str, ...] = ()
    asks: Mapping[str, int] = field(default_factory=dict)  #: what a question with this word wants, see ANSWER_TYPES


@cache
def meaning_lists(language: str) -> MeaningLists:
    """Return the lists of *language*, a Snowball algorithm's name; they are read on first use."""
    if language != "english":
        return MeaningLists()
    path = files("shelfd.memory.recall").joinpath("lexicon", "en-meaning.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    units = _bits(data["units"])
    clock_words = {name: words.split() for name, words in data["clock_words"].items()}
    return MeaningLists(
        light=frozenset(data["light"]),
        conjunctions=frozenset(data["conjunctions"]),
        same=tuple(tuple(group.split()) for group in data["same"]),
        kinds=tuple((tuple(kind.split()), tuple(of_it.split())) for kind, of_it in data["kinds"].items()),
        answer_types=_bits({"number": " ".join(data["numbers"]), **data["tells"]}),
        units=_bits(data["endings"]) | units | {f" {unit}": bits for unit, bits in units.items()},
        clock=tuple((part, re.compile(pattern)) for part, pattern in data["clock"].items()),
        clock_words=frozenset(clock_words["alone"]),
        before_clock=frozenset(clock_words["before"]),
        opens_clock=tuple(clock_words["opens"]),
        asks=_bits(data["asks"]),
    )


def _bits(words: Mapping[str, str]) -> dict[str, int]:
    found: defaultdict[str, int] = defaultdict(int)
    for name, group in words.items():
        for word in group.split():
            found[word] |= ANSWER_TYPES[name]
    return dict(found)


def related_terms(lists: MeaningLists, term: Callable[[str], str]) -> Mapping[str, frozenset[str]]:
    """Return by index term what a note may say instead where a question has it.

    Args:
        lists: Of one language.
        term: Gives the index term of a word.
    """
    related: defaultdict[str, set[str]] = defaultdict(set)
    for group in lists.same:
        terms = {term(word) for word in group}
        for one in terms:
            related[one] |= terms
    for kind, of_it in lists.kinds:
        for one in map(term, kind):
            related[one].update(map(term, of_it))
    return {one: frozenset(others - {one}) for one, others in related.items()}


def types_of_characters(text: str) -> int:
    """Return which types of answer single characters of a text show: sums of money, and names."""
    found = 0
    if "$" in text if text.isascii() else _MONEY_SIGN.search(text) is not None:
        found |= ANSWER_TYPES["money"]
    if _NAME.search(text) is not None:
        found |= ANSWER_TYPES["name"]
    return found


def answer_types_of(
    lists: MeaningLists, text: str, found: int, numbers: int, *, closer: bool = True, clock: bool = True
) -> int:
    """Return which types of answer a text holds, bits of :data:`ANSWER_TYPES`.

    Args:
        lists: Of its language; numbers, sums and names are known in any.
        text: As it was given: capitals count.
        found: What its words tell of by themselves, as the lists have it, and its characters.
        numbers: How many of its words are numbers.
        closer: Whether what stands beside its numbers may tell more, as its words show.
        clock: Whether that may be a time of day.
    """
    if not numbers:
        return found & ~MEASURED
    found |= ANSWER_TYPES["number"] if numbers == 1 else ANSWER_TYPES["number"] | ANSWER_TYPES["numbers"]
    if closer:
        units = lists.units
        for after in _AFTER_DIGIT.findall(text):
            found |= ANSWER_TYPES["phone"] if after == _PHONE_NUMBER else units.get(after, 0)
        if ("19" in text or "20" in text) and _YEAR.search(text) is not None:
            return found | ANSWER_TYPES["time"] | ANSWER_TYPES["year"]
    if clock and not found & ANSWER_TYPES["time"] and _has_clock(lists, text):
        found |= ANSWER_TYPES["time"]
    return found


def _has_clock(lists: MeaningLists, text: str) -> bool:
    if ":" in text and _CLOCK.search(text) is not None:
        return True
    for part, pattern in lists.clock:  # noqa: SIM110 - a generator would cost as much as one of the patterns
        if part in text and pattern.search(text) is not None:
            return True
    return False
