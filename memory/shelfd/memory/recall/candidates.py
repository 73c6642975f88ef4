"""First stage for large shelves: find the sessions that are worth exact scoring."""

from typing import Final

import numpy as np
import numpy.typing as npt

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.recall.columns import ALIVE, HIDDEN, QUESTION, BoolArray, Columns, FloatArray, IntArray
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.fields import NEXT, QueryTerms, saturation
from shelfd.memory.recall.largest import Key, largest
from shelfd.memory.recall.postings import PostingLists
from shelfd.memory.recall.ranking import Rules, beyond_words

_PREVIOUS: Final = np.float32(0.5)  #: share of the previous note's own score; measured
_ASKED: Final = np.float32(0.18)  #: and what it has beyond that if it asks
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
    # One slot more than ordinals takes what is added through the pointer -1. Single precision
    # halves the memory traffic; these numbers only choose, they are no scores.
    own = np.bincount(ordinals, terms.own_idf[slots] * saturated, columns.size + 1).astype(np.float32)
    touched = np.flatnonzero(own > 0)  # numpy finds flags much faster than floats
    touched = touched[(columns.flags[touched] & (ALIVE | HIDDEN)) == ALIVE]
    promise, shared = own.copy(), own[touched]
    asks = (columns.flags[touched] & QUESTION) != 0
    # Among visible documents both pointers are one to one, so no sum is lost.
    promise[columns.following[touched]] += (_PREVIOUS + _ASKED * asks) * shared
    promise[columns.previous[touched]] += np.float32(NEXT) * shared
    orphans = orphans_of(columns, filters)
    promise[orphans] += _PREVIOUS * own[columns.previous[orphans]]
    reached = np.flatnonzero(promise[:-1] > 0)
    pool = reached[contents.filtering.admitted(filters, reached)]
    chosen = pool[largest(limit, np.arange(len(pool)), *_keys(columns, pool, promise[pool], rules))]
    groups: BoolArray = np.zeros(contents.links.groups, np.bool_)
    groups[columns.group[chosen]] = True
    members: IntArray = reached[groups[columns.group[reached]]]
    if len(members) <= MEMBERS:
        return members
    is_member: BoolArray = np.zeros(columns.size + 1, np.bool_)
    is_member[largest(MEMBERS, members, promise.__getitem__, columns.row.__getitem__)] = True
    for needed in (chosen, columns.previous[chosen], columns.following[chosen]):
        is_member[needed] = True
    return np.flatnonzero(is_member[:-1])


def _keys(columns: Columns, pool: IntArray, promises: npt.NDArray[np.float32], rules: Rules) -> tuple[Key, Key, Key]:
    """What decides, one after another, which positions of the *pool* are the best."""

    def by_rules(places: IntArray) -> FloatArray:
        relevance = promises.astype(np.float64) / promises.max()
        beyond: FloatArray = sum(beyond_words(relevance, pool, columns, rules).values(), np.zeros(len(pool)))
        return np.round(beyond[places], 6)

    return promises.__getitem__, by_rules, columns.row[pool].__getitem__
