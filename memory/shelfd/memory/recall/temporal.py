"""Does a text speak of a time? The lexicon's regular expression, made cheap for the write path."""

import re

_CACHED_WORDS = 1 << 17


class _Verdicts(dict[str, bool]):
    """Whether a word alone is an expression of time."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        super().__init__()
        self._pattern = pattern

    def __missing__(self, word: str) -> bool:
        if len(self) >= _CACHED_WORDS:
            self.clear()
        verdict = self[word] = self._pattern.fullmatch(word) is not None
        return verdict


class TemporalExpressions:
    """Tells texts that hold an expression of time.

    Searching every text costs as much as splitting it. So single words are judged
    once each, and the text is searched only if it has a word that opens one of the
    pattern's phrases.

    Args:
        pattern: Matches words and phrases of folded text.
    """

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._verdicts = _Verdicts(pattern)
        self._openers = frozenset(re.findall(r"(\w+) ", pattern.pattern))

    def __call__(self, words: list[str], folded: str) -> bool:
        """Return whether *folded* text, split into *words*, holds one."""
        if any(map(self._verdicts.__getitem__, words)):
            return True
        return not self._openers.isdisjoint(words) and self._pattern.search(folded) is not None
