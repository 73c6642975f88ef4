"""Sentences that say a change in a roundabout way, put in the plain form that clauses are read in.

"The edge hosts' Nginx was replaced by Caddy" and "we replaced Nginx with Caddy" change the same thing; so do "is not
green but red" and "is red instead of green". Each language's data lists such forms: words one of which stands in the
sentence, a pattern, and what it becomes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from shelfd.memory.knowledge.evolution.leading import needed_part
from shelfd.memory.knowledge.evolution.lexicon import AlphabeticLexicon, load

#: A sentence that is longer is left as it is: patterns take the square of its length.
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class RoundaboutForm:
    """One form and what it becomes."""

    words: frozenset[str]  #: one of which stands in the sentence
    part: str  #: which stands in it, too, in small letters
    pattern: re.Pattern[str]
    plain: str  #: with the pattern's groups by name
    stated: str  #: the group that must not hold a clause of its own, or ""


@cache
def _rewordings(language: str) -> tuple[frozenset[str], tuple[RoundaboutForm, ...], dict[str, list[int]]]:
    """Return the words of the forms, the forms, and by each word the positions of those that have it."""
    rows: list[list[Any]] = load(f"{language}.json")["rewordings"]
    found = tuple(
        RoundaboutForm(
            frozenset(words.split()), needed_part(pattern).lower(), re.compile(pattern, re.IGNORECASE), plain, stated
        )
        for words, pattern, plain, stated in rows
    )
    at: dict[str, list[int]] = {}
    for position, each in enumerate(found):
        for word in each.words:
            at.setdefault(word, []).append(position)
    return frozenset(at), found, at


def reword(sentence: str, words: Iterable[str], lexicon: AlphabeticLexicon) -> str:
    """Return *sentence* in a form that clauses are read in, itself if it has no other; *words* are its own."""
    known, rewordings, triggers = _rewordings(lexicon.language)
    found = known.intersection(words)
    if not found or len(sentence) > _LONGEST:
        return sentence
    low = sentence.lower() if sentence.isascii() else ""  # of other letters a pattern may know more than one small one
    for position in sorted({position for word in found for position in triggers[word]}):
        each = rewordings[position]
        if low and each.part not in low:
            continue  # as most
        match = each.pattern.search(sentence)
        if match is None or (each.stated and _states(match[each.stated], lexicon)):
            continue
        plain = each.plain.format(**{name: value or "" for name, value in match.groupdict().items()})
        sentence = f"{sentence[: match.start()]}{plain}{sentence[match.end() :]}"
        low = sentence.lower() if sentence.isascii() else ""
    return sentence


def _states(text: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether *text* begins a clause: with a verb, or with somebody and a verb."""
    begin = text.lower().split()[:3]
    return not lexicon["predicates"].isdisjoint(begin) or not lexicon["pronouns"].isdisjoint(begin[:1])
