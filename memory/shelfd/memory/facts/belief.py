"""Which of the facts found is the one meant, and how probable that is."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from shelfd.memory.facts.keys import Fact, KeyMatches, Match, Overlap

EXACT: Final = 0.99  #: confidence of a fact whose key is the query: another one may still be meant
THRESHOLD: Final = 0.22  #: below this nothing is answered

_CLEAR: Final = 0.12  #: margin from which on the next fact is no rival
_TIED: Final = 0.3  #: what a tie leaves of the confidence: two facts are as likely, and there may be a third
_CROSSED: Final = 0.45  #: the most for a key that lacks a word of the query and has another
_UNRIVALLED: Final = 0.25  #: the margin to report when nothing else came near enough to be looked at

#: Returns by the name of a row whether it may be the answer.
Admits = Callable[[str], bool]


class FactAnswer(NamedTuple):
    """The fact that answers a query."""

    row: str  #: the caller's name of the fact
    key: str  #: as put
    value: str
    confidence: float  #: how probable it is that this is the fact meant, 0 to 1
    margin: float  #: by how much it beats the next fact of another value, 0 to 1
    nugget: str = ""  #: the one that has the fact


class Belief(NamedTuple):
    """That a fact is the one meant."""

    fact: Fact
    confidence: float
    margin: float

    @property
    def answer(self) -> FactAnswer:
        """The fact as the memory answers."""
        margin = min(max(self.margin, 0.0), 1.0)
        fact = self.fact
        return FactAnswer(fact.row, fact.key, fact.value, self.confidence, margin, fact.nugget)


def confidence(cosine: float, margin: float, *, overlap: float | None = None) -> float:
    """Return the confidence in a key that is only like the query, 0 to :data:`EXACT`.

    The squared cosine is the share of the query that the key explains, times the share of the key that the query
    explains. A rival takes from it. "Fax of Alice Smith" is like "email of Alice Smith", but most probably something
    else is meant: such a pair is never believed more than not.

    Args:
        cosine: Of the query's vector and the key's.
        margin: By how much *cosine* exceeds that of the next fact with another value.
        overlap: If query and key each have words that the other has not: the share of words in common of the one,
            times that of the other. Counted, not weighted: that a rare word is in common says less than that another
            one is not.
    """
    clear = min(1.0, _TIED + (1 - _TIED) * max(margin, 0.0) / _CLEAR)
    believed = min(max(cosine, 0.0), 1.0) ** 2 * clear * EXACT
    return believed if overlap is None else min(believed, overlap, _CROSSED)


def exact_belief(facts: Sequence[Fact], admits: Admits | None = None) -> Belief | None:
    """Return one of the *facts* that have the name asked for; the more values they have, the less sure.

    It is the one whose row has the first name, whatever order they came in.
    """
    admitted = [fact for fact in facts if admits is None or admits(fact.row)]
    if not admitted:
        return None
    values = len({fact.value for fact in admitted})
    best = min(admitted, key=lambda fact: fact.row)
    return Belief(best, EXACT / values, 1.0 if values == 1 else 0.0)


def likely_belief(
    found: KeyMatches, admits: Admits | None = None, *, alone: bool, least: float = THRESHOLD
) -> Belief | None:
    """Return the fact that the keys *found* speak for, ``None`` if they say too little.

    Args:
        found: The keys most like the query.
        admits: Passes over facts that may not be the answer, to others about as like the query.
        alone: Whether there is only one fact that could be meant.
        least: Confidence below which nothing is said.
    """
    if not found.matches or confidence(found.matches[0].cosine, 1.0) < least:
        return None  # and *admits* is not called
    # Only the best is asked after: what else is like the query is just as much a rival unseen.
    matches = iter(found.matches)
    best = next((match for match in matches if admits is None or admits(match.fact.row)), None)
    if best is None:
        return None
    overlap = found.overlap(best)
    rivals = [match for match in matches if match.fact.value != best.fact.value]
    margin = best.cosine if alone else best.cosine - _rival(found, best, overlap, rivals)
    believed = confidence(best.cosine, margin, overlap=overlap.share)
    return Belief(best.fact, believed, margin) if believed >= least else None


def _rival(found: KeyMatches, best: Match, overlap: Overlap, rivals: Sequence[Match]) -> float:
    """The cosine of the next fact that may be meant, or how much less alike it is at least."""
    bound = max(best.cosine - _UNRIVALLED, 0.0)
    if not overlap.is_complete and any(found.overlap(match).covered >= overlap.covered for match in rivals):
        # When the query leaves words of the key out, a key that has as many of its words is as likely to be meant,
        # though the rest of it may make it look less alike.
        return best.cosine
    for match in rivals:
        # A key that lacks a word of the query is no rival of one that has the same words as the query.
        if match.cosine <= bound or not overlap.is_mutual or found.overlap(match).covered == overlap.covered:
            return max(match.cosine, bound)
    return bound
