"""What is said around one measure: the same in other words, another order or by another verb.

"Milo weighs 23 kilos" and "Milo's weight is 21.5 kg" have neither verb nor attribute in common. But a weight can hardly
be anything else than the value, and all else that they say is alike. So where two statements hold one value each that
shows by its form what it is, it is enough that their other words are the same, without those that say no more than the
value does by itself.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import filterfalse
from typing import Final, NamedTuple

from shelfd.memory.knowledge.evolution.ages import ages_of, in_years, may_be_age
from shelfd.memory.knowledge.evolution.compounds import parts_of
from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, ME, US, lexicon, load, units
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.stems import stem
from shelfd.memory.knowledge.evolution.verdicts import SAME, Judgement, Verdict, updated
from shelfd.memory.knowledge.evolution.weekdays import days_of, week, weekday_of
from shelfd.memory.knowledge.evolution.word_forms import are_forms

#: Words of a statement whose measure is looked at: longer ones are seldom said twice alike.
_LONGEST: Final = 16
_ADDRESS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+){1,3}")
_CODE: Final = re.compile(r"[a-z]{1,2}-?\d{1,4}")  #: of a gate, a room, a seat
_YEAR: Final = re.compile(r"~\d{4}")
_HOST: Final = "address"
_LONGEST_CODE: Final = 7  #: characters
_LETTERS: Final = 3  #: no value that shows what it is begins with so many
# By a name of this module it is found in a tenth of the time that Python 3.11 takes to find an enumeration's member.
_SAYING: Final = (Effect.SAYS, Effect.INSTEAD)
_CHANGING: Final = (Effect.CHANGED, Effect.MOVED)
_ARTICLE_AND_AMOUNT: Final = 2
_HOW_MUCH_AND_HOW_OFTEN: Final = 2
_COUNTING: Final = ("es", "fr", "de")  #: languages whose article counts as well


class Measure(NamedTuple):
    """A value that shows what it is, and all else that is said with it."""

    kind: str  #: "#mass", "~" for a time of the day, "address", "version", "code"
    value: str
    about: frozenset[str]  #: stems
    minor: frozenset[str]  #: words that one of two may leave out: "daily", "next"
    said: frozenset[str]  #: the words that these are of
    event: bool  #: what happened, and can have no other value

    @property
    def is_of_one_time(self) -> bool:
        """Whether it tells when that happened, so that it can have happened only once."""
        return any(word[0] == "~" for word in self.about) or (self.kind == _DAY and " " in self.value)


def measured(new: Statement, old: Statement) -> Judgement | None:
    """Return what becomes of what measures the same in other words; None if it does not."""
    is_of_others = new.subject.isdisjoint(old.subject) and (new.subject | old.subject).isdisjoint((ME, US, "there"))
    if is_of_others and (new.language not in ALPHABETIC or not _share_a_form(new, old)):
        return None  # who owes somebody two coins is owed none
    measure = measure_of(new)
    before = None if measure is None else measure_of(old)
    if measure is None or before is None:
        return None
    if (measure.kind, measure.about, measure.event) != (before.kind, before.about, before.event):
        return None
    if measure.minor and before.minor and measure.minor != before.minor:
        return None  # the daily stand-up, and the weekly one
    if _is_of_another_period(new, old) or _is_done_to_another_end(new, old):
        return None
    if not are_forms(measure.said ^ before.said, new.language):
        return None
    if f"{measure.value} ".startswith(f"{before.value} ") or f"{before.value} ".startswith(f"{measure.value} "):
        return None if measure.kind == _WEEKDAY else SAME  # one of them may say the year as well, or the week
    if measure.event:
        if new.corrects:
            return Judgement(Verdict.CORRECTED, "corrected")
        return Judgement(Verdict.CONFLICT, "two values of what happened once") if measure.is_of_one_time else None
    if Arity.FIXED in (new.slot, old.slot) or _is_said_alike(new, old):
        return None  # as was seen already
    return updated(new, "another measure")


def _is_done_to_another_end(new: Statement, old: Statement) -> bool:
    """Return whether one says what somebody gets, or weighs, and the other what they pay, or take."""
    lists = lexicon(new.language).lists if new.language in ALPHABETIC else {}
    verbs = ((new.verb, old.verb), (old.verb, new.verb))
    return any(
        one in lists.get(name, ()) and other in lists.get(end, ()) for name, end in _CONTRARY for one, other in verbs
    )


#: Lists of verbs by which nobody says the same of an amount.
_CONTRARY: Final = (("gaining", "spending"), ("weighing", "dosing"))


def _share_a_form(new: Statement, old: Statement) -> bool:
    """Return whether two subjects have a word in common, be it in another form: a refund, and refunds."""
    return not _stems(new.subject, new.language).isdisjoint(_stems(old.subject, old.language))


def _is_of_another_period(new: Statement, old: Statement) -> bool:
    """Return whether two measures are of as much time as differs: a month's rent, and a year's."""
    periods, before = (
        {units()[word] for word in each.words if word in units() and units()[word][0] in _PERIODS}
        for each in (new, old)
    )
    return bool(periods) and bool(before) and periods.isdisjoint(before)


_PERIODS: Final = ("time", "months")  #: families of units


def _is_said_alike(new: Statement, old: Statement) -> bool:
    """Return whether two statements say the same in the same words and order, but for their values."""
    if (new.subject, new.verb, new.link) != (old.subject, old.verb, old.link):
        return False
    is_of_noun = not lexicon(new.language)["nouns"].isdisjoint(new.subject)
    days = {} if is_of_noun else week(new.language)  # who cleans on Mondays may do so on Thursdays as well
    said, before = (
        ["#" if _kind(word) or word.isdigit() or word in days else word for word in each.words] for each in (new, old)
    )
    return said == before


def measure_of(statement: Statement) -> Measure | None:
    """Return the one measure of a statement; None if it has none, or several, or only supposes or denies it."""
    language = statement.language
    words, amounts = _words_and_amounts(statement)
    if not 1 < len(words) <= _LONGEST or language not in ALPHABETIC:
        return None
    if not amounts and all(map(str.isalpha, words)):
        return None  # as most
    at, kind = _place_of(words, statement.subject, is_counted=bool(amounts))
    if (
        at < 0
        and not amounts
        and not days_of(language).isdisjoint(words)
        and sum([word[0] == "~" for word in words]) == 1
    ):
        day = weekday_of(words, statement.subject, language)
        at, kind = (words.index(day), _WEEKDAY) if day else (at, kind)
    if at < 0 or (kind[:1] == "#") != (len(amounts) == 1):
        return None  # as most
    if not _is_told(statement) or any(_kind(word) not in _NAMING for word in statement.subject):
        return None  # "deploy 1843 failed" measures nothing
    needed = _NEEDED.get(kind)
    kind = "#" if kind == _LABEL else kind  # port 8080 is a number as 8080 is one
    if kind == "#" and amounts and words[at] in statement.core and not ages_of(language).isdisjoint(words):
        return measure_of(in_years(statement, words, at, amounts[0]))
    if kind == "#" and amounts and may_be_age(statement) and _said_by(language, "#").isdisjoint(statement.subject):
        return measure_of(in_years(statement, words, at, amounts[0]))
    value = f"{amounts[0]:g}" if words[at][0] == "#" else words[at].lstrip("v")
    value = week(language)[value] if kind == _WEEKDAY else value
    if kind == "~" and not statement.event and (day := _day_of(words, statement)):
        kind, value = _WHEN, f"{week(language).get(day, day)} {value}"
        place = words.index(day)
        words, at = (*words[:place], *words[place + 1 :]), at - (at > place)
    if kind == _DAY and words[at + 1 : at + 2] and _YEAR.fullmatch(words[at + 1]):
        value, words = f"{value} {words[at + 1]}", (*words[: at + 1], *words[at + 2 :])
    about = _about(words, at, "~" if kind == _WHEN else kind, language)
    if not about or (needed and _attributes(language, needed).isdisjoint(about.keys())):
        return None
    minor = about.keys() & _minor(language)
    if len(minor) == len(about):
        minor = set()
    said = frozenset([about[word] for word in about if word not in minor])
    is_event = statement.event or statement.past
    return Measure(kind, value, frozenset(about.keys() - minor), frozenset(minor), said, is_event)


def _words_and_amounts(statement: Statement) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the words and amounts of what a statement says, or of what is so since it changed.

    An article that counts as well is no amount beside another: "un délai de quatre heures".
    """
    words, amounts = statement.words, statement.amounts
    if statement.effect in _CHANGING and (statement.value in _MEASURING or _is_address(statement.core)):
        words = (*sorted(statement.subject), "be", *statement.core)  # "the launch was moved to Monday"
    if len(amounts) == _HOW_MUCH_AND_HOW_OFTEN and "#times" in words:
        counted = [word for word in words if word[0] == "#"]
        often = amounts[counted.index("#times")]  # "500 mg twice a day"
        words = tuple(f"{often:g}times" if word == "#times" else word for word in words)
        return words, tuple(amount for word, amount in zip(counted, amounts, strict=False) if word != "#times")
    if len(amounts) == _ARTICLE_AND_AMOUNT and amounts[0] == 1.0 and "#" in words and statement.language in _COUNTING:
        at = words.index("#")
        return (*words[:at], *words[at + 1 :]), amounts[1:]
    return words, amounts


