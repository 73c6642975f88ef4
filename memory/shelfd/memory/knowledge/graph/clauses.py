"""Sentences of a text, and the clauses in which something is denied."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

#: The gap between two sentences is its group. It begins with a set, for such a pattern is found much sooner.
_END: Final = re.compile(r"[.!?]([\"”')\]]*\s+)(?=[\"“'(\[]?[^\Wa-z_])|[。！？]()")
#: What a full stop after does not end a sentence.
_SHORTENED: Final = re.compile(r"\b(?:dr|mr|mrs|ms|prof|st|vs|inc|no|e\.g|i\.e|approx|[A-Za-z])\.$", re.IGNORECASE)
_BORDER: Final = re.compile(r"[,;:()–—]|\b(?:but|while|whereas|although|instead of|rather than|unlike|aber|sondern)\b")
_DENIAL: Final = re.compile(
    r"\b(?:not|never|no|neither|nor|cannot|without|stopped|ceased|quit|abandoned|denie[ds]|instead of|rather than"
    r"|unlike|nicht|nie|keine?[rnms]?|statt)\b|n['’]t\b",
    re.IGNORECASE,
)
#: One of these, in small letters, has every denial.
_DENIALS: Final = (
    "no", "n't", "neither", "never", "cannot", "without", "stopped", "ceased", "quit", "abandoned", "denie",
    "instead of", "rather than", "unlike", "nicht", "nie", "kein", "statt",
)  # fmt: skip


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a line begins and ends."""
    begin = 0
    for end in _END.finditer(text):
        start, stop = end.span(end.lastindex or 0)
        if _SHORTENED.search(text, max(begin, start - 8), start) is None:
            yield begin, start
            begin = stop
    if begin < len(text):
        yield begin, len(text)


class Denials:
    """Where a sentence denies what it says: "stopped using X, switched to Y" denies X.

    Args:
        sentence: Its text.
    """

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence
        self._any = _may_deny(sentence) and _DENIAL.search(sentence) is not None
        self._borders = [0, *(border.start() for border in _BORDER.finditer(sentence))] if self._any else []

    def __bool__(self) -> bool:
        """Whether anything is denied."""
        return self._any

    def holds(self, at: int) -> bool:
        """Return whether what stands at a place is denied."""
        if not self._any:
            return False
        clause = bisect_right(self._borders, at) - 1
        end = self._borders[clause + 1] if clause + 1 < len(self._borders) else len(self._sentence)
        return _DENIAL.search(self._sentence, self._borders[clause], end) is not None


def _may_deny(sentence: str) -> bool:
    """Return whether a sentence can deny something: that is seen much sooner than whether it does."""
    if not sentence.isascii():
        return True
    low = sentence.lower()
    for sign in _DENIALS:  # noqa: SIM110 - a third of what any() takes
        if sign in low:
            return True
    return False
