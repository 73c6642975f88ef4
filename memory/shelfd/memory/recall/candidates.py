"""First stage for large shelves: find the sessions that are worth exact scoring."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.recall.columns import ALIVE, HIDDEN, QUESTION, BoolArray, Columns, IntArray
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.engine import Singles, engine
from shelfd.memory.recall.fields import K1, NEXT, B, QueryTerms
from shelfd.memory.recall.postings import Run, side_by_side
from shelfd.memory.recall.ranking import Rules, largest, with_rules

#: What a document promises beside its own score: shares of the scores of the one before (measured), more if that asks,
#: of the one before that, and of the one after.
BEFORE: Final = np.float32(0.5)
ASKED: Final = np.float32(0.18)
BEFORE_THAT: Final = np.float32(0.2)
AFTER: Final = np.float32(NEXT)
MEMBERS: Final = 4_096  #: worth exact scoring, however many promise as much or are in one session: about 3 ms
_POOL: Final = 4  #: times as many documents as are chosen are looked at with their neighbours
_STEP: Final = 1_024  #: documents that filters are asked about at once


class FirstStage:
    """Adds up what each document has of the terms of one query by itself, of one term after another."""

    def __init__(self, contents: Contents, filters: NoteFilter, terms: QueryTerms, own: Singles) -> None:
        """Begin.

        Args:
            contents: Of the index.
            filters: Of the query.
            terms: Of the query.
            own: Zeros, one for each ordinal and one more, all of which are zero again after :meth:`clear`. Single
                precision halves the memory traffic; these numbers only choose, they are no scores.
        """
        self._contents, self._filters, self._terms, self._own = contents, filters, terms, own
        self._nugget = None if filters.nugget is None else contents.filtering.nugget(filters.nugget)
        self._reached: IntArray = np.zeros(0, np.int64)

    def add(self, slots: Sequence[int], runs: Sequence[Sequence[Run]]) -> None:
        """Add these of the query's terms, the rarest first, of which *runs* has the postings."""
        every = [run for slot in slots for run in runs[slot]]
        if not every:
            return
        columns, own, terms = self._contents.columns, self._own, self._terms
        sizes = [sum(len(run[0]) for run in runs[slot]) for slot in slots]
        idf = np.array([terms.own_idf[slot] for slot in slots], np.float32)
        if engine.loops is not None:
            postings = side_by_side([runs[slot] for slot in slots])
            code = -1 if self._nugget is None else self._nugget.code
            self._reach(engine.loops.accumulate(postings, idf, columns, terms.own_average, code, own))
            return
        ordinals = np.concatenate([run[0] for run in every], dtype=np.int64)
        weights = np.concatenate([run[1] for run in every], dtype=np.float32)
        if self._nugget is not None:  # what is beside a document is in its nugget, too
            (inside,) = (columns.nugget.take(ordinals) == self._nugget.code).nonzero()
            sizes = np.diff(inside.searchsorted(np.cumsum(sizes)), prepend=0).tolist()
            ordinals, weights = ordinals.take(inside), weights.take(inside)
        norm = np.multiply(columns.length.take(ordinals), K1 * B / terms.own_average, dtype=np.float32)
        norm += np.float32(K1 * (1 - B))
        norm += weights
        weights /= norm
        weights *= idf.repeat(sizes)
        np.add.at(own, ordinals, weights)
        self._reach(ordinals)

    def _reach(self, ordinals: IntArray) -> None:
        self._reached = distinct(np.concatenate([self._reached, ordinals]))

    def admits(self, count: int) -> bool:
        """Return whether filters let that many of the documents found so far through."""
        for begin in range(0, len(self._reached), _STEP):
            count -= int(np.count_nonzero(self._passing(self._reached[begin : begin + _STEP])))
            if count <= 0:
                break
        return count <= 0

    def _passing(self, ordinals: IntArray) -> BoolArray:
        return self._contents.filtering.admitted(self._filters, ordinals)

    def reached(self) -> IntArray:
        """Return the documents found so far, ascending, dead ones, too."""
        return self._reached

    def likely(self, reached: IntArray, count: int) -> IntArray:
        """Return of those *reached* that filters let through the *count* with most of the query, or all if in doubt."""
        if len(reached) > count:
            values = self._own.take(reached)
            cut = np.partition(values, len(values) - count)[len(values) - count]
            best: IntArray = reached[values >= cut]
            best = best[self._passing(best)]
            if len(best) >= count // _POOL:
                return best
        return reached[self._passing(reached)]

    def clear(self) -> None:
        """Leave no trace in the scratch memory."""
        self._own[self._reached] = 0


