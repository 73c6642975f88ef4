"""Word lists of one language, kept as data."""

import json
import re
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class WordLists:
    """What the formula knows of a language; a language without lists has empty ones."""

    stop: frozenset[str] = frozenset()
    question: frozenset[str] = frozenset()
    lemmas: dict[str, str] = field(default_factory=dict)  #: irregular form -> dictionary form
    temporal: re.Pattern[str] = _NEVER  #: expressions of time, matched in folded text
    asks_when: re.Pattern[str] = _NEVER  #: questions for a time, matched in folded text


@cache
def word_lists(language: str) -> WordLists:
    """Return the lists of *language*, a Snowball algorithm's name; they are read on first use."""
    if language != "english":
        return WordLists()
    data = json.loads(files("shelfd.memory").joinpath("recall", "lexicon", "en.json").read_text(encoding="utf-8"))
    return WordLists(
        stop=frozenset(data["stop_words"]),
        question=frozenset(data["question_words"]),
        lemmas=data["irregular_lemmas"],
        temporal=re.compile(data["temporal_expression"]),
        asks_when=re.compile(r"\b(?:when|how long|what (?:year|month|date|day|time))\b"),
    )
