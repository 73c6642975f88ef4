"""Standing queries as they are stored."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, Protocol


class Watch(NamedTuple):
    """A standing query."""

    id: str
    principal: str  #: whose it is
    query: str
    nugget: str | None
    filters: Mapping[str, Any]  #: as recall's params of the same names
    min_score: float | None
    created_at: int  #: microseconds since 1970 UTC
    since_seq: int  #: only later changes are looked at


class WatchesView(Protocol):
    """Reads of standing queries. Part of the store's port."""

    def get(self, watch_id: str) -> Watch | None:
        """Return a standing query."""

    def page(self, *, principal: str | None = None, after: int = 0, limit: int) -> tuple[list[Watch], int | None]:
        """Return standing queries, of one principal or of all, in the order they were made.

        Args:
            principal: Whose; None for everybody's.
            after: What the page before gave.
            limit: How many at most.

        Returns:
            The standing queries, and after what to continue; None when there are no more.
        """

    def count(self, principal: str | None = None) -> int:
        """Return how many there are, of one principal or of all."""


class WatchesWriter(WatchesView, Protocol):
    """Reads and writes of standing queries."""

    def add(self, watch: Watch) -> None:
        """Store a new one."""

    def delete(self, ids: Collection[str]) -> int:
        """Delete those with these ids; return how many there were."""

    def rename_nugget(self, old: str, new: str) -> None:
        """Have those that look at one nugget look at another."""
