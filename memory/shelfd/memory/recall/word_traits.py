"""What single words tell of a text: looked at once each, for every text is read word by word."""

import re
from collections.abc import Iterable
from typing import Final

from shelfd.memory.notes.wordlists import WordLists
from shelfd.memory.recall.languages import common_words_of_others, signs_of
from shelfd.memory.recall.meaning import ANSWER_TYPES, MeaningLists

#: The bits of a word. The types of answer that it tells of are the lowest, see ANSWER_TYPES.
TYPES: Final = (1 << len(ANSWER_TYPES)) - 1
DIGITS: Final = TYPES + 1  #: it begins with a digit
TIME: Final = DIGITS << 1  #: it is an expression of time
OPENS_TIME: Final = DIGITS << 2  #: an expression of time of several words may begin with it
FOREIGN: Final = DIGITS << 3  #: it is a sign of a language that is not the shelf's own
COMMON: Final = DIGITS << 4  #: it is a stop or question word of such a language
_NUMBER: Final = ANSWER_TYPES["number"]
NUMBER: Final = _NUMBER | DIGITS
#: What follows the digits: a folded word that begins with one sorts before it.
_AFTER_DIGITS: Final = ":"


def number_count(traits: list[int], distinct: Iterable[int]) -> int:
    """Return how many numbers words of these *traits* are; one in digits that is in the lists, too, counts twice."""
    found = 0
    for one in distinct:
        if one & NUMBER:
            found += traits.count(one) * ((one & _NUMBER != 0) + (one & DIGITS != 0))
    return found


class WordTraits(dict[str, int]):
    """What a folded word is, as bits.

    Args:
        language: The shelf's.
        lists: Of that language.
        meanings: Of that language.
        cached: So many words are remembered.
    """

    def __init__(self, language: str, lists: WordLists, meanings: MeaningLists, cached: int) -> None:
        super().__init__()
        self._is_time = lists.temporal.fullmatch
        self._opens_time = frozenset(re.findall(r"(\w+) ", lists.temporal.pattern))
        self._types = meanings.answer_types
        self._language = language
        self._cached = cached

    def __missing__(self, word: str) -> int:
        traits = self._types.get(word, 0)
        if word < _AFTER_DIGITS:
            traits |= DIGITS
        if self._is_time(word) is not None:
            traits |= TIME
        if word in self._opens_time:
            traits |= OPENS_TIME
        if word in signs_of(self._language):
            traits |= FOREIGN
        if word in common_words_of_others(self._language):
            traits |= COMMON
        if len(self) >= self._cached:
            self.clear()
        self[word] = traits
        return traits