_MEASURING: Final = (Value.TIME, Value.AMOUNT)


def _is_address(core: tuple[str, ...]) -> bool:
    return len(core) == 1 and _kind(core[0]) == _HOST


def _is_told(statement: Statement) -> bool:
    """Return whether a statement says of something what it measures, or what it measures since."""
    if not statement.subject or statement.several or not statement.real or not statement.positive or statement.adds:
        return False
    return statement.effect in _SAYING or statement.effect in _CHANGING


def _day_of(words: tuple[str, ...], statement: Statement) -> str:
    """Return the date among *words*, or the day of what is weekly, or of what there is one of.

    Returns:
        "" if there is none, or if it says what is meant.
    """
    language, subject = statement.language, statement.subject
    lists = lexicon(language).lists
    days = lists["weekdays"] if not lists["once"].isdisjoint(words) else frozenset[str]()
    day = next((word for word in words if _kind(word) == _DAY or (word[0] == "~" and word[1:] in days)), "")
    if not day and not lists["nouns"].isdisjoint(map(_alike(language).get, words, words)):
        day = weekday_of(words, subject, language)
    return "" if day in subject else day


#: A date of a year, and no year.
_DAY: Final = "day"
_WHEN: Final = "when"  #: a date and a time of the day
_WEEKDAY: Final = "weekday"
#: What may stand in the name of what is measured: node n-17, "Kite 2.0 will be released on Monday".
_NAMING: Final = ("", _DAY, "code", "version")
#: A number that belongs to the noun before it, as in "port 8080".
_LABEL: Final = "number"


