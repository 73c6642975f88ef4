"""Events through a real broker that is stopped, hung and killed while memories are written."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest

from fakes import Api, FakeClock, until
from mosquitto import USERS, Mosquitto, mosquitto
from mqtt_client import Got, MqttClient
from shelfd.daemon.host import SystemClock
from shelfd.gateway.mqtt.adapter import AiomqttBroker
from shelfd.gateway.mqtt.feed import WINDOW
from shelfd.gateway.mqtt.link import Address, Will
from shelfd.gateway.mqtt.publisher import EventPublisher
from shelfd.gateway.mqtt.topics import Topics
from shelfd.memory.errors import BrokerUnreachable
from shelfd.storage import SqliteStores

pytestmark = pytest.mark.component("mosquitto")

SOON = 60.0
TOPICS = Topics("local")
WRITERS = 16


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path / "broker") as running:
        yield running


class Daemon:
    """Memory over files, a publisher, and a connection that comes back whenever it may."""

    def __init__(self, folder: Path, broker: Mosquitto) -> None:
        clock = SystemClock()
        # What Api needs of its clock, any clock has.
        self.api = Api(cast("FakeClock", clock), SqliteStores(folder / "shelves", clock))
        self.publisher = EventPublisher(self.api.shelves, TOPICS, clock)
        self.may_connect = asyncio.Event()
        self.written = 0
        self._broker = AiomqttBroker(
            Address("127.0.0.1", broker.port, user="shelfd"),
            identifier="shelfd-test",
            clock=clock,
            password=USERS["shelfd"],
        )
        self._session = asyncio.create_task(self._connect())

    async def _connect(self) -> None:
        while True:
            await self.may_connect.wait()
            try:
                async with self._broker.connect(Will(TOPICS.status, b"{}", 0)) as link:
                    self.publisher.attached(link)
                    async for _ in link.messages():
                        pass
            except BrokerUnreachable:
                await asyncio.sleep(0.02)
            finally:
                self.publisher.detached()

    @property
    def last_seq(self) -> int:
        return self.api.shelf().view.log.last_seq

    async def write(self, until: Callable[[], bool]) -> None:
        """Let several clients write until the condition holds."""

        async def one() -> None:
            while not until():
                self.written += 1
                await self.api.remember(f"thing {self.written}")

        async with asyncio.timeout(SOON):
            await asyncio.gather(*(one() for _ in range(WRITERS)))

    async def close(self) -> None:
        await self.publisher.close()
        self._session.cancel()
        await asyncio.gather(self._session, return_exceptions=True)
        await self.api.shelves.close()


@asynccontextmanager
async def daemon(folder: Path, broker: Mosquitto) -> AsyncIterator[Daemon]:
    running = Daemon(folder, broker)
    await running.api.shelves.start()
    running.publisher.start()
    running.may_connect.set()
    try:
        yield running
    finally:
        await running.close()


class Reader:
    """Collects sequence numbers of one shelf's events."""

    def __init__(self, client: MqttClient, qos: int) -> None:
        self.client = client
        self.got: list[Got] = []
        self._seqs: list[int] = []
        _, mid = client.paho.subscribe(TOPICS.events("default"), qos=qos)
        assert client._granted.get(timeout=SOON) == mid

    @property
    def seqs(self) -> list[int]:
        new = self.client.drain()
        self.got += new
        self._seqs += [got.body["seq"] for got in new]
        return self._seqs

    def has(self, seq: int) -> bool:
        return seq in self.seqs[-2 * WINDOW :]


@contextmanager
def reader(broker: Mosquitto, *, qos: int = 1) -> Iterator[Reader]:
    with MqttClient(broker.port, "alice", USERS["alice"]) as client:
        yield Reader(client, qos)


def is_rising(seqs: list[int]) -> bool:
    return all(one < other for one, other in pairwise(seqs))


async def test_events_arrive_in_order_while_many_write(tmp_path: Path, broker: Mosquitto) -> None:
    async with daemon(tmp_path, broker) as running:
        with reader(broker) as alice:
            await until(lambda: running.publisher._uplink.link)
            await running.write(lambda: running.written >= 1500)
            await until(lambda: alice.has(running.last_seq))

            assert alice.seqs == list(range(1, running.last_seq + 1))
            assert all(got.topic.startswith("shelfd/v1/local/ev/default/") and not got.is_retained for got in alice.got)


async def test_a_broker_killed_under_load_loses_no_event_it_had_not_taken(tmp_path: Path, broker: Mosquitto) -> None:
    async with daemon(tmp_path, broker) as running:
        # QoS 0: what the broker acknowledged to us it has written to the reader's socket before.
        with reader(broker, qos=0) as before:
            writing = asyncio.create_task(running.write(lambda: running.written >= 3000))
            await until(lambda: len(before.seqs) > 300)
            running.may_connect.clear()
            broker.kill()
            await until(lambda: not before.client.paho.is_connected())
            seen_before = before.seqs
        await until(lambda: running.publisher._uplink.link is None)
        broker.start()
        with reader(broker, qos=0) as after:
            running.may_connect.set()
            await writing
            await until(lambda: after.has(running.last_seq))
            seen_after = after.seqs

        assert is_rising(seen_before)
        assert is_rising(seen_after)
        assert {*seen_before, *seen_after} == set(range(1, running.last_seq + 1))
        assert len({*seen_before} & {*seen_after}) <= WINDOW


async def test_a_broker_that_hangs_and_goes_on_gets_everything_once(tmp_path: Path, broker: Mosquitto) -> None:
    async with daemon(tmp_path, broker) as running:
        with reader(broker) as alice:
            await running.write(lambda: running.written >= 200)
            broker.pause()
            await running.write(lambda: running.written >= 400)
            behind = running.publisher.status()["shelves"][0]["lag"]
            broker.resume()
            await until(lambda: alice.has(running.last_seq))

        assert behind >= 200 - WRITERS - WINDOW
        assert alice.seqs == list(range(1, running.last_seq + 1))


async def test_a_restarted_daemon_goes_on_where_it_was(tmp_path: Path, broker: Mosquitto) -> None:
    with reader(broker) as alice:
        async with daemon(tmp_path, broker) as running:
            await running.write(lambda: running.written >= 100)
            broker_has = running.last_seq
        async with daemon(tmp_path, broker) as running:
            await running.write(lambda: running.written >= 100)
            last = running.last_seq
            await until(lambda: alice.has(last))

        assert broker_has < last
        assert alice.seqs == list(range(1, last + 1))


async def test_a_daemon_that_may_not_publish_events_goes_on_once_it_may(tmp_path: Path) -> None:
    closed = "user shelfd\ntopic readwrite shelfd/v1/+/status\nuser alice\ntopic read shelfd/v1/#\n"
    with mosquitto(tmp_path / "broker", acl=closed) as broker:
        async with daemon(tmp_path, broker) as running:
            await running.write(lambda: running.written >= 20)
            await until(lambda: running.publisher._feeds["default"]._avoided is not None)
            assert running.publisher.status()["events_sent"] == 0
            running.may_connect.clear()
            broker.stop()
            rules = broker.directory / "acl"
            rules.write_text(closed.replace("+/status", "#"))
            broker.start()
            with reader(broker) as alice:
                running.may_connect.set()
                await until(lambda: alice.has(running.last_seq))

            assert alice.seqs == list(range(1, running.last_seq + 1))
