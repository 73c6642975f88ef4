"""One shelf's events on their way to the broker: in order, at least once, from where its cursor stands.

Nothing is queued here but one slice of rendered events. A feed is two positions in the shelf's log: how far the
broker has taken events over, without a gap, and how far that is on record in the shelf.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, NamedTuple

import structlog
from pydantic_core import to_json

from shelfd.gateway.mqtt.link import MqttLink, Trouble
from shelfd.gateway.mqtt.topics import Topics
from shelfd.memory import Clock, Shelf, ShelfError
from shelfd.memory.errors import BrokerUnreachable, HistoryTrimmed, traced
from shelfd.memory.log.event_log import matches_returned
from shelfd.memory.ports.log import Origin, Sink
from shelfd.protocol import from_micros

log = structlog.get_logger("shelfd.gateway")

SINK: Final = "mqtt"  #: the cursor's name in a shelf
CONTENT_TYPE: Final = "application/cloudevents+json"
WINDOW: Final = 32  #: events of one shelf on their way to the broker; replies go out between them
SLICE_EVENTS: Final = 16  #: events rendered before others get their turn on the loop: about a millisecond
NOTE_EVERY: Final = timedelta(seconds=1)  #: the cursor is written no more often than this
#: How long to wait before an event that the broker did not take is tried again on the same connection.
_RETRY_FIRST: Final = timedelta(seconds=1)
_RETRY_LAST: Final = timedelta(seconds=60)
_ORIGIN: Final = Origin("shelfd", "events.deliver")


@dataclass(slots=True)
class Uplink:
    """What all feeds share.

    Attributes:
        link: The connection to publish on, None while there is none.
        events_sent: Events the broker has taken over since start.
    """

    link: MqttLink | None = None
    events_sent: int = 0


class _Outgoing(NamedTuple):
    seq: int
    done: int  #: the last change of which everything is delivered with this
    topic: str
    payload: bytes


class _OnItsWay(NamedTuple):
    seq: int
    done: int
    task: asyncio.Future[None]


def _everything(_kind: str, _nugget: str | None) -> bool:
    return True


class Feed(Sink):
    """Publishes the changes of one open shelf.

    Args:
        shelf: The shelf, just opened.
        uplink: Where to publish.
        topics: The instance's topics.
        clock: Time.
        closing: Called when the shelf closes, which ends the feed.

    Attributes:
        delivered: The last change up to which the broker has taken over all.
        still: Set while there is nothing that could be published.
        held_up: Why the broker did not take the next event, while it does not.
    """

    def __init__(
        self, shelf: Shelf, uplink: Uplink, topics: Topics, clock: Clock, closing: Callable[["Feed"], None]
    ) -> None:
        self.shelf = shelf
        self.delivered = 0
        self.still = asyncio.Event()
        self.held_up: str | None = None
        self._uplink = uplink
        self._topics = topics
        self._clock = clock
        self._closing = closing
        self._first = shelf.seq  #: where events begin if the shelf has no cursor yet
        self._noted: int | None = None  #: the cursor on record
        self._note_at = clock.monotonic()
        self._read = 0  #: the last change that was rendered
        self._matches = 0  #: how many matches of the next one were
        self._is_stuck = False
        self._link: MqttLink | None = None  #: the connection that :attr:`_window` is on
        self._avoided: MqttLink | None = None  #: one that did not take an event, for a while
        self._retry_in = _RETRY_FIRST
        self._rendered: deque[_Outgoing] = deque()
        self._window: deque[_OnItsWay] = deque()
        self._queued = 0  #: events that could not be handed to the connection at once
        self._wake = asyncio.Event()
        self._noting: asyncio.Task[None] | None = None
        self._retrying: asyncio.Task[None] | None = None
        self._running = self._spawn(self._run(), "deliver")
        self._detach = shelf.attach(self)

    # ------------------------------------------------------------ the shelf's side

    @property
    def is_behind(self) -> bool:
        """Whether events are on their way. While there is no connection a shelf need not stay open for them."""
        return not self._is_stuck and (self._noted != self.delivered or self._has_more)

    @property
    def is_done(self) -> bool:
        """Whether every event was delivered and that is on record."""
        return self._noted == self.delivered == self.shelf.seq

    @property
    def _has_more(self) -> bool:
        return self._usable is not None and self.delivered < self.shelf.seq

    @property
    def _usable(self) -> MqttLink | None:
        return self._uplink.link if self._uplink.link is not self._avoided else None

    def applied(self, last_seq: int) -> None:  # noqa: ARG002 - the shelf knows it too
        """Send what there is, in a later turn of the loop."""
        self.wake()

    def closing(self) -> None:
        """End: the shelf must not be read any more. What the broker has not taken yet is for the next opening."""
        self._end()
        self._closing(self)

    # ------------------------------------------------------------ the publisher's side

    def wake(self) -> None:
        """Look again whether there is something to do."""
        if self._running.done():
            return
        self._is_stuck = False
        self.still.clear()
        self._wake.set()

    async def finished(self) -> None:
        """Wait until there is nothing more that could be published now, of all that was changed by now."""
        await self.shelf.reach(None)
        await self.still.wait()

    async def stop(self) -> None:
        """End and put on record how far events were delivered."""
        tasks = [one.task for one in self._window] + self._end()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._noted is not None:
            await self.write_cursor()

    async def write_cursor(self) -> None:
        """Put on record how far events were delivered. No change of the shelf, so it has no log row and no event."""
        seq = self.delivered
        if seq == self._noted:
            return
        self._note_at = self._clock.monotonic() + NOTE_EVERY.total_seconds()
        try:
            await self.shelf.commit(_ORIGIN, lambda tx: tx.rows.sinks.put(SINK, seq))
        except ShelfError as error:
            log.warning("events.cursor_not_written", shelf=self.shelf.name, error=type(error).__name__)
        else:
            self._noted = seq

    # ------------------------------------------------------------ delivery

    async def _run(self) -> None:
        try:
            await self._begin()
            while True:
                self._wake.clear()
                if self._advance():
                    await asyncio.sleep(0)
                    continue
                if not self._has_more or self._is_stuck:
                    self.still.set()
                await self._wake.wait()
        finally:
            self.still.set()

    async def _begin(self) -> None:
        """Find where to go on. The first step runs before the shelf can change."""
        noted = self.shelf.view.sinks.get(SINK)
        self.delivered = self._read = self._first if noted is None else min(noted, self._first)
        if noted is None:
            await self.write_cursor()
        else:
            self._noted = noted

    def _advance(self) -> bool:
        """Take note of what the broker took over and send what fits; return whether there may be more to send."""
        link = self._usable
        if link is not self._link:
            self._start_over(link)
        if link is None:
            return False
        try:
            self._settle(link)
        except BrokerUnreachable as error:
            self._avoid(link, error)
            return False
        if not self._rendered:
            self._render()
        is_looking = not self._rendered and not self._is_stuck and self._read < self.shelf.seq
        has_sent = bool(self._rendered) and len(self._window) < WINDOW
        while self._rendered and len(self._window) < WINDOW:
            event = self._rendered.popleft()
            self._window.append(_OnItsWay(event.seq, event.done, self._publish(link, event)))
        return has_sent or is_looking

    def _publish(self, link: MqttLink, event: _Outgoing) -> asyncio.Future[None]:
        # Once one has to wait for its turn all after it do, until none waits: the order of the calls is kept.
        sending = (
            link.post(event.topic, event.payload, content_type=CONTENT_TYPE, is_event=True)
            if not self._queued
            else None
        )
        if sending is None:
            publishing = link.publish(event.topic, event.payload, content_type=CONTENT_TYPE, is_event=True)
            sending = asyncio.get_running_loop().create_task(publishing, name=f"shelfd.{self.shelf.name}.event")
            self._queued += 1
            sending.add_done_callback(self._unqueued)
        sending.add_done_callback(self._answered)
        return sending

    def _unqueued(self, _sending: asyncio.Future[None]) -> None:
        self._queued -= 1

    def _answered(self, sending: asyncio.Future[None]) -> None:
        if not sending.cancelled():
            sending.exception()  # whether it matters is decided in the order of the events
        self._wake.set()

    def _settle(self, link: MqttLink) -> None:
        """Move on over the events that the broker has taken over, up to the first one it has not.

        Raises:
            BrokerUnreachable: If it did not take that one.
        """
        while self._window and self._window[0].task.done():
            seq, done, task = self._window[0]
            if task.cancelled():
                raise BrokerUnreachable("the connection ended")
            try:
                task.result()
            except BrokerUnreachable as error:
                if error.data.get("reason") != Trouble.TOO_LARGE:
                    raise
                # It never will be taken. What follows may be on its way already, so this is said a little late.
                self._window.popleft()
                gap = self._publish(link, self._gap(seq, seq, "too_large"))
                self._window.appendleft(_OnItsWay(seq, done, gap))
                return
            self._window.popleft()
            self._retry_in = _RETRY_FIRST
            self.held_up = None
            self.delivered = done
            self._uplink.events_sent += 1
        if self._noted != self.delivered and self._noting is None:
            self._noting = self._spawn(self._note(), "note")

    def _avoid(self, link: MqttLink, error: BrokerUnreachable) -> None:
        """Leave *link* alone for a while. Most likely its end is about to be announced."""
        reason = error.data.get("reason")
        log.info("events.held_up", shelf=self.shelf.name, reason=reason, retry_in_s=self._retry_in.total_seconds())
        self._avoided = link
        self.held_up = reason
        self._start_over(None)
        if self._retrying is not None:
            self._retrying.cancel()
        self._retrying = self._spawn(self._try_again(), "retry")

    async def _try_again(self) -> None:
        delay, self._retry_in = self._retry_in, min(self._retry_in * 2, _RETRY_LAST)
        await self._clock.sleep(delay)
        self._avoided = None
        self.wake()

    def _start_over(self, link: MqttLink | None) -> None:
        """Go back to the last event the broker has taken over for sure."""
        self._link = link
        for one in self._window:
            one.task.cancel()
        self._window.clear()
        self._rendered.clear()
        self._read, self._matches = self.delivered, 0

    async def _note(self) -> None:
        try:
            while self._noted != self.delivered:
                wait_s = self._note_at - self._clock.monotonic()
                if wait_s > 0:
                    await self._clock.sleep(timedelta(seconds=wait_s))
                await self.write_cursor()
        finally:
            self._noting = None

    # ------------------------------------------------------------ rendering

    def _render(self) -> None:
        """Render the next slice."""
        if self._is_stuck or self._read >= self.shelf.seq:
            return
        try:
            events, reached = self.shelf.events(self._read, SLICE_EVENTS, _everything, self._matches)
        except HistoryTrimmed as error:
            last_lost = error.data["first_seq"] - 1
            self._rendered.append(self._gap(self._read + 1, last_lost, "history_trimmed"))
            self._read = last_lost
            return
        except ShelfError as error:
            log.error("events.read_failed", shelf=self.shelf.name, error=type(error).__name__)
            self._is_stuck = True  # until something changes
            return
        self._matches = matches_returned(events, reached, self._matches)
        self._read = reached
        last = reached + 1
        for event in reversed(events):
            # A change counts as delivered with the last of its matches.
            seq = event["seq"] if "seq" in event else event["cause_seq"]
            self._rendered.appendleft(self._outgoing(event, seq, seq if seq < last else seq - 1))
            last = min(last, seq)

    def _outgoing(self, event: dict[str, Any], seq: int, done: int) -> _Outgoing:
        shelf = self.shelf.name
        if "seq" in event:
            event["prev_seq"] = seq - 1  # every change is published, and the log has no gaps after its beginning
            kind = event["type"].removeprefix("shelfd.").removesuffix(".v1")
            topic = self._topics.event(shelf, event["data"].get("nugget"), kind)
        else:
            topic = self._topics.match(shelf, event["data"]["watch"])
        return _Outgoing(seq, done, topic, to_json(event, inf_nan_mode="null"))

    def _gap(self, from_seq: int, to_seq: int, reason: str) -> _Outgoing:
        """Return the event that names the changes that will not be published."""
        shelf = self.shelf.name
        log.warning("events.gap_told", shelf=shelf, from_seq=from_seq, to_seq=to_seq, reason=reason)
        event = {
            "specversion": "1.0",
            "id": f"{shelf}:gap:{from_seq}-{to_seq}",
            "source": f"urn:shelfd:{self.shelf.settings.instance}:{shelf}",
            "type": "shelfd.events.gap.v1",
            "subject": shelf,
            "time": from_micros(self._clock.now()),
            "cause_seq": to_seq,
            "datacontenttype": "application/json",
            "data": {"from_seq": from_seq, "to_seq": to_seq, "reason": reason},
        }
        return _Outgoing(to_seq, to_seq, self._topics.event(shelf, None, "events.gap"), to_json(event))

    # ------------------------------------------------------------ tasks

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work, name=f"shelfd.{self.shelf.name}.events.{name}")
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or (error := task.exception()) is None:
            return
        log.error("events.delivery_failed", shelf=self.shelf.name, **traced(error))
        self._is_stuck = True

    def _end(self) -> list[asyncio.Task[None]]:
        self._detach()
        self._start_over(None)
        tasks = [task for task in (self._running, self._noting, self._retrying) if task is not None]
        for task in tasks:
            task.cancel()
        self.still.set()
        return tasks
