"""What an older statement says, in the forms in which a note that ends it repeats it."""

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Final, NamedTuple

from shelfd.memory.knowledge.evolution.ending import Cues, Ending, plain
from shelfd.memory.knowledge.evolution.lexicon import AlphabeticLexicon, lexicon, units
from shelfd.memory.knowledge.evolution.statement import NOBODY, Statement
from shelfd.memory.knowledge.evolution.withdrawing import SPEAKING, Withdrawal

_DIGIT: Final = re.compile(r"\d")
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)*")
_HOUR: Final = re.compile(r"~(\d{1,2}):00")
_DAY: Final = re.compile(r"~(\d{1,2})([a-z]{3,})")  #: of a month


class Repeated(NamedTuple):
    """What an older statement says, in the forms in which a note repeats it."""

    subject: frozenset[str]
    value: frozenset[str]
    verb: frozenset[str]
    forms: frozenset[str]  #: of value and verb, all
    of_whom: frozenset[str]  #: of the subject, all
    places: tuple[tuple[str, str], ...]  #: of the subject, what is said with a preposition: ("to", "oslo")
    is_whole: bool  #: nothing is left out that a note need not repeat

    @property
    def named(self) -> frozenset[str]:
        """Whom it is said of, but for who speaks."""
        return self.subject - SPEAKING


def repeated(found: Withdrawal, old: Statement, words: AlphabeticLexicon, known: Cues) -> Repeated:
    """Return what *old* says in the forms in which *found* repeats it.

    Args:
        found: What a note names as ended.
        old: An older statement in its language.
        words: Those of that language.
        known: What tells in it that something has ended.
    """
    every = found.every
    parts = [word.split() for word in old.subject]
    is_done = bool(known.kinds) and any(words.verbs.get(word, ("",))[0] == old.verb for word in found.said)
    values = list(_values(old, every, known.minor, known.kinds if is_done else {}))
    rhythms = words["rhythms"] if len(parts) > 1 and words["rhythms"].isdisjoint(every) else NOBODY
    said = (
        [
            part[-1]
            for part in parts
            if part[-1] not in rhythms and (part[-1] not in known.implied or _is_of_others(found, old, part[-1], known))
        ],
        values,
        [word for word in (old.verb, *_joining(old)) if word not in known.joined],
    )
    forms = [{word: form for word in each if (form := plain(word, words, known))} for each in said]
    subject, value, verb = (frozenset(word if word in every else each[word] for word in each) for each in forms)
    of_whom, of_value, of_verb = (frozenset(each).union(each.values()) for each in forms)
    if found.kind is not Ending.DENIES and (deeds := known.deeds.get(old.verb, NOBODY) & every):
        verb, of_verb = NOBODY, of_verb.union(deeds, (plain(noun, words, known) for noun in deeds))
    places = tuple((part[0], part[-1]) for part in parts if len(part) > 1)
    return Repeated(
        subject, value, verb, of_value | of_verb, of_whom, places, len(values) == len(old.core) + len(old.rest)
    )


def _joining(old: Statement) -> list[str]:
    """Return what joins a value to its verb, but for an article: that only tells in what manner the value is told."""
    joined = old.link.split()
    return joined[:-1] if old.language == "en" and joined[-1:] in (["a"], ["the"]) else joined


def _is_of_others(found: Withdrawal, old: Statement, owner: str, known: Cues) -> bool:
    """Return whether a note says of a thing that it is not the *owner*'s: of the workshop's router, say."""
    if len(old.subject) == 1 or owner in found.every:
        return False
    told = [at for at, word in enumerate(found.said) if word not in known.nameless]
    for before, after in pairwise(told):
        word, following = found.said[before], found.said[after]
        is_joined = after == before + 1 or known.placing.issuperset(found.said[before + 1 : before + 2])
        is_name = not {word, following}.issubset(old.words) and following not in old.core
        if is_joined and is_name and not old.subject.isdisjoint((word, following)):
            return True
    return False


def _values(
    old: Statement, every: AbstractSet[str], minor: AbstractSet[str], kinds: Mapping[str, str]
) -> Iterator[str]:
    """Yield the words of a value that a note has to repeat, as one says them that names only numbers.

    What is counted it need not count, where it counts nothing, nor say when, where it says no time.
    """
    amounts = iter(old.amounts)
    value = [(word, next(amounts, 0.0) if word[0] == "#" else 0.0) for word in (*old.core, *sorted(old.rest))]
    says_when = any(word[0] == "~" and not _DIGIT.search(word) for word in every)
    needed = any(word[0] not in "#~" and word not in minor for word, _ in value)
    is_said = any(word not in minor for word, _ in value)
    is_uncounted = needed and not any(word[0] == "#" for word in every)
    has_version = len(old.core) > 1 and any(word[0] not in "#~" and not word[0].isdigit() for word in old.core)
    for word, amount in value:
        if word[0] == "#":
            if not is_uncounted:
                yield _number(word[1:], amount, every)
        elif (told := word if word in every else kinds.get(word, "")) in every:
            yield told  # who drinks no more alcohol drinks no wine
        elif "-" in word and word.split("-", 1)[0] in lexicon(old.language)["prepositions"]:
            yield word.split("-", 1)[1]  # who is "im-urlaub"
        elif has_version and is_uncounted and _VERSION.fullmatch(word):
            continue  # whoever dropped MongoDB dropped MongoDB 6
        elif (day := _DAY.fullmatch(word)) is not None:
            is_same_month = f"#{day[1]}" in every and any(one[0] == "~" and one.endswith(day[2]) for one in every)
            yield f"#{day[1]}" if is_same_month else word
        elif (clock := _HOUR.fullmatch(word)) is not None and f"#{clock[1]}" in every:
            yield f"#{clock[1]}"  # "from 9 to 8 a.m."
        elif word[0] == "~" and not _DIGIT.search(word):
            if says_when or len(value) == 1:
                yield word
        elif word not in minor or not is_said:
            yield word


def _number(family: str, amount: float, every: AbstractSet[str]) -> str:
    """Return an *amount* as a note says it; "two days instead of four" leaves the unit out."""
    said = f"#{amount:g}"
    if family and said not in every and f"#{family}" in every:
        numbers = (f"#{amount / factor:g}" for kind, factor in units().values() if kind == family)
        return next((number for number in numbers if number in every), said)
    return said
