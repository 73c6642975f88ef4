"""Stems of words, by Snowball's rules for their language; those of the words that come again and again are kept."""

import threading
from functools import lru_cache
from typing import Final

import Stemmer

_WORDS: Final = 4_096  #: whose stems are kept
_OF_THREAD: Final = threading.local()  #: language -> stemmer, which is one thread's


@lru_cache(_WORDS)
def stem(word: str, language: str) -> str:
    """Return the stem of a folded word of ``en``, ``de``, ``es`` or ``fr``."""
    stemmers: dict[str, Stemmer.Stemmer] = _OF_THREAD.__dict__
    if (stemmer := stemmers.get(language)) is None:
        stemmer = stemmers[language] = Stemmer.Stemmer(language)
    return str(stemmer.stemWord(word))
