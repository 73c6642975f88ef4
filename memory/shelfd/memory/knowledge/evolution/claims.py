"""What a note says that somebody claims: "According to Lucy, nine people came", "Petra says that it was tested".

Whether it is so is not said, so that such a note ends nothing. But two sources may contradict each other: where both
claim the same but for a number, a time, a denial or one word of two that exclude each other, which is right cannot be
told.
"""

import re
from functools import cache
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import AlphabeticLexicon, lexicon, load
from shelfd.memory.knowledge.evolution.statement import Claim
from shelfd.memory.knowledge.evolution.stems import stem
from shelfd.memory.knowledge.evolution.tokens import words_in

_LONGEST: Final = 240  #: letters of a sentence in which a claim is looked for
_FEWEST: Final = 2  #: words that two claims have in common


def claim_of(sentence: str, said: list[str], words: AlphabeticLexicon) -> Claim | None:
    """Return what *sentence*, of the words *said*, gives as somebody's claim; None if it gives none."""
    telling, patterns = _patterns(words.language)
    if telling.isdisjoint(said) or len(sentence) > _LONGEST:
        return None  # as most
    for pattern in patterns:
        if (match := pattern.match(sentence)) is not None:
            return _claimed(match["source"], match["claim"], words)
    return None


def _claimed(source: str, claim: str, words: AlphabeticLexicon) -> Claim | None:
    every, lists = words_in(claim, words.language), words.lists
    silent = lists["determiners"] | lists["prepositions"] | lists["be"] | lists["helpers"] | lists["negation"]
    about, turning, times = set[str](), set[str](), list[str]()
    for word in every.words:
        lemma = words.verbs.get(word, (word, False))[0]
        if word[0] == "~":
            times.append(word)
        elif word[0] == "#" or word in silent or word in ",:":
            continue
        elif word in words.states or word in words.opposites or lemma in words.opposed:
            turning.add(lemma if lemma in words.opposed else word)
        else:
            about.add(stem(word, words.language))
    if len(about) < _FEWEST:
        return None
    is_denied = not lists["negation"].isdisjoint(every.words)
    amounts = tuple(every.amounts.values())
    return Claim(source.strip().lower(), frozenset(about), amounts, tuple(times), frozenset(turning), is_denied)


def contradict(new: Claim, old: Claim, language: str) -> bool:
    """Return whether two sources claim the same but for one thing, and exclude each other by that."""
    if new.source == old.source or new.about != old.about:
        return False
    differing = [
        new.amounts != old.amounts and len(new.amounts) == len(old.amounts),
        new.times != old.times,
        new.turning != old.turning,
        new.is_denied is not old.is_denied,
    ]
    if sum(differing) != 1 or len(new.amounts) != len(old.amounts) or len(new.times) != len(old.times):
        return False
    if differing[1]:
        return not new.amounts and len(new.times) > 0 and new.times[:-1] == old.times[:-1]
    return not differing[2] or _exclude(new.turning, old.turning, lexicon(language))


def _exclude(new: frozenset[str], old: frozenset[str], words: AlphabeticLexicon) -> bool:
    """Return whether one word each of *new* and *old* differs, and these exclude each other."""
    if len(new - old) != 1 or len(old - new) != 1:
        return False
    (word,), (other,) = new - old, old - new
    return any(word in known.get(other, ()) for known in (words.states, words.opposites, words.opposed))


@cache
def _patterns(language: str) -> tuple[frozenset[str], tuple[re.Pattern[str], ...]]:
    """Return words without one of which nothing is claimed, and how it is said who claims what."""
    data = load(f"{language}.json")["claiming"]
    patterns = (re.compile(pattern, re.IGNORECASE) for pattern in data["patterns"])
    return frozenset(data["words"].split()), tuple(patterns)