def _place_of(words: tuple[str, ...], subject: frozenset[str], *, is_counted: bool) -> tuple[int, str]:
    """Return where the one value among *words* stands, and what kind of one it is; -1 if there is none, or several."""
    value = kind = label = day = ""
    has_number, labels = is_counted, 0
    for word in filterfalse(str.isalpha, words):
        has_number = has_number or word[-1].isdigit()
        if word[:_LETTERS].isalpha() or (word in subject and _VERSION.fullmatch(word)):
            continue  # a name with a number, and no measure
        if found := word if word[0] == "#" else _kind(word):
            if found == "code" and word in subject:
                continue
            if found == _DAY and not day:
                day = word
                continue
            if kind or found == _DAY:
                return -1, ""
            value, kind = word, found
        elif word.isdigit():
            label, labels = word, labels + 1
    if labels == 1 and not kind and label not in subject:
        return words.index(label), _LABEL
    if day and not kind and not labels and day not in subject:
        return words.index(day), _DAY
    return (words.index(value), kind) if kind and has_number else (-1, "")


def _kind(word: str) -> str:
    """Return what kind of a value a word is, "" if it is none."""
    if word[0] == "#":
        return word
    if word[0] == "~":
        return "~" if ":" in word else _DAY if any(map(str.isdigit, word)) and not word[1:].isdigit() else ""
    if not word[-1].isdigit():
        return ""
    if "." in word:
        return _HOST if _ADDRESS.fullmatch(word) else "version" if _VERSION.fullmatch(word) else ""
    return "code" if len(word) <= _LONGEST_CODE and _CODE.fullmatch(word) else ""


