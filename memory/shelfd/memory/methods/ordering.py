"""The order of results that fit a query about equally well: by what its kind of question goes by, never by score."""

from collections.abc import Mapping, Sequence
from math import inf
from operator import attrgetter, mul, sub
from typing import Final

from shelfd.memory.methods.found import Found
from shelfd.memory.recall.intents import POLICIES, Intent, IntentPolicy

#: Scores no further apart than this share of the best one are about equal. Measured: with it recall of conversations is
#: what it is without, with twice as much a little worse.
_NEAR: Final = 0.005
#: What else counts, whatever is asked.
_TIERS: Final[Mapping[str, float]] = {"A": 1.0, "B": 0.5, "C": 0.0}
_STANDING: Final[Mapping[str, float]] = {"tier": 0.3, "importance": 0.2, "confidence": 0.1}
_standing_of: Final = attrgetter(*_STANDING)
_WEIGHTS: Final = tuple(_STANDING.values())
_NAMES: Final = (*IntentPolicy._fields, *_STANDING)
_LEAST_IMPORTANCE: Final = 1
_MOST_IMPORTANCE: Final = 10


def ordered(found: Sequence[Found], intent: Intent, *, explain: bool = False) -> list[Found]:
    """Return *found*, best scores first, with those next to each other ordered that score about the same.

    Args:
        found: By score.
        intent: What kind of question was asked, which decides what counts.
        explain: Whether each is to carry what it was ordered by.
    """
    result = list(found)
    scores = [item.score for item in result]
    near = scores[0] * _NEAR if scores else 0.0
    if not explain and min(map(sub, scores, scores[1:]), default=inf) > near:
        return result
    policy = POLICIES[intent]
    if not explain and not policy.time and _differ_in_text_alone(result):
        return result
    features, weights = _Features(result), (*policy, *_WEIGHTS)
    begin = 0
    while begin < len(result):
        end = begin + 1
        while end < len(result) and scores[begin] - scores[end] <= near:
            end += 1
        if end - begin > 1:
            values = {item.note.id: sum(map(mul, features.of(item), weights)) for item in found[begin:end]}
            result[begin:end] = sorted(found[begin:end], key=lambda item: -values[item.note.id])
        begin = end
    if explain:
        for item in found:
            item.order = dict(zip(_NAMES, features.of(item), strict=True))
    return result


def _differ_in_text_alone(found: Sequence[Found]) -> bool:
    """Whether nothing but time tells results apart, as nearly always in conversations."""
    if True in [item.named or bool(item.links) for item in found]:
        return False
    return len({_standing_of(item.note) for item in found}) == 1


class _Features:
    """By what results are ordered."""

    def __init__(self, found: Sequence[Found]) -> None:
        self._best = found[0].score if found else 0.0
        times = [item.note.when for item in found]
        self._oldest = min(times, default=0)
        self._span = max(times, default=0) - self._oldest
        self._linked = _linked(found)

    def of(self, item: Found) -> tuple[float, ...]:
        """Return what a result is ordered by, each 0 to 1, in the order of the names."""
        note = item.note
        return (
            item.score / self._best if self._best else 0.0,
            float(item.named),
            float(note.id in self._linked),
            (note.when - self._oldest) / self._span if self._span else 0.0,
            _TIERS[note.tier],
            (note.importance - _LEAST_IMPORTANCE) / (_MOST_IMPORTANCE - _LEAST_IMPORTANCE),
            note.confidence,
        )


def _linked(found: Sequence[Found]) -> set[str]:
    """Ids of the results that are linked with another one."""
    linked = {item.note.id for item in found if item.via is not None}
    if any(item.links for item in found):
        here = {item.note.id for item in found}
        for item in found:
            targets = {link.target for link in item.links if link.target in here} - {item.note.id}
            if targets:
                linked |= targets | {item.note.id}
    return linked
