"""What the tests of requests share: a broker that a test plays, a real one, and callers."""

import asyncio
import json
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, NamedTuple

import aiomqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from fakes import Api, FakeClock, memory, until
from gateway.fakes import SOON, FakeService, FakeSystem
from mosquitto import USERS, Mosquitto
from shelfd.daemon.host import SystemClock
from shelfd.gateway import Dispatcher
from shelfd.gateway.mqtt.adapter import AiomqttBroker, AiomqttLink
from shelfd.gateway.mqtt.link import Address, Arrived, MqttBroker, MqttLink, Trouble, Will
from shelfd.gateway.mqtt.requests import Requests
from shelfd.gateway.mqtt.session import BrokerSession
from shelfd.gateway.mqtt.status import Announcer
from shelfd.gateway.mqtt.topics import Topics
from shelfd.memory import Stores
from shelfd.memory.errors import BrokerUnreachable
from shelfd.protocol import Limits
from shelfd.storage.inmemory import InMemoryStores

Json = dict[str, Any]
TOPICS = Topics("here")
SOON_DELTA = timedelta(seconds=SOON)


class Sent(NamedTuple):
    """One message the broker was given."""

    topic: str
    payload: bytes
    qos: int
    is_retained: bool
    correlation: bytes | None
    expiry_s: int | None

    @property
    def json(self) -> Json:
        body: Json = json.loads(self.payload)
        return body


class FakeLink(MqttLink):
    """A connection on which a test says what arrives and what is refused."""

    is_v5 = True

    def __init__(self) -> None:
        self.filters: list[str] = []
        self.sent: list[Sent] = []
        self.acknowledged: list[int] = []
        self.refuses: Callable[[str], Trouble | None] = lambda _: None
        self.holds: asyncio.Event | None = None  #: QoS 1 messages wait for it
        self._arrived: deque[Arrived] = deque()
        self._failure: BrokerUnreachable | None = None
        self._changed = asyncio.Event()
        self.number = 0

    @property
    def unread(self) -> int:
        return len(self._arrived)

    def arrive(self, topic: str, body: object, **more: Any) -> int:
        """Let a message arrive; return its packet id."""
        self.number += 1
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._arrived.append(
            Arrived(topic, payload, more.pop("qos", 1), more.pop("retained", False), self.number, **more)
        )
        self._changed.set()
        return self.number

    def ask(self, user: str, method: str, number: int | str | None = None, **params: Any) -> int:
        """Let a request with a reply address arrive."""
        body: Json = {"params": params, "reply_to": TOPICS.reply_prefix(user) + "x"}
        if number is not None:
            body["id"] = number
        return self.arrive(request_topic(user, method), body)

    def lose(self, trouble: Trouble = Trouble.LOST) -> None:
        self._failure = BrokerUnreachable("gone", reason=trouble)
        self._changed.set()

    def replies(self) -> list[Json]:
        return [sent.json for sent in self.sent if "/rep/" in sent.topic]

    def said(self) -> list[str]:
        return [sent.json["state"] for sent in self.sent if sent.topic == TOPICS.status]

    # the port

    async def subscribe(self, filters: Sequence[str]) -> None:
        self._check(filters[0])
        self.filters += filters

    async def messages(self) -> AsyncIterator[Arrived]:
        while self._failure is None:
            if self._arrived:
                yield self._arrived.popleft()
            else:
                self._changed.clear()
                await self._changed.wait()
        raise self._failure

    def acknowledge(self, message: Arrived) -> None:
        if self._failure is None:
            self.acknowledged.append(message.number)

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        qos: int = 1,
        is_retained: bool = False,
        correlation: bytes | None = None,
        content_type: str | None = None,
        expiry_s: int | None = None,
        is_event: bool = False,
    ) -> None:
        self._check(topic)
        self.sent.append(Sent(topic, payload, qos, is_retained, correlation, expiry_s))
        if qos and self.holds is not None:
            await self.holds.wait()
        self._check(topic)

    def _check(self, topic: str) -> None:
        trouble = self.refuses(topic)
        if trouble is not None:
            raise BrokerUnreachable("refused", reason=trouble)
        if self._failure is not None:
            raise self._failure


