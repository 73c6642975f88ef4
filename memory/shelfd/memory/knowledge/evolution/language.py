"""In which language a note is written."""

import re
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, COUNT_BITS, COUNTED, telling
from shelfd.memory.notes.words import fold

_KANA: Final = re.compile("[\u3041-\u30ff]")
_HAN: Final = re.compile("[\u3400-\u9fff]")


def language_of(text: str) -> str:
    """Return the language of *text*, "en" if nothing speaks for another."""
    if not text.isascii():
        if _KANA.search(text):
            return "ja"
        if _HAN.search(text):
            return "zh"
    others, shares = telling()
    folded = fold(text)
    if "'" in folded:
        folded = folded.replace("'", " ")
    words = folded.replace(".", " ").replace(",", " ").split()
    if others.isdisjoint(words):  # as most
        return ALPHABETIC[0]
    counts = sum(shares[word] for word in shares.keys() & words)
    best, most = ALPHABETIC[0], 0
    places = range(len(ALPHABETIC))
    for at in places if text.isascii() else reversed(places):
        count = counts >> at * COUNT_BITS & COUNTED
        if count > most:
            best, most = ALPHABETIC[at], count
    return best
