"""Who comes before whom: the notes of a session in order, and what that means for the statistics.

The visible notes of a session are linked by their columns ``previous`` and ``following``, of which only the two ends
are kept beside them. Most notes are written at an end; where another one belongs is looked for from there.
"""

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from shelfd.memory.recall.columns import ALIVE, HIDDEN, Columns, IntArray, narrowed
from shelfd.memory.recall.inverted import Numbers
from shelfd.memory.recall.postings import Postings
from shelfd.memory.recall.statistics import Statistics

Key: TypeAlias = tuple[int, int]  # turn, row: the order within a session

#: Notes passed from the end of a session before all of its notes are looked at together.
_PASSED: Final = 32
_NUGGET: Final = 32  #: bits of the session's code in the number of a (nugget, session)
_FEW: Final = 4  #: previous notes


def unlinked(lengths: Sequence[int]) -> dict[str, Any]:
    """Return the columns of documents of these *lengths* that are in no session yet."""
    return {"previous": -1, "following": -1, "group": -1, "span": lengths}


class Links:
    """Keeps ``previous`` and ``following`` of every document, and the statistics that hang on them.

    A hidden document has the previous note it would have if it were visible,
    and is no neighbour of any. A document without a session is alone.
    """

    def __init__(self, columns: Columns, postings: Postings, statistics: Statistics) -> None:
        self._columns = columns
        self._postings = postings
        self._statistics = statistics
        self._group_of: dict[int, int] = {}  # by the codes of nugget and session
        self._groups_below: Mapping[int, int] = {}
        self._heads = array("i")  # by group: the first and the last visible ordinal, -1 for none
        self._tails = array("i")
        self._hidden: dict[int, array[int]] = {}  # by group, in order
        self._hidden_below: Mapping[int, array[int]] = {}
        #: The session that was looked at last as a whole, in order: a session that is written at random costs little.
        self._sorted: tuple[int, list[tuple[int, int, int]]] = (-1, [])
        #: Ordinals with the previous note that they had, and with the one that they got, which are to be counted.
        self._former: list[tuple[int, int]] = []
        self._present: list[tuple[int, int]] = []

    @property
    def groups(self) -> int:
        """Group numbers assigned."""
        return len(self._heads)

    def layer(self, columns: Columns, postings: Postings, statistics: Statistics) -> "Links":
        """Return the same sessions over copies of the rest, free to change; good until these change."""
        other = Links(columns, postings, statistics)
        other._groups_below, other._hidden_below = self._group_of, self._hidden
        other._heads, other._tails = self._heads[:], self._tails[:]
        return other

    def insert(self, ordinal: int, *, hidden: bool) -> None:
        """Take *ordinal* into its session; what it is is in the columns, where it is in none yet."""
        columns = self._columns
        session = columns.session.item(ordinal)
        group = self._group(columns.nugget.item(ordinal), session)
        if session < 0:
            columns.group[ordinal] = group
            return
        key = self._key(ordinal)
        previous, following = self._around(group, key)
        columns.group[ordinal] = group
        if hidden:
            among = self._hidden_of(group)
            among.insert(bisect_left(among, key, key=self._key), ordinal)
            self._point(ordinal, previous)
            return
        if group == self._sorted[0]:
            some = self._sorted[1]
            some.insert(bisect_left(some, (*key, ordinal)), (*key, ordinal))
        if previous < 0:
            self._heads[group] = ordinal
        if following < 0:
            self._tails[group] = ordinal
        self._follow(ordinal, previous)
        if following >= 0:
            self._follow(following, ordinal)
        for between in self._gap(group, key, following):
            self._point(between, ordinal)

    def extend(self, first: int, count: int) -> None:
        """Do what :meth:`insert` does for *count* visible ordinals from *first* on; of most, in a third of the time."""
        columns, some = self._columns, slice(first, first + count)
        values = (column[some].tolist() for column in (columns.nugget, columns.session, columns.turn, columns.row))
        groups: list[int] = []
        pairs: list[tuple[int, int]] = []
        elsewhere: list[int] = []
        keys: dict[int, Key] = {}  # of those that are ends by now
        has_hidden = bool(self._hidden or self._hidden_below)
        for ordinal, (nugget, session, turn, row) in enumerate(zip(*values, strict=True), first):
            group = self._group(nugget, session)
            groups.append(group)
            if session < 0:
                continue
            key, tail = (turn, row), self._tails[group]
            if has_hidden and (self._hidden.get(group) or self._hidden_below.get(group)):
                elsewhere.append(ordinal)
            elif tail < 0:
                self._heads[group] = self._tails[group] = ordinal
                keys[group] = key
            elif (keys.get(group) or self._key(tail)) < key:
                pairs.append((ordinal, tail))
                self._tails[group], keys[group] = ordinal, key
                if group == self._sorted[0]:
                    self._sorted[1].append((*key, ordinal))
            else:
                elsewhere.append(ordinal)
        for ordinal in elsewhere:  # each is in its session when it has its place there
            groups[ordinal - first] = -1
        columns.group[some] = groups
        if pairs:
            self._present += pairs
            ordinals, previous = np.array(pairs, np.int64).T
            columns.previous[ordinals], columns.following[previous] = previous, ordinals
            columns.span[ordinals] += columns.length[previous]
        for ordinal in elsewhere:
            self.insert(ordinal, hidden=False)

    def _group(self, nugget: int, session: int) -> int:
        """Return the number of a session, by the codes of its nugget and its own; a new one if there is none."""
        if session < 0:
            return self._new_group()
        number = nugget << _NUGGET | session
        group = self._group_of.get(number)
        if group is None and (group := self._groups_below.get(number)) is None:
            group = self._group_of[number] = self._new_group()
        return group

    def withdraw(self, ordinal: int, *, hidden: bool) -> None:
        """Take *ordinal* out of its session; its neighbours become each other's."""
        columns = self._columns
        if columns.session[ordinal] < 0:
            return
        group, key = columns.group.item(ordinal), self._key(ordinal)
        if hidden:
            among = self._hidden_of(group)
            del among[bisect_left(among, key, key=self._key)]
            self._point(ordinal, -1)
            return
        if group == self._sorted[0]:
            some = self._sorted[1]
            del some[bisect_left(some, (*key, ordinal))]
        previous, following = columns.previous.item(ordinal), columns.following.item(ordinal)
        gap = self._gap(group, key, following)
        self._follow(ordinal, -1)
        columns.following[ordinal] = -1
        if previous < 0:
            self._heads[group] = following
        if following >= 0:
            self._follow(following, previous)
        else:
            self._tails[group] = previous
            if previous >= 0:
                columns.following[previous] = -1
        for between in gap:
            self._point(between, previous)

    # ------------------------------------------------------------- finding

    def _around(self, group: int, key: Key) -> tuple[int, int]:
        """Return the visible ordinals before and after the place of *key* in its session."""
        tail = self._tails[group]
        if tail < 0 or self._key(tail) < key:
            return tail, -1
        head = self._heads[group]
        if key < self._key(head):
            return -1, head
        if group != self._sorted[0]:
            following = tail
            for _ in range(_PASSED):
                previous = self._columns.previous.item(following)
                if self._key(previous) < key:
                    return previous, following
                following = previous
            self._sorted = group, self._visible(group)
        some = self._sorted[1]
        at = bisect_left(some, (*key, -1))
        return some[at - 1][2], some[at][2]

    def _visible(self, group: int) -> list[tuple[int, int, int]]:
        """All visible notes of a session in order: turn, row, ordinal."""
        columns = self._columns
        flags = columns.flags[: columns.size] & (ALIVE | HIDDEN)
        (found,) = ((columns.group[: columns.size] == group) & (flags == ALIVE)).nonzero()
        turns, rows = columns.turn[found], columns.row[found]
        order = np.lexsort((rows, turns))
        return list(zip(turns[order].tolist(), rows[order].tolist(), found[order].tolist(), strict=True))

    def _hidden_of(self, group: int) -> "array[int]":
        """The hidden notes of a session in order, free to change."""
        found = self._hidden.get(group)
        if found is None:
            found = self._hidden[group] = array("i", self._hidden_below.get(group, ()))
        return found

    def _gap(self, group: int, key: Key, following: int) -> list[int]:
        """The hidden notes after *key* and before the visible one that is *following*."""
        hidden = self._hidden.get(group)
        if hidden is None:
            hidden = self._hidden_below.get(group)
        if not hidden:
            return []
        first = bisect_left(hidden, key, key=self._key)
        last = bisect_left(hidden, self._key(following), key=self._key) if following >= 0 else len(hidden)
        return list(hidden[first:last])

    def _key(self, ordinal: int) -> Key:
        columns = self._columns
        return columns.turn.item(ordinal), columns.row.item(ordinal)

    # ------------------------------------------------------------- whole

    def renumber(self, numbers: IntArray) -> None:
        """Use other ordinals (see :meth:`Columns.renumber`), and close the gaps in the numbers of groups."""
        columns = self._columns
        groups = columns.group[: columns.size]
        used = np.zeros(len(self._heads), np.bool_)
        used[groups] = True
        new = np.cumsum(used) - 1
        columns.group[: columns.size] = new[groups]
        ends = (np.array(some, np.int32)[used] for some in (self._heads, self._tails))
        self._heads, self._tails = (array("i", numbers[some].astype(np.int32).tobytes()) for some in ends)
        self._group_of = {number: int(new[group]) for number, group in self._group_of.items() if used[group]}
        self._hidden = {
            int(new[group]): array("i", numbers[np.array(some, np.int64)].tolist())
            for group, some in self._hidden.items()
            if some
        }
        self._sorted = -1, []

    def stored(self) -> dict[str, IntArray | Numbers]:
        """Return sessions as arrays, as they are now."""
        hidden = [(group, some) for group, some in self._hidden.items() if some]
        return {
            "heads": np.array(self._heads, np.int32),
            "tails": np.array(self._tails, np.int32),
            "sessions": np.fromiter(self._group_of, np.int64, len(self._group_of)),
            "groups": np.fromiter(self._group_of.values(), np.int64, len(self._group_of)),
            "hidden": np.array([ordinal for _, some in hidden for ordinal in some], np.int32),
            "hidden_groups": np.repeat(
                np.array([group for group, _ in hidden], np.int64), [len(some) for _, some in hidden]
            ),
        }

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Begin with what was stored."""
        self._heads, self._tails = array("i", arrays["heads"].tobytes()), array("i", arrays["tails"].tobytes())
        self._group_of = dict(zip(arrays["sessions"].tolist(), arrays["groups"].tolist(), strict=True))
        groups = arrays["hidden_groups"]
        edges = np.append(np.flatnonzero(np.diff(groups, prepend=-1)), len(groups)).tolist()
        self._hidden = {
            int(groups[begin]): array("i", arrays["hidden"][begin:end].tobytes()) for begin, end in pairwise(edges)
        }

    def _new_group(self) -> int:
        self._heads.append(-1)
        self._tails.append(-1)
        return len(self._heads) - 1

    # ------------------------------------------------------------- pointers

    def _point(self, ordinal: int, previous: int) -> None:
        """Set the previous note of *ordinal*."""
        columns = self._columns
        columns.previous[ordinal] = previous
        before = columns.length[previous] if previous >= 0 else 0
        columns.span[ordinal] = columns.length[ordinal] + before

    def _follow(self, ordinal: int, previous: int) -> None:
        """Set the previous note of a visible *ordinal*, both ways, and note what that means for the statistics."""
        columns = self._columns
        former = columns.previous.item(ordinal)
        if former == previous:
            return
        if former >= 0:
            self._former.append((ordinal, former))
        if previous >= 0:
            self._present.append((ordinal, previous))
            columns.following[previous] = ordinal
        self._point(ordinal, previous)

    def count(self) -> None:
        """Count what was noted since: what each previous note has that the one after it has not."""
        for noted, by in ((self._former, -1), (self._present, 1)):
            if noted:
                tokens = self._columns.length[[previous for _, previous in noted]].sum(dtype=np.int64)
                self._statistics.count_previous(self._added(noted), int(tokens), by)
                noted.clear()

    def _added(self, pairs: Sequence[tuple[int, int]]) -> IntArray:
        """The terms that each previous note has and the one after it has not."""
        count = len(pairs)
        if count <= _FEW:  # as when a note is written alone; arrays of so little would cost more
            added: list[int] = []
            for ordinal, before in pairs:
                own = set(self._postings.terms_of(ordinal))
                added += [term for term in self._postings.terms_of(before) if term not in own]
            return np.array(added, np.int64)
        ordinals, previous = np.array(pairs, np.int64).T
        sizes, terms = self._postings.gather(np.concatenate([previous, ordinals]))
        half = sizes[:count].sum()
        # Pairs and terms in order, of equal ones first that of the previous note.
        bits = int(terms.max(initial=0)).bit_length()
        keys = (np.arange(2 * count) % count).repeat(sizes) << bits
        keys |= terms
        keys <<= 1
        keys[half:] |= 1
        keys = narrowed(keys, bits + 1 + count.bit_length())
        keys.sort()
        alone = (keys & 1) == 0
        alone[:-1] &= keys[1:] - keys[:-1] != 1
        found: IntArray = (keys[alone] >> 1 & (1 << bits) - 1).astype(np.int64)
        return found
