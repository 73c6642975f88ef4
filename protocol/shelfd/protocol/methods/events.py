"""Events: CloudEvents 1.0 in JSON structured mode, rendered from the change log; methods to subscribe to them."""

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from shelfd.protocol.base import Count, ListLimit, NuggetName, Params, ReadParams, Result, ShelfParams, Token
from shelfd.protocol.registry import define

#: Every type of event that has a sequence number.
EVENT_TYPES: Final = (
    "note.created", "note.updated", "note.superseded", "note.hidden", "note.restored", "note.merged", "note.purged",
    "note.promoted", "note.expired", "link.added", "link.removed", "conflict.found", "conflict.resolved",
    "nugget.created", "nugget.updated", "nugget.renamed", "nugget.removed", "reflection.started",
    "reflection.completed", "reflection.undone", "promotion.completed", "context.changed", "session.opened",
    "session.closed", "session.retracted", "session.extracted", "schedule.missed", "alias.added", "alias.removed",
)  # fmt: skip


class CloudEvent(BaseModel):
    """One committed change of a shelf, published to those who may read the shelf.

    ``prev_seq`` is the last sequence number that matched the subscription, so that a gap can be seen.
    """

    model_config = ConfigDict(extra="forbid")

    specversion: str = "1.0"
    id: str
    source: str
    type: str
    subject: str
    time: str
    seq: int
    tx: int
    tx_size: int
    prev_seq: int
    datacontenttype: str = "application/json"
    data: dict[str, Any]


TypePattern = Annotated[str, Field(pattern=r"^(\*|[a-z]+\.(\*|[a-z]+))$", max_length=64)]


class SubscribeParams(ShelfParams):
    """Params of ``events.subscribe``."""

    types: Annotated[list[TypePattern], Field(min_length=1, max_length=64)] = Field(
        default=["*"],
        description='Like "note.created" or "note.*". "*" is all that have a sequence number; "watch.matched" has none'
        " and is sent for the caller's own standing queries.",
    )
    nugget: NuggetName | None = None
    since_seq: Count | None = Field(default=None, description="Begin after this change instead of now.")


class SubscribeResult(Result):
    """The subscription; its events follow as notifications with method `event`."""

    subscription: str
    seq: int = Field(description="The last change before the subscription's first event.")


class UnsubscribeParams(Params):
    """Params of ``events.unsubscribe``; doing it twice is fine."""

    subscription: Token


class UnsubscribeResult(Result):
    """Whether there was such a subscription."""

    removed: bool


class EventsSinceParams(ReadParams):
    """Params of ``events.since``."""

    seq: Count
    limit: ListLimit = 100


class EventsSinceResult(Result):
    """Events after `seq`, in order."""

    events: list[CloudEvent]
    last_seq: int


define("events.subscribe", SubscribeParams, SubscribeResult, need="read", summary="Receive events as they happen.")
define("events.unsubscribe", UnsubscribeParams, UnsubscribeResult, need="open", summary="Stop receiving events.")
define("events.since", EventsSinceParams, EventsSinceResult, need="read", summary="Events that already happened.")
