"""What is said around one measure: the same in other words, another order or by another verb.

"Milo weighs 23 kilos" and "Milo's weight is 21.5 kg" have neither verb nor attribute in common. But a weight can hardly
be anything else than the value, and all else that they say is alike. So where two statements hold one value each that
shows by its form what it is, it is enough that their other words are the same, without those that say no more than the
value does by itself.
"""

import re
from functools import cache
from itertools import filterfalse
from typing import Final, NamedTuple

import Stemmer

from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, ME, US, lexicon, load
from shelfd.memory.knowledge.evolution.statement import Arity, Effect, Statement
from shelfd.memory.knowledge.evolution.verdicts import SAME, Judgement, Verdict, updated

#: Words of a statement whose measure is looked at: longer ones are seldom said twice alike.
_LONGEST: Final = 16
_ADDRESS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+){1,3}")
_CODE: Final = re.compile(r"[a-z]{1,2}-?\d{1,4}")  #: of a gate, a room, a seat
_LONGEST_CODE: Final = 7  #: characters
_LETTERS: Final = 3  #: no value that shows what it is begins with so many
# By a name of this module it is found in a tenth of the time that Python 3.11 takes to find an enumeration's member.
_SAYS: Final = Effect.SAYS
_SNOWBALL: Final = {"en": "english", "de": "german", "es": "spanish", "fr": "french"}


class Measure(NamedTuple):
    """A value that shows what it is, and all else that is said with it."""

    kind: str  #: "#mass", "~" for a time of the day, "address", "version", "code"
    value: str
    about: frozenset[str]  #: stems
    said: frozenset[str]  #: the words that these are of
    event: bool  #: what happened, and can have no other value

    @property
    def is_of_one_time(self) -> bool:
        """Whether it tells when that happened, so that it can have happened only once."""
        return any(word[0] == "~" for word in self.about)


def measured(new: Statement, old: Statement) -> Judgement | None:
    """Return what becomes of what measures the same in other words; None if it does not."""
    if new.subject.isdisjoint(old.subject) and US not in new.subject | old.subject:
        return None  # who owes somebody two coins is owed none
    measure = measure_of(new)
    before = None if measure is None else measure_of(old)
    if measure is None or before is None:
        return None
    if (measure.kind, measure.about, measure.event) != (before.kind, before.about, before.event):
        return None
    if not _are_forms(measure.said ^ before.said, new.language):
        return None
    if measure.value == before.value:
        return SAME
    if measure.event:
        if new.corrects:
            return Judgement(Verdict.CORRECTED, "corrected")
        return Judgement(Verdict.CONFLICT, "two values of what happened once") if measure.is_of_one_time else None
    if Arity.FIXED in (new.slot, old.slot) or (new.subject, new.verb, new.link) == (old.subject, old.verb, old.link):
        return None  # as was seen already
    return updated(new, "another measure")


def measure_of(statement: Statement) -> Measure | None:
    """Return the one measure of a statement; None if it has none, or several, or only supposes or denies it."""
    words = statement.words
    if not 1 < len(words) <= _LONGEST or statement.language not in ALPHABETIC:
        return None
    amounts = statement.amounts
    at, kind = _place_of(words, statement.subject, is_counted=bool(amounts))
    if at < 0 or (kind[:1] == "#") != (len(amounts) == 1):
        return None  # as most
    if not statement.subject or statement.several or not statement.real or not statement.positive or statement.adds:
        return None
    if statement.effect is not _SAYS or any(map(_kind, statement.subject)):
        return None  # "deploy 1843 failed" measures nothing
    needs_attribute = kind in ("code", _LABEL)
    kind = "#" if kind == _LABEL else kind  # port 8080 is a number as 8080 is one
    about = _about(words, at, kind, statement.language)
    if needs_attribute and _attributes(statement.language).isdisjoint(about.keys()):
        return None
    value = f"{amounts[0]:g}" if words[at][0] == "#" else words[at].lstrip("v")
    if not about:
        return None
    return Measure(kind, value, frozenset(about), frozenset(about.values()), statement.event or statement.past)


#: A number that belongs to the noun before it, as in "port 8080".
_LABEL: Final = "number"


