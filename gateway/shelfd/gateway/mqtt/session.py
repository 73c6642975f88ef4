"""The connection to the broker, kept up: announced, watched, opened again whenever it ends."""

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

import structlog

from shelfd.gateway.mqtt.link import LinkUser, MqttBroker, MqttLink, Trouble
from shelfd.gateway.mqtt.requests import Requests
from shelfd.gateway.mqtt.status import Announcer, ConnectionState, LinkStatus, Presence
from shelfd.gateway.mqtt.topics import Topics
from shelfd.memory.errors import BrokerUnreachable
from shelfd.memory.ports.store import Clock

_FIRST_DELAY_S: Final = 0.5
_LONGEST_DELAY_S: Final = 10.0
_REFUSED_DELAY_S: Final = 60.0  #: the configuration has to change first
_STABLE_S: Final = 30.0  #: a connection that lasted this long was a good one
_HEALTH_EVERY: Final = timedelta(seconds=60)
_FAREWELL_S: Final = 2.0
_DOUBLINGS: Final = 10  #: beyond which the delay is the longest anyway
_AT_ONCE: Final = 16  #: requests begun before others get their turn


class BrokerSession:
    """Keeps a link to the broker while the daemon runs; nothing else ever waits for it.

    ::

        session = BrokerSession(broker, requests, topics, clock, announcer, followers=[publisher])
        session.start()
        ...
        await session.drain(timedelta(seconds=10))   # takes no more requests, the link stays
        await publisher.close()
        await session.stop()

    Args:
        broker: Where links come from.
        requests: Takes what arrives.
        topics: The instance's topics.
        clock: Waits between attempts.
        announcer: What is said of the daemon on its status and health topics.
        followers: The other users of the links.
        share_group: The secret name under which several daemons share the requests; None for a single one.
        chance: A number of [0, 1) that spreads attempts of many daemons over time.
    """

    def __init__(
        self,
        broker: MqttBroker,
        requests: Requests,
        topics: Topics,
        clock: Clock,
        announcer: Announcer,
        *,
        followers: Sequence[LinkUser] = (),
        share_group: str | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._broker = broker
        self._requests = requests
        self._clock = clock
        self._announcer = announcer
        self._followers = followers
        self._filter = topics.requests if share_group is None else topics.shared_requests(share_group)
        self._chance = chance
        self._status = LinkStatus(broker.url, clock)
        self._log = structlog.get_logger().bind(component="gateway.mqtt", url=broker.url)
        self._link: MqttLink | None = None
        self._attempt = 0
        self._connected_at: float | None = None
        self._running: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._is_draining = False

    # ------------------------------------------------------------------ life

    def start(self) -> None:
        """Begin to connect; return at once."""
        self._status.enter(ConnectionState.CONNECTING)
        self._running = asyncio.get_running_loop().create_task(self._run(), name="shelfd.mqtt.session")

    async def drain(self, limit: timedelta) -> None:
        """Take no more requests and say so; give those at work at most *limit*, then leave them with the broker."""
        if self._is_draining:
            return
        self._is_draining = True
        if self._listening is not None:
            self._listening.cancel()
        if self._link is not None:
            await self._announce(self._link, Presence.DRAINING)
        if not await self._requests.drain(limit):
            self._log.warning("drain.timed_out", drain_s=limit.total_seconds(), requests=self._requests.at_work)
            self._requests.abandon()

    async def stop(self, drain: timedelta = timedelta(seconds=10)) -> None:
        """Drain if that was not done, say farewell and disconnect. A second call does nothing."""
        await self.drain(drain)
        running, self._running = self._running, None
        if running is None:
            return
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        self._status.enter(ConnectionState.OFF)

    def status(self) -> dict[str, Any]:
        """Return how it is.

        ::

            {"state": "connected|connecting|refused|down|off", "url", "protocol": "5|3.1.1|null",
             "since", "reason"?, "message"?, "requests": {…}}
        """
        return {**self._status.snapshot(), "requests": self._requests.status()}

    async def probe(self, user: str) -> float | None:
        """Send a request to ourselves as *user*; return the seconds until it arrived, None if it did not.

        A broker whose access list forbids us to read grants the subscription all the same: only this finds out.

        Raises:
            BrokerUnreachable: If there is no link, or the broker refuses the request.
        """
        link = self._link
        if link is None:
            raise BrokerUnreachable("there is no connection")
        began = self._clock.monotonic()
        arrived = self._requests.expect_probe(user)
        # Without an address for the reply it is only counted.
        await link.publish(self._requests.probe_topic(user), b'{"params":{}}')
        try:
            async with asyncio.timeout(_FAREWELL_S):
                await arrived
        except TimeoutError:
            return None
        return self._clock.monotonic() - began

    async def _announce(self, link: MqttLink, presence: Presence) -> None:
        # A broker that does not answer must not hold up the daemon's end.
        with suppress(BrokerUnreachable, TimeoutError):
            async with asyncio.timeout(_FAREWELL_S):
                await self._announcer.announce(link, presence)

    # ------------------------------------------------------------------ the loop

    async def _run(self) -> None:
        while True:
            try:
                async with self._broker.connect(self._announcer.will()) as link:
                    await self._serve(link)
            except BrokerUnreachable as error:
                self._enter_trouble(error)
            await self._clock.sleep(self._delay())

    def _delay(self) -> timedelta:
        """How long to wait: up to a bound that doubles each time, or long if the configuration must change first."""
        connected_at, self._connected_at = self._connected_at, None
        if connected_at is not None and self._clock.monotonic() - connected_at >= _STABLE_S:
            self._attempt = 0
        if self._status.state is ConnectionState.REFUSED:
            return timedelta(seconds=_REFUSED_DELAY_S)
        bound = min(_LONGEST_DELAY_S, _FIRST_DELAY_S * 2 ** min(self._attempt, _DOUBLINGS))
        self._attempt += 1
        return timedelta(seconds=bound * self._chance())

    def _enter_trouble(self, error: BrokerUnreachable) -> None:
        trouble = Trouble(error.data["reason"])
        state = ConnectionState.REFUSED if trouble.is_refusal else ConnectionState.DOWN
        # Once for each change, not for each attempt.
        if self._status.enter(state, trouble=trouble, message=error.message):
            self._log.warning(f"broker.{'refused' if trouble.is_refusal else 'lost'}", reason=str(trouble))

    async def _serve(self, link: MqttLink) -> None:
        """Use *link* until it ends.

        Raises:
            BrokerUnreachable: When it does.
        """
        # What came for us while we were away comes at once: be ready before the first question is asked.
        self._requests.attached(link)
        listening = self._listening = asyncio.get_running_loop().create_task(self._listen(link))
        publishing = None
        try:
            await link.subscribe([self._filter])
            await self._announcer.announce(link, Presence.DRAINING if self._is_draining else Presence.ONLINE)
            self._link, self._connected_at = link, self._clock.monotonic()
            if self._status.enter(ConnectionState.CONNECTED, is_v5=link.is_v5):
                self._log.info("broker.connected", protocol=self._status.protocol)
            publishing = asyncio.get_running_loop().create_task(self._publish_health(link))
            for follower in self._followers:
                follower.attached(link)
            await self._until_lost(listening)
        except asyncio.CancelledError:
            # The farewell that follows keeps the broker from publishing the will.
            await self._announce(link, Presence.OFFLINE)
            raise
        finally:
            self._link = None
            self._requests.detached()
            for follower in self._followers:
                follower.detached()
            await _end(listening, publishing)

    async def _until_lost(self, listening: asyncio.Task[None]) -> None:
        await asyncio.wait([listening])
        if not listening.cancelled():
            listening.result()
        # The daemon is ending: the link serves what is at work until this task is cancelled.
        await asyncio.get_running_loop().create_future()

    async def _listen(self, link: MqttLink) -> None:
        if self._is_draining:
            return
        # What finds room is begun as it arrives, the rest here, in turn.
        link.deliver_to(self._requests.take_at_once)
        taken = 0
        try:
            async for message in link.messages():
                await self._requests.take(message)
                taken += 1
                if taken % _AT_ONCE == 0:
                    await asyncio.sleep(0)
        finally:
            link.deliver_to(None)

    async def _publish_health(self, link: MqttLink) -> None:
        with suppress(BrokerUnreachable):  # the listening task reports it
            while True:
                await self._announcer.publish_health(link)
                await self._clock.sleep(_HEALTH_EVERY)


async def _end(*tasks: asyncio.Task[None] | None) -> None:
    for task in tasks:
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
