"""What likeness of meaning adds to the scores by words: a weighted sum, never a fusion of ranks.

Measured: a weak dense ranking merged with a strong lexical one by ranks is worse than the words alone; standardised and
weighted it is better. The likeness of a note's session counts as it does with words.
"""

from typing import Final

import numpy as np

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.dense import Likeness
from shelfd.memory.recall.columns import BoolArray, FloatArray, IntArray
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.ranking import SESSION, Scored, Totals, session_means

#: What likeness is worth as a score where words find less.
STRENGTH: Final = 0.5
_LEAST_SPREAD: Final = 1e-6


def with_likeness(contents: Contents, filters: NoteFilter, scored: Scored | None, like: Likeness) -> Scored | None:
    """Return documents scored by their words and by their likeness to the query; None if there are none.

    Args:
        contents: Of the index.
        filters: Of what may be returned.
        scored: Those that words find; None for none.
        like: How like the query documents are: all that have vectors, or the first ones by words.
    """
    columns = contents.columns
    ordinals = found = np.zeros(0, np.int64) if scored is None else scored.ordinals
    if like.is_whole:
        (alive,) = columns.alive(slice(columns.size)).nonzero()
        ordinals = alive[contents.filtering.admitted(filters, alive)]
    values, known = _values(like, columns.row[ordinals])
    here = known if like.is_alone else known | np.isin(ordinals, found)
    ordinals, values, known = ordinals[here], values[here], known[here]
    if not len(ordinals):
        return None
    if scored is None or like.is_alone:
        return _alone(ordinals, values if like.is_alone else STRENGTH * values)
    added = like.weight * _standardised(values, known, columns.group[ordinals])
    if not like.is_whole:  # the others were behind those that were compared, and stay there
        added[~known] = added.min()
    lexical, place = np.zeros(len(ordinals)), np.searchsorted(ordinals, scored.ordinals)
    lexical[place] = scored.totals.total
    parts: dict[str, FloatArray] = {}
    for name, part in scored.totals.parts.items():
        parts[name] = np.zeros(len(ordinals))
        parts[name][place] = part
    return Scored(Totals(scored.totals.best, parts, lexical + added, added), ordinals, values)


def _alone(ordinals: IntArray, values: FloatArray) -> Scored:
    """Documents by their likeness alone, which is their score."""
    values = values.clip(0.0, 1.0)
    return Scored(Totals(1.0, {}, values, values), ordinals, values, is_alone=True)


def _values(like: Likeness, rows: IntArray) -> tuple[FloatArray, BoolArray]:
    """Return the likeness of the documents of *rows*, 0 if unknown, and of which it is known."""
    if not len(like.rows):
        return np.zeros(len(rows)), np.zeros(len(rows), np.bool_)
    at = like.rows.searchsorted(rows).clip(0, len(like.rows) - 1)
    known = like.rows[at] == rows
    return np.where(known, like.values[at], 0.0), known


def _standardised(values: FloatArray, known: BoolArray, groups: IntArray) -> FloatArray:
    """Return likeness, with that of the session, as standard deviations above the mean; 0 where it is unknown."""
    found = np.zeros(len(values))
    if np.count_nonzero(known) > 1:
        likeness = _z(values[known])
        likeness -= likeness.min()
        found[known] = _z(likeness + SESSION * session_means(likeness, groups[known]))
    return found


def _z(values: FloatArray) -> FloatArray:
    spread: FloatArray = (values - values.mean()) / max(float(values.std()), _LEAST_SPREAD)
    return spread
