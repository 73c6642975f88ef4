"""Event subscriptions of one connection: events are rendered from the log, at the reader's pace.

Nothing is queued per subscriber. A subscription is a position in the log; while the transport is backed up it
stays where it is. When :data:`LAG_CHANGES` further changes have been applied and the reader has still not taken
what it was sent, the subscription ends with ``events.lagged`` and can be resumed from the log.
"""

# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from shelfd.gateway.counters import Counters
from shelfd.gateway.envelope import notification
from shelfd.gateway.ports import EventLogPort, Wanted
from shelfd.memory.errors import InvalidParams, QuotaExceeded, ShelfError
from shelfd.memory.log.event_log import matches_returned
from shelfd.memory.ports.log import ENDED
from shelfd.memory.ports.watching import WATCH_MATCHED
from shelfd.protocol.methods.events import SubscribeParams

#: Changes that may be applied while a backed-up reader takes nothing; about 1 MiB of events with titles.
LAG_CHANGES: Final = 2048
SLICE_EVENTS: Final = 64  #: events sent before others get their turn on the loop


class Followed(Protocol):
    """What follows one shelf's log for a client."""

    name: str
    seq: int  #: the last change before the first that is told

    def start(self) -> None:
        """Begin to tell."""


class Following(Protocol):
    """What a connection is told of changes, in the words of its protocol."""

    def open(self, log: EventLogPort, params: SubscribeParams, /) -> Followed:
        """Follow a log; nothing is told before its ``start``."""

    def close(self, name: str, /) -> bool:
        """Follow it no more; return whether it was followed."""

    def close_all(self) -> None:
        """Follow nothing more."""

    def resume(self) -> None:
        """Go on: the client has caught up."""


class Subscription:
    """One position in one shelf's log."""

    def __init__(self, name: str, log: EventLogPort, params: SubscribeParams, owner: "Subscriptions") -> None:
        self.name = name
        self.seq = log.seq if params.since_seq is None else params.since_seq
        self._matched_seq = params.since_seq or 0  #: prev_seq of the next event
        self._matches = 0  #: how many matches of the next change were sent
        self._log = log
        self._wanted = _wanted(params)
        self.is_of_watches = tuple(params.types) == (WATCH_MATCHED,)
        self._owner = owner
        self._held_at: int | None = None  #: the last change when the transport backed up
        self._is_scheduled = False
        self._unfollow: Callable[[], None] | None = None

    def check(self) -> None:
        """Raise unless the log can be read from here.

        Raises:
            InvalidParams: If the position is beyond the log's end.
            HistoryTrimmed: If the log no longer reaches back this far.
        """
        if self.seq > self._log.seq:
            raise InvalidParams(
                f"since_seq: the last change is {self._log.seq}", field="since_seq", limit=self._log.seq
            )
        self._log.events(self.seq, 1, self._wanted)

    def start(self) -> None:
        """Begin to send; the first event goes out in a later turn of the loop."""
        if self.name in self._owner.by_name:
            self._unfollow = self._log.follow(self._applied)
            self.schedule()

    def is_about(self, log: EventLogPort) -> bool:
        """Return whether it sends events of this shelf."""
        return self._log is log

    def stop(self) -> None:
        """Send nothing more."""
        if self._unfollow is not None:
            self._unfollow()
            self._unfollow = None

    def schedule(self) -> None:
        """Send what there is in the loop's next turn."""
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._send_slice)

    def _applied(self, last_seq: int) -> None:
        # Called on the way of a commit: no more is done here than noting that there is something to send.
        if last_seq == ENDED:
            self._lag()  # the shelf was replaced or dropped: subscribing again will say
        elif self._held_at is not None and last_seq - self._held_at > LAG_CHANGES:
            self._lag()
        else:
            self.schedule()

    def _send_slice(self) -> None:
        self._is_scheduled = False
        if self._unfollow is None:
            return
        if self._owner.is_backed_up():
            if self._held_at is None:
                self._held_at = self._log.seq
            return
        self._held_at = None
        try:
            events, looked_at = self._log.events(self.seq, SLICE_EVENTS, self._wanted, self._matches)
        except ShelfError:
            self._lag()  # the log was trimmed under us or its shelf is refused: subscribing again will say
            return
        sent = len(events)
        for at, event in enumerate(events):
            self._send(event)
            if self._owner.is_backed_up() and at + 1 < len(events):
                # With contents in them, a slice of events is large. A change is left behind with its last match.
                is_last = _seq_of(events[at + 1]) > _seq_of(event)
                if is_last or "cause_seq" in event:
                    sent, looked_at = at + 1, _seq_of(event) - (not is_last)
                    break
        self._matches = matches_returned(events[:sent], looked_at, self._matches)
        self.seq = max(looked_at, self.seq)
        if self.seq < self._log.seq:
            self.schedule()

    def _send(self, event: dict[str, Any]) -> None:
        if "seq" in event:
            event["prev_seq"] = self._matched_seq
            self._matched_seq = event["seq"]
        elif event["data"]["principal"] != self._owner.principal:
            return
        self._owner.send(notification("event", event))
        self._owner.counters.events_sent += 1

    def _lag(self) -> None:
        self._owner.close(self.name)
        self._owner.counters.subscribers_lagged += 1
        # Resuming after the last event that was sent repeats nothing and misses nothing.
        self._owner.send(notification("events.lagged", {"subscription": self.name, "seq": self._resume_seq()}))

    def _resume_seq(self) -> int:
        return self._matched_seq or self.seq


