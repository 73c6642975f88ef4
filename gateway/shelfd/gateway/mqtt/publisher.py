"""Events over MQTT: every shelf's change log, published from where each shelf's cursor stands."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

import structlog

from shelfd.gateway.mqtt.feed import Feed, Uplink
from shelfd.gateway.mqtt.link import MqttLink
from shelfd.gateway.mqtt.topics import Topics
from shelfd.memory import Clock, Shelf, ShelfError, Shelves
from shelfd.memory.errors import ShelfNotFound

log = structlog.get_logger("shelfd.gateway")

#: Between two closed shelves that are looked at: opening one takes several milliseconds.
_VISIT_PAUSE: Final = timedelta(milliseconds=20)
#: After a visit that was no use, such as when the broker refuses the shelf's events.
_VISIT_AGAIN: Final = timedelta(seconds=30)
#: How long stopping waits for what could still be delivered.
DRAIN: Final = timedelta(seconds=1)


class EventPublisher:
    """Publishes the events of all shelves: in order for each, at least once, however long the broker was away.

    An open shelf is followed without keeping it open. One that closes before all was delivered, or that an
    earlier daemon left so, is opened for as long as it takes when there is a connection, one after the other.

    Args:
        shelves: All shelves.
        topics: The instance's topics.
        clock: Time.
    """

    def __init__(self, shelves: Shelves, topics: Topics, clock: Clock) -> None:
        self._shelves = shelves
        self._topics = topics
        self._clock = clock
        self._uplink = Uplink()
        self._feeds: dict[str, Feed] = {}
        self._to_visit: dict[str, None] = {}  # in order
        self._visiting: asyncio.Task[None] | None = None
        self._unhook: Callable[[], None] = lambda: None
        self._is_closed = False

    # ---------------------------------------------------------------- life

    def start(self) -> None:
        """Follow every shelf from now on; nothing is published before :meth:`attached`."""
        self._unhook = self._shelves.on_open(self._adopt)
        for name in self._shelves.names():
            shelf = self._shelves.opened(name)
            if shelf is not None:
                self._adopt(shelf)
            else:
                self._to_visit[name] = None

    def attached(self, link: MqttLink) -> None:
        """Publish on *link*, beginning after the last event that the broker took over."""
        self._use(link)

    def detached(self) -> None:
        """Wait for the next connection: this one is gone."""
        self._use(None)

    async def close(self, *, drain: timedelta = DRAIN) -> None:
        """Deliver what can be delivered within *drain*, then stop and put on record how far that was.

        Call it while the connection and the shelves are still there and no more changes come.
        """
        self._is_closed = True
        self._unhook()
        if self._visiting is not None:
            self._visiting.cancel()
            await asyncio.gather(self._visiting, return_exceptions=True)
        feeds = list(self._feeds.values())
        with suppress(TimeoutError):
            async with asyncio.timeout(drain.total_seconds()):
                await asyncio.gather(*(feed.finished() for feed in feeds))
        if behind := sum(not feed.still.is_set() for feed in feeds):
            log.warning("events.left_for_later", shelves=behind, drain_s=drain.total_seconds())
        self._feeds.clear()
        await asyncio.gather(*(feed.stop() for feed in feeds))
        self._use(None)

    def status(self) -> dict[str, Any]:
        """Return how far events were delivered: of each open shelf, and how many since start.

        ``lag`` counts a shelf's events that the broker has not taken over, ``shelves_to_visit`` closed shelves that
        may have some.
        """
        return {
            "events_sent": self._uplink.events_sent,
            "shelves_to_visit": len(self._to_visit),
            "shelves": [
                {
                    "shelf": name,
                    "delivered_seq": feed.delivered,
                    "last_seq": feed.shelf.seq,
                    "lag": feed.shelf.seq - feed.delivered,
                    "held_up": feed.held_up,
                }
                for name, feed in sorted(self._feeds.items())
            ],
        }

    # ------------------------------------------------------------- shelves

    def _adopt(self, shelf: Shelf) -> None:
        self._feeds[shelf.name] = Feed(shelf, self._uplink, self._topics, self._clock, self._closing)

    def _closing(self, feed: Feed) -> None:
        name = feed.shelf.name
        if self._feeds.get(name) is feed:
            del self._feeds[name]
        if not feed.is_done:
            self._to_visit[name] = None
            self._visit_soon()

    def _use(self, link: MqttLink | None) -> None:
        self._uplink.link = link
        for feed in self._feeds.values():
            feed.wake()
        self._visit_soon()

    def _visit_soon(self) -> None:
        is_needed = bool(self._to_visit) and self._uplink.link is not None and not self._is_closed
        if is_needed and self._visiting is None:
            self._visiting = asyncio.get_running_loop().create_task(self._visit(), name="shelfd.events.visit")

    async def _visit(self) -> None:
        """Open closed shelves one after the other and deliver what they have."""
        try:
            while self._to_visit and (link := self._uplink.link) is not None:
                name = next(iter(self._to_visit))
                del self._to_visit[name]
                if self._shelves.opened(name) is None:
                    await self._visit_one(name)
                    # If it was no use, and not for want of a connection, then others first and after a while.
                    is_useless = name in self._to_visit and link is self._uplink.link
                    await self._clock.sleep(_VISIT_AGAIN if is_useless else _VISIT_PAUSE)
        finally:
            self._visiting = None

    async def _visit_one(self, name: str) -> None:
        try:
            async with self._shelves.visited(name):
                feed = self._feeds.get(name)
                if feed is not None:
                    await feed.still.wait()
                    await feed.write_cursor()
        except ShelfNotFound:
            return  # dropped meanwhile
        except ShelfError as error:
            log.warning("events.shelf_skipped", shelf=name, error=type(error).__name__)
            if error.retryable:
                self._to_visit[name] = None