def orphans_of(columns: Columns, filters: NoteFilter) -> IntArray:
    """Return the hidden ordinals a query has to score that have a previous note."""
    if not filters.include_hidden:
        return np.zeros(0, np.int64)
    flags = columns.flags[: columns.size] & (ALIVE | HIDDEN)
    return np.flatnonzero((flags == ALIVE | HIDDEN) & (columns.previous[: columns.size] >= 0))


def members_of_best_sessions(
    contents: Contents, stage: FirstStage, own: Singles, orphans: IntArray, rules: Rules, limit: int
) -> IntArray:
    """Return the documents, ascending, of the sessions of the *limit* most promising ones.

    A document promises its own BM25 and parts of its neighbours', and what the *rules* add; of those that promise
    the same, the newest are taken. A document is returned only if it promises anything, and so does every
    document with a base score > 0 in those sessions: no score of theirs changes for want of a neighbour. Of very
    long sessions only the most promising documents are returned, and the neighbours of the chosen ones.
    """
    columns = contents.columns
    reached = stage.reached()
    pool = stage.likely(reached, _POOL * limit)
    if not len(pool):
        return pool
    promises = _promises(columns, own, pool).astype(np.float64)
    promises /= promises.max()
    estimates = with_rules(promises, pool, columns, rules)  # about what scores they will have
    chosen = pool[largest(limit, np.arange(len(pool)), estimates.__getitem__, columns.row[pool].__getitem__)]
    groups: BoolArray = np.zeros(contents.links.groups, np.bool_)
    groups[columns.group.take(chosen)] = True
    members = neighbourhood(columns, reached, orphans, groups)
    if len(members) <= MEMBERS:
        return members
    promised = _promises(columns, own, members)
    best = largest(MEMBERS, np.arange(len(members)), promised.__getitem__, columns.row[members].__getitem__)
    return distinct(np.concatenate([members[best], chosen, *context(columns, chosen)]))


def context(columns: Columns, ordinals: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the two documents before and the one after *ordinals*, in whose scores they count; -1 for none."""
    before = columns.previous.take(ordinals)
    return before, columns.previous.take(before[before >= 0]), columns.following.take(ordinals)


def surrounded(columns: Columns, ordinals: IntArray) -> IntArray:
    """Return *ordinals* and their :func:`context`, each once, ascending."""
    if engine.loops is not None:
        return engine.loops.surrounded(columns, ordinals)
    return distinct(np.concatenate([ordinals, *context(columns, ordinals)]))


def neighbourhood(columns: Columns, ordinals: IntArray, orphans: IntArray, groups: BoolArray | None = None) -> IntArray:
    """Return documents and their neighbours, each once, ascending: the living ones of *ordinals*.

    Args:
        columns: Of the index.
        ordinals: Of documents.
        orphans: Those that have one of them before are returned, too.
        groups: Only documents of these sessions are taken, if not of all.
    """
    if engine.loops is not None and not len(orphans):
        return engine.loops.around(columns, ordinals, groups)
    if groups is not None:
        ordinals = ordinals[groups.take(columns.group.take(ordinals))]
    ordinals = ordinals[columns.alive(ordinals)]
    found = [ordinals, columns.following.take(ordinals), columns.previous.take(ordinals)]
    if len(orphans):
        found.append(orphans[np.isin(columns.previous[orphans], ordinals)])
    return distinct(np.concatenate(found))


def distinct(ordinals: IntArray) -> IntArray:
    """Each of *ordinals* once, ascending, but for -1, which is nobody; numpy's own way takes ten times as long."""
    found = np.sort(ordinals, kind="stable")  # of runs that ascend: a merge, a tenth of what sorting takes
    kept = np.empty(len(found), np.bool_)
    kept[:1] = True
    np.not_equal(found[1:], found[:-1], out=kept[1:])
    once: IntArray = found[kept]
    return once[1:] if len(once) and once[0] < 0 else once


def _promises(columns: Columns, own: Singles, ordinals: IntArray) -> Singles:
    """Return what documents promise: their own score and parts of that of their neighbours."""
    if engine.loops is not None:
        return engine.loops.promises(columns, own, ordinals)
    before = columns.previous.take(ordinals)
    asks = ((columns.flags.take(before) & QUESTION) != 0) & ((columns.flags.take(ordinals) & HIDDEN) == 0)
    promises = own.take(ordinals)
    promises += (BEFORE + ASKED * asks) * own.take(before)
    earlier = columns.previous.take(before)
    earlier[before < 0] = -1
    promises += BEFORE_THAT * own.take(earlier)
    promises += AFTER * own.take(columns.following.take(ordinals))
    return promises
