"""The words that keys and queries are made of, and how rare each is."""

import math
from collections.abc import Callable, Iterable

from shelfd.memory.facts.spelling import KnownWords
from shelfd.memory.notes.wordlists import word_lists
from shelfd.memory.notes.words import fold, split

_LISTS = word_lists("english")
#: Folded words that say nothing of what a key is about. Question words that are nouns as well
#: ("the name of the dog") say something in a key.
STOP_WORDS = (_LISTS.stop | _LISTS.question) - {"kind", "long", "name", "type"}

#: What people say around a question. In a query these say nothing of what is asked for, unless a key has them.
_ASKING = frozenset(
    "again find forget forgot forgotten give hello hey hi know look need okay please recall remember remind show tell "
    "thank thanks told use want whats wheres whos".split()
)


class Lexicon(KnownWords):
    """Known words, with counts in how many of the things each is part of."""

    __slots__ = ("_count", "_mentions", "total")

    def __init__(self) -> None:
        super().__init__()
        self.total = 0  #: how many things there are
        self._count: list[int] = []
        self._mentions = 0

    def add(self, word: str) -> int:
        """Count *word* once more and return its number."""
        self._mentions += 1
        number = super().add(word)
        if number == len(self._count):
            self._count.append(0)
        self._count[number] += 1
        return number

    def discard(self, word: str) -> int:
        """Count *word* once less and return the number it had; if that was the last, the number becomes free."""
        number = self._numbers[word]
        self._mentions -= 1
        self._count[number] -= 1
        return number if self._count[number] else super().discard(word)

    def rarity(self, word: str) -> float:
        """Return the weight of a known *word*: 0.7 if it is everywhere, more the rarer it is (smoothed idf)."""
        return math.log1p(self.total / self._count[self._numbers[word]])

    def usual_rarity(self) -> float:
        """Return the weight of a word as common as the average one, for words that are not known."""
        return math.log1p(self.total * len(self._numbers) / self._mentions) if self._mentions else 1.0


def content_words(text: str) -> tuple[str, ...]:
    """Return the distinct folded words of *text* in order, without stop words unless nothing else is left.

    Words are runs of letters and digits of any script; scripts without spaces give overlapping pairs of characters.
    """
    return telling_words(split(fold(text)))


def telling_words(words: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct ones of folded *words* in order, without stop words unless nothing else is left."""
    distinct = dict.fromkeys(words)
    return tuple([word for word in distinct if word not in STOP_WORDS]) or tuple(distinct)


def asked_words(query: str, knows: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the content words of *query* without those that only ask, such as "please"; one that is known stays."""
    return tuple(word for word in content_words(query) if word not in _ASKING or knows(word))
