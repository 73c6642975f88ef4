"""Banks: superpositions of key ⊗ value pairs, changed by adding and subtracting one pair."""

from collections.abc import Iterable
from functools import cache
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.facts.algebra import WHOLE_NUMBERS, Phases, Phasors, bind_phases, phasor, similarity, unbind
from shelfd.memory.facts.capacity import CONFIRMED_AT, Options, capacity

_FEW: Final = 16  #: pairs a bank keeps as they are, which take less memory than their superposition
_FEW_ELEMENTS: Final = 16_384  #: of these pairs together, at most: 0.4 ms to superpose them
_AT_ONCE: Final = 2  #: pairs superposed by one write: the one, and one of those that waited


class Echo(NamedTuple):
    """What comes back when a key is unbound from its bank."""

    similarity: float  #: cosine of what came back with the value's phasor; about 1/sqrt(facts in the bank)
    noise: float  #: standard deviation of that for a value that is not there

    @property
    def confirmed(self) -> bool:
        """Whether the bank holds this value for this key, not to be taken for chance."""
        return self.similarity > CONFIRMED_AT * self.noise


def waiting(options: Options) -> int:
    """Return up to how many pairs a bank keeps as they are.

    No more than a bank can tell apart either: the next one is begun when this many are in each.
    """
    elements = options.dimension * options.ensembles
    return max(min(_FEW, _FEW_ELEMENTS // elements, capacity(options) // options.banks), 1)


class _Bank:
    """The pairs of one bank: superposed, but for those that still wait for it."""

    __slots__ = ("count", "pairs", "trace")

    def __init__(self) -> None:
        self.count = 0
        self.pairs: dict[str, str] = {}
        self.trace: npt.NDArray[np.int16] | None = None


class Banks:
    """The superposed facts of one nugget.

    Keys and values are bound as phasors of their full text: two keys that share words do not disturb each other more
    than any other two. Only a fact's own bank is asked; the original asks all, which adds their noise and undoes what
    banks are for. Ensembles are further elements of the same vectors, which is equivalent to independent copies with
    summed answers.

    A fact's bank is the one with the fewest facts, so that all stay equally clear, of as many as are needed. A
    superposition takes 4 bytes times dimension and ensembles whatever it holds, so the pairs of a bank of a few wait,
    and are superposed when it is asked; it says the same either way. Once there are more, every write superposes two.
    Wide banks, whose pairs take long, let fewer wait.
    Pairs are added as whole numbers, so that taking one away undoes putting it to the last bit, in any order.

    Args:
        options: How many banks, and of which dimension.
    """

    __slots__ = ("_banks", "_few", "_wanted", "dimension")

    def __init__(self, options: Options) -> None:
        self.dimension = options.dimension * options.ensembles
        self._wanted = options.banks
        self._few = waiting(options)
        self._banks: list[_Bank] = []

    def add(self, key: str, value: str) -> int:
        """Superpose the pair, of a key that is not there yet, and return its bank."""
        number = self._emptiest()
        bank = self._banks[number]
        bank.count += 1
        bank.pairs[key] = value
        if bank.trace is not None or len(bank.pairs) > self._few:
            some = [(first, bank.pairs.pop(first)) for first in list(islice(bank.pairs, _AT_ONCE))]
            bank.trace = self._superposed(bank.trace, some)
        return number

    def subtract(self, key: str, value: str, bank: int) -> None:
        """Take a pair out of its *bank*, to the last bit."""
        held = self._banks[bank]
        held.count -= 1
        if key in held.pairs:
            del held.pairs[key]
        else:
            assert held.trace is not None, "nothing was ever added to this bank"
            held.trace -= WHOLE_NUMBERS[self._pair(key, value)]
        if not held.count:
            held.trace = None

    def unbound(self, key: str, bank: int) -> npt.NDArray[np.complex64]:
        """Return the noisy value phasor of *key* in its *bank*, shape (dimension,)."""
        if bank >= len(self._banks):
            return np.zeros(self.dimension, dtype=np.complex64)
        held = self._banks[bank]
        trace = self._superposed(None if held.trace is None else held.trace.copy(), held.pairs.items())
        noisy = trace.astype(np.float32).view(np.complex64)[:, 0]
        return unbind(noisy, phasor(_keys(self.dimension).drawn(key))).astype(np.complex64, copy=False)

    def echo(self, key: str, value: str, bank: int) -> Echo:
        """Return how clearly *bank* gives *value* for *key*."""
        found = similarity(self.unbound(key, bank), phasor(self.value_phases(value)))
        return Echo(float(found), (2 * self.dimension) ** -0.5)

    def value_phases(self, value: str) -> Phases:
        """Return the phases under which *value* is bound."""
        return _values(self.dimension).drawn(value)

    @property
    def counts(self) -> tuple[int, ...]:
        """How many facts each bank holds."""
        return (*(bank.count for bank in self._banks), *[0] * (self._wanted - len(self._banks)))

    @property
    def nbytes(self) -> int:
        """Bytes taken by the superpositions."""
        return sum(bank.trace.nbytes for bank in self._banks if bank.trace is not None)

    def _emptiest(self) -> int:
        """The bank for the next pair; a new one if the others hold some already and more are wanted."""
        least = min(range(len(self._banks)), key=lambda number: self._banks[number].count, default=0)
        if len(self._banks) < self._wanted and (not self._banks or self._banks[least].count >= self._few):
            self._banks.append(_Bank())
            return len(self._banks) - 1
        return least

    def _superposed(
        self, trace: npt.NDArray[np.int16] | None, pairs: Iterable[tuple[str, str]]
    ) -> npt.NDArray[np.int16]:
        """*trace*, or a new one, with *pairs* added to it."""
        if trace is None:
            trace = np.zeros((self.dimension, 2), dtype=np.int16)
        for key, value in pairs:
            trace += WHOLE_NUMBERS[self._pair(key, value)]
        return trace

    def _pair(self, key: str, value: str) -> Phases:
        return bind_phases(_keys(self.dimension).drawn(key), _values(self.dimension).drawn(value))


@cache
def _keys(dimension: int) -> Phasors:
    return Phasors("key", dimension)


@cache
def _values(dimension: int) -> Phasors:
    return Phasors("value", dimension)
