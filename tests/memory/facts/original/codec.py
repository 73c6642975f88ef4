"""The original's memory of facts: whole rebuild after a write, keys found by strings, values decoded from banks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memory.facts.original.keys import resolve
from memory.facts.original.vectors import (
    Rows,
    corvacs,
    mulberry32_block,
    orthogonalise,
    role_keys,
    seed_from_name,
    sharpen,
    softmax,
    unit_rows,
    vocabulary_keys,
)
from shelfd.memory.facts import FactAnswer, Options
from shelfd.memory.facts.algebra import bind, unbind

#: The original's own shape; its capacity, 4 * sqrt(16384), is the 512 facts it speaks of.
ORIGINAL_OPTIONS = Options(dimension=16384, banks=4)


@dataclass(frozen=True, slots=True)
class Decoding:
    """What the original applies to an unbound vector before it asks for values."""

    sharpen_power: float = 1.0
    corvacs_strength: float = 0.0
    temperature: float = 0.9
    orthogonalise_iterations: int = 1
    orthogonalise_step: float = 0.4


@dataclass(frozen=True, slots=True)
class Status:
    """How full a memory is, as the original says."""

    fact_count: int
    dimension: int
    banks: int
    ensembles: int
    max_facts: int
    capacity: int
    capacity_used_pct: float  #: one decimal; may pass 100
    capacity_warning: str


@dataclass(frozen=True, slots=True)
class _Ensemble:
    vocabulary: npt.NDArray[np.float64]  #: (values, 2d), unit rows
    sentence: npt.NDArray[np.complex128]  #: (d,)
    banks: Rows  #: (banks, d)


@dataclass(slots=True)
class _Fact:
    row: str
    key: str
    value: str


class OriginalFacts:
    """A nugget as the original keeps it.

    It answers what the original answers, faults included: an empty query means the first fact, confidence is about one
    over the number of values. Aliases are not known to it and ignored.

    Args:
        name: The nugget's; seeds the generator.
    """

    def __init__(self, name: str, options: Options = ORIGINAL_OPTIONS, decoding: Decoding | None = None) -> None:
        self._name = name
        self._options = options
        self._decoding = decoding or Decoding()
        self._facts: list[_Fact] = []
        self._values: list[str] = []
        self._ensembles: list[_Ensemble] | None = None

    def put(self, row: str, key: str, value: str, aliases: Sequence[str] = ()) -> None:
        """Keep the fact; the first falls out when there are more than ``max_facts``."""
        key, value = key.strip(), value.strip()
        if not key or not value:
            return
        self._ensembles = None
        if any(fact.row != row and fact.key.lower() == key.lower() for fact in self._facts):
            raise ValueError("another fact has this key")
        for fact in self._facts:
            if fact.row == row:
                fact.key, fact.value = key, value
                return
        self._facts.append(_Fact(row, key, value))
        if self._options.max_facts:
            del self._facts[: -self._options.max_facts]

    def remove(self, row: str) -> bool:
        """Forget the fact."""
        kept = [fact for fact in self._facts if fact.row != row]
        found = len(kept) < len(self._facts)
        if found:
            self._facts, self._ensembles = kept, None
        return found

    def recall(self, query: str) -> FactAnswer | None:
        """Return the fact whose key *query* resolves to, with the value decoded from the banks."""
        position = resolve(query, [fact.key for fact in self._facts])
        if position is None:
            return None
        probabilities = self._decode(position)
        best = int(np.argmax(probabilities))
        first, second = np.sort(np.append(probabilities, 0.0))[:-3:-1]
        fact = self._facts[position]
        return FactAnswer(fact.row, fact.key, self._values[best], float(first), float(first - second))

    def status(self) -> Status:
        """Return how full this memory is, by the original's estimate of its capacity, from which on values mix."""
        capacity = self._options.banks * math.isqrt(self._options.dimension)
        return Status(
            fact_count=len(self._facts),
            dimension=self._options.dimension,
            banks=self._options.banks,
            ensembles=self._options.ensembles,
            max_facts=self._options.max_facts,
            capacity=capacity,
            capacity_used_pct=round(100 * len(self._facts) / max(capacity, 1), 1),
            capacity_warning=_warning(len(self._facts), capacity),
        )

    def _decode(self, position: int) -> npt.NDArray[np.float64]:
        """Probabilities of all values for the fact at *position*; every bank of every ensemble has its say."""
        if self._ensembles is None:
            self._values = list(dict.fromkeys(fact.value for fact in self._facts))
            self._ensembles = self._rebuild()
        angles = 2 * np.pi * position * np.arange(self._options.dimension) / self._options.dimension
        role = np.cos(angles) + 1j * np.sin(angles)
        scores = np.zeros(len(self._values))
        for ensemble in self._ensembles:
            heard = unbind(unbind(ensemble.banks, ensemble.sentence), role).astype(np.complex128, copy=False)
            heard = corvacs(sharpen(heard, self._decoding.sharpen_power), self._decoding.corvacs_strength)
            scores += (unit_rows(heard) @ ensemble.vocabulary.T).sum(axis=0)
        return softmax(scores, self._decoding.temperature)

    def _rebuild(self) -> list[_Ensemble]:
        dimension, count = self._options.dimension, len(self._values)
        drawn = (count + 1) * dimension
        uniform = mulberry32_block(seed_from_name(self._name), drawn * self._options.ensembles)
        roles = role_keys(dimension, len(self._facts))
        numbers = {value: number for number, value in enumerate(self._values)}
        spoken = [numbers[fact.value] for fact in self._facts]
        ensembles = []
        for at in range(0, len(uniform), drawn):
            vocabulary = orthogonalise(
                vocabulary_keys(uniform[at:], count, dimension),
                self._decoding.orthogonalise_iterations,
                self._decoding.orthogonalise_step,
            )
            sentence = vocabulary_keys(uniform[at + count * dimension :], 1, dimension)[0]
            traces = bind(bind(roles, sentence), vocabulary[spoken]).astype(np.complex128, copy=False)
            ensembles.append(_Ensemble(unit_rows(vocabulary), sentence, self._banks(traces)))
        return ensembles

    def _banks(self, traces: Rows) -> Rows:
        banks = np.zeros((self._options.banks, self._options.dimension), dtype=np.complex128)
        for bank in range(self._options.banks):
            members = traces[bank :: self._options.banks]
            banks[bank] = members.sum(axis=0) / math.sqrt(max(len(members), 1))
        return banks


def _warning(fact_count: int, capacity: int) -> str:
    if 10 * fact_count > 9 * capacity:
        return f"critical: {fact_count} of {capacity} facts"
    return f"approaching capacity: {fact_count} of {capacity} facts" if 10 * fact_count > 8 * capacity else ""