def _about(words: tuple[str, ...], at: int, kind: str, language: str) -> dict[str, str]:
    """Return the stems of what is said besides the value at *at*, each with its word, without what its kind says."""
    silent, alike = _said_by(language, kind), _alike(language)
    lists = lexicon(language).lists
    found: dict[str, str] = {}
    for place, said in _parted(words, silent, lists["nouns"], alike, is_german=language == "de"):
        word = whither(said)
        if place == at or not word or word in silent:
            continue
        if word in lists["directions"] and (place == at - 1 or words[place + 1 : place + 2] == words[at - 1 : at]):
            continue  # "to 250", "from gate B12"
        if word[0] in "#~":
            found[word] = word
            continue
        form = stem(alike.get(word, word), language)
        if form not in silent or (language == "en" and word[-3:] == "ing"):  # the pulse during running, and at rest
            found[form] = alike.get(word, word)
    found.pop(US, None)
    if len(found) > OF_SPEAKER:
        found.pop(ME, None)  # "my levothyroxine dose in the morning" is found without whose it is
    if found.keys() - {ME}:
        return found
    own = _own(language).get(kind, NOBODY).intersection(words) if found else NOBODY
    return {**found, f"={kind}": min(own)} if own else {}  # "I weigh 71 kilos"


OF_SPEAKER: Final = 2  #: words from which on it does not matter whether it is the speaker's


def _parted(
    words: tuple[str, ...],
    silent: AbstractSet[str],
    nouns: AbstractSet[str],
    alike: Mapping[str, str],
    *,
    is_german: bool,
) -> Iterator[tuple[int, str]]:
    """Yield words with their places, one that ends in a noun as two: "metoprolol-dosis", "Sprintlänge".

    Args:
        words: Of a statement.
        silent: Which of them say nothing.
        nouns: Those that have one value.
        alike: Those that others stand for.
        is_german: Whether the words are German ones.
    """
    for place, word in enumerate(words):
        is_joined = "-" in word and word not in nouns and word not in alike
        if is_joined and ((last := word.rpartition("-")[2]) in nouns or last in silent):
            yield place, word[: -len(last) - 1]
            yield place, last
        elif is_joined and not is_german and word.replace("-", "").isalpha():
            for part in filter(None, word.split("-")):
                yield place, part  # "the living-room thermostat"
        elif is_german and len(word) > _LONG and word not in silent and word not in alike:
            for part in parts_of(word):
                yield place, part
        else:
            yield place, word


_LONG: Final = 6  #: letters of a word that may be put together of two


def whither(word: str) -> str:
    """Return the place that something goes to without "to": "the flight to Oslo" is "the Oslo flight"."""
    return word.partition(" ")[2] if " " in word and word.startswith(_TO) else word


_TO: Final = ("to ", "nach ", "hasta ", "vers ")


@cache
def _said_by(language: str, kind: str) -> frozenset[str]:
    """Return words, and stems, that say nothing which a value of *kind* does not."""
    lists, said = lexicon(language).lists, load(f"{language}.json")["measuring"]
    words = frozenset(f"{said['']} {said.get(kind, '')}".split())
    stems = _stems(words, language)
    return (
        words
        | stems
        | (lists["prepositions"] - lists["directions"])
        | lists["be"]
        | lists["definite"]
        | {"be", "a", "the"}
    )


@cache
def _attributes(language: str, names: tuple[str, ...]) -> frozenset[str]:
    """Return the stems of what has one value at a time, of the lists of these *names*."""
    lists = lexicon(language).lists
    return _stems(frozenset[str]().union(*(lists[name] for name in names)), language)


#: Lists of what a value is of that does not show by itself that there is one: a code, or a day of the week.
_NEEDED: Final = {
    "code": ("nouns", "concrete_nouns"), _LABEL: ("nouns", "concrete_nouns"), _WEEKDAY: ("nouns",)
}  # fmt: skip


def _stems(words: Iterable[str], language: str) -> frozenset[str]:
    return frozenset([stem(word, language) for word in words])


@cache
def _own(language: str) -> Mapping[str, frozenset[str]]:
    """Return kind -> words that say what is measured where nothing but whose it is is said beside: "my weight"."""
    said: dict[str, str] = load(f"{language}.json").get("own_measures", {})
    return {kind: frozenset(words.split()) for kind, words in said.items()}


@cache
def _minor(language: str) -> frozenset[str]:
    return _stems(lexicon(language).lists["minor_measures"], language)


@cache
def _alike(language: str) -> dict[str, str]:
    """Return word -> that which stands for all that say the same."""
    groups = [group.split() for group in load(f"{language}.json")["measured"].split("|")]
    return {word: group[0] for group in groups for word in group}
