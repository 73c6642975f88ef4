"""First stage for large shelves: find the sessions that are worth exact scoring."""

from typing import Final

import numpy as np
import numpy.typing as npt

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.recall.columns import ALIVE, HIDDEN, QUESTION, BoolArray, Columns, FloatArray, IntArray
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.fields import NEXT, QueryTerms, saturation
from shelfd.memory.recall.postings import PostingLists
from shelfd.memory.recall.ranking import Key, Rules, beyond_words, largest

_PREVIOUS: Final = np.float32(0.5)  #: share of the previous note's own score; measured
_ASKED: Final = np.float32(0.18)  #: and what it has beyond that if it asks
_ROUNDED: Final = 0.99999  #: what single precision may lose
MEMBERS: Final = 4_096  #: worth exact scoring, however many promise as much or are in one session: about 3 ms


def orphans_of(columns: Columns, filters: NoteFilter) -> IntArray:
    """Return the hidden ordinals a query has to score that have a previous note."""
    if not filters.include_hidden:
        return np.zeros(0, np.int64)
    flags = columns.flags[: columns.size] & (ALIVE | HIDDEN)
    return np.flatnonzero((flags == ALIVE | HIDDEN) & (columns.previous[: columns.size] >= 0))


def members_of_best_sessions(
    contents: Contents, filters: NoteFilter, terms: QueryTerms, postings: PostingLists, rules: Rules, limit: int
) -> IntArray:
    """Return the documents, ascending, of the sessions of the *limit* most promising ones.

    A document promises its own BM25 and parts of its neighbours'; of those that promise the same, the *rules*
    choose, then the newest are taken. A document is returned only if it promises anything, and so does every
    document with a base score > 0 in those sessions: no score of theirs changes for want of a neighbour. Of very
    long sessions only the most promising documents are returned, and the neighbours of the chosen ones.
    """
    columns = contents.columns
    ordinals, slots, frequencies = postings
    saturated = saturation(frequencies, columns.length[ordinals], terms.own_average)
    # One slot more than ordinals is what the pointer -1 reads.
    sums = np.bincount(ordinals, terms.own_idf[slots] * saturated, columns.size + 1)
    own: FloatArray = sums.astype(np.float64, copy=False)
    touched = np.flatnonzero(own > 0)  # numpy finds flags much faster than floats
    touched = touched[columns.alive(touched)]
    # Single precision halves the memory traffic; these numbers only choose, they are no scores.
    values = own[touched].astype(np.float32)
    orphans = orphans_of(columns, filters)
    least = _least(values[contents.filtering.admitted(filters, touched)], limit)
    pool = neighbourhood(columns, touched[values >= least], orphans)
    pool = pool[contents.filtering.admitted(filters, pool)]
    chosen = pool[largest(limit, np.arange(len(pool)), *_keys(columns, pool, _promises(columns, own, pool), rules))]
    groups: BoolArray = np.zeros(contents.links.groups, np.bool_)
    groups[columns.group[chosen]] = True
    members = neighbourhood(columns, touched[groups[columns.group[touched]]], orphans)
    if len(members) <= MEMBERS:
        return members
    promises = _promises(columns, own, members)
    best = largest(MEMBERS, np.arange(len(members)), promises.__getitem__, columns.row[members].__getitem__)
    needed = np.concatenate([members[best], chosen, columns.previous[chosen], columns.following[chosen]])
    return _distinct(needed)


def _least(values: npt.NDArray[np.float32], limit: int) -> float:
    """Return from which own score on a document may be among the *limit* best, or be the neighbour of one.

    Each promises its own *value* at least, and at most what it and both neighbours have.
    """
    if len(values) <= limit:
        return 0.0
    cut = np.partition(values, len(values) - limit)[len(values) - limit]
    return float(cut) / (1 + float(_PREVIOUS) + float(_ASKED) + NEXT) * _ROUNDED


def neighbourhood(columns: Columns, ordinals: IntArray, orphans: IntArray) -> IntArray:
    """Return *ordinals*, their neighbours, and *orphans* that have one of them before: each once, ascending."""
    found = [ordinals, columns.following[ordinals], columns.previous[ordinals]]
    if len(orphans):
        found.append(orphans[np.isin(columns.previous[orphans], ordinals)])
    return _distinct(np.concatenate(found))


def _distinct(ordinals: IntArray) -> IntArray:
    """Each of *ordinals* once, ascending, but for -1, which is nobody; numpy's own way takes ten times as long."""
    found = np.sort(ordinals)
    found = found[np.diff(found, prepend=-1) != 0]
    distinct: IntArray = found[found.searchsorted(0) :]
    return distinct


def _promises(columns: Columns, own: FloatArray, ordinals: IntArray) -> npt.NDArray[np.float32]:
    """Return what documents promise: their own score and parts of that of their neighbours."""
    before = columns.previous[ordinals]
    asks = ((columns.flags[before] & QUESTION) != 0) & ((columns.flags[ordinals] & HIDDEN) == 0)
    promises = own[ordinals].astype(np.float32)
    promises += (_PREVIOUS + _ASKED * asks) * own[before].astype(np.float32)
    promises += np.float32(NEXT) * own[columns.following[ordinals]].astype(np.float32)
    return promises


def _keys(columns: Columns, pool: IntArray, promises: npt.NDArray[np.float32], rules: Rules) -> tuple[Key, Key, Key]:
    """What decides, one after another, which positions of the *pool* are the best."""

    def by_rules(places: IntArray) -> FloatArray:
        relevance = promises.astype(np.float64) / promises.max()
        beyond: FloatArray = sum(beyond_words(relevance, pool, columns, rules).values(), np.zeros(len(pool)))
        return np.round(beyond[places], 6)

    return promises.__getitem__, by_rules, columns.row[pool].__getitem__
