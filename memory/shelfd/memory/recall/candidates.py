"""First stage for large shelves: find the sessions that are worth exact scoring."""

from typing import Final

import numpy as np

from shelfd.memory.recall.columns import ALIVE, HIDDEN, BoolArray, Columns, IntArray
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.document import Filters
from shelfd.memory.recall.fields import NEXT, QueryTerms, saturation
from shelfd.memory.recall.postings import PostingLists

_PREVIOUS: Final = np.float32(0.5)  #: share of the previous note's own score; measured


def orphans_of(columns: Columns, filters: Filters) -> IntArray:
    """Return the hidden ordinals a query has to score that have a previous note."""
    if not filters.include_hidden:
        return np.zeros(0, np.int64)
    flags = columns.flags[: columns.size] & (ALIVE | HIDDEN)
    return np.flatnonzero((flags == ALIVE | HIDDEN) & (columns.previous[: columns.size] >= 0))


def members_of_best_sessions(
    contents: Contents, filters: Filters, terms: QueryTerms, postings: PostingLists, limit: int
) -> IntArray:
    """Return the documents, ascending, of the sessions of the *limit* most promising ones.

    A document promises its own BM25 and parts of its neighbours'. It is returned
    only if it promises anything, and so does every document with a base score > 0 in
    those sessions: no score of theirs changes for want of a neighbour.
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
    # Among visible documents both pointers are one to one, so no sum is lost.
    promise[columns.following[touched]] += _PREVIOUS * shared
    promise[columns.previous[touched]] += np.float32(NEXT) * shared
    orphans = orphans_of(columns, filters)
    promise[orphans] += _PREVIOUS * own[columns.previous[orphans]]
    reached = np.flatnonzero(promise[:-1] > 0)
    pool = reached[contents.filtering.admitted(filters, reached)]
    if len(pool) > limit:
        promises = promise[pool]
        cut = np.partition(promises, len(pool) - limit)[len(pool) - limit]
        pool = pool[promises >= cut]
    chosen: BoolArray = np.zeros(contents.links.groups, np.bool_)
    chosen[columns.group[pool]] = True
    members: IntArray = reached[chosen[columns.group[reached]]]
    return members
