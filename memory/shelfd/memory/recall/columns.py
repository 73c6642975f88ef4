"""Per-document values as growing numpy arrays, one slot (ordinal) per document version."""

from typing import Final

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32]

ALIVE: Final = 1  #: not replaced or removed
HIDDEN: Final = 2
SUPERSEDED: Final = 4
PRIVATE: Final = 8  #: scope ``session`` and has a session
QUESTION: Final = 16  #: ends with a question mark
TEMPORAL: Final = 32  #: holds an expression of time
QUARANTINED: Final = 64

#: Slots to begin with, which double when they are used up: an empty shelf must cost little.
_CAPACITY: Final = 64
NEVER: Final = int(np.iinfo(np.int64).max)  #: expiry of what does not expire
ALWAYS: Final = int(np.iinfo(np.int64).min)  #: beginning of what says none

_TYPES: Final = {
    "flags": np.uint8, "answer_types": np.uint16,
    # int64 although int32 would do: numpy indexes with int64 without a conversion.
    "previous": np.int64, "following": np.int64, "group": np.int64,
    "length": np.int32, "span": np.int32, "speaker": np.int32, "day": np.int32,
    "nugget": np.int32, "domain": np.int32, "scope": np.int32, "type": np.int32,
    "subject": np.int32, "author": np.int32, "session": np.int32,
    "boost": np.float32, "title": np.uint64, "telling": np.uint8, "standing": np.uint8,
    "when": np.int64, "expires_at": np.int64, "row": np.int64, "turn": np.int64,
}  # fmt: skip


class Columns:
    """One array per value; the first ``size`` slots are in use."""

    flags: npt.NDArray[np.uint8]
    answer_types: npt.NDArray[np.uint16]  #: which types of answer the document holds, bits of meaning.ANSWER_TYPES
    previous: IntArray  #: ordinal of the previous note of the session, -1 for none
    following: IntArray  #: ordinal of the next one, -1 for none
    group: IntArray  #: number of the (nugget, session)
    length: Codes  #: tokens of the document
    span: Codes  #: tokens of the document and of its previous one
    speaker: Codes  #: number of the folded author, -1 for nobody
    day: Codes  #: local date, proleptic ordinal
    nugget: Codes
    domain: Codes
    scope: Codes
    type: Codes
    subject: Codes
    author: Codes
    session: Codes
    boost: npt.NDArray[np.float32]  #: what note search adds for what the note is
    title: npt.NDArray[np.uint64]  #: words of the title, as :func:`~shelfd.memory.recall.note_search.word_bits`
    telling: npt.NDArray[np.uint8]  #: distinct words that are no stop words, at most 255
    standing: npt.NDArray[np.uint8]  #: what decides between documents that score alike
    when: IntArray  #: microseconds since 1970 UTC
    expires_at: IntArray  #: microseconds since 1970 UTC, or ``NEVER``
    row: IntArray
    turn: IntArray

    def __init__(self, capacity: int = _CAPACITY) -> None:
        self.size = 0
        self._capacity = capacity
        for name, kind in _TYPES.items():
            setattr(self, name, np.zeros(capacity, kind))

    def append(self) -> int:
        """Return a fresh ordinal, whose values are all zero."""
        if self.size == self._capacity:
            self._capacity *= 2
            for name, kind in _TYPES.items():
                grown = np.zeros(self._capacity, kind)
                grown[: self.size] = getattr(self, name)
                setattr(self, name, grown)
        self.size += 1
        return self.size - 1

    def copy(self) -> "Columns":
        """Return the same values, free to change."""
        other = Columns(self.size + _CAPACITY)
        other.size = self.size
        for name in _TYPES:
            getattr(other, name)[: self.size] = getattr(self, name)[: self.size]
        return other

    def retain(self, kept: IntArray, numbers: IntArray) -> None:
        """Keep the ordinals *kept* (ascending) only.

        Args:
            kept: Old ordinals.
            numbers: New ordinal of each old one, shape ``(size + 1,)``, the last being -1.
        """
        self.size, self._capacity = len(kept), max(_CAPACITY, 2 * len(kept))
        for name, kind in _TYPES.items():
            shrunk = np.zeros(self._capacity, kind)
            shrunk[: self.size] = getattr(self, name)[kept]
            setattr(self, name, shrunk)
        self.previous[: self.size] = numbers[self.previous[: self.size]]
        self.following[: self.size] = numbers[self.following[: self.size]]
