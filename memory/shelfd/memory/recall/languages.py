"""Languages beside the shelf's own: which one a text is written in, as its stop words show, and how its words are read.

A shelf has one language, whose word forms it knows throughout. A text in another one that has lists is found by its
word forms, too: they stand beside its words, so that no other score changes, and a query in that language is asked with
them, without its stop and question words.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple, overload

import Stemmer

from shelfd.memory.recall.columns import BoolArray, IntArray
from shelfd.memory.recall.meaning import ANSWER_TYPES

#: Snowball algorithms, by the file with their lists.
_KNOWN: Final = {"german": "de", "spanish": "es", "french": "fr"}
#: Languages of scripts without spaces, by the characters that only they have; the first one counts.
_SCRIPTS: Final = {"ja": re.compile("[\u3041-\u30ff]"), "zh": re.compile("[\u4e00-\u9fff]")}
#: Words without which no language is taken for the one of a text if none of them shows it alone.
_SEVERAL: Final = 3
#: So many stop words of the shelf's language settle that it is that.
_MANY: Final = 4
_NO_KINDS: Final[Mapping[str, int]] = {}


class ForeignLanguage(NamedTuple):
    """A language that is not the shelf's own."""

    name: str
    idle: frozenset[str]  #: folded stop and question words
    signs: frozenset[str]  #: those of them that no other language has
    stem: Callable[[str], str]  #: of a folded word
    stems: Callable[[list[str]], list[str]]  #: of some
    asks: Mapping[str, int] = _NO_KINDS  #: what a question with this word wants, see ANSWER_TYPES
    idle_characters: frozenset[str] = frozenset()  #: a word with one of them is idle, too

    def is_idle(self, word: str) -> bool:
        """Return whether a folded *word* says nothing of what a query is about."""
        return word in self.idle or not self.idle_characters.isdisjoint(word)

    def content(self, words: Sequence[str]) -> list[str]:
        """Return those of folded *words* that are not idle."""
        idle = self.idle
        content = [word for word in words if word not in idle]
        return [word for word in content if self.idle_characters.isdisjoint(word)] if self.idle_characters else content


def _lists(code: str) -> dict[str, Any]:
    path = files("shelfd.memory.recall").joinpath("lexicon", f"{code}.json")
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


@cache
def _foreign_languages(own: str) -> tuple[ForeignLanguage, ...]:
    """The languages with spaces that have lists, but for the shelf's *own*; they are read on first use."""
    found = []
    for name, code in _KNOWN.items():
        if name == own:
            continue
        data = _lists(code)
        idle = frozenset(data["stop_words"]) | frozenset(data["question_words"])
        stemmer = Stemmer.Stemmer(name, 0)
        asks = {word: ANSWER_TYPES[kind] for kind, words in data["asks"].items() for word in words.split()}
        found.append(
            ForeignLanguage(name, idle, idle.difference(data["elsewhere"]), stemmer.stemWord, stemmer.stemWords, asks)
        )
    return tuple(found)


@cache
def _of_script(code: str) -> ForeignLanguage:
    data = _lists(code)
    idle = frozenset(data["stop_words"]) | frozenset(data["question_words"])
    return ForeignLanguage(code, idle, idle, str, list, idle_characters=frozenset(data["question_characters"]))


@cache
def signs_of(own: str) -> frozenset[str]:
    """Return the folded words by which alone a text shows that it is not in the shelf's *own* language."""
    return frozenset().union(*(language.signs for language in _foreign_languages(own)))


@cache
def common_words_of_others(own: str) -> frozenset[str]:
    """Return the folded stop and question words of all languages but the shelf's *own*."""
    return frozenset().union(*(language.idle for language in _foreign_languages(own)))


@cache
def question_words() -> frozenset[str]:
    """Return the folded words with which questions begin, in all languages with spaces that have lists."""
    return frozenset(word for code in ("en", *_KNOWN.values()) for word in _lists(code)["question_words"])


@overload
def is_open(distinct: int, idle: int) -> bool: ...
@overload
def is_open(distinct: IntArray, idle: IntArray) -> BoolArray: ...
def is_open(distinct: Any, idle: Any) -> Any:
    """Return whether a text with so many words, of which so many are idle in the shelf's language, may be in another.

    Nearly every text in the shelf's own language cannot.
    """
    return (distinct >= _SEVERAL) & (idle < distinct) & (idle < _MANY)


def by_common_words(distinct: AbstractSet[str], own: str, own_idle: frozenset[str]) -> ForeignLanguage | None:
    """Return the language with most of these words, if it has several, and clearly more than any other."""
    most = max(len(distinct & own_idle), _SEVERAL - 1)
    if not is_open(len(distinct), most):
        return None
    best = None
    for language in _foreign_languages(own):
        count = len(distinct & language.idle)
        if count == most:
            best = None
        elif count > most:
            best, most = language, count
    return best


def language_of(words: Sequence[str], own: str, own_idle: frozenset[str]) -> ForeignLanguage | None:
    """Return the language that folded *words* are of, as far as they show it; None for the shelf's own, or unknown.

    Args:
        words: Of one text.
        own: The shelf's language.
        own_idle: Its stop and question words; a text that has as many of them is its own.
    """
    distinct = set(words)
    best, most = None, 0
    for language in _foreign_languages(own) if not signs_of(own).isdisjoint(distinct) else ():
        signs = len(distinct & language.signs)
        if signs > most:
            best, most = language, signs
    if best is not None:
        return best if len(distinct & best.idle) > len(distinct & own_idle) else None
    if (found := by_common_words(distinct, own, own_idle)) is not None:
        return found
    text = " ".join(words)
    if text.isascii():
        return None
    return next((_of_script(code) for code, pattern in _SCRIPTS.items() if pattern.search(text)), None)
