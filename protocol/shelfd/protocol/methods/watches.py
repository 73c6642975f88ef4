"""Methods on standing queries."""

from typing import Annotated

from pydantic import Field

from shelfd.protocol.base import ChangeParams, NuggetName, PageParams, Query, Result, Scope, Tags, Token, Wire, Word
from shelfd.protocol.registry import define


class WatchFilters(Wire):
    """Which notes a standing query looks at, as recall's params of the same names."""

    domain: Word | None = None
    scope: Scope | None = None
    type: Word | None = None
    subject: Word | None = None
    author: Word | None = None
    tags: Tags = Field(default_factory=list, description="Notes that have all of them.")


class WatchCreateParams(ChangeParams):
    """Params of ``watch.create``."""

    query: Query
    nugget: NuggetName | None = None
    filters: WatchFilters = Field(default_factory=WatchFilters)
    min_score: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="Only notes that recall gives this score or more."
    )


class WatchView(Result):
    """A standing query."""

    id: str
    query: str
    nugget: str | None = None
    filters: WatchFilters = Field(description="Those that were given.")
    min_score: float | None = None
    created_at: str
    since_seq: int = Field(description="Only later changes are looked at.")


class WatchCreateResult(Result):
    """Answer of ``watch.create``."""

    watch: WatchView
    subscription: str | None = Field(
        default=None,
        description="On a socket: by which matches of the caller's standing queries of this shelf reach the connection,"
        " as notifications with method `event`; events.unsubscribe ends it.",
    )
    replayed: bool | None = None


class WatchListParams(PageParams):
    """Params of ``watch.list``."""


class WatchListResult(Result):
    """The caller's standing queries, in the order they were made."""

    watches: list[WatchView]
    total: int
    next_cursor: str | None = None


class WatchDeleteParams(ChangeParams):
    """Params of ``watch.delete``; doing it twice is fine."""

    id: Token


class WatchDeleteResult(Result):
    """Whether there was such a standing query of the caller's."""

    removed: bool
    replayed: bool | None = None


define(
    "watch.create",
    WatchCreateParams,
    WatchCreateResult,
    need="read",
    is_change=True,
    summary="Be notified of each note that enters a query's results.",
)
define("watch.list", WatchListParams, WatchListResult, need="read", summary="The caller's standing queries.")
define(
    "watch.delete",
    WatchDeleteParams,
    WatchDeleteResult,
    need="read",
    is_change=True,
    summary="End a standing query.",
)
