"""From base scores to the final order: session smoothing, author, time and question rules."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from shelfd.memory.recall.columns import QUESTION, TEMPORAL, Columns, FloatArray, IntArray
from shelfd.memory.recall.dates import GradedDays, date_grades
from shelfd.memory.recall.fields import BaseScores
from shelfd.memory.recall.largest import largest

SESSION: Final = 0.5
AUTHOR: Final = 0.3
WHEN: Final = 0.1
IS_QUESTION: Final = -0.1
DATE: Final = 0.3


@dataclass(frozen=True, slots=True)
class Rules:
    """What the query asks for beyond its words."""

    speaker: int | None  #: number of the one author it names
    asks_when: bool
    dates: list[GradedDays]


@dataclass(frozen=True, slots=True)
class Totals:
    """Final scores f of the eligible documents and what they are made of, all of one length."""

    eligible: IntArray  #: positions in the view
    parts: dict[str, FloatArray]
    total: FloatArray


def final_scores(base: BaseScores, eligible: IntArray, ordinals: IntArray, columns: Columns, rules: Rules) -> Totals:
    """Apply the rules to the *eligible* positions of the view; at least one, with base score > 0."""
    at = ordinals[eligible]
    best = base.total[eligible].max()
    relevance = base.total[eligible] / best
    beyond = beyond_words(relevance, at, columns, rules)
    parts = {
        "own": base.own[eligible] / best,
        "previous": base.previous[eligible] / best,
        "question_before": base.question_before[eligible] / best,
        "next": base.following[eligible] / best,
        **beyond,
    }
    return Totals(eligible, parts, relevance + sum(beyond.values()))


def beyond_words(relevance: FloatArray, at: IntArray, columns: Columns, rules: Rules) -> dict[str, FloatArray]:
    """Return what the rules add to the *relevance* (0 to 1) of the ordinals *at*, one array per rule."""
    flags = columns.flags[at]
    zero = np.zeros(len(at))
    return {
        "session": SESSION * session_means(relevance, columns.group[at]),
        "author": zero if rules.speaker is None else AUTHOR * (columns.speaker[at] == rules.speaker),
        "when": WHEN * ((flags & TEMPORAL) != 0) if rules.asks_when else zero,
        "question": IS_QUESTION * ((flags & QUESTION) != 0),
        "date": DATE * date_grades(columns.day[at], rules.dates) if rules.dates else zero,
    }


def session_means(scores: FloatArray, groups: IntArray) -> FloatArray:
    """Return for each document the mean of the two best *scores* of its group.

    A group of one has that one's score. Two equal best scores are two.
    """
    count = int(groups.max()) + 1
    first = np.zeros(count)
    np.maximum.at(first, groups, scores)
    best = np.flatnonzero(scores == first[groups])
    chosen = np.full(count, -1)
    chosen[groups[best]] = best  # of equal ones the last assignment stays, and exactly one
    others = scores.copy()
    others[chosen[groups]] = -1.0
    second = np.full(count, -1.0)
    np.maximum.at(second, groups, others)
    mean: FloatArray = np.where(second < 0, first, (first + second) / 2)[groups]
    return mean


def best_first(totals: Totals, rows: IntArray, k: int) -> list[int]:
    """Return the positions in *totals* of the *k* best; of equal ones the newest, which has the highest row, first.

    Scores are rounded before they are compared: the last bits depend on the
    order of summation, which must not decide between two documents.
    """
    if k <= 0:
        return []
    rounded = np.round(totals.total, 6)
    best = largest(k, np.arange(len(rounded)), rounded.__getitem__, rows.__getitem__)
    found: list[int] = best[np.lexsort((-rows[best], -rounded[best]))].tolist()
    return found


def signals(totals: Totals, position: int, scale: float) -> dict[str, float]:
    """Return the scaled contributions to the score of one document; they add up to it."""
    found = {name: float(values[position]) * scale for name, values in totals.parts.items()}
    # A score is never negative, so a penalty takes no more than there is.
    shortfall = -float(totals.total[position]) * scale
    if shortfall > 0:
        found["question"] += shortfall
    return found
