"""How full a nugget's memory of facts is, and what its user loses by that.

However full the banks are, no fact is lost: its key answers from its row, and so does a key that is like it. What fades
is that the banks confirm it. Facts go out of sight where ``max_facts`` says so, and only there.
"""

from math import sqrt
from statistics import NormalDist
from typing import Final

from shelfd.memory.facts.banks import CONFIRMED_AT, capacity
from shelfd.memory.facts.codec import Options, Status, status_of

_NOTICED: Final = 0.95  #: share of facts confirmed below which a user comes upon one that is not
_NEARLY: Final = 0.8  #: share of max_facts in use above which there is little room


def fullness(fact_count: int, options: Options) -> Status:
    """Return the status of a nugget's memory of *fact_count* facts."""
    return status_of(fact_count, options, capacity(options), _warning(fact_count, options))


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
