"""A phasor for every text, drawn from a hash of the whole text: the same in every process and on every machine."""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shelfd.memory.facts import algebra
from shelfd.memory.facts.algebra import Phases

_CACHED = 8192  #: texts whose phases are kept; of 1024 elements each, that is 8 MiB


class Phasors:
    """The item memory of one role: each text has its own random phasor of *dimension* elements.

    Texts that differ in anything have unrelated phasors, and so has the same text in another role: a word, a key and a
    value that are spelt alike are three things. The hash is SHAKE-128, whose output begins the same at every length, so
    a phasor of 1024 elements is the first half of the one of 2048.
    """

    __slots__ = ("_cache", "_prefix", "dimension")

    def __init__(self, role: str, dimension: int) -> None:
        self.dimension = dimension
        self._prefix = role.encode() + b"\0"
        self._cache: dict[str, Phases] = {}

    def phases(self, text: str) -> Phases:
        """Return the phases of *text*, shape (dimension,); read-only."""
        known = self._cache.get(text)
        if known is None:
            if len(self._cache) >= _CACHED:
                self._cache.clear()  # what is still wanted is soon drawn again; a queue would cost every hit
            known = self._cache[text] = self.drawn(text)
        return known

    def drawn(self, text: str) -> Phases:
        """Return the phases of *text* without keeping them at hand, for texts that will hardly be asked for again."""
        seed = self._prefix + text.encode("utf-8", "surrogatepass")
        return np.frombuffer(hashlib.shake_128(seed).digest(self.dimension), dtype=np.uint8)

    def superposition(self, texts: Sequence[str], weights: Sequence[float]) -> npt.NDArray[np.complex64]:
        """Return the weighted sum of the phasors of *texts*, shape (dimension,)."""
        total = np.zeros(self.dimension, dtype=np.complex64)
        for text, weight in zip(texts, weights, strict=True):
            total += algebra.phasor(self.phases(text)) * np.float32(weight)
        return total
