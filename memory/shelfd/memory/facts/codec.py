"""What every codec of facts can do, and what it says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

_LARGEST = 65_535  #: elements of a vector


class Answer(NamedTuple):
    """The fact that answers a query."""

    row: str  #: the caller's name of the fact
    key: str  #: as put
    value: str
    confidence: float  #: how probable it is that this is the fact meant, 0 to 1
    margin: float  #: by how much it beats the next fact of another value, 0 to 1


@dataclass(frozen=True, slots=True)
class Options:
    """The shape of one nugget's memory.

    Raises:
        ValueError: If a number is out of range.
    """

    dimension: int = 1024  #: elements per vector, at most 65,535
    banks: int = 4  #: superpositions the facts are spread over
    ensembles: int = 1  #: independent copies of every bank
    max_facts: int = 0  #: how many facts are wanted at most; 0: any number

    def __post_init__(self) -> None:
        if self.dimension < 1 or self.banks < 1 or self.ensembles < 1 or self.max_facts < 0:
            raise ValueError("dimension, banks and ensembles are positive, max_facts is not negative")
        if self.dimension > _LARGEST:
            raise ValueError(f"dimension is at most {_LARGEST}")


@dataclass(frozen=True, slots=True)
class Status:
    """How full a memory is."""

    fact_count: int
    dimension: int
    banks: int
    ensembles: int
    max_facts: int
    capacity: int  #: facts the superpositions hold by themselves; more are kept, but exact by their rows only
    capacity_used_pct: float  #: one decimal; may pass 100
    capacity_warning: str  #: what is lost by being this full; empty if nothing is


def status_of(fact_count: int, options: Options, capacity: int, warning: str = "") -> Status:
    """Return the status of a memory of *fact_count* facts whose superpositions hold *capacity*."""
    return Status(
        fact_count=fact_count,
        dimension=options.dimension,
        banks=options.banks,
        ensembles=options.ensembles,
        max_facts=options.max_facts,
        capacity=capacity,
        capacity_used_pct=round(100 * fact_count / max(capacity, 1), 1),
        capacity_warning=warning,
    )


class FactCodec(Protocol):
    """A memory of facts: keys in, values out. Rows are the caller's names of the facts."""

    def put(self, row: str, key: str, value: str, aliases: Sequence[str] = ()) -> None:
        """Keep the fact *row*, or what it says now.

        Raises:
            ValueError: If another row has this key.
        """

    def remove(self, row: str) -> bool:
        """Forget the fact *row*; tell whether there was one."""
        ...

    def recall(self, query: str) -> Answer | None:
        """Return the fact that answers *query*, ``None`` if none does."""

    def status(self) -> Status:
        """Return how full this memory is."""
        ...
