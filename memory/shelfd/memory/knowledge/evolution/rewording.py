"""Sentences that say a change in a roundabout way, put in the plain form that clauses are read in.

"The edge hosts' Nginx was replaced by Caddy" and "we replaced Nginx with Caddy" change the same thing; so do "is not
green but red" and "is red instead of green". Each language's data lists such forms: words one of which stands in the
sentence, a pattern, and what it becomes. What many patterns have in common stands once among the data's fragments, and
in a pattern by its name: "<months>".
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, product
from typing import Any, Final, NamedTuple

from shelfd.memory.knowledge.evolution.leading import needed_part
from shelfd.memory.knowledge.evolution.lexicon import AlphabeticLexicon, lexicon, load, units
from shelfd.memory.notes.words import fold

#: A sentence that is longer is left as it is: patterns take the square of its length.
_LONGEST: Final = 300
_JOINED: Final = "(?:and|und|y|et|but|aber|pero|mais)"  #: before another clause
_TELLING: Final = 3  #: letters of a word without which a wording is not looked for


@dataclass(frozen=True)
class RoundaboutForm:
    """One form and what it becomes."""

    words: frozenset[str]  #: one of which stands in the sentence
    part: str  #: which stands in it, too, in small letters
    expression: str
    plain: str  #: with the pattern's groups by name
    stated: str  #: the group that must not hold a clause of its own, or ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What fits the form. Most are never needed, and to compile those of a language takes 0.15 s."""
        return re.compile(self.expression, re.IGNORECASE)


@cache
def _rewordings(language: str) -> tuple[frozenset[str], tuple[RoundaboutForm, ...], dict[str, list[int]]]:
    """Return the words of the forms, the forms, and by each word the positions of those that have it.

    Those that need a sign as well are found by that where their words are in every other sentence.
    """
    data: dict[str, Any] = load(f"{language}.json")
    fragments = dict[str, str]()
    for name, pattern in data.get("fragments", {}).items():
        fragments[name] = _in_full(pattern, fragments)  # those that it names stand before it
    rows = (
        (words, _in_full(pattern, fragments), plain, stated) for words, pattern, plain, stated in data["rewordings"]
    )
    found = tuple(
        RoundaboutForm(
            frozenset(words.split()),
            needed_part(pattern).lower(),
            _whole(pattern),
            plain,
            stated,
        )
        for words, pattern, plain, stated in rows
    )
    common = lexicon(language).nameless
    at: dict[str, list[int]] = {}
    for position, each in enumerate(found):
        sign = next((sign for sign in _SIGNS if sign in each.part), "")
        for word in each.words if not sign or each.words.isdisjoint(common) else (sign,):
            at.setdefault(word, []).append(position)
    results = _results(language)
    return frozenset(at) | results.words.keys() | results.phrase_words, found, at


#: What stands in fewer sentences than "in" and "a" do.
_SIGNS: Final = ("'", ",")


def _in_full(pattern: str, fragments: Mapping[str, str]) -> str:
    """Return a *pattern* with its *fragments* in the place of their names."""
    return _FRAGMENT.sub(lambda found: fragments[found[1]], pattern)


#: The name of a fragment, and not that of a group: "(?P<s>".
_FRAGMENT: Final = re.compile(r"(?<!\?P)<(\w+)>")


def _whole(pattern: str) -> str:
    """Return a *pattern* for which a sign inside a number or an address ends nothing: "82,000", "api.kite.example"."""
    pattern = pattern.replace("[.!;,]|$)", r"[.!;,](?!\S)|$)").replace("[.!;]|$)", r"[.!;](?!\S)|$)")
    return _UNSIGNED.sub(lambda found: rf"(?:{found[0]}|(?<=\d)[,:](?=\d))", pattern)


#: What stands in a pattern for all but commas and colons.
_UNSIGNED: Final = re.compile(r"\[\^[,;:]+\]")


class Results(NamedTuple):
    """What says that something has got into a state: repaired, turned up, taken down."""

    words: Mapping[str, frozenset[str]]  #: one of which stands in the sentence, with one of its own; alone if ""
    pattern: re.Pattern[str]
    states: Mapping[str, Mapping[str, str]]  #: by what stands before: wording -> state
    says: str  #: how it is said that something is in a state
    being: re.Pattern[str]  #: a state in several words, after a form of "be"
    phrases: Mapping[str, str]  #: such words -> the state as one
    phrase_words: frozenset[str]  #: the last words of these


@cache
def _results(language: str) -> Results:
    """Return how a language says what came of something."""
    data: dict[str, Any] = load(f"{language}.json")["results"]
    phrases = {wording.lower(): state for state, wordings in data["phrases"] for wording in _forms(wordings)}
    by: dict[str, dict[str, str]] = {how: {} for how in data["by"]}
    for state, how, wordings in data["states"]:
        for wording in _forms(wordings):
            by[how].setdefault(wording.lower(), state)
    parts = [f"{data['by'][how]}(?P<{how or 'alone'}>{_by_first_word(states)})" for how, states in by.items()]
    return Results(
        _needed_words(chain.from_iterable(by.values()), lexicon(language)),
        re.compile(
            rf"\s(?:{'|'.join(parts)}){data['tail']}(?P<when>{data['when']})?"
            rf"(?=[.!;,]|$| {_JOINED} |(?(alone)(?!)|{data['where']}))",
            re.IGNORECASE,
        ),
        {how or "alone": states for how, states in by.items()},
        data["says"],
        re.compile(
            rf"\b{data['being']}(?P<p>{'|'.join(map(re.escape, sorted(phrases, key=len, reverse=True)))})(?![\w-])",
            re.IGNORECASE,
        ),
        phrases,
        frozenset(fold(wording.rsplit(" ", 1)[-1]) for wording in phrases),
    )


