"""One standing query as it is matched, and which of them have a term."""

from array import array
from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Final

import numpy as np
import numpy.typing as npt

from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.ports.watches import Watch
from shelfd.memory.recall.focus import Focus
from shelfd.memory.recall.relevance import calibration

#: Terms beyond which more make no difference, as :mod:`shelfd.memory.recall.relevance` counts them.
MOST_TELLING: Final = 8
#: What a telling term counts beside its worth, so that one sum tells both: more than all terms of a query are worth.
TELLS: Final = 1024.0


def coverage_needed() -> npt.NDArray[np.float64]:
    """Return the coverage that a note without a name needs, by how many telling terms there are and how many it has."""
    bound = calibration().bound()
    needed = np.full((MOST_TELLING + 1, MOST_TELLING + 1), np.inf)
    for telling in range(MOST_TELLING + 1):
        for held in range(telling + 1):
            of_words = bound.held_words[held] + bound.lacks[telling - held]
            needed[telling, held] = (bound.least - bound.ratio - of_words) / bound.coverage
    return needed


def filters_of_watch(watch: Watch, now: int) -> NoteFilter:
    """Return which notes a standing query looks at."""
    filters = dict(watch.filters)
    tags = tuple(filters.pop("tags", ()))
    return RECALLABLE._replace(nugget=watch.nugget, tags=tags, now=now, **filters)


class StandingQuery:
    """A standing query as it is matched.

    Attributes:
        resolved: The question as the index knew it when :meth:`resolve` was called last.
        unknown: By which terms a note may say those of its words that no note had then.
    """

    __slots__ = ("question", "resolved", "unknown", "watch")

    def __init__(self, watch: Watch, focus: Focus) -> None:
        self.watch = watch
        self.question = focus.question(watch.query)
        self.resolve(focus)

    def resolve(self, focus: Focus) -> None:
        """Look its words up in the index as it is now."""
        self.resolved = resolved = focus.resolve(self.question)
        known = reduce(or_, resolved.found_by.values(), 0)
        lacking = [term for term, (bit, _) in zip(self.question.terms, resolved.worth, strict=True) if not known & bit]
        self.unknown = frozenset(form for term in lacking for form in (term.term, *focus.forms(term)))

    @property
    def terms(self) -> set[str]:
        """Its index terms."""
        return {asked.term for asked in self.question.terms}


class Having:
    """The standing queries that have a term.

    Attributes:
        places: Of each, in no order; int64.
        gains: What the term is worth to each, and :data:`TELLS` more if it is a telling one there; float64.
    """

    __slots__ = ("gains", "places")

    def __init__(self) -> None:
        self.places = array("q")
        self.gains = array("d")

    def add(self, place: int, worth: float, *, tells: bool) -> None:
        """Enter a standing query."""
        self.places.append(place)
        self.gains.append(worth + TELLS if tells else worth)

    def remove(self, place: int) -> None:
        """Remove a standing query; one that is not there is no error."""
        if place in self.places:
            at = self.places.index(place)
            del self.places[at], self.gains[at]


def gained(known: Sequence[Having]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the places of the standing queries that have any of the *known* terms, how many telling ones, and worth.

    Takes some 50 us for 10,000 standing queries, however few of them have any: to sum up all of them takes less than to
    sort those few.
    """
    places = np.frombuffer(b"".join([having.places for having in known]), np.int64)
    gains = np.bincount(places, np.frombuffer(b"".join([having.gains for having in known])))
    (reached,) = (gains > 0).nonzero()  # of numbers themselves it takes five times as long
    counted, summed = np.divmod(gains[reached], TELLS)
    return reached, counted.astype(np.int64), summed
