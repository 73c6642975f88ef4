"""Requests over a real broker: both protocol versions, and everything that can go wrong in between."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes import until
from gateway.fakes import SOON, FakeService
from gateway.mqtt.requesting import (
    TOPICS,
    caller,
    remembered,
    request_topic,
    retained,
    station,
    watched,
)
from mosquitto import Mosquitto, mosquitto
from shelfd.gateway.mqtt.inbox import UNREAD_COUNT
from shelfd.gateway.mqtt.requests import AT_WORK_COUNT
from shelfd.gateway.mqtt.status import Ignored
from shelfd.storage import SqliteStores

pytestmark = pytest.mark.component("mosquitto")
TESTS = Path(__file__).parents[2]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path / "broker") as running:
        yield running


@contextmanager
def doomed(broker: Mosquitto, data: Path, moment: str) -> Iterator["subprocess.Popen[str]"]:
    """Run ``dying.py``; it is dead when the block ends."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    command = [sys.executable, str(Path(__file__).with_name("dying.py")), broker.url, str(data), moment]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


async def until_connected(process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    while (line := await asyncio.to_thread(process.stdout.readline)) and line != "connected\n":
        pass
    assert line


@pytest.mark.parametrize("is_v5", [True, False], ids=["5", "3.1.1"])
async def test_remember_and_recall(broker: Mosquitto, is_v5: bool) -> None:
    async with station(broker) as daemon, caller(broker, is_v5=is_v5) as alice:
        assert daemon.session.status()["protocol"] == "5"
        made = await alice.call("remember", 1, content="The kettle is in the pantry")
        assert made["result"]["status"] == "created"
        found = await alice.call("recall", "two", query="kettle")
        assert found["id"] == "two"
        assert found["result"]["results"][0]["note"]["id"] == made["result"]["note"]["id"]
        assert [correlation for _, correlation in alice.replies] == [b"c" if is_v5 else None] * 2
        (row, *_) = daemon.api.shelf().view.log.page(since_seq=0, limit=10)
        assert row.origin.principal == "mqtt:alice"


async def test_by_3_1_1_correlation_is_in_the_body(broker: Mosquitto) -> None:
    async with station(broker), caller(broker, is_v5=False) as alice:
        await alice.send("recall", {"params": {"query": "q"}, "reply_to": alice.reply_topic, "correlation": "42"})
        await until(lambda: len(alice.replies) == 1)
        assert (alice.replies[0][0]["correlation"], alice.replies[0][0]["id"]) == ("42", None)


async def test_bad_input_is_answered_or_counted(broker: Mosquitto) -> None:
    async with station(broker) as daemon, caller(broker) as alice:
        for body in (b"{", b"[]", {"id": 1, "method": "forget"}):
            await alice.send("recall", body, reply_to=alice.reply_topic)
        await until(lambda: len(alice.replies) == 3)
        assert [reply["error"]["code"] for reply, _ in alice.replies] == [-32700, -32600, -32600]
        read = {"id": 1, "params": {"query": "q"}}
        await alice.send("recall", read, reply_to=TOPICS.reply_prefix("bob") + "x")
        await alice.send("recall", read)
        await alice.send("recall", {**read, "exp": "2020-01-01T00:00:00Z"}, reply_to=alice.reply_topic)
        await alice.send("recall", read, reply_to=alice.reply_topic, retain=True)  # retained, although it is live
        requests = daemon.requests.counts
        await until(lambda: requests.received == 7)
        await until(lambda: requests.ignored[Ignored.RETAINED] == 1)
        assert len(alice.replies) == 3
        daemon.cut()  # on the next connection the broker sends what it retains
        await daemon.reaches("down")
        await until(lambda: requests.ignored[Ignored.RETAINED] == 2)
        await daemon.reaches("connected")
        ignored = daemon.session.status()["requests"]["ignored"]
        assert ignored == {
            "retained": 2, "expired": 1, "bad_topic": 0, "foreign_response_topic": 1, "read_without_reply": 1,
        }  # fmt: skip
        assert daemon.session.status()["requests"]["refused"] == {
            "ParseError": 1,
            "NOT_AN_OBJECT": 1,
            "WRONG_METHOD": 1,
        }
        assert (await alice.call("recall", query="q"))["result"]["results"] == []


async def test_a_forged_user_is_stopped_by_the_broker(broker: Mosquitto) -> None:
    async with station(broker) as daemon, caller(broker, "bob") as bob:
        await bob.client.publish(request_topic("alice", "remember"), b'{"params": {"content": "forged"}}', qos=1)
        assert "result" in await bob.call("remember", content="own")
        assert await remembered(daemon.api) == ["own"]


async def test_changes_are_made_in_order_of_arrival(broker: Mosquitto) -> None:
    async with station(broker) as daemon, caller(broker) as alice:
        for number in range(200):
            await alice.send("remember", {"id": number, "params": {"content": str(number)}})
        await alice.call("recall", query="x")
        assert await remembered(daemon.api) == [str(number) for number in range(200)]


async def test_what_is_not_committed_when_the_link_dies_comes_again(broker: Mosquitto) -> None:
    service = FakeService()
    async with station(broker, service=service) as daemon, caller(broker) as alice:
        held = service.hold_started("tea")
        await alice.send("remember", {"id": 1, "params": {"content": "tea"}}, reply_to=alice.reply_topic)
        await held.reached()
        daemon.cut()
        await daemon.reaches("down")
        await until(lambda: len(service.calls) == 2)
        held.release()
        await until(lambda: len(alice.replies) == 2)
        await until(lambda: not daemon.requests.at_work)
        await daemon.reaches("connected")  # requests come as soon as it is, before that is reported
        # Acknowledged now: another connection brings nothing.
        daemon.cut()
        await daemon.reaches("down")
        await daemon.reaches("connected")
        await alice.call("recall", query="q")
        assert [call.method.name for call in service.calls] == ["remember", "remember", "recall"]


async def test_a_slow_read_of_one_user_does_not_hold_up_the_changes_of_another(broker: Mosquitto) -> None:
    count = 600
    service = FakeService()
    async with (
        station(broker, service=service) as daemon,
        caller(broker, "alice") as alice,
        caller(broker, "bob") as bob,
    ):
        held = service.hold("slow")
        await alice.send("recall", {"id": 1, "params": {"query": "slow"}}, reply_to=alice.reply_topic)
        await held.reached()
        # More than the broker sends before the first of them is acknowledged.
        for number in range(count):
            await bob.send("remember", {"id": number, "params": {"content": str(number)}}, reply_to=bob.reply_topic)
        await until(lambda: len(bob.replies) == count)
        assert daemon.requests.at_work == 1
        held.release()
        await until(lambda: len(alice.replies) == 1)


async def test_a_redelivery_makes_one_note(broker: Mosquitto, monkeypatch: pytest.MonkeyPatch) -> None:
    async with station(broker) as daemon, caller(broker) as alice:
        monkeypatch.setattr(daemon.link, "acknowledge", lambda _: None)  # of this connection only
        first = await alice.call("remember", 1, content="tea")
        daemon.cut()
        await until(lambda: len(alice.replies) == 2)
        assert alice.replies[1][0]["result"]["replayed"] is True
        assert alice.replies[1][0]["result"]["note"]["id"] == first["result"]["note"]["id"]
        assert await remembered(daemon.api) == ["tea"]


async def test_a_redelivery_after_kill_9_makes_one_note(broker: Mosquitto, tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with caller(broker) as alice:
        with doomed(broker, data, "commit") as process:
            await until_connected(process)
            await alice.send("remember", {"id": 1, "params": {"content": "tea"}}, reply_to=alice.reply_topic)
            assert await asyncio.to_thread(process.wait, 20) == -9
        async with station(broker, stores=lambda clock: SqliteStores(data, clock)) as daemon:
            # The first reply may have gone out in time, and may still be on its way.
            await until(lambda: any(reply["result"].get("replayed") for reply, *_ in alice.replies))
            assert await remembered(daemon.api) == ["tea"]


async def test_killed_with_9_the_status_becomes_offline(broker: Mosquitto, tmp_path: Path) -> None:
    with doomed(broker, tmp_path / "data", "later") as process:
        await until_connected(process)
        assert (await retained(broker, TOPICS.status))["state"] == "online"
        assert (await retained(broker, TOPICS.health))["status"] == "ok"
        process.kill()
        offline = await watched(broker, TOPICS.status, lambda status: status["state"] == "offline")
        assert offline["reason"] == "connection lost"
    assert (await retained(broker, TOPICS.status))["state"] == "offline"


async def test_ended_politely_the_status_is_offline_at_once(broker: Mosquitto) -> None:
    async with station(broker) as daemon:
        assert (await retained(broker, TOPICS.status))["state"] == "online"
        await daemon.session.stop()
        status = await retained(broker, TOPICS.status)
        assert status["state"] == "offline"
        assert "at" in status


async def test_a_broker_that_vanishes_and_returns_loses_nothing(broker: Mosquitto) -> None:
    count = 120
    async with station(broker) as daemon:
        answered: set[int] = set()
        for attempt in range(2):
            async with caller(broker) as alice:
                # A client asks again what was not answered, under the same id.
                for number in sorted(set(range(count)) - answered):
                    body = {"id": number, "params": {"content": f"note {number}"}}
                    await alice.send("remember", body, reply_to=alice.reply_topic)
                    if attempt == 0 and number == count // 2:
                        await until(lambda: len(alice.replies) > 0)
                        broker.kill()
                        break
                if attempt == 1:
                    await until(lambda: answered | {reply["id"] for reply, _ in alice.replies} == set(range(count)))  # noqa: B023
                answered |= {reply["id"] for reply, _ in alice.replies}
                if attempt == 0:
                    await daemon.reaches("down")
                    break_off = alice.client._disconnected
                    await asyncio.wait([break_off])
                    break_off.exception()
            if attempt == 0:
                broker.start()
                await daemon.reaches("connected")
        assert sorted(await remembered(daemon.api)) == sorted(f"note {number}" for number in range(count))


async def test_a_wrong_password_is_said_and_nothing_else_suffers(broker: Mosquitto) -> None:
    async with station(broker, is_open=False, password="wrong") as daemon:
        await daemon.open("refused")
        assert daemon.session.status()["reason"] == "BAD_CREDENTIALS"
        assert "wrong" not in str(daemon.session.status())
        await daemon.api.remember("the rest goes on")


async def test_an_acl_that_refuses_us_is_said(tmp_path: Path) -> None:
    with mosquitto(tmp_path / "broker", acl="user alice\ntopic readwrite #\n") as strict:
        async with station(strict, is_open=False) as daemon:
            await daemon.open("refused")
            assert daemon.session.status()["reason"] == "NOT_AUTHORIZED"


async def test_no_broker_at_all_is_said(broker: Mosquitto) -> None:
    broker.stop()
    async with station(broker, is_open=False) as daemon:
        await daemon.open("down")
        assert daemon.session.status()["reason"] == "UNREACHABLE"
        broker.start()
        await daemon.reaches("connected")


async def test_another_daemon_under_the_same_name_is_said(broker: Mosquitto) -> None:
    async with station(broker, chance=lambda: 1.0) as first, station(broker, chance=lambda: 1.0):
        await first.reaches("down")
        # Older brokers do not say why.
        assert first.session.status()["reason"] in ("SESSION_TAKEN_OVER", "CONNECTION_LOST")


async def test_two_share_the_requests_under_a_secret_name(broker: Mosquitto) -> None:
    async with station(broker, share_group="s3cret") as daemon, caller(broker) as alice:
        assert "result" in await alice.call("remember", content="tea")
        assert await remembered(daemon.api) == ["tea"]


async def test_five_thousand_requests_wait_for_the_daemon(tmp_path: Path) -> None:
    count = 5000
    # Writing down each of them is what takes a broker long.
    with mosquitto(tmp_path / "broker", extra="autosave_on_changes false\nautosave_interval 3600\n") as broker:
        async with station(broker):
            pass  # from now on the broker keeps what comes for us
        async with caller(broker) as alice:
            for start in range(0, count, 500):
                await asyncio.gather(
                    *(
                        alice.send("remember", {"id": number, "params": {"content": f"note {number}"}})
                        for number in range(start, start + 500)
                    )
                )
        most = 0
        async with station(broker) as daemon:
            async with asyncio.timeout(SOON):
                while daemon.requests.counts.received < count or daemon.requests.at_work:
                    most = max(most, daemon.requests.at_work + len(daemon.link._inbox._unread))
                    await asyncio.sleep(0.005)
            assert (await daemon.api.call("get_stats"))["total_notes"] == count
            assert most <= UNREAD_COUNT + AT_WORK_COUNT + 16  # mosquitto 2.0 sends more than was agreed