class FakeBroker(MqttBroker):
    """Gives one link after the other, or the trouble that is next."""

    url = "mqtt://broker.example:1883"

    def __init__(self, *outcomes: FakeLink | Trouble) -> None:
        self.outcomes = list(outcomes)
        self.attempts = 0
        self.wills: list[Will] = []
        self.farewells = 0

    @asynccontextmanager
    async def connect(self, will: Will) -> AsyncIterator[MqttLink]:
        self.attempts += 1
        self.wills.append(will)
        outcome = self.outcomes.pop(0) if self.outcomes else Trouble.UNREACHABLE
        if isinstance(outcome, Trouble):
            raise BrokerUnreachable("not there", reason=outcome)
        try:
            yield outcome
        finally:
            self.farewells += 1


class Desk:
    """Requests on a link, over a fake memory unless given a real one, without a session."""

    def __init__(self, *, at_work_count: int = 256, api: Api | None = None, **limits: Any) -> None:
        self.clock = FakeClock(stands_still=True) if api is None else api.clock
        self.service = FakeService()
        service = self.service if api is None else api.service
        self.dispatcher = Dispatcher(service, FakeSystem(), clock=self.clock, limits=Limits(**limits))
        self.requests = Requests(self.dispatcher, TOPICS, self.clock, at_work_count=at_work_count)
        self.link = FakeLink()
        self._taking: asyncio.Task[None] | None = None

    def attach(self, link: FakeLink) -> None:
        """Take requests from *link* instead of the one before."""
        if self._taking is not None:
            self._taking.cancel()
        self.link = link
        self.requests.attached(link)
        self._taking = asyncio.get_running_loop().create_task(self._take(link))

    async def _take(self, link: FakeLink) -> None:
        async for message in link.messages():
            await self.requests.take(message)

    async def idle(self) -> None:
        """Wait until everything that arrived is taken and done."""
        await until(lambda: not self.link.unread and not self.requests.at_work and not self.requests.status()["users"])
        assert await self.requests.drain(SOON_DELTA)

    async def reply(self) -> Json:
        """Let everything end and return the only reply."""
        await self.idle()
        (reply,) = self.link.replies()
        return reply

    async def close(self) -> None:
        self.service.release_all()
        if self._taking is not None:
            self._taking.cancel()
            await asyncio.gather(self._taking, return_exceptions=True)
        await self.requests.drain(SOON_DELTA)


@asynccontextmanager
async def desk(**options: Any) -> AsyncIterator[Desk]:
    """A desk with a link, gone when the block ends."""
    running = Desk(**options)
    running.attach(running.link)
    try:
        yield running
    finally:
        await running.close()


async def remembered(api: Api) -> list[str]:
    """Return the contents of all notes, in the order in which they were made."""
    await api.call("get_stats")  # opens the shelf
    rows = api.shelf().view.log.page(since_seq=0, limit=100_000)
    return [(await api.note(row.ids[0]))["content"] for row in rows if row.kind == "note.created"]


def request_topic(user: str, method: str) -> str:
    return f"shelfd/v1/here/req/{user}/{method}"


def announcer(clock: Any) -> Announcer:
    return Announcer(TOPICS, clock, instance="here", version="1.2.3", boot="b1", health=lambda: {"status": "ok"})


# ---------------------------------------------------------------------- a real broker


class Station:
    """A session on a real broker, over the real memory."""

    def __init__(self, url: str, api: Api, *, service: Any = None, password: str = "", **options: Any) -> None:
        clock = SystemClock()
        self.api = api
        self.dispatcher = Dispatcher(service or api.service, FakeSystem(), clock=clock, limits=Limits())
        self.requests = Requests(self.dispatcher, TOPICS, clock)
        self.broker = AiomqttBroker(
            Address.parse(url), identifier="shelfd-here", clock=clock, password=password or USERS["shelfd"]
        )
        chance = options.pop("chance", lambda: 0.1)
        self.session = BrokerSession(
            self.broker, self.requests, TOPICS, clock, announcer(clock), chance=chance, **options
        )

    async def open(self, state: str = "connected") -> "Station":
        self.session.start()
        await self.reaches(state)
        return self

    async def reaches(self, state: str) -> None:
        await until(lambda: self.session.status()["state"] == state)

    @property
    def link(self) -> AiomqttLink:
        link = self.session._link
        assert isinstance(link, AiomqttLink)
        return link

    def cut(self) -> None:
        """Break the connection as a network does, without a farewell."""
        sock: Any = self.link._paho.socket()
        sock.shutdown(socket.SHUT_RDWR)


