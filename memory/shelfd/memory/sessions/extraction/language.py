"""The English words that the rules know, and whether a text is English."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

import Stemmer

from shelfd.memory.notes.wordlists import word_lists
from shelfd.memory.notes.words import fold

_STEM = Stemmer.Stemmer("english")
_VERB_LISTS = (
    "human_verbs", "told_verbs", "presence_verbs", "motion_verbs", "stative_verbs", "vow_words", "goal_words",
    "taste_words", "thing_verbs",
)  # fmt: skip


class Phrases:
    """Phrases of some words, found by their first."""

    def __init__(self, phrases: Iterable[tuple[str, ...]]) -> None:
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        for phrase in phrases:
            self._by_first.setdefault(phrase[0], []).append(phrase)

    def end(self, words: Sequence[str], at: int) -> int | None:
        """Return where the longest phrase ends that begins with word number *at*, None if none does."""
        if at >= len(words) or (candidates := self._by_first.get(words[at])) is None:
            return None
        ends = (at + len(phrase) for phrase in candidates if tuple(words[at : at + len(phrase)]) == phrase)
        return max(ends, default=None)

    def stand_in(self, words: Sequence[str]) -> bool:
        """Return whether one of the phrases stands in *words*."""
        if self._by_first.keys().isdisjoint(words):
            return False
        return any(word in self._by_first and self.end(words, at) for at, word in enumerate(words))


#: Lists of words that names are made of, too.
_NAME_PARTS = ("about", "honorifics", "connectors", "foreign_words")


@dataclass(frozen=True, slots=True)
class EnglishWords:
    """Lists of folded words by name; those of verbs hold stems."""

    lists: dict[str, frozenset[str]]
    phrases: dict[str, "Phrases"]

    def __getitem__(self, name: str) -> frozenset[str]:
        return self.lists[name]

    def is_in(self, name: str, word: str) -> bool:
        """Return whether a form of the folded *word* is in a list of verbs."""
        return stem(word) in self.lists[name]


@cache
def lexicon() -> EnglishWords:
    """Return the lists; they are read on first use."""
    path = files("shelfd.memory").joinpath("sessions", "extraction", "en.json")
    data: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    lists: dict[str, frozenset[str]] = {}
    phrases: dict[str, Phrases] = {}
    for name, text in data.items():
        words = [fold(word) for word in text.split()]
        if name.endswith("_cues"):
            phrases[name] = Phrases(tuple(word.split("_")) for word in words)
        else:
            lists[name] = frozenset(map(stem, words)) if name in _VERB_LISTS else frozenset(words)
    lists["relatives"] = lists["family"] | lists["partners"]
    lists["people"] = frozenset().union(
        *(
            lists[name]
            for name in ("relatives", "acquaintances", "mentors", "apprentices", "enemies", "allies", "roles")
        )
    )
    spelled = {word for name, text in data.items() if name not in _NAME_PARTS for word in re.findall(r"[^\W_]+", text)}
    lists["common"] = frozenset(spelled | _common_of_recall())
    return EnglishWords(lists, phrases)


def _common_of_recall() -> set[str]:
    """Return the words in recall's lists: who begins a sentence with one of them names nobody."""
    found: set[str] = set()
    for name in ("en.json", "en-meaning.json"):
        text = files("shelfd.memory").joinpath("recall", "lexicon", name).read_text(encoding="utf-8")
        found.update(word.strip('"') for word in re.findall(r'"[a-z]+"', text))
    return found


def is_common(word: str) -> bool:
    """Return whether a folded word at the beginning of a sentence is likely no name."""
    lists = lexicon()
    return (
        word in lists["common"]
        or word.endswith(("ing", "ly", "n't"))
        or (word.endswith("s") and (word[:-1] in lists["common"] or word[:-2] in lists["common"]))
        or any(stem(word) in lists[name] for name in _VERB_LISTS)
    )


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return the stem of a folded word's dictionary form."""
    stemmed: str = _STEM.stemWord(word_lists("english").lemmas.get(word, word))
    return stemmed


def stems(words: Iterable[str]) -> frozenset[str]:
    """Return the stems of folded *words* that mean something by themselves."""
    light = lexicon()["light_words"]
    return frozenset([stem(word) for word in words if word not in light and word[0].isalnum()])


@lru_cache(maxsize=4096)
def is_past(word: str) -> bool:
    """Return whether a folded verb has a form of the past."""
    return (
        word.endswith("ed")
        or word in ("had", "was", "were", "did")
        or (word in word_lists("english").lemmas and not word.endswith("ing"))
    )


def is_english(words: Sequence[str]) -> bool:
    """Return whether folded *words* look English: they have its small words, and more of them than of others."""
    lists = lexicon()
    ours, others = lists["function_words"], lists["foreign_words"]
    english = len([word for word in words if word in ours])
    foreign = len([word for word in words if word in others])
    plain = all(word.isascii() or word[0].isascii() for word in words)
    return english > foreign or (english == foreign == 0 and plain and len(words) <= 6)