class Subscriptions:
    """All subscriptions of one connection.

    Args:
        send: Takes one message for the connection.
        is_backed_up: Says whether the client has fallen behind with reading.
        principal: Whose connection it is; matches of standing queries go to those whose they are.
        limit: How many there may be.
        counters: Where events are counted.
    """

    def __init__(
        self,
        send: Callable[[bytes], None],
        is_backed_up: Callable[[], bool],
        *,
        principal: str,
        limit: int,
        counters: Counters,
    ) -> None:
        self.send = send
        self.principal = principal
        self.is_backed_up = is_backed_up
        self.counters = counters
        self.by_name: dict[str, Subscription] = {}
        self._limit = limit
        self._opened = 0

    def open(self, log: EventLogPort, params: SubscribeParams) -> Subscription:
        """Enter a subscription; it sends nothing before its ``start``.

        Raises:
            QuotaExceeded: If the connection has as many as it may.
            InvalidParams: If ``since_seq`` is beyond the last change.
            HistoryTrimmed: If the log no longer reaches back to ``since_seq``.
        """
        if len(self.by_name) >= self._limit:
            message = f"a connection has at most {self._limit} subscriptions"
            raise QuotaExceeded(message, field="subscriptions", limit=self._limit)
        self._opened += 1
        subscription = Subscription(f"sub-{self._opened}", log, params, self)
        subscription.check()
        self.by_name[subscription.name] = subscription
        self.counters.subscriptions_open += 1
        return subscription

    def of_watches(self, log: EventLogPort) -> Subscription | None:
        """Return the subscription, if there is one, to the matches of standing queries of a shelf."""
        return next((one for one in self.by_name.values() if one.is_of_watches and one.is_about(log)), None)

    def close(self, name: str) -> bool:
        """End a subscription; return whether there was one."""
        subscription = self.by_name.pop(name, None)
        if subscription is None:
            return False
        subscription.stop()
        self.counters.subscriptions_open -= 1
        return True

    def close_all(self) -> None:
        """End every subscription."""
        for name in list(self.by_name):
            self.close(name)

    def resume(self) -> None:
        """Go on sending: the reader has caught up."""
        for subscription in self.by_name.values():
            subscription.schedule()


def _seq_of(event: Mapping[str, Any]) -> int:
    seq: int = event["seq"] if "seq" in event else event["cause_seq"]
    return seq


def _wanted(params: SubscribeParams) -> Wanted:
    nugget = params.nugget
    every = "*" in params.types
    exact = frozenset(params.types)
    subjects = frozenset(pattern.removesuffix("*") for pattern in params.types if pattern.endswith(".*"))

    def wanted(kind: str, of_nugget: str | None) -> bool:
        if nugget is not None and of_nugget != nugget:
            return False
        return (every and kind != WATCH_MATCHED) or kind in exact or kind[: kind.find(".") + 1] in subjects

    return wanted