def _by_first_word(wordings: Iterable[str]) -> str:
    """Return a pattern of *wordings*, which is tried once for each word that one of them begins with."""
    rests: dict[str, list[str]] = {}
    for wording in sorted(wordings, key=len, reverse=True):
        first, _, rest = wording.partition(" ")
        rests.setdefault(first, []).append(rest)
    parts = []
    for first, each in rests.items():
        longer = "|".join(re.escape(rest) for rest in each if rest)
        is_whole = "?" if "" in each else ""
        parts.append(f"{re.escape(first)}(?: (?:{longer})(?![\\w-])){is_whole}" if longer else re.escape(first))
    return f"(?:{'|'.join(parts)})(?![\\w-])"


def _needed_words(wordings: Iterable[str], words: AlphabeticLexicon) -> dict[str, frozenset[str]]:
    """Return the last words of *wordings*, each with the longest words before it, or the other way round.

    Of "moved in" that is "moved", for "in" is in many texts. It is "" where there is none that is surely read as it is
    written, which words of times and amounts are not.
    """
    found = dict[str, set[str]]()
    changing = words.marked | words.multipliers.keys() | units().keys() | words["ordinals"]
    common = words["perfect"] | words["be"] | words.nameless
    for wording in wordings:
        *before, last = map(fold, wording.split(" "))
        last = last.rpartition("'")[2]  # "tirée d'affaire"
        longest = max((word for word in before if word.isalpha() and word not in changing), key=len, default="")
        other = longest if len(longest) >= _TELLING else ""
        is_rarer = other != "" and last in words.nameless and other not in common
        word, other = (other, last) if is_rarer else (last, other)
        found.setdefault(word, set()).add(other)
    return {word: frozenset(each) for word, each in found.items()}


def _forms(wordings: str) -> Iterator[str]:
    """Yield what "reparad[oa]s?|vendue?" stands for: each wording in all its forms."""
    for wording in wordings.split("|"):
        parts = [
            (part[1:-1] if part[0] == "[" else (part[0], "") if part[1:] else part) for part in _PART.findall(wording)
        ]
        yield from map("".join, product(*parts))


_PART: Final = re.compile(r"\[\w+\]|.\??")


def _with_state(sentence: str, words: Collection[str], found: frozenset[str], language: str) -> str:
    """Return *sentence* with the state that something has got into: "was repaired" says that it is repaired now.

    With a day it may stand as well: of an older note, that it happened then stays so, whatever became of it.
    """
    results = _results(language)
    if not results.phrase_words.isdisjoint(found) and (match := results.being.search(sentence)) is not None:
        state = results.phrases.get(match["p"].lower())
        return sentence if state is None else f"{sentence[: match.start('p')]}{state}{sentence[match.end() :]}"
    needed = results.words
    for word in needed.keys() & found:
        if "" in needed[word] or not needed[word].isdisjoint(words):
            break
    else:
        return sentence  # as most
    if (match := results.pattern.search(sentence)) is None:
        return sentence
    how = next(name for name in results.states if match[name])
    state = results.states[how].get(match[how].lower())
    if state is None:  # patterns take a long s for an s
        return sentence
    place = (match["at"] or "") if "at" in results.pattern.groupindex else ""
    says = f"{results.says.format(state=state)}{place}{match['when'] or ''}"
    return f"{sentence[: match.start() + 1]}{says}{sentence[match.end() :]}"


def reword(sentence: str, words: Collection[str], lexicon_: AlphabeticLexicon) -> str:
    """Return *sentence* in a form that clauses are read in, itself if it has no other; *words* are its own."""
    known, rewordings, triggers = _rewordings(lexicon_.language)
    found = known.intersection(words)
    if "'" in sentence:
        found |= {"'"}
    if not found or len(sentence) > _LONGEST:
        return sentence
    if not sentence.isascii():
        sentence = sentence.replace("’", "'")
    told = sentence
    if ", dass " not in sentence:  # where the verb stands last
        sentence = _with_state(sentence, words, found, lexicon_.language)
    has_state = sentence is not told
    told = sentence
    low = sentence.lower() if sentence.isascii() else ""  # of other letters a pattern may know more than one small one
    for position in sorted({position for word in found for position in triggers.get(word, ())}):
        each = rewordings[position]
        if low and each.part not in low:
            continue  # as most
        match = each.pattern.search(sentence)
        if match is None or (each.stated and _states(match[each.stated], lexicon_)):
            continue
        plain = each.plain.format(**{name: value or "" for name, value in match.groupdict().items()})
        sentence = f"{sentence[: match.start()]}{plain}{sentence[match.end() :]}"
        low = sentence.lower() if sentence.isascii() else ""
    if sentence is told or has_state:
        return sentence
    return _with_state(sentence, words, found, lexicon_.language)  # "was, after a check, unlocked"


def _states(text: str, words: AlphabeticLexicon) -> bool:
    """Return whether *text* begins a clause: with a verb, or with somebody and a verb."""
    begin = text.lower().split()[:3]
    return not words["predicates"].isdisjoint(begin) or not words["pronouns"].isdisjoint(begin[:1])
