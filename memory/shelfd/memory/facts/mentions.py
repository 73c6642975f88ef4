"""What is superposed in which vector, kept by its parts: for each word, the rows that hold it."""

from array import array

import numpy as np
import numpy.typing as npt

#: Row numbers, in the type that numpy indexes with without a conversion.
Rows = npt.NDArray[np.int64]

_NOBODY: Rows = np.zeros(0, dtype=np.int64)


class Mentions:
    """The rows that hold each word; rows and words are numbers. Four bytes a mention, some 90 a word.

    A superposition of phasors can be compared in two ways. Built, it is a vector of a thousand elements, and its
    similarity to another comes with noise. Left in parts, its similarity is the sum over the words that both hold,
    because phasors of different words are orthogonal; that is exact, and only rows that share a word are read.
    """

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: list[array[int] | None] = []  #: by word; None for a word that no row holds

    def add(self, word: int, row: int) -> None:
        """Note that *row* holds *word*, which it does not yet."""
        while word >= len(self._rows):
            self._rows.append(None)
        rows = self._rows[word]
        if rows is None:
            self._rows[word] = array("I", [row])
        else:
            rows.append(row)

    def discard(self, word: int, row: int) -> None:
        """Note that *row* no longer holds *word*.

        Raises:
            ValueError: If it does not.
        """
        rows = self._rows[word]
        found = np.flatnonzero(self.of(word) == row)
        if rows is None or not len(found):
            raise ValueError("the row does not hold the word")
        last = rows.pop()
        if found[0] < len(rows):
            rows[int(found[0])] = last
        if not rows:
            self._rows[word] = None

    def of(self, word: int) -> Rows:
        """Return the rows that hold *word*, in no particular order."""
        rows = self._rows[word] if word < len(self._rows) else None
        # A copy: an array that lends its buffer cannot grow until every borrower is gone.
        return _NOBODY if rows is None else np.array(rows, dtype=np.int64)
