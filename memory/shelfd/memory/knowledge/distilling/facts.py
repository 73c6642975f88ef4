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
#: Words of the longest beginning of a request; and up to where what somebody is asked to make is named.
_LONGEST_REQUEST: Final = 4
_NEAR: Final = 6
#: What may stand before an order.
_BEFORE_ORDERS: Final = frozenset("now then also just next and so first finally quickly jetzt dann".split())
#: French orders have who is addressed behind a hyphen.
_ENCLITIC: Final = re.compile(r"\s*\w{3,20}-(?:moi|nous)\b")
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
    requests: frozenset[str]  #: with which only a request begins
    addressing: frozenset[str]  #: verbs of requests, before one of those that are
    addressed: frozenset[str]
    enclitic: frozenset[str]  #: such a verb with who is addressed in one word
    asking: frozenset[str]  #: verbs of what somebody is asked to do, before a determiner
    making: frozenset[str]  #: verbs of what somebody is asked to make, before a determiner, if that is
    made: frozenset[str]
    determiners: frozenset[str]
    standing: frozenset[str]  #: words of what is asked for good, which is worth keeping
    pronouns: frozenset[str]
    connectives: frozenset[str]
    lasting: frozenset[str]
    passing: frozenset[str]
    lasting_phrases: tuple[str, ...]
    passing_phrases: tuple[str, ...]
    spaceless_greetings: tuple[str, ...]
    spaceless_requests: tuple[str, ...]
    spaceless_asking: tuple[str, ...]  #: with which one ends
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
        is_request = stripped.startswith(words.spaceless_requests) or stripped.endswith(words.spaceless_asking)
        is_said = len(stripped) >= _FEWEST_SIGNS and stripped not in words.spaceless_greetings
        return said if is_said and not is_request else None
    found = _WORD.findall(bare)
    if len(found) < _FEWEST_WORDS or _is_small_talk(said):
        return None
    return None if _is_request(found, bare) else said


def _is_request(found: Sequence[str], bare: str) -> bool:
    """Whether a sentence asks for something to be done once.

    An order alone is none: of notes without a subject many begin by a verb ("Lives in Ghent.", "Take aspirin daily.").
    One that is addressed to the reader is, or asks for what a reader can do or make, and not for good.

    Args:
        found: Its words, folded.
        bare: The sentence, folded.
    """
    words = _words()
    while len(found) > _FEWEST_WORDS and found[0] in _BEFORE_ORDERS:
        found = found[1:]
    if any(" ".join(found[:count]) in words.requests for count in range(1, _LONGEST_REQUEST + 1)):
        return True
    if not words.standing.isdisjoint(found):
        return False
    verb, second, third = found[0], found[1], found[2]
    if verb in words.enclitic or _ENCLITIC.match(bare) is not None:
        return True
    if (verb in words.addressing and second in words.addressed) or (
        f"{verb} {second}" in words.addressing and third in words.addressed
    ):
        return True
    is_determined = second in words.determiners
    if verb in words.asking:
        return is_determined
    is_made = is_determined and not words.made.isdisjoint(found[2:_NEAR])
    return verb in words.making and (is_made or (found[-1] in words.addressed and found[-2] == "for"))


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
