"""Who comes before whom: the notes of a session in order, and what that means for the statistics."""

from bisect import bisect_left, insort
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from shelfd.memory.recall.columns import Columns, IntArray
from shelfd.memory.recall.postings import Postings
from shelfd.memory.recall.statistics import Statistics

Entry = tuple[int, int, int]  # turn, row, ordinal


@dataclass(slots=True)
class _Chain:
    """The notes of one (nugget, session), sorted by (turn, row)."""

    key: tuple[str, str]
    group: int
    visible: list[Entry] = field(default_factory=list)
    hidden: list[Entry] = field(default_factory=list)

    def around(self, entry: Entry) -> tuple[int, int, list[int]]:
        """Return the visible ordinals before and after *entry* and the hidden ones up to the latter."""
        at = bisect_left(self.visible, entry)
        after = at + 1 if at < len(self.visible) and self.visible[at] == entry else at
        previous = self.visible[at - 1][2] if at else -1
        following = self.visible[after][2] if after < len(self.visible) else -1
        if not self.hidden:
            return previous, following, []
        first = bisect_left(self.hidden, entry)
        last = bisect_left(self.hidden, self.visible[after]) if following >= 0 else len(self.hidden)
        return previous, following, [hidden[2] for hidden in self.hidden[first:last]]


class Links:
    """Keeps ``previous`` and ``following`` of every document, and the statistics that hang on them.

    A hidden document has the previous note it would have if it were visible,
    and is no neighbour of any. A document without a session is alone.
    """

    def __init__(self, columns: Columns, postings: Postings, statistics: Statistics) -> None:
        self._columns = columns
        self._postings = postings
        self._statistics = statistics
        self._chains: dict[tuple[str, str], _Chain] = {}
        self._by_group: dict[int, _Chain] = {}
        self._chains_below: Mapping[tuple[str, str], _Chain] = {}
        self._groups_below: Mapping[int, _Chain] = {}
        self.groups = 0  #: group numbers assigned

    def layer(self, columns: Columns, postings: Postings, statistics: Statistics) -> "Links":
        """Return the same sessions over copies of the rest, free to change; good until these change."""
        other = Links(columns, postings, statistics)
        other._chains_below, other._groups_below, other.groups = self._chains, self._by_group, self.groups
        return other

    def _copied(self, chain: _Chain | None) -> _Chain | None:
        """Take over a session from below."""
        if chain is None:
            return None
        own = _Chain(chain.key, chain.group, chain.visible[:], chain.hidden[:])
        self._chains[own.key] = self._by_group[own.group] = own
        return own

    def insert(self, ordinal: int, terms: Collection[int], nugget: str, session: str | None, *, hidden: bool) -> None:
        """Take *ordinal*, which has *terms*, into its session. Its length, row and turn are in the columns."""
        columns = self._columns
        columns.previous[ordinal] = columns.following[ordinal] = -1
        columns.span[ordinal] = columns.length[ordinal]
        if session is None:
            columns.group[ordinal] = self._new_group()
            return
        chain = self._chains.get((nugget, session)) or self._copied(self._chains_below.get((nugget, session)))
        if chain is None:
            chain = _Chain((nugget, session), self._new_group())
            self._chains[nugget, session] = self._by_group[chain.group] = chain
        columns.group[ordinal] = chain.group
        entry = self._entry(ordinal)
        previous, following, gap = chain.around(entry)
        if hidden:
            insort(chain.hidden, entry)
            self._point(ordinal, previous)
            return
        insort(chain.visible, entry)
        self._follow(ordinal, previous, terms)
        if following >= 0:
            self._follow(following, ordinal)
        for between in gap:
            self._point(between, ordinal)

    def withdraw(self, ordinal: int, *, hidden: bool) -> None:
        """Take *ordinal* out of its session; its neighbours become each other's."""
        group = int(self._columns.group[ordinal])
        chain = self._by_group.get(group) or self._copied(self._groups_below.get(group))
        if chain is None:
            return
        entry = self._entry(ordinal)
        if hidden:
            del chain.hidden[bisect_left(chain.hidden, entry)]
            self._point(ordinal, -1)
        else:
            previous, following, gap = chain.around(entry)
            del chain.visible[bisect_left(chain.visible, entry)]
            self._follow(ordinal, -1)
            self._columns.following[ordinal] = -1
            if following >= 0:
                self._follow(following, previous)
            elif previous >= 0:
                self._columns.following[previous] = -1
            for between in gap:
                self._point(between, previous)
        if not chain.visible and not chain.hidden and not self._groups_below:
            del self._chains[chain.key], self._by_group[chain.group]

    def retain(self, numbers: IntArray) -> None:
        """Renumber the ordinals (see :meth:`Columns.retain`) and close the gaps in group numbers."""
        size = self._columns.size
        groups, dense = np.unique(self._columns.group[:size], return_inverse=True)
        self._columns.group[:size] = dense
        self.groups = len(groups)
        for chain in self._chains.values():
            chain.group = int(np.searchsorted(groups, chain.group))
            chain.visible = [(turn, row, int(numbers[old])) for turn, row, old in chain.visible]
            chain.hidden = [(turn, row, int(numbers[old])) for turn, row, old in chain.hidden]
        self._by_group = {chain.group: chain for chain in self._chains.values()}

    def _new_group(self) -> int:
        self.groups += 1
        return self.groups - 1

    def _entry(self, ordinal: int) -> Entry:
        return int(self._columns.turn[ordinal]), int(self._columns.row[ordinal]), ordinal

    def _point(self, ordinal: int, previous: int) -> None:
        """Set the previous note of *ordinal*."""
        columns = self._columns
        columns.previous[ordinal] = previous
        before = columns.length[previous] if previous >= 0 else 0
        columns.span[ordinal] = columns.length[ordinal] + before

    def _follow(self, ordinal: int, previous: int, own: Collection[int] | None = None) -> None:
        """Set the previous note of a visible *ordinal*, whose terms are *own*, both ways, and the statistics."""
        columns = self._columns
        former = int(columns.previous[ordinal])
        if former == previous:
            return
        if own is None:
            own = set(self._postings.terms_of(ordinal))
        for neighbour, by in ((former, -1), (previous, 1)):
            if neighbour >= 0:
                terms = [term for term in self._postings.terms_of(neighbour) if term not in own]
                self._statistics.shift_previous(terms, int(columns.length[neighbour]), by)
        self._point(ordinal, previous)
        if previous >= 0:
            columns.following[previous] = ordinal
