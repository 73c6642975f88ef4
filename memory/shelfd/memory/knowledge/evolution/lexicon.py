"""The words that rules know of a language, kept as data."""

import json
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any, Final

from shelfd.memory.knowledge.entities.gazetteer import load_names
from shelfd.memory.knowledge.evolution.conjugation import conjugate, listed, plain_third
from shelfd.memory.knowledge.evolution.leading import leading_words, needed_part
from shelfd.memory.notes.words import fold

#: Whoever speaks: alone, and with others; and who is told to do something.
ME: Final = "@me"
US: Final = "@us"
STATUS: Final = frozenset(("status", "estado", "statut"))  #: of what is open, that it is so
YOU: Final = "@you"

#: Languages with spaces between words; the first is what a text is read as that nothing speaks for.
ALPHABETIC: Final = ("en", "de", "es", "fr")
#: Languages in which a noun stands before what describes it.
NOUN_FIRST: Final = ("es", "fr")
#: Bits of a count of words, and the largest: more than a text that is read can have.
COUNT_BITS: Final = 12
COUNTED: Final = (1 << COUNT_BITS) - 1

#: Lists of phrases that say how a clause is meant.
PHRASES: Final = ("past_phrases", "correction_phrases", "additive_phrases")

#: Lists of words that speak for a language.
_TELLING: Final = (
    "determiners", "be", "prepositions", "perfect", "negation", "triggers", "months", "weekdays", "nouns", "telling",
)  # fmt: skip
_DATA: Final = "shelfd.memory.knowledge.evolution"


def load(name: str) -> Any:  # noqa: ANN401 - a file of data
    """Return what a file of this package's data holds."""
    return json.loads(files(_DATA).joinpath(name).read_text(encoding="utf-8"))


def words_of(language: str, *names: str) -> list[str]:
    """Return the words of lists, without all else that is known of a language: megabytes, which it may never need."""
    data = load(f"{language}.json")
    return [word for name in names for word in data.get(name, "").split()]


def _either(phrases: str, but: str = "") -> re.Pattern[str]:
    """Return a pattern of any of *phrases*, as words of their own, where what *but* fits does not begin."""
    unless = f"(?!{but})" if but else ""
    return re.compile(rf"(?<![^ ,]){unless}(?:{'|'.join(map(re.escape, phrases.split('|')))})(?![^ ,])")


_SHADE_AND_COLOUR: Final = 2  #: words


@dataclass(frozen=True, slots=True)
class AlphabeticLexicon:
    """Folded words of a language that has spaces between words."""

    language: str
    lists: dict[str, frozenset[str]]
    spoken: dict[str, str]  #: word -> what stands for it, "" if it makes no difference
    silent: frozenset[str]  #: the words that make no difference
    speaking: frozenset[str]  #: those of who speaks
    nameless: frozenset[str]  #: those that say nothing of whom
    verbs: dict[str, tuple[str, bool]]  #: form -> dictionary form, and whether it tells of the past
    numbers: dict[str, float]
    marks: frozenset[str]  #: words that may say how a clause is meant
    marking: dict[str, tuple[str, ...]]  #: such a word -> the lists it is in; of a phrase its longest word
    marked: frozenset[str]  #: names of times and numbers
    plain: frozenset[str]  #: all others that have no accent: as they stand in a text they are folded
    multipliers: dict[str, float]
    states: dict[str, frozenset[str]]  #: state -> those that it excludes
    opposed: dict[str, frozenset[str]]  #: verb -> those that deny it
    opposites: dict[str, frozenset[str]]  #: word for how something is -> those that exclude it
    classes: tuple[frozenset[str], ...]  #: verbs that say nearly the same of their object
    categories: dict[str, int]  #: name -> number of its category
    ruled_out: dict[tuple[str, ...], tuple[str, ...]]  #: what somebody is -> what they do not do: "eat meat"
    ruling_out: frozenset[str]  #: the verbs of these
    noun_parts: tuple[str, ...]
    fixed_parts: tuple[str, ...]
    past: re.Pattern[str]
    recent: re.Pattern[str]  #: when something happened that goes on
    lately: re.Pattern[str]  #: when, at the end of what is said to have ended
    corrects: re.Pattern[str]
    adds: re.Pattern[str]
    patterns: tuple[tuple[str, re.Pattern[str], str], ...]  #: each with a text that is in all that it fits
    patterns_of: dict[str, tuple[int, ...]]  #: word -> the places of patterns that need it or another; "" of all others
    home: str
    shading: tuple[str, ...]  #: with what a word for a shade of a colour begins
    contracted: dict[str, str]  #: a preposition with an article in it -> the preposition
    feminine: tuple[tuple[str, str], ...]  #: how words for women end who do something -> how those for men do

    def of_role(self, word: str) -> str:
        """Return a word for somebody who does something as that for a man."""
        for end, other in self.feminine:
            if word.endswith(end) and (len(word) > len(end) + 2 or word == end):
                return word[: -len(end)] + other
        return word

    def is_state(self, value: tuple[str, ...]) -> bool:
        """Return whether a value is a state, or a shade of a colour."""
        return (value[0] in self.states and len(value) == 1) or self.colour_of(value) != ""

    def colour_of(self, value: tuple[str, ...]) -> str:
        """Return the colour of which a value names a shade: of a light green, green; "" if it names none."""
        if len(value) == 1:
            found = (value[0][len(shade) :] for shade in self.shading if value[0].startswith(shade))
            return next((word for word in found if word in self.states), "")
        shades = self.lists["shades"]
        if len(value) != _SHADE_AND_COLOUR or shades.isdisjoint(value):
            return ""
        return next((word for word in value if word not in shades and word in self.states), "")

    def __getitem__(self, name: str) -> frozenset[str]:
        return self.lists[name]

    def alike(self, verb: str, other: str) -> bool:
        """Return whether two verbs can be said of the same use of an object."""
        return verb == other or any(verb in each and other in each for each in self.classes)


