"""The session: announced, followed, kept up with patience, and ended politely."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from fakes import FakeClock, until
from gateway.fakes import FakeService, FakeSystem
from gateway.mqtt.requesting import SOON_DELTA, TOPICS, FakeBroker, FakeLink, announcer
from shelfd.gateway import Dispatcher
from shelfd.gateway.mqtt.link import MqttLink, Trouble
from shelfd.gateway.mqtt.requests import Requests
from shelfd.gateway.mqtt.session import BrokerSession
from shelfd.protocol import Limits

MOMENT = timedelta(milliseconds=1)


class Watcher:
    """Notes which links it was given."""

    def __init__(self) -> None:
        self.seen: list[MqttLink | None] = []

    def attached(self, link: MqttLink) -> None:
        self.seen.append(link)

    def detached(self) -> None:
        self.seen.append(None)


class Stage:
    """A session whose broker and clock a test plays."""

    def __init__(self, *outcomes: FakeLink | Trouble, **options: Any) -> None:
        self.clock = FakeClock(stands_still=True)
        self.broker = FakeBroker(*outcomes)
        self.service = FakeService()
        self.watcher = Watcher()
        self.dispatcher = Dispatcher(self.service, FakeSystem(), clock=self.clock, limits=Limits())
        self.requests = Requests(self.dispatcher, TOPICS, self.clock)
        self.session = BrokerSession(
            self.broker,
            self.requests,
            TOPICS,
            self.clock,
            announcer(self.clock),
            followers=[self.watcher],
            **{"chance": lambda: 1.0, **options},
        )

    @property
    def state(self) -> str:
        return str(self.session.status()["state"])

    async def reaches(self, state: str) -> None:
        await until(lambda: self.state == state)

    async def attempts(self, count: int) -> None:
        await until(lambda: self.broker.attempts == count)
        for _ in range(10):
            await asyncio.sleep(0)

    async def waits(self, seconds: float, *, attempts: int) -> None:
        """Check that the next attempt comes after exactly *seconds*."""
        self.clock.advance(timedelta(seconds=seconds) - MOMENT)
        await self.attempts(attempts - 1)
        self.clock.advance(MOMENT)
        await self.attempts(attempts)


@asynccontextmanager
async def stage(*outcomes: FakeLink | Trouble, **options: Any) -> AsyncIterator[Stage]:
    on = Stage(*outcomes, **options)
    on.session.start()
    try:
        yield on
    finally:
        on.service.release_all()
        await on.session.stop()


async def test_it_subscribes_and_announces_itself() -> None:
    link = FakeLink()
    async with stage(link) as on:
        await on.reaches("connected")
        await until(lambda: len(link.sent) == 2)
        assert link.filters == ["shelfd/v1/here/req/#"]
        birth, health = link.sent
        assert (birth.topic, birth.qos, birth.is_retained) == (TOPICS.status, 1, True)
        at = "2026-01-01T00:00:00Z"
        assert birth.json == {"state": "online", "instance": "here", "version": "1.2.3", "boot": "b1", "at": at}
        assert (health.topic, health.qos, health.is_retained, health.expiry_s) == (TOPICS.health, 0, True, 180)
        assert health.json == {"at": at, "status": "ok"}
        (will,) = on.broker.wills
        assert (will.topic, will.delay_s) == (TOPICS.status, 5)
        assert b'"state":"offline"' in will.payload


async def test_health_is_published_every_minute() -> None:
    link = FakeLink()
    async with stage(link) as on:
        await on.reaches("connected")
        for count in range(1, 4):
            await until(lambda count=count: [s.topic for s in link.sent].count(TOPICS.health) == count)  # type: ignore[misc]
            on.clock.advance(timedelta(seconds=60))


async def test_several_daemons_share_under_a_secret_name() -> None:
    link = FakeLink()
    async with stage(link, share_group="s3cret") as on:
        await on.reaches("connected")
        assert link.filters == ["$share/s3cret/shelfd/v1/here/req/#"]
        assert "s3cret" not in str(on.session.status())


async def test_requests_are_answered_on_the_link() -> None:
    link = FakeLink()
    async with stage(link) as on:
        link.ask("alice", "recall", 1, query="q")  # was waiting for us
        await until(lambda: len(link.replies()) == 1)
        assert link.acknowledged == [1]
        assert on.session.status()["requests"]["received"] == 1


async def test_followers_are_notified_of_every_link() -> None:
    first, second = FakeLink(), FakeLink()
    async with stage(first, second) as on:
        await on.reaches("connected")
        first.lose()
        await on.reaches("down")
        assert on.watcher.seen == [first, None]
        on.clock.advance(timedelta(seconds=1))
        await on.reaches("connected")
        assert on.watcher.seen == [first, None, second]
    assert on.watcher.seen == [first, None, second, None]


async def test_attempts_are_spread_over_longer_and_longer_times() -> None:
    async with stage() as on:
        await on.attempts(1)
        for number, seconds in enumerate([0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60], start=2):
            await on.waits(seconds, attempts=number)


async def test_the_spread_is_full() -> None:
    async with stage(chance=lambda: 0.25) as on:
        await on.attempts(1)
        await on.waits(0.125, attempts=2)
        await on.waits(0.25, attempts=3)


async def test_only_a_connection_that_lasted_makes_it_eager_again() -> None:
    short, long = FakeLink(), FakeLink()
    async with stage(Trouble.UNREACHABLE, short, long) as on:
        await on.attempts(1)
        on.clock.advance(timedelta(seconds=0.5))
        await on.reaches("connected")
        on.clock.advance(timedelta(seconds=29))
        short.lose()
        await on.reaches("down")
        await on.waits(1, attempts=3)
        await on.reaches("connected")
        on.clock.advance(timedelta(seconds=30))
        long.lose()
        await on.reaches("down")
        await on.waits(0.5, attempts=4)


@pytest.mark.parametrize("trouble", [Trouble.BAD_CREDENTIALS, Trouble.NOT_AUTHORIZED])
async def test_a_refusal_is_not_pressed(trouble: Trouble) -> None:
    async with stage(trouble, trouble) as on:
        await on.reaches("refused")
        status = on.session.status()
        assert (status["reason"], status["message"], status["protocol"]) == (str(trouble), "not there", None)
        await on.waits(60, attempts=2)
        await on.waits(60, attempts=3)


@pytest.mark.parametrize("topic", ["req", "status"])
async def test_an_acl_that_refuses_us_is_a_refusal(topic: str) -> None:
    closed, opened = FakeLink(), FakeLink()
    closed.refuses = lambda asked: Trouble.NOT_AUTHORIZED if topic in asked else None
    async with stage(closed, opened) as on:
        await on.reaches("refused")
        assert on.session.status()["reason"] == "NOT_AUTHORIZED"
        assert on.watcher.seen == [None]
        on.clock.advance(timedelta(seconds=60))
        await on.reaches("connected")
        assert "reason" not in on.session.status()


async def test_a_change_of_state_is_logged_once() -> None:
    with capture_logs() as logs:
        async with stage(Trouble.UNREACHABLE, Trouble.TIMED_OUT, Trouble.UNREACHABLE, FakeLink()) as on:
            for number in range(1, 5):
                await on.attempts(number)
                on.clock.advance(timedelta(seconds=60))
            await on.reaches("connected")
    said = [(line["event"], line.get("reason")) for line in logs]
    assert said == [("broker.lost", "UNREACHABLE"), ("broker.connected", None)]


async def test_status_says_since_when() -> None:
    link = FakeLink()
    async with stage(link) as on:
        await on.reaches("connected")
        on.clock.advance(timedelta(hours=1))
        status = on.session.status()
        assert (status["since"], status["protocol"], status["url"]) == (
            "2026-01-01T00:00:00Z",
            "5",
            "mqtt://broker.example:1883",
        )
        link.lose(Trouble.TAKEN_OVER)
        await on.reaches("down")
        status = on.session.status()
        assert (status["since"], status["reason"]) == ("2026-01-01T01:00:00Z", "SESSION_TAKEN_OVER")


# ---------------------------------------------------------------------- the end


async def test_it_ends_with_a_farewell() -> None:
    link = FakeLink()
    async with stage(link) as on:
        await on.reaches("connected")
        await on.session.stop()
        assert link.said() == ["online", "draining", "offline"]
        assert on.broker.farewells == 1
        assert on.state == "off"
        await on.session.stop()
        assert link.said() == ["online", "draining", "offline"]


async def test_what_is_at_work_is_answered_first_and_nothing_new_is_taken() -> None:
    link = FakeLink()
    async with stage(link) as on:
        held = on.service.hold("tea")
        link.ask("alice", "remember", content="tea")
        await held.reached()
        draining = asyncio.get_running_loop().create_task(on.session.drain(SOON_DELTA))
        await until(lambda: "draining" in link.said())
        link.ask("alice", "remember", content="too late")
        held.release()
        await draining
        assert on.service.applied == ["tea"]
        assert link.acknowledged == [1]
        assert len(link.replies()) == 1
        assert on.watcher.seen == [link]  # a publisher may still use it
        await on.session.stop()
        assert link.said()[-1] == "offline"


async def test_what_does_not_end_in_time_stays_with_the_broker() -> None:
    link = FakeLink()
    async with stage(link) as on:
        held = on.service.hold("tea")
        link.ask("alice", "remember", content="tea")
        await held.reached()
        await on.session.stop(drain=timedelta(0))
        assert (link.acknowledged, link.replies()) == ([], [])
        assert link.said()[-1] == "offline"
        held.release()
        await until(lambda: not on.requests.at_work)
        assert on.service.applied == []


async def test_a_link_that_comes_while_draining_brings_no_requests() -> None:
    first, second = FakeLink(), FakeLink()
    second.ask("alice", "recall", query="q")
    async with stage(first, second) as on:
        await on.reaches("connected")
        first.lose()
        await on.reaches("down")
        await on.session.drain(SOON_DELTA)
        on.clock.advance(timedelta(seconds=1))
        await on.reaches("connected")
        assert on.service.begun == []
        assert second.said() == ["draining"]


@pytest.mark.parametrize("outcome", [Trouble.UNREACHABLE, Trouble.BAD_CREDENTIALS])
async def test_it_can_end_while_it_has_no_link(outcome: Trouble) -> None:
    async with stage(outcome) as on:
        await on.attempts(1)
        await on.session.stop()
        assert on.state == "off"


async def test_it_can_end_before_it_is_announced() -> None:
    link = FakeLink()
    link.holds = asyncio.Event()
    async with stage(link) as on:
        await until(lambda: link.said() == ["online"])
        stopping = asyncio.get_running_loop().create_task(on.session.stop())
        await until(lambda: "offline" in link.said())
        link.holds.set()
        await stopping
        assert on.broker.farewells == 1


async def test_it_can_end_without_having_begun() -> None:
    on = Stage()
    await on.session.stop()
    assert on.state == "off"
    assert on.broker.attempts == 0
