"""Banks: superpositions of key ⊗ value pairs, changed by adding and subtracting one pair."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.fhrr.algebra import WHOLE_NUMBERS, Phases, bind_phases, phasor, similarity, unbind
from shelfd.memory.fhrr.codec import Options
from shelfd.memory.fhrr.phasors import Phasors

_FACTS_PER_ELEMENT = 0.05  #: measured; see :func:`capacity`


class Echo(NamedTuple):
    """What comes back when a key is unbound from its bank."""

    similarity: float  #: cosine of what came back with the value's phasor; about 1/sqrt(facts in the bank)
    noise: float  #: standard deviation of that for a value that is not there

    @property
    def confirmed(self) -> bool:
        """Whether the bank holds this value for this key, at three standard deviations."""
        return self.similarity > 3 * self.noise


def capacity(options: Options) -> int:
    """Return how many facts the banks can tell apart by themselves, 99 in 100 right, among as many values.

    A bank of d elements holds about 0.05 d; an ensemble is another d elements for each.
    """
    return options.banks * int(_FACTS_PER_ELEMENT * options.dimension * options.ensembles)


class Banks:
    """The superposed facts of one nugget.

    Keys and values are bound as phasors of their whole text: two keys that share words do not disturb each other more
    than any other two. A fact's bank is the one with the fewest facts, so that all stay equally clear. Only the owner
    bank is asked; the original asks all, which adds their noise and undoes what banks are for. Ensembles are further
    elements of the same vectors, which is what independent copies with summed answers come to.

    Pairs are added as whole numbers, so that taking one away undoes putting it to the last bit, in any order.
    Costs 4 bytes times dimension and ensembles for each bank in use.
    """

    __slots__ = ("_counts", "_keys", "_traces", "_values", "dimension")

    def __init__(self, options: Options) -> None:
        self.dimension = options.dimension * options.ensembles
        self._keys = Phasors("key", self.dimension)
        self._values = Phasors("value", self.dimension)
        self._counts = [0] * options.banks
        self._traces: list[npt.NDArray[np.int16] | None] = [None] * options.banks

    def add(self, key: str, value: str) -> int:
        """Superpose the pair and return its bank."""
        bank = self._counts.index(min(self._counts))
        trace = self._traces[bank]
        if trace is None:
            trace = self._traces[bank] = np.zeros((self.dimension, 2), dtype=np.int16)
        trace += WHOLE_NUMBERS[self._pair(key, value)]
        self._counts[bank] += 1
        return bank

    def subtract(self, key: str, value: str, bank: int) -> None:
        """Take a pair out of its *bank*, to the last bit."""
        trace = self._traces[bank]
        assert trace is not None, "nothing was ever added to this bank"
        trace -= WHOLE_NUMBERS[self._pair(key, value)]
        self._counts[bank] -= 1
        if not self._counts[bank]:
            self._traces[bank] = None

    def unbound(self, key: str, bank: int) -> npt.NDArray[np.complex64]:
        """Return the noisy value phasor of *key* in its *bank*, shape (dimension,)."""
        trace = self._traces[bank]
        if trace is None:
            return np.zeros(self.dimension, dtype=np.complex64)
        heard = trace.astype(np.float32).view(np.complex64)[:, 0]
        return unbind(heard, phasor(self._keys.drawn(key))).astype(np.complex64, copy=False)

    def echo(self, key: str, value: str, bank: int) -> Echo:
        """Return how clearly *bank* gives *value* for *key*."""
        found = similarity(self.unbound(key, bank), phasor(self._values.drawn(value)))
        return Echo(float(found), (2 * self.dimension) ** -0.5)

    def value_phases(self, value: str) -> Phases:
        """Return the phases under which *value* is bound."""
        return self._values.drawn(value)

    @property
    def counts(self) -> tuple[int, ...]:
        """How many facts each bank holds."""
        return tuple(self._counts)

    @property
    def nbytes(self) -> int:
        """Bytes taken by the banks in use."""
        return sum(trace.nbytes for trace in self._traces if trace is not None)

    def _pair(self, key: str, value: str) -> Phases:
        return bind_phases(self._keys.drawn(key), self._values.drawn(value))