@cache
def units() -> dict[str, tuple[str, float]]:
    """Return unit -> family and factor to its base unit, of all languages."""
    return {unit: (family, factor) for family, each in load("units.json").items() for unit, factor in each.items()}


@cache
def countries() -> frozenset[str]:
    """Return the names of what contains towns: who lives in one may live in the other."""
    return frozenset(load("countries.json"))


@cache
def places() -> frozenset[str]:
    """Return the names of the places that everybody knows, folded."""
    return frozenset(map(fold, load_names()["location"]))


def _groups(text: str) -> dict[str, int]:
    return {word: at for at, group in enumerate(text.split("|")) for word in group.split()}


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and word.islower()


def _exclusions(text: str) -> dict[str, frozenset[str]]:
    """Return word -> what it excludes: the others of its groups, but for those on its side of a slash.

    What is not open is closed or resolved, and what is closed may be shut.
    """
    found: dict[str, frozenset[str]] = {}
    for group in text.split("|"):
        sides = [frozenset(side.split()) for side in (group.split("/") if "/" in group else group.split())]
        every = frozenset().union(*sides)
        for side in sides:
            for word in side:
                found[word] = found.get(word, frozenset()) | (every - side)
    return found


def _ruled_out(text: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for row in text.split("|") if text else ():
        names, _, done = row.partition(": ")
        found.update({(name,): tuple(done.split(", ")) for name in names.split()})
    return found


def _known_verbs(data: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    """Return form -> dictionary form, and whether it tells of the past: of verbs listed with their forms."""
    verbs: dict[str, tuple[str, bool]] = {}
    for present, told in data["verbs"]:
        for form in told:
            verbs.setdefault(form, (present[0], True))
        for form in present:
            verbs[form] = (present[0], form in data["told_forms"].split())
    return verbs


def _add_verbs(
    verbs: dict[str, tuple[str, bool]], text: dict[str, str], language: str, changing: AbstractSet[str]
) -> frozenset[str]:
    """Add the forms that are made by rule, and return those of the future: what will be is no fact yet.

    Args:
        verbs: To which they are added.
        text: A language's lists of words.
        language: Which that is.
        changing: Words that tell of a change, which are what others did and not what the speaker does: "cambio".
    """
    futures: set[str] = set()
    for each in chain(listed(text.get("irregular", "")), conjugate(text.get("regular", ""), language)):
        so, told = (each.infinitive, False), (each.infinitive, True)
        for form in (each.infinitive, *each.present):
            verbs.setdefault(form, told if form in changing else so)
        for form in each.told:
            verbs.setdefault(form, told)
        futures.update(form for form in each.future if verbs.setdefault(form, so) is so)
    for form in text.get("no_verbs", "").split():
        verbs.pop(form, None)
    return frozenset(futures & verbs.keys())


def _changing(data: dict[str, Any]) -> frozenset[str]:
    """Return the words in "-o" by which a language's data knows that something changed or ended: "cambió"."""
    ending, results = data["ending"], data["results"]["states"]
    told = [data["triggers"], *(ending[kind] for kind in ("ends", "leaves", "ended", "changed", "stopping"))]
    past = "|".join(["ó(?!n)", *(f"<{name}>" for name, part in data["fragments"].items() if "ó|" in part)])
    told += [words for words, pattern, *_ in data["rewordings"] if re.search(past, pattern) is not None]
    told += [fold(wordings) for _, _, wordings in results]
    told += [" ".join(leading_words(pattern)) for _, pattern in data["patterns"]]
    return frozenset(word for words in told for word in words.replace("|", " ").split() if word[-1] == "o")


def _by_word(words: Iterable[frozenset[str]]) -> dict[str, tuple[int, ...]]:
    """Return word -> the places of those that have it; of "" those that have none."""
    found: dict[str, tuple[int, ...]] = {}
    for place, some in enumerate(words):
        for word in some or ("",):
            found[word] = (*found.get(word, ()), place)
    return found


_AND: Final = frozenset(("and", "und", "y", "et"))


def _lists(text: Mapping[str, str], verbs: AbstractSet[str], futures: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return the lists of words of a language's data, and what is put together of them."""
    lists = {name: frozenset(value.split()) for name, value in text.items()}
    lists["unreal_words"] |= futures
    lists["told_of"] = frozenset(
        word for group in text["attributes"].split("|") for word in group.split("/")[1].split() if word[:3] == "be_"
    )
    lists["supposing"] = lists["unreal_words"] - futures - lists["intending"]
    lists["times"] = lists["months"] | lists["weekdays"]
    lists["no_nouns"] = (
        lists["prepositions"] | lists["determiners"] | lists["be"] | lists["fillers"] | lists["approximate"] | _AND
    )
    lists["joined"] = frozenset(
        word.split("_")[0]
        for name in ("participles", "fixed_participles", "proper_participles")
        for word in lists[name]
    ).union(word.split("_")[1] for word in lists["told_of"])
    lists["predicates"] = lists["be"] | verbs
    lists["telling_verbs"] = lists["predicates"] | lists["triggers"]
    lists["unsaid"] = lists["fillers"] | lists["negation"] | lists["ended_words"] | lists["helpers"] | lists["additive"]
    lists["dull"] = lists["determiners"] | lists["unsaid"]
    lists["turning"] = (
        lists["pronouns"] | lists["directions"] | lists["relatives"] | lists["kinds"] | lists["appositives"]
    )
    return lists


def _marking(lists: Mapping[str, frozenset[str]], text: Mapping[str, str]) -> dict[str, list[str]]:
    """Return word -> the lists by which it may say how a clause is meant; of a phrase its longest word."""
    marking: dict[str, list[str]] = {}
    for name in ("negation", "ended_words", "unreal_words", "now", "additive", "yet", "never"):
        for word in lists[name]:
            marking.setdefault(word, []).append(name)
    for name in PHRASES:
        for word in {max(reversed(phrase.split()), key=len) for phrase in text[name].split("|")}:
            marking.setdefault(word, []).append(name)
    return marking


@cache
def lexicon(language: str) -> AlphabeticLexicon:
    """Return the words of ``en``, ``de``, ``es`` or ``fr``; they are read on first use."""
    data = load(f"{language}.json")
    text = {name: value for name, value in data.items() if isinstance(value, str)}
    verbs = _known_verbs(data)
    futures = _add_verbs(verbs, text, language, _changing(data) if language == "es" else frozenset())
    lists = _lists(text, verbs.keys(), futures)
    marking = _marking(lists, text)
    spoken = {
        **dict.fromkeys(lists["dull"], ""),
        **dict.fromkeys(lists["group"], US),
        **dict.fromkeys(lists["self"], ME),
    }
    speaking = frozenset(word for word, said in spoken.items() if said)
    ruled_out = _ruled_out(text.get("ruled_out", ""))
    marked = lists["times"].union(text["number_words"].split())
    return AlphabeticLexicon(
        language=language,
        lists=lists,
        spoken=spoken,
        silent=frozenset(spoken.keys() - speaking),
        speaking=speaking,
        nameless=(lists["dull"] | lists["prepositions"]) - speaking,
        verbs=verbs,
        numbers={word: float(at) for at, word in enumerate(text["number_words"].split())},
        marks=frozenset(marking),
        marking={word: tuple(names) for word, names in marking.items()},
        marked=marked,
        plain=frozenset(word for word in frozenset().union(*lists.values()) - marked if _is_plain(word)),
        multipliers={word: float(factor) for word, factor in data["multipliers"].items()},
        states=_exclusions(text["states"]),
        opposed=_exclusions(text["opposed"]),
        opposites=_exclusions(text["opposites"]),
        classes=tuple(frozenset(each.split()) for each in text["classes"].split("|")),
        categories=_groups(text["categories"]),
        ruled_out=ruled_out,
        ruling_out=frozenset(done.split(" ", 1)[0] for each in ruled_out.values() for done in each),
        noun_parts=tuple(text.get("noun_parts", "").split()),
        fixed_parts=tuple(text.get("fixed_parts", "").split()),
        past=_either(text["past_phrases"], text.get("not_past", "")),
        recent=_either(text["recent_phrases"]),
        lately=re.compile(f" (?:{text['lately']})$"),
        corrects=_either(text["correction_phrases"]),
        adds=_either(text["additive_phrases"]),
        patterns=tuple((name, re.compile(pattern), needed_part(pattern)) for name, pattern in data["patterns"]),
        patterns_of=_by_word(leading_words(pattern) for _, pattern in data["patterns"]),
        home=text["home_verb"],
        shading=tuple(text.get("shading", "").split()),
        contracted=dict(each.split(":") for each in text.get("contracted", "").split()),
        feminine=tuple((end, other) for end, _, other in (each.partition(":") for each in text["feminine"].split())),
    )


def _telling(language: str) -> frozenset[str]:
    """Return the words that speak for a language.

    Of the verbs whose forms are made by rule, that is the third person where it is plain, and nothing that is a word of
    other languages, too, as "change".
    """
    data = load(f"{language}.json")
    made = (plain_third(verb) for verb in data.get("regular", "").split())
    words = frozenset(chain(made, _known_verbs(data), *(data.get(name, "").split() for name in _TELLING)))
    return words.difference(data.get("no_telling", "").split())


@cache
def telling() -> tuple[frozenset[str], frozenset[str], dict[str, int]]:
    """Return the words that speak for any language but the first, and each word's share in the counts of all languages.

    In between are those of them that do not speak for the first as well: without one, no other counts more.

    A text's languages are counted by one sum, of numbers that have ``COUNT_BITS`` bits for each of ``ALPHABETIC``.
    """
    shares: dict[str, int] = {}
    for at, language in enumerate(ALPHABETIC):
        for word in _telling(language):
            shares[word] = shares.get(word, 0) | 1 << at * COUNT_BITS
    others = frozenset(word for word, share in shares.items() if share > COUNTED)
    return others, frozenset(word for word in others if not shares[word] & COUNTED), shares


@dataclass(frozen=True, slots=True)
class SpacelessLexicon:
    """Patterns of a language without spaces between words."""

    language: str
    flags: dict[str, re.Pattern[str]]  #: what a clause is marked by
    patterns: tuple[tuple[str, re.Pattern[str]], ...]  #: effect -> subject, verb, value
    verbs: dict[str, str]
    be: frozenset[str]
    functional: frozenset[str]
    home: str
    nouns: re.Pattern[str]
    fixed: re.Pattern[str]
    states: dict[str, frozenset[str]]  #: as those of other languages
    contrast: re.Pattern[str]
    negation: re.Pattern[str] | None
    pronouns: frozenset[str]
    attribute: str


@cache
def spaceless(language: str) -> SpacelessLexicon:
    """Return the patterns of ``zh`` or ``ja``."""
    data = load(f"{language}.json")
    names = ("ended", "moved", "changed", "gone", "statement")
    return SpacelessLexicon(
        language=language,
        flags={name: re.compile(data[name]) for name in ("correction", "past", "unreal", "additive", "fillers", "now")},
        patterns=tuple(
            ("says" if name == "statement" else name, re.compile(each)) for name in names for each in data[name]
        ),
        verbs=data["verbs"],
        be=frozenset(data["be"].split("|")),
        functional=frozenset(data["functional"].split("|")),
        home=data["home"],
        nouns=re.compile(data["nouns"]),
        fixed=re.compile(data["fixed"]),
        states=_exclusions(data["states"]),
        contrast=re.compile(data["contrast"]),
        negation=re.compile(data["negation"]) if data["negation"] else None,
        pronouns=frozenset(data["pronouns"].split("|")),
        attribute=data["attribute"],
    )
