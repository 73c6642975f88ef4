"""The recent-query log: what callers asked lately and which notes they got.

Reflection replays it to see that it pushes nothing away that was found. It lives outside the change log, is written
a moment later with the usage counters, publishes no events and is pruned automatically.
"""

import json
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from shelfd.memory.ports.projection import PurgedNote
from shelfd.memory.ports.usage import RecentQuery
from shelfd.memory.ports.view import Writer
from shelfd.protocol.lazy_table import importing

if TYPE_CHECKING:
    from shelfd.protocol.methods.recall import RecallParams

#: Distinct queries kept in a shelf.
KEPT: Final = 500
#: How long a query counts as recent.
RECENT: Final = timedelta(days=30)

#: Params that decide what is found; sorted, so that the same query has the same text.
_IDENTIFYING: Final = {
    "query", "nugget", "domain", "scope", "type", "subject", "author", "tags", "k", "include_links",
    "exclude_superseded", "include_hidden", "include_expired", "session_id", "max_age", "min_score", "focus",
    "collapse",
}  # fmt: skip


class _PendingQuery(NamedTuple):
    params: "RecallParams"
    ids: tuple[str, ...]
    at: int

    def ids_in(self, ids: Collection[str]) -> bool:
        return any(note_id in ids for note_id in self.ids)

    def stored(self) -> RecentQuery:
        params = self.params.model_dump(mode="json", include=_IDENTIFYING, exclude_defaults=True)
        return RecentQuery(json.dumps(params, ensure_ascii=False, sort_keys=True), self.ids, self.at)


def params_of(query: RecentQuery) -> "RecallParams":
    """Return the params of a stored query.

    Raises:
        pydantic.ValidationError: If another version stored what this one does not accept.
    """
    with importing:
        from shelfd.protocol.methods.recall import RecallParams  # who has a stored query read is in no hurry
    return RecallParams.model_validate(json.loads(query.params))


class QueryBuffer:
    """Queries of one shelf that wait to be stored.

    Args:
        is_on: Whether queries are kept at all; if not, those stored are deleted with the next write.
        may_keep: Returns whether a query may be stored.
    """

    def __init__(self, *, is_on: bool, may_keep: Callable[[str], bool]) -> None:
        self._is_on = is_on
        self._may_keep = may_keep
        self._pending: deque[_PendingQuery] = deque(maxlen=KEPT)
        self._writing: Sequence[_PendingQuery] = ()

    @property
    def is_dirty(self) -> bool:
        """Whether anything waits to be written."""
        return bool(self._pending)

    def add(self, params: "RecallParams", ids: Sequence[str], now: int) -> None:
        """Keep a query that found the notes *ids* at *now*, microseconds."""
        if self._is_on and ids:
            self._pending.append(_PendingQuery(params, tuple(ids), now))

    def purge(self, purged: Iterable[PurgedNote]) -> None:
        """Drop buffered queries that found one of these notes."""
        ids = frozenset(note_id for _, note_id in purged)
        self._pending = deque((query for query in self._pending if not query.ids_in(ids)), maxlen=KEPT)
        self._writing = tuple(query for query in self._writing if not query.ids_in(ids))

    def begin_write(self) -> None:
        """Set aside what waits; it is what :meth:`write` stores."""
        self._writing, self._pending = tuple(self._pending), deque(maxlen=KEPT)

    def write(self, writer: Writer, now: int) -> None:
        """Store what was set aside and delete what is not recent any more. Runs inside the store's transaction."""
        writer.queries.put([query.stored() for query in self._writing if self._may_keep(query.params.query)])
        before = now - RECENT // timedelta(microseconds=1)
        writer.queries.delete_before(before=before, now=now, kept=KEPT if self._is_on else 0)

    def end_write(self, *, stored: bool) -> None:
        """Release what was stored, or take it back to try again."""
        if not stored:
            self._pending = deque([*self._writing, *self._pending], maxlen=KEPT)
        self._writing = ()


class LastQueries:
    """What each session asked last, so that "and why?" has something to refer to. Kept in memory only."""

    def __init__(self) -> None:
        self._queries: OrderedDict[tuple[str, str], str] = OrderedDict()

    def get(self, speaker: tuple[str, str]) -> str | None:
        """Return what the (principal, session) asked last."""
        return self._queries.get(speaker)

    def set(self, speaker: tuple[str, str], query: str) -> None:
        """Keep what the (principal, session) asks; of many sessions the latest are kept."""
        self._queries[speaker] = query
        self._queries.move_to_end(speaker)
        if len(self._queries) > KEPT:
            self._queries.popitem(last=False)

    def purge(self, purged: Iterable[PurgedNote]) -> None:  # noqa: ARG002
        """Drop everything: any query may repeat what a purged note said."""
        self._queries.clear()
