"""German nouns that are put together of two: "Sprintlänge" is the length of a sprint."""

from functools import lru_cache
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import lexicon

_WORDS: Final = 4_096  #: whose parts are kept
_SHORTEST: Final = 3  #: letters of a first part
FAVOURITE: Final = "lieblings"
_SORT: Final = "sorte"
_PREFERRED: Final = "bevorzugt"


@lru_cache(_WORDS)
def parts_of(word: str) -> tuple[str, ...]:
    """Return the two nouns that a folded German one is put together of, itself alone if its last part is not known.

    Its last part says what is told of something, and its first part of what: both may as well be told in two words.
    """
    if not word.isalpha():
        first, _, last = word.rpartition("-")
        return (first, last) if first and last in lexicon("de").lists["heads"] else (word,)
    if word.startswith(FAVOURITE) and len(word) >= len(FAVOURITE) + _SHORTEST:
        liked = word[len(FAVOURITE) :].removesuffix(_SORT)  # a favourite "Eissorte" is a favourite "Eis"
        return (_PREFERRED, liked) if liked else (_PREFERRED,)
    lists = lexicon("de").lists
    heads = lists["heads"]
    for at in range(_SHORTEST, len(word) - _SHORTEST):  # the longest last part is the first that is found
        if word[at:] not in heads:
            continue
        first = word[:at]
        if first[-1] == "s" and first not in lists["names_in_s"] and first[-2:] != "ss":
            first = first[:-1]  # "Abfahrtszeit"
        if len(first) < _SHORTEST or first in lists["prepositions"] or first in lists["particles"]:
            break
        return first, word[at:]
    return (word,)
