"""From base scores to the final order: session smoothing, author, time and question rules."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from shelfd.memory.recall.columns import QUESTION, TEMPORAL, Columns, FloatArray, IntArray
from shelfd.memory.recall.dates import GradedDays, date_grades
from shelfd.memory.recall.document import made
from shelfd.memory.recall.engine import engine
from shelfd.memory.recall.fields import BaseScores

SESSION: Final = 0.5
AUTHOR: Final = 0.35
WHEN: Final = 0.1
IS_QUESTION: Final = -0.1
DATE: Final = 0.3
KIND: Final = 0.1
TELLING: Final = 0.15  #: at most: who says more than "great, thanks" more often says what is asked
MANY_WORDS: Final = 8  #: telling ones, which give half of that
_FLAGS: Final = np.arange(256)
_WHEN: Final = np.where(_FLAGS & TEMPORAL, WHEN, 0.0)  #: by flags
_QUESTION: Final = np.where(_FLAGS & QUESTION, IS_QUESTION, 0.0)
_TELLING: Final = TELLING * _FLAGS / (_FLAGS + MANY_WORDS)  #: by telling words
#: What explains a score, in the order it is shown.
_SIGNALS: Final = tuple(
    "own previous earlier question_before next session author when kind telling question date".split()
)
_UNITS: Final = 1_000_000  #: in 1: what scores are compared in
_FEW: Final = 64  #: documents that are put in order as lists
_SEVERAL: Final = 4  #: so many times more groups than documents are numbered anew
_TOGETHER: Final = 32  #: totals of which the largest is looked at first
EQUAL: Final = 1 / _UNITS  #: totals that differ by less are equal


#: What a rule adds to the scores of ordinals, by its name; some depend on a number that the query asks for.
RULES: Final[Mapping[str, Callable[[Columns, IntArray, int], FloatArray]]] = {
    "telling": lambda columns, at, _: _TELLING.take(columns.telling.take(at)),
    "question": lambda columns, at, _: _QUESTION.take(columns.flags.take(at)),
    "author": lambda columns, at, speaker: AUTHOR * (columns.speaker.take(at) == speaker),
    "when": lambda columns, at, _: _WHEN.take(columns.flags.take(at)),
    "kind": lambda columns, at, wants: KIND * ((columns.answer_types.take(at) & wants) != 0),
}

#: Gives what a rule adds to each document of the shelf.
KeptRules: TypeAlias = Callable[[str, int], FloatArray]


class Rules(NamedTuple):
    """What the query asks for beyond its words."""

    speaker: int | None  #: number of the one author it names
    asks_when: bool
    dates: list[GradedDays]
    wants: int = (
        0  #: any of these bits of :data:`~shelfd.memory.recall.meaning.ANSWER_TYPES` would answer it; 0: no matter
    )


class Totals(NamedTuple):
    """Final scores f of the eligible documents, and their parts if they were asked for; all of one length."""

    best: float  #: the largest base score, by which all are divided
    parts: dict[str, FloatArray]
    total: FloatArray
    dense: FloatArray | None = None  #: what likeness of meaning adds; None without it


class Scored(NamedTuple):
    """All documents that a query may return; arrays of one length."""

    totals: Totals
    ordinals: IntArray
    likeness: FloatArray | None = None  #: in meaning, 0 to 1; None if that is not known
    is_alone: bool = False  #: that is all there is: totals are scores


def final_scores(
    base: BaseScores, eligible: IntArray, at: IntArray, columns: Columns, rules: Rules, kept: KeptRules | None = None
) -> Totals:
    """Apply the rules to the *eligible* places, which are the ordinals *at*; one at least, with base score > 0.

    What they add may be *kept*.
    """
    relevance = base.total.take(eligible)
    best = float(np.maximum.reduce(relevance))  # what max() does, by a detour
    relevance /= best
    if not base.parts:
        return made(Totals, (best, {}, with_rules(relevance, at, columns, rules, kept), None))
    beyond = beyond_words(relevance, at, columns, rules)
    parts = {name: part[eligible] / best for name, part in base.parts.items()}
    return Totals(best, {**parts, **beyond}, sum(beyond.values(), relevance))


def with_rules(
    relevance: FloatArray, at: IntArray, columns: Columns, rules: Rules, kept: KeptRules | None = None
) -> FloatArray:
    """Return the *relevance* (0 to 1) of the ordinals *at* and what the rules add to it."""
    if engine.loops is None:
        total, *others = beyond_words(relevance, at, columns, rules, kept).values()
        for part in (*others, relevance):
            total += part
        return total
    totals = engine.loops.with_rules(relevance, at, columns, rules.speaker, rules.asks_when, rules.wants)
    return totals + DATE * date_grades(columns.day[at], rules.dates) if rules.dates else totals


def beyond_words(
    relevance: FloatArray, at: IntArray, columns: Columns, rules: Rules, kept: KeptRules | None = None
) -> dict[str, FloatArray]:
    """Return what the rules add to the *relevance* (0 to 1) of the ordinals *at*, one array for each that may add."""
    asked = [("telling", 0), ("question", 0)]
    if rules.speaker is not None:
        asked.append(("author", rules.speaker))
    if rules.asks_when:
        asked.append(("when", 0))
    if rules.wants:
        asked.append(("kind", rules.wants))
    found = {"session": session_means(relevance, columns.group.take(at), SESSION)}
    for name, value in asked:
        found[name] = RULES[name](columns, at, value) if kept is None else kept(name, value).take(at)
    if rules.dates:
        found["date"] = DATE * date_grades(columns.day[at], rules.dates)
    return found


def session_means(scores: FloatArray, groups: IntArray, share: float = 1.0) -> FloatArray:
    """Return for each document a *share* of the mean of the two best *scores* of its group.

    A group of one has that one's score. Two equal best scores are two. None is below 0.
    """
    count = len(scores)
    most = int(np.maximum.reduce(groups)) + 1
    if most > _SEVERAL * count:  # groups: number those that there are
        one = np.empty(most, np.int64)  # of each group some document; the rest is never read
        one[groups] = np.arange(count)
        groups, most = one[groups], count
    first = np.zeros(most)
    np.maximum.at(first, groups, scores)
    (best,) = (scores == first.take(groups)).nonzero()
    if len(best) > np.count_nonzero(first):  # some are equal
        owners, chosen = groups.take(best), np.empty(most, np.int64)
        chosen[owners] = best  # the last assignment stays, and exactly one
        best = chosen.take(owners)
    others = scores.copy()
    others[best] = -np.inf
    second = np.negative(first)
    np.maximum.at(second, groups, others)
    np.abs(second, out=second)  # what is still below 0 has no other: the first is both
    second += first
    second *= share / 2
    means: FloatArray = second.take(groups)
    return means


def best_first(totals: Totals, at: IntArray, columns: Columns, k: int) -> IntArray:
    """Return the positions in *totals*, of the ordinals *at*, of the *k* best.

    Of equal ones the one of the highest standing is first, of those the one with the highest row.
    Scores are rounded before they are compared: the last bits depend on the
    order of summation, which must not decide between two documents.
    """
    likely = _likely(totals.total, max(k, 0))
    rounded, ordinals = np.rint(totals.total.take(likely) * _UNITS), at.take(likely)
    rows, standing = columns.row.take(ordinals), columns.standing.take(ordinals)
    if len(likely) <= _FEW:  # nearly always: lists take a third of the time
        some = list(zip(rounded.tolist(), standing.tolist(), rows.tolist(), likely.tolist(), strict=True))
        some.sort(reverse=True)
        return np.array([place for _, _, _, place in some[:k]], np.int64)
    standing = standing.astype(np.int64)
    best = largest(k, np.arange(len(likely)), rounded.__getitem__, standing.__getitem__, rows.__getitem__)
    found: IntArray = likely[best[np.lexsort((-rows[best], -standing[best], -rounded[best]))]]
    return found


def _likely(values: FloatArray, k: int) -> IntArray:
    """Return the positions, ascending, of the *k* largest *values* and of those that are equal to one of them."""
    if not 0 < k < len(values):
        return np.arange(len(values) if k else 0)
    some = len(values) // _TOGETHER
    if some >= _SEVERAL * k:  # as on all but small shelves: then few are as large as the largest of k parts
        least = np.maximum.reduce(values[: some * _TOGETHER].reshape(_TOGETHER, some))
        least.partition(-k)
        (likely,) = (values > least[-k] - 2 * EQUAL).nonzero()
        chosen: IntArray = likely[_by_order(values.take(likely), k)]
        return chosen
    return _by_order(values, k)


def _by_order(values: FloatArray, k: int) -> IntArray:
    ascending = values.copy()
    ascending.partition(-k)
    likely: IntArray
    (likely,) = (values > ascending[-k] - 2 * EQUAL).nonzero()
    return likely


def signals(totals: Totals, position: int, scale: float) -> dict[str, float]:
    """Return the scaled contributions to the score of one document; they add up to it."""
    found: dict[str, float] = dict.fromkeys(_SIGNALS, 0.0)
    found.update((name, float(values[position]) * scale) for name, values in totals.parts.items())
    if totals.dense is not None:
        found["dense"] = float(totals.dense[position]) * scale
    # A score is never negative, so a penalty takes no more than there is.
    shortfall = -float(totals.total[position]) * scale
    if shortfall > 0:
        found["question"] += shortfall
    return found


#: From positions to their values, of the same length.
Key: TypeAlias = Callable[[IntArray], npt.NDArray[Any]]


def largest(count: int, positions: IntArray, key: Key, *others: Key) -> IntArray:
    """Return the *count* of *positions* with the largest *key*, in no particular order.

    Of those equal at the cut the largest by the next key are taken, and so on; each key is asked only for the
    positions it has to decide between.
    """
    if len(positions) <= count:
        return positions
    values = key(positions)
    cut = np.partition(values, len(values) - count)[len(values) - count]
    above, equal = positions[values > cut], positions[values == cut]
    room = count - len(above)
    chosen = largest(room, equal, *others) if others else equal[:room]
    return np.concatenate([above, chosen])