@asynccontextmanager
async def station(
    broker: Mosquitto | str,
    *,
    is_open: bool = True,
    stores: Callable[[FakeClock], Stores] = InMemoryStores,
    **options: Any,
) -> AsyncIterator[Station]:
    """A running session that is gone when the block ends."""
    async with memory(stores) as api:
        running = Station(broker if isinstance(broker, str) else broker.url, api, **options)
        if is_open:
            await running.open()
        try:
            yield running
        finally:
            await running.session.stop()


class Caller:
    """A client of a real broker that asks and collects replies."""

    def __init__(self, client: aiomqtt.Client, user: str, *, is_v5: bool) -> None:
        self.client = client
        self.user = user
        self.is_v5 = is_v5
        self.reply_topic = TOPICS.reply_prefix(user) + "caller"
        self.replies: list[tuple[Json, bytes | None]] = []

    async def send(
        self, method: str, body: object, *, correlation: bytes | None = None, reply_to: str | None = None, **more: Any
    ) -> None:
        """Publish a request; by MQTT 5 with *reply_to* as Response Topic."""
        properties = None
        if self.is_v5:
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            if reply_to is not None:
                properties.ResponseTopic = reply_to
            if correlation is not None:
                properties.CorrelationData = correlation
            if "expiry_s" in more:
                properties.MessageExpiryInterval = more.pop("expiry_s")
        payload = body if isinstance(body, bytes) else json.dumps(body)
        await self.client.publish(request_topic(self.user, method), payload, qos=1, properties=properties, **more)

    async def call(self, method: str, request_id: int | str | None = 1, **params: Any) -> Json:
        """Ask and return the next reply."""
        seen = len(self.replies)
        body: Json = {"id": request_id, "params": params}
        if not self.is_v5:
            body["reply_to"] = self.reply_topic
        await self.send(method, body, reply_to=self.reply_topic, correlation=b"c")
        await until(lambda: len(self.replies) > seen)
        return self.replies[seen][0]

    async def collect(self) -> None:
        async for message in self.client.messages:
            assert isinstance(message.payload, bytes | bytearray)
            properties: Any = message.properties
            self.replies.append((json.loads(message.payload), getattr(properties, "CorrelationData", None)))


@asynccontextmanager
async def caller(broker: Mosquitto, user: str = "alice", *, is_v5: bool = True) -> AsyncIterator[Caller]:
    """A connected client, subscribed to its replies."""
    version = aiomqtt.ProtocolVersion.V5 if is_v5 else aiomqtt.ProtocolVersion.V311
    async with aiomqtt.Client(
        "127.0.0.1", broker.port, username=user, password=USERS[user], protocol=version
    ) as client:
        client.pending_calls_threshold = 10_000
        one = Caller(client, user, is_v5=is_v5)
        await client.subscribe(one.reply_topic, qos=1)
        collecting = asyncio.get_running_loop().create_task(one.collect())
        try:
            yield one
        finally:
            collecting.cancel()
            await asyncio.gather(collecting, return_exceptions=True)


async def retained(broker: Mosquitto, topic: str) -> Json:
    """Return what is retained on a topic, as somebody who may read everything sees it."""
    return await watched(broker, topic, lambda _: True)


async def watched(broker: Mosquitto, topic: str, wanted: Callable[[Json], bool]) -> Json:
    """Return the first message on a topic, retained or not, that is *wanted*."""
    async with (
        asyncio.timeout(SOON),
        aiomqtt.Client("127.0.0.1", broker.port, username="alice", password=USERS["alice"]) as client,
    ):
        await client.subscribe(topic, qos=1)
        async for message in client.messages:
            assert isinstance(message.payload, bytes | bytearray)
            body: Json = json.loads(message.payload)
            if wanted(body):
                return body
    raise AssertionError("the connection ended")
