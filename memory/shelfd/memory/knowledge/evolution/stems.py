"""Stems of words, by Snowball's rules for their language; those of the words that come again and again are kept."""

import threading
from functools import lru_cache
from typing import Final

import Stemmer

_WORDS: Final = 4_096  #: whose stems are kept
_SHORT: Final = 3  #: letters
_CONSONANTS: Final = frozenset("bcdfghjklmnpqrtvwxyz")
_OF_THREAD: Final = threading.local()  #: language -> stemmer, which is one thread's


@lru_cache(_WORDS)
def stem(word: str, language: str) -> str:
    """Return the stem of a folded word of ``en``, ``de``, ``es`` or ``fr``."""
    if language == "es" and len(word) > _SHORT and word[-1] == "s" and word[-2] in _CONSONANTS:
        word = word[:-1]  # of a word that was taken over with its plural: "sprints", "backups"
    stemmers: dict[str, Stemmer.Stemmer] = _OF_THREAD.__dict__
    if (stemmer := stemmers.get(language)) is None:
        stemmer = stemmers[language] = Stemmer.Stemmer(language)
    return str(stemmer.stemWord(word))