def _place_of(words: tuple[str, ...], subject: frozenset[str], *, is_counted: bool) -> tuple[int, str]:
    """Return where the one value among *words* stands, and what kind of one it is; -1 if there is none, or several."""
    value = kind = label = ""
    has_number, labels = is_counted, 0
    for word in filterfalse(str.isalpha, words):
        has_number = has_number or word[-1].isdigit()
        if word[:_LETTERS].isalpha():
            continue  # a name with a number, and no measure
        if found := word if word[0] == "#" else _kind(word):
            if kind:
                return -1, ""
            value, kind = word, found
        elif word.isdigit():
            label, labels = word, labels + 1
    if labels == 1 and not kind and label not in subject:
        return words.index(label), _LABEL
    return (words.index(value), kind) if kind and has_number else (-1, "")


def _kind(word: str) -> str:
    """Return what kind of a value a word is, "" if it is none."""
    if word[0] == "#":
        return word
    if word[0] == "~":
        return "~" if ":" in word else ""
    if not word[-1].isdigit():
        return ""
    if "." in word:
        return "address" if _ADDRESS.fullmatch(word) else "version" if _VERSION.fullmatch(word) else ""
    return "code" if len(word) <= _LONGEST_CODE and _CODE.fullmatch(word) else ""


def _about(words: tuple[str, ...], at: int, kind: str, language: str) -> dict[str, str]:
    """Return the stems of what is said besides the value at *at*, each with its word, without what its kind says."""
    silent, alike, stemmer = _said_by(language, kind), _alike(language), _stemmer(language)
    found: dict[str, str] = {}
    lists = lexicon(language).lists
    for place, word in enumerate(words):
        if place == at or word in silent:
            continue
        if word in lists["directions"] and (place == at - 1 or words[place + 1 : place + 2] == words[at - 1 : at]):
            continue  # "to 250", "from gate B12"
        if word[0] in "#~":
            found[word] = word
            continue
        stem = stemmer.stemWord(alike.get(word, word))
        if stem not in silent:
            found[stem] = alike.get(word, word)
    found.pop(US, None)
    return found if found.keys() - {ME} else {}


def _are_forms(words: frozenset[str], language: str) -> bool:
    """Return whether words, each of which only one of two statements has, are forms of the same words.

    Names may have one stem as well: Olivia, and Olivier.
    """
    stemmer = _stemmer(language)
    forms: dict[str, list[str]] = {}
    for word in words:
        forms.setdefault(stemmer.stemWord(word), []).append(word)
    ends = _ENDS[language]
    for each in forms.values():
        letters = enumerate(zip(*each, strict=False))
        common = next((at for at, some in letters if len({*some}) > 1), min(map(len, each)))
        if any(word[common:] not in ends for word in each):
            return False
    return True


#: In what the forms of one word differ: plurals, cases, genders.
_ENDS: Final = {
    "en": frozenset(("", "s", "es", "ed", "ing", "e", "d", "y", "ies", "ly", "al", "er", "ers")),
    "de": frozenset(("", "e", "en", "n", "er", "ern", "es", "s", "em", "in", "innen")),
    "es": frozenset(("", "s", "es", "o", "a", "os", "as", "e")),
    "fr": frozenset(("", "s", "e", "es", "x", "al", "aux")),
}


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(_SNOWBALL[language])


@cache
def _said_by(language: str, kind: str) -> frozenset[str]:
    """Return words, and stems, that say nothing which a value of *kind* does not."""
    lists, said = lexicon(language).lists, load(f"{language}.json")["measuring"]
    words = frozenset(f"{said['']} {said.get(kind, '')}".split())
    stems = frozenset(map(_stemmer(language).stemWord, words))
    return words | stems | (lists["prepositions"] - lists["directions"]) | lists["be"] | lists["definite"] | {"be", "a"}


@cache
def _attributes(language: str) -> frozenset[str]:
    """Return the stems of what has one value at a time."""
    lists = lexicon(language).lists
    return frozenset(map(_stemmer(language).stemWord, lists["nouns"] | lists["concrete_nouns"]))


@cache
def _alike(language: str) -> dict[str, str]:
    """Return word -> that which stands for all that say the same."""
    groups = [group.split() for group in load(f"{language}.json")["measured"].split("|")]
    return {word: first for first, *others in groups for word in others}
