"""What a text says that is worth keeping, by rules: its sentences, without small talk, weighed."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from json import loads
from typing import Any, Final, NamedTuple

from shelfd.memory.knowledge.distilling.splitting import sentences
from shelfd.memory.knowledge.entities.extract import mentions_in
from shelfd.memory.knowledge.entities.kinds import IDENTIFIER_TYPES
from shelfd.memory.knowledge.entities.segment import Segment
from shelfd.memory.notes.words import ends_as_question, fold

#: Importance is a number from 1, what will not matter tomorrow, to this.
MOST_IMPORTANT: Final = 10
#: Longest statement; two sentences are one only up to that.
_LONGEST: Final = 600
_FEWEST_WORDS: Final = 3
_FEWEST_SIGNS: Final = 5
#: Words of the longest greeting.
_PHRASE: Final = 5
_SPACELESS: Final = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_LEADING: Final = re.compile(r"^\s*([^,!.;:]{1,24})[,!]\s+(?=\S)")
#: Types of which a mention says more than any name.
_TELLING: Final = (IDENTIFIER_TYPES - {"version", "path"}) | {
    "intrusion_set",
    "actor",
    "threat_actor",
    "malware",
    "tool",
}


class DistilledFact(NamedTuple):
    """One statement that stands by itself, and how much it matters, 1 to 10."""

    text: str
    importance: int


class _Words(NamedTuple):
    greetings: frozenset[str]
    fillers: frozenset[str]
    requests: frozenset[str]
    pronouns: frozenset[str]
    connectives: frozenset[str]
    lasting: frozenset[str]
    passing: frozenset[str]
    lasting_phrases: tuple[str, ...]
    passing_phrases: tuple[str, ...]
    spaceless_greetings: tuple[str, ...]
    spaceless_lasting: tuple[str, ...]


@lru_cache(maxsize=1)
def _words() -> _Words:
    read = loads(files("shelfd.memory.knowledge.distilling").joinpath("words.json").read_text("utf-8"))
    del read["about"]
    found: dict[str, Any] = {}
    for name, value in read.items():
        if "_" in name:
            found[name] = tuple(value.split("|"))
        else:
            found[name] = frozenset(word.replace("-", " ") for word in value.split())
    return _Words(**found)


def facts_by_rules(text: str) -> Iterator[DistilledFact | None]:
    """Yield the statements of *text* in order, each once, and None after each sentence that is none.

    Greetings, thanks, questions, requests, headings and code are none. A sentence that begins by a pronoun or a
    connective is part of the statement before it. Importance begins at 4, and

    - 2 are added for an identifier such as CVE-2024-3094 or a known threat or tool, 1 for another name, place or time;
    - 2 for a word of lasting weight (always, allergic, decided, deadline, moved, no longer, exploited …), which are
      listed in ``words.json``;
    - 1 for an amount;
    - 2 are taken for a word of the passing moment (maybe, I think, right now, weather …).
    """
    seen: set[str] = set()
    pending = ""
    for sentence in sentences(text):
        said = _statement(sentence)
        if said is None:
            yield None
            continue
        if pending and _leans(said) and len(pending) + len(said) < _LONGEST:
            pending = f"{pending} {said}"
            yield None
            continue
        if pending:
            yield _fact(pending, seen)
        pending = said
    if pending:
        yield _fact(pending, seen)


def most_important(facts: Sequence[DistilledFact], *, at_least: int, most: int) -> list[DistilledFact]:
    """Return the *most* important of *facts* that are *at_least* so important, in the order in which they came."""
    found = [(at, fact) for at, fact in enumerate(facts) if fact.importance >= at_least]
    best = sorted(found, key=lambda each: (-each[1].importance, each[0]))[:most]
    return [fact for _, fact in sorted(best)]


def _fact(text: str, seen: set[str]) -> DistilledFact | None:
    known = " ".join(_WORD.findall(fold(text))) or text
    if known in seen:
        return None
    seen.add(known)
    return DistilledFact(text, _importance(text))


def _statement(sentence: str) -> str | None:
    """The sentence without a greeting at its head; None if it states nothing."""
    words = _words()
    said = sentence
    while (head := _LEADING.match(said)) is not None and _is_small_talk(head[1]):
        said = said[head.end() :]
    if ends_as_question(said) or said.rstrip().endswith(":"):
        return None
    bare = fold(said)
    if _SPACELESS.search(said):
        stripped = said.strip("。！!、 ")
        return None if len(stripped) < _FEWEST_SIGNS or stripped in words.spaceless_greetings else said
    found = _WORD.findall(bare)
    if len(found) < _FEWEST_WORDS or _is_small_talk(said):
        return None
    opening = " ".join(found[:3])
    return None if any(f"{opening} ".startswith(f"{request} ") for request in words.requests) else said


def _is_small_talk(text: str) -> bool:
    """Whether a text is greetings and the like, and at most a name."""
    words = _words()
    found = _WORD.findall(fold(text).replace("\u2019", "'"))
    at = greetings = others = 0
    while at < len(found):
        length = next((n for n in range(_PHRASE, 0, -1) if " ".join(found[at : at + n]) in words.greetings), 0)
        greetings += bool(length)
        others += not length and found[at] not in words.fillers
        at += length or 1
        if others > 1:
            return False
    return not found or bool(greetings and (not others or len(found) <= _FEWEST_WORDS))


def _leans(said: str) -> bool:
    """Whether a sentence cannot be understood without the one before it."""
    first = _WORD.match(fold(said))
    words = _words()
    return first is not None and (first[0] in words.pronouns or first[0] in words.connectives)


def _importance(text: str) -> int:
    words = _words()
    bare = fold(text)
    found = set(_WORD.findall(bare))
    weight = 4
    types = {mention.type for mention in mentions_in(Segment(text))}
    if not types.isdisjoint(_TELLING):
        weight += 2
    elif types:
        weight += 1
    if (
        not found.isdisjoint(words.lasting)
        or any(phrase in bare for phrase in words.lasting_phrases)
        or any(phrase in text for phrase in words.spaceless_lasting)
    ):
        weight += 2
    if any(word[0].isdigit() for word in found):
        weight += 1
    if not found.isdisjoint(words.passing) or any(phrase in bare for phrase in words.passing_phrases):
        weight -= 2
    return min(max(weight, 1), MOST_IMPORTANT)
