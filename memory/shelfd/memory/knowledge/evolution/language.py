"""In which language a note is written."""

import re
from collections.abc import Sequence
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, COUNT_BITS, COUNTED, telling
from shelfd.memory.notes.words import fold

_KANA: Final = re.compile("[\u3041-\u30ff]")
_HAN: Final = re.compile("[\u3400-\u9fff]")


def _words_of(text: str) -> Sequence[str]:
    """Return what stands between blanks, apostrophes, commas and full stops in *text*, folded."""
    folded = fold(text)
    if "'" in folded:
        folded = folded.replace("'", " ")
    return folded.replace(".", " ").replace(",", " ").split()


def language_of(text: str) -> str:
    """Return the language of *text*, "en" if nothing speaks for another."""
    if not text.isascii():
        if _KANA.search(text):
            return "ja"
        if _HAN.search(text):
            return "zh"
    others, foreign, shares = telling()
    words = _words_of(text)
    if (foreign if text.isascii() else others).isdisjoint(words):  # as most
        return ALPHABETIC[0]
    counts = sum(map(shares.__getitem__, shares.keys() & words))
    best, most = ALPHABETIC[0], 0
    places = range(len(ALPHABETIC))
    for at in places if text.isascii() else reversed(places):
        count = counts >> at * COUNT_BITS & COUNTED
        if count > most:
            best, most = ALPHABETIC[at], count
    return best
