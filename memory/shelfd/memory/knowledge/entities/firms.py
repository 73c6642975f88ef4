"""Which names are firms', by what stands beside them."""

from typing import Final

from shelfd.memory.knowledge.entities.segment import Segment

_EMPLOYS: Final = frozenset("at for with by".split())
_JOBS: Final = frozenset(
    "works work worked working job employed internship intern interned interning interview hired engineer manager "
    "developer career position role analyst nurse teacher designer accountant consultant researcher scientist "
    "contract invoice order account shifts shift apprenticeship boss team colleagues ".split()
)
_JOINS: Final = frozenset(
    "joined joins join acquired acquires bought founded cofounded left sued vendor supplier".split()
)
_OFFICES: Final = frozenset(
    "ceo cto cfo founder director head employee employees chairman spokesperson customer client board".split()
)
#: What only firms do.
_OF_FIRMS: Final = frozenset(
    "acquired acquires announced announces unveiled unveils merged merges recalled recalls rebranded".split()
)
#: Firms whose names are common words or a river's.
_FIRMS: Final = frozenset("amazon apple meta shell ford delta target orange visa alphabet oracle".split())
_DONE_BY_FIRMS: Final = _OF_FIRMS | frozenset(
    "released releases launched launches delivered delivers bought buys sold sells hired hires shipped ships said says "
    "reported reports opened opens closed published pays paid raised cut cancelled sued refunded charged".split()
)
#: What firms are to others; what follows is a firm's name.
CUSTOMERS: Final = frozenset("customer client vendor supplier".split())
_CALLED: Final = CUSTOMERS | frozenset("company startup firm employer".split())
_DEALS: Final = frozenset("at from by with via".split())


def is_firm(segment: Segment, first: int, end: int) -> bool:
    """Return whether what stands beside a name, which begins no sentence, is only said of firms."""
    low = segment.low
    if end < len(low) and low[end] in _OF_FIRMS and segment.between(end - 1) == " ":
        return True
    previous, before = low[first - 1], low[max(0, first - 5) : first - 1]
    if previous in _EMPLOYS:
        return not _JOBS.isdisjoint(before)
    if previous in _JOINS:
        return len(segment.words[first]) > 2
    return previous in _CALLED or (previous == "of" and before != [] and before[-1] in _OFFICES)


def acts_as_firm(segment: Segment, at: int) -> bool:
    """Return whether a word that may be a firm's name is one: "Amazon delivered", but "the Amazon is long"."""
    low = segment.low
    if low[at] not in _FIRMS:
        return False
    if at + 1 < len(low) and segment.between(at) == " " and low[at + 1] in _DONE_BY_FIRMS:
        return True
    return not segment.begins_sentence(at) and (low[at - 1] in _JOINS or low[at - 1] in _DEALS)
