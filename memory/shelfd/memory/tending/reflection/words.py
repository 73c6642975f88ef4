"""The words of a note as reflection compares them: folded, in any script."""

from collections.abc import Iterable

from shelfd.memory.notes.note import Note
from shelfd.memory.notes.words import fold, split

#: Characters of a text that say what it is about; what follows them is not read for that.
ABOUT = 2000


def words_of(text: str) -> list[str]:
    """Return the words of *text*, folded, in order; two letters at a time where a script has no spaces."""
    return split(fold(text))


def text_about(note: Note) -> str:
    """Return the text that is read for what *note* is about."""
    return f"{note.title}\n{note.content[:ABOUT]}"


def context_words(note: Note, idle: frozenset[str]) -> list[str]:
    """Return the words that say what *note* is about, each once, in order: no *idle* ones, no bare numbers."""
    words = words_of(text_about(note))
    return [word for word in dict.fromkeys(words) if len(word) > 1 and word not in idle and not word.isnumeric()]


def jaccard(one: Iterable[str], other: Iterable[str]) -> float:
    """Return which share of all their words two texts have in common, 0 when there are none."""
    left, right = frozenset(one), frozenset(other)
    union = len(left | right)
    return len(left & right) / union if union else 0.0
