"""The shape of a nugget's memory of facts, how full it is, and what its user loses by that.

However full the banks are, no fact is lost: its key answers from its row, and so does a key that is like it. What fades
is that the banks confirm it. Facts are hidden where ``max_facts`` says so, and only there.
"""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

CONFIRMED_AT: Final = 3.0  #: standard deviations by which a value is more than chance

_LARGEST: Final = 65_535  #: elements of a vector
_FACTS_PER_ELEMENT: Final = 0.05  #: measured; see :func:`capacity`
_NOTICED: Final = 0.95  #: share of facts confirmed below which a user comes upon one that is not
_NEARLY: Final = 0.8  #: share of max_facts in use above which there is little room


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


class Status(NamedTuple):
    """How full a memory is."""

    capacity: int  #: facts the superpositions hold by themselves; more are kept, but exact by their rows only
    capacity_used_pct: float  #: one decimal; may pass 100
    capacity_warning: str  #: what is lost by being this full; empty if nothing is


def capacity(options: Options) -> int:
    """Return how many facts the banks can tell apart by themselves, 99 in 100 right, among as many values.

    A bank of d elements holds about 0.05 d; an ensemble is another d elements for each.
    """
    return options.banks * int(_FACTS_PER_ELEMENT * options.dimension * options.ensembles)


def status_of(fact_count: int, options: Options) -> Status:
    """Return the status of a nugget's memory of *fact_count* facts."""
    holds = capacity(options)
    return Status(holds, round(100 * fact_count / max(holds, 1), 1), _warning(fact_count, options))


def confirmed_share(fact_count: int, options: Options) -> float:
    """Return the share of facts, 0 to 1, that their banks confirm, as is to be expected.

    What comes back of a fact in a bank of n is like its value by 1/sqrt(n), give or take the noise, a standard
    deviation of 1/sqrt(2 d); confirmed is what passes some of those.
    """
    per_bank = fact_count / options.banks
    if per_bank <= 1:
        return 1.0
    return NormalDist().cdf(sqrt(2 * options.dimension * options.ensembles / per_bank) - CONFIRMED_AT)


def _warning(fact_count: int, options: Options) -> str:
    wanted = options.max_facts
    if wanted and fact_count >= wanted:
        return f"critical: {fact_count} of {wanted} facts; each new one hides the oldest that is not pinned"
    if wanted and fact_count > _NEARLY * wanted:
        return f"approaching max_facts: {fact_count} of {wanted} facts; beyond, each new one hides the oldest"
    share = confirmed_share(fact_count, options)
    if share < _NOTICED:
        return f"mode fhrr confirms about {share:.0%} of the facts by its banks; every key answers as before"
    return ""
