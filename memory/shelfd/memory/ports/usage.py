"""How notes are used and what was asked: parts of the store's port."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from shelfd.memory.notes.note import Usage


class UsageView(Protocol):
    """Reads of the use that was made of notes."""

    def by_rows(self, rows: Sequence[int]) -> dict[int, Usage]:
        """Return the usage of those of the notes that were ever used, by row."""

    def was_hit(self, rows: Sequence[int], session_id: str) -> set[int]:
        """Return those of the notes that already count a hit of this session."""

    def hit_sessions(self, rows: Sequence[int]) -> dict[int, frozenset[str]]:
        """Return the sessions in which each of the notes was returned, as far as they are kept, by row."""


class UsageWriter(UsageView, Protocol):
    """Reads and writes of the use that was made of notes."""

    def put(self, usages: Mapping[int, Usage]) -> None:
        """Replace the usage of notes, by row; a row that is gone by now is passed over."""

    def add_hit_sessions(self, sessions: Sequence[tuple[int, str]]) -> None:
        """Remember that notes (by row) were returned in sessions; what is known already is no error."""


class RecentQuery(NamedTuple):
    """A query that somebody asked, and what was found."""

    params: str  #: recall's params that say what is sought, as JSON; identifies the query
    ids: tuple[str, ...]  #: of the notes returned, best first
    at: int  #: when it was last asked, microseconds since 1970 UTC


class QueriesView(Protocol):
    """Reads of recent queries."""

    def recent(self, limit: int) -> list[RecentQuery]:
        """Return queries that were asked lately, the last one first, those of one moment by their params."""


class QueriesWriter(QueriesView, Protocol):
    """Reads and writes of recent queries."""

    def put(self, queries: Sequence[RecentQuery]) -> None:
        """Add queries in the order they were asked, each replacing the one with its params."""

    def delete_before(self, *, before: int, now: int, kept: int) -> None:
        """Delete queries that were last asked before that time, and all but the last *kept*.

        Those that a clock which was set back since has as asked after *now* count as asked now.
        """

    def delete_naming(self, ids: Collection[str]) -> None:
        """Delete the queries that found one of these notes."""
