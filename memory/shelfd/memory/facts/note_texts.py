"""The texts of notes as the words they hold: how much of a query stands in each."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.facts.mentions import Mentions, Rows
from shelfd.memory.facts.word_parts import WordParts
from shelfd.memory.notes.words import emoji, fold, split

_SPELLINGS: Final = 2_000  #: different words that one is looked for in, at most: what is part of more says nothing


class TextMatch(NamedTuple):
    """How much of a query stands in the texts; arrays with one place for each row there is."""

    shares: npt.NDArray[np.float64]  #: of the query's words
    contained: npt.NDArray[np.bool_]  #: the whole query, for certain
    unsure: npt.NDArray[
        np.bool_
    ]  #: perhaps the whole query: the words are there, whether side by side only the text tells


class NoteTexts:
    """Many texts, four bytes for each word of each; the texts themselves are not kept. Rows are numbers from 0."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._parts = WordParts()
        self._mentions = Mentions()

    def add(self, row: int, text: str) -> None:
        """Add the *text* of a new *row*."""
        folded = fold(text)
        for word in {*split(folded), *emoji(folded)}:
            number = self._numbers.get(word)
            if number is None:
                number = self._numbers[word] = len(self._numbers)
                self._parts.append(word)
            self._mentions.add(number, row)

    def holding(self, word: str) -> Rows:
        """Return the rows that hold *word*."""
        number = self._numbers.get(word)
        return np.zeros(0, dtype=np.int64) if number is None else self._mentions.of(number)

    def match(self, query: str, rows: int) -> TextMatch:
        """Return how much of *query* stands in the texts of the first *rows* rows."""
        asked = fold(query).strip()
        words = split(asked) or emoji(asked)
        if not words:
            return TextMatch(np.zeros(rows), np.zeros(rows, dtype=np.bool_), np.zeros(rows, dtype=np.bool_))
        shares = self._counts(set(words), rows) / len(set(words))
        # Where the whole query stands, its words do; only the first and the last may be parts of longer ones.
        if len(words) == 1:
            possible = self._having(self._parts.find(words[0]), rows)
        else:
            inner = set(words[1:-1])
            possible = self._counts(inner, rows) == len(inner)
            possible &= self._having(self._parts.find(words[0], ends=True), rows)
            possible &= self._having(self._parts.find(words[-1], begins=True), rows)
        certain = asked == words[0]
        nowhere = np.zeros(rows, dtype=np.bool_)
        return TextMatch(shares, possible if certain else nowhere, nowhere if certain else possible)

    def keep(self, numbers: Rows) -> None:
        """Give rows new numbers.

        Args:
            numbers: New number of each row, -1 for one that is gone.
        """
        kept, self._numbers, self._parts = self._numbers, {}, WordParts()
        mentions, self._mentions = self._mentions, Mentions()
        for word, number in kept.items():
            rows = numbers[mentions.of(number)]
            rows = rows[rows >= 0]
            if len(rows):
                self._mentions.put(len(self._numbers), rows)
                self._numbers[word] = len(self._numbers)
                self._parts.append(word)

    def _counts(self, words: set[str], rows: int) -> npt.NDArray[np.int32]:
        """How many of *words* each row holds."""
        counts = np.zeros(rows, dtype=np.int32)
        for word in words:
            counts[self.holding(word)] += 1
        return counts

    def _having(self, numbers: Sequence[int], rows: int) -> npt.NDArray[np.bool_]:
        """Which rows hold one of the words."""
        having = np.zeros(rows, dtype=np.bool_)
        for number in numbers[:_SPELLINGS]:
            having[self._mentions.of(number)] = True
        return having
