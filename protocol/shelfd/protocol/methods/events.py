"""Methods on events: follow what happens on a shelf."""

from typing import Annotated

from pydantic import Field

from shelfd.protocol.base import Count, ListLimit, NuggetName, Params, ReadParams, Result, ShelfParams, Token
from shelfd.protocol.events import CloudEvent
from shelfd.protocol.registry import define

TypePattern = Annotated[str, Field(pattern=r"^(\*|[a-z]+\.(\*|[a-z]+))$", max_length=64)]


class SubscribeParams(ShelfParams):
    """Params of ``events.subscribe``."""

    types: Annotated[list[TypePattern], Field(min_length=1, max_length=64)] = Field(
        default=["*"], description='Like "note.created" or "note.*".'
    )
    nugget: NuggetName | None = None
    since_seq: Count | None = Field(default=None, description="Begin behind this change instead of now.")


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


define("events.subscribe", SubscribeParams, SubscribeResult, need="read", summary="Be told of events as they happen.")
define("events.unsubscribe", UnsubscribeParams, UnsubscribeResult, need="open", summary="Stop being told.")
define("events.since", EventsSinceParams, EventsSinceResult, need="read", summary="Events that already happened.")
