"""The order of results that fit a query about equally well: by what its kind of question goes by, never by score."""

from collections.abc import Mapping, Sequence
from typing import Final

from shelfd.memory.methods.found import Found
from shelfd.memory.recall.intents import IntentPolicy

#: Scores no further apart than this share of the best one are about equal. Measured: with it recall of conversations is
#: what it is without, with twice as much a little worse.
_NEAR: Final = 0.005
#: What else counts, whatever is asked.
_TIERS: Final[Mapping[str, float]] = {"A": 1.0, "B": 0.5, "C": 0.0}
_WEIGHTS: Final[Mapping[str, float]] = {"tier": 0.3, "importance": 0.2, "confidence": 0.1}
_LEAST_IMPORTANCE: Final = 1
_MOST_IMPORTANCE: Final = 10


def ordered(found: Sequence[Found], policy: IntentPolicy, *, explain: bool = False) -> list[Found]:
    """Return *found*, best scores first, with those next to each other ordered that score about the same.

    Args:
        found: By score.
        policy: What the kind of question goes by.
        explain: Whether each is to carry what it was ordered by.
    """
    result = list(found)
    if not result:
        return result
    near = result[0].score * _NEAR
    if explain:
        for item in result:
            item.order = _features(item, result)
    begin = 0
    while begin < len(result):
        end = begin + 1
        while end < len(result) and result[begin].score - result[end].score <= near:
            end += 1
        if end - begin > 1:
            group = result[begin:end]
            values = {id(item): _value(_features(item, result), policy) for item in group}
            result[begin:end] = sorted(group, key=lambda item: -values[id(item)])
        begin = end
    return result


def _value(features: Mapping[str, float], policy: IntentPolicy) -> float:
    asked = sum(weight * features[name] for name, weight in zip(policy._fields, policy, strict=True))
    return asked + sum(weight * features[name] for name, weight in _WEIGHTS.items())


def _features(item: Found, found: Sequence[Found]) -> dict[str, float]:
    """What a result is ordered by, each 0 to 1."""
    note, best = item.note, found[0].score
    times = [other.note.when for other in found]
    oldest, newest = min(times), max(times)
    targets = {link.target for link in item.links}
    is_linked = item.via is not None or any(
        other.note.id in targets or any(link.target == note.id for link in other.links)
        for other in found
        if other is not item
    )
    return {
        "text": item.score / best if best else 0.0,
        "entities": float(item.named),
        "graph": float(is_linked),
        "time": (note.when - oldest) / (newest - oldest) if newest > oldest else 0.0,
        "tier": _TIERS[note.tier],
        "importance": (note.importance - _LEAST_IMPORTANCE) / (_MOST_IMPORTANCE - _LEAST_IMPORTANCE),
        "confidence": note.confidence,
    }
