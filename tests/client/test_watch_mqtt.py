"""``shelfd watch --mqtt`` at brokers that follow a script, and at real ones."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from client.fake_broker import V5, V311, FakeBroker, Visit, message
from client.fake_daemon import FakeDaemon
from client.in_process import Ended, shelfd
from mosquitto import USERS, mosquitto
from shelfd.gateway.mqtt.embedded import EmbeddedBroker

REFUSES_V5, REFUSES_USER = Visit(connack=1), Visit(connack=135)
WAIT_S = 60.0


def watched(broker: FakeBroker, *arguments: str, user: str = "") -> Ended:
    url = broker.url.replace("//", f"//{user}@") if user else broker.url
    return shelfd("watch", "--mqtt-url", url, *arguments)


def warnings(done: Ended) -> list[str]:
    """What was said of what went wrong, without ending it."""
    return [json.loads(line)["warning"] for line in done.stderr.splitlines()]


def seqs(done: Ended) -> list[int]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["seq"] for line in done.stdout.splitlines()]


# ------------------------------------------------------------------ what is shown


def test_events_are_shown_as_by_the_socket() -> None:
    with FakeBroker(Visit([message(5), message(6)])) as broker:
        done = watched(broker, "--count", "2")
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["2026-01-31", "10:00:00+01:00", "5", "note.created", "note-memory-1", "kettle"],
        ["2026-01-31", "10:00:00+01:00", "6", "note.created", "note-memory-1", "kettle"],
    ]
    assert (done.returncode, done.stderr) == (0, "")


def test_json_is_the_event_as_it_came() -> None:
    topic, payload, _ = message(5)
    with FakeBroker(Visit([(topic, payload, False)])) as broker:
        [line] = watched(broker, "--count", "1", "--json").stdout.splitlines()
    assert json.loads(line) == json.loads(payload)


@pytest.mark.parametrize(
    ("arguments", "filters"),
    [
        ((), ["shelfd/v1/+/ev/default/+/+"]),
        (("--shelf", "team"), ["shelfd/v1/+/ev/team/+/+"]),
        (
            ("--nugget", "Pröject"),
            ["shelfd/v1/+/ev/default/pröject/+", "shelfd/v1/+/ev/default/_/events.gap"],
        ),
        (
            ("--types", "note.created,link.added"),
            [
                "shelfd/v1/+/ev/default/+/note.created",
                "shelfd/v1/+/ev/default/+/link.added",
                "shelfd/v1/+/ev/default/_/events.gap",
            ],
        ),
        (("--types", "note.*,link.added"), ["shelfd/v1/+/ev/default/+/+"]),
    ],
)
def test_what_is_subscribed_to(arguments: tuple[str, ...], filters: list[str]) -> None:
    with FakeBroker(Visit()) as broker:
        process = subprocess.Popen(
            [sys.executable, "-m", "shelfd.client", "watch", "--mqtt-url", broker.url, *arguments],
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        assert b"connection lost" in process.stderr.readline()
        process.kill()
        process.communicate(timeout=WAIT_S)
    assert broker.seen[0].filters == filters


def test_what_was_not_asked_for_is_not_shown() -> None:
    messages = [
        message(1, shelf="work"),
        message(2, nugget="other"),
        message(3, "link.added", nugget="home"),
        message(4, nugget="home", retained=True),
        ("shelfd/v1/local/status", b"{}", True),
        message(5, nugget="home"),
    ]
    with FakeBroker(Visit(messages)) as broker:
        done = watched(broker, "--types", "note.*", "--nugget", "Home", "--count", "1", "--json")
    assert seqs(done) == [5]


def test_what_is_no_event_is_passed_over() -> None:
    topic = message(1)[0]
    bad: list[Any] = [b"{", b"[]", b"{}", b"\xff", b'{"seq": 1, "type": 2, "time": "", "subject": ""}']
    with FakeBroker(Visit([*((topic, payload, False) for payload in bad), message(2)])) as broker:
        done = watched(broker, "--count", "1", "--json")
    assert seqs(done) == [2]
    assert warnings(done) == ["something came that is no event of shelfd"] * len(bad)


def test_control_characters_do_not_reach_the_terminal() -> None:
    nasty = message(1, subject="a\x1b[2J", time="2026-01-31T\x1b]0;xx")
    with FakeBroker(Visit([nasty])) as broker:
        done = watched(broker, "--count", "1")
    assert "\x1b" not in done.stdout


# ------------------------------------------------------------------ connections


def test_mqtt_5_is_tried_first_and_3_1_1_is_enough() -> None:
    with FakeBroker(REFUSES_V5, Visit([message(5)])) as broker:
        assert seqs(watched(broker, "--count", "1", "--json")) == [5]
    assert [one.level for one in broker.seen] == [V5, V311]


def test_mqtt_5_is_kept_where_it_is_spoken() -> None:
    with FakeBroker(Visit([message(5)])) as broker:
        assert seqs(watched(broker, "--count", "1", "--json")) == [5]
    assert [one.level for one in broker.seen] == [V5]


def test_a_lost_connection_is_taken_up_again_and_a_gap_is_reported() -> None:
    with FakeBroker(Visit([message(5)]), Visit(connack=136), Visit([message(6), message(9)])) as broker:
        done = watched(broker, "--count", "3", "--json")
    assert seqs(done) == [5, 6, 9]
    assert warnings(done) == [
        "connection lost; waiting for the broker",
        "events 7 to 8 are missing; read them with: shelfd log --since 6",
    ]


def test_what_cannot_be_delivered_is_reported_once() -> None:
    gap = {"type": "shelfd.events.gap.v1", "data": {"from_seq": 6, "to_seq": 8, "reason": "too_large\x1b"}}
    topic = "shelfd/v1/local/ev/default/_/events.gap"
    told = [(topic, json.dumps(gap).encode(), False), (topic, b"[]", False)]
    with FakeBroker(Visit([message(5), *told, message(9)])) as broker:
        done = watched(broker, "--count", "2", "--json")
    assert seqs(done) == [5, 9]
    assert warnings(done) == ["events 6 to 8 are missing: too_large\N{REPLACEMENT CHARACTER}"]


def test_with_a_filter_a_hole_is_no_gap() -> None:
    with FakeBroker(Visit([message(5), message(9)])) as broker:
        done = watched(broker, "--count", "2", "--json", "--types", "note.created")
    assert (seqs(done), done.stderr) == ([5, 9], "")


def test_the_password_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("käse\n")
    with FakeBroker(Visit([message(5)])) as broker:
        done = watched(broker, "--count", "1", "--json", "--password-file", str(tmp_path / "secret"), user="me")
    assert seqs(done) == [5]
    assert (broker.seen[0].user, broker.seen[0].password) == ("me", "käse")


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize("script", [[REFUSES_USER], [REFUSES_V5, Visit(connack=5)], [REFUSES_V5, Visit(connack=4)]])
def test_a_broker_that_does_not_let_us_in_ends_it(script: list[Visit]) -> None:
    with FakeBroker(*script) as broker:
        done = watched(broker)
    assert (done.returncode, done.stdout) == (os.EX_NOPERM, "")
    assert "refuses this user or password" in done.stderr


def test_a_broker_that_does_not_let_us_read_ends_it() -> None:
    with FakeBroker(Visit(suback=128)) as broker:
        done = watched(broker)
    assert done.returncode == os.EX_NOPERM
    assert "does not let this user read" in done.stderr


def test_without_a_broker_it_does_not_wait_for_one() -> None:
    with FakeBroker() as broker:
        pass
    done = watched(broker)
    assert done.returncode == os.EX_TEMPFAIL
    assert f"127.0.0.1:{broker.port}" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--mqtt-url", "http://x"),
        ("--mqtt-url", "mqtt://x:port"),
        ("--mqtt-url", "mqtt://me:geheim@x"),
        ("--mqtt-url", "mqtt://"),
        ("--mqtt-url", "mqtt://me@x", "--password-file", "/nowhere/secret"),
        ("--mqtt-url", "mqtts://x", "--ca-file", "/nowhere/ca.pem"),
        ("--mqtt", "--since", "3"),
        ("--mqtt", "--password-file", "x"),
        ("--ca-file", "x"),
        ("--mqtt", "a standing query"),
    ],
)
def test_wrong_usage_is_reported(arguments: tuple[str, ...]) -> None:
    done = shelfd("watch", *arguments)
    assert done.returncode == os.EX_USAGE
    assert done.stderr.startswith("shelfd: ")
    assert "geheim" not in done.stderr


# ------------------------------------------------------------------ asking the daemon


def health(**mqtt: Any) -> dict[str, Any]:
    return {"system.health": {"mqtt": mqtt or None}, "system.version": {"instance": "kitchen"}}


def test_the_daemon_says_where_its_broker_is(tmp_path: Path) -> None:
    (tmp_path / "agent.password").write_text("secret\n")
    topic, payload, _ = message(5)
    visit = Visit([(topic.replace("local", "kitchen"), payload, False)])
    with FakeBroker(visit, visit) as broker:
        told = health(url=broker.url, embedded=True, agent_password_file=str(tmp_path / "agent.password"))
        with FakeDaemon(tmp_path / "s.sock", told) as daemon:
            done = shelfd("watch", "--mqtt", "--count", "2", "--json", "--socket", str(daemon.path))
    assert seqs(done) == [5, 5]
    assert [(one.user, one.password, one.filters) for one in broker.seen] == [
        ("agent", "secret", ["shelfd/v1/kitchen/ev/default/+/+"])
    ] * 2
    assert [name for name, _ in daemon.asked].count("system.health") == 2, "it may have moved"


@pytest.mark.parametrize(
    ("mqtt", "said"),
    [
        ({}, "--embedded-broker"),
        ({"state": "connected", "embedded": False}, "names its broker to administrators only"),
        ({"url": "mqtt://shelfd@broker.example", "embedded": False}, "mqtt://USER@broker.example:1883"),
        ({"url": "mqtt://127.0.0.1:1", "agent_password_file": "/nowhere/x"}, "/nowhere/x"),
    ],
)
def test_what_the_daemon_does_not_know_must_be_given(tmp_path: Path, mqtt: dict[str, Any], said: str) -> None:
    with FakeDaemon(tmp_path / "s.sock", health(**mqtt)) as daemon:
        done = shelfd("watch", "--mqtt", "--socket", str(daemon.path))
    assert done.returncode == os.EX_USAGE
    assert said in done.stderr


def test_without_a_daemon_it_says_how_to_start_one(tmp_path: Path) -> None:
    assert shelfd("watch", "--mqtt", "--socket", str(tmp_path / "none")).returncode == os.EX_UNAVAILABLE


# ------------------------------------------------------------------ real brokers


async def shown(publish: Callable[[str, bytes], Awaitable[None]], *arguments: str) -> list[int]:
    """Run the command while events are published, until it has seen two."""
    command = [sys.executable, "-m", "shelfd.client", "watch", "--count", "2", "--json", *arguments]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    ended = asyncio.create_task(process.communicate())
    async with asyncio.timeout(WAIT_S):
        while not ended.done():
            topic, payload, _ = message(5)
            await publish(topic, payload)
            await asyncio.wait([ended], timeout=0.05)
    out, complaints = ended.result()
    assert (process.returncode, complaints) == (0, b"")
    return [json.loads(line)["seq"] for line in out.splitlines()]


async def test_at_the_embedded_broker(tmp_path: Path) -> None:
    broker = EmbeddedBroker(tmp_path / "broker", may_read=lambda _principal, _shelf: True, port=0)
    await broker.start()
    told = health(
        url=broker.url("agent"), embedded=True, agent_password_file=str(broker.agent_password_file)
    ) | {"system.version": {"instance": "local"}}  # fmt: skip
    try:
        host, port = broker.url().rpartition("@")[2].split(":")
        password = broker.password_file.read_text().strip()
        with FakeDaemon(tmp_path / "s.sock", told) as daemon:
            async with aiomqtt.Client(host, int(port), username="shelfd", password=password) as publisher:
                found = await shown(lambda t, p: publisher.publish(t, p, qos=1), "--mqtt", "--socket", str(daemon.path))
    finally:
        await broker.stop()
    assert found == [5, 5]


@pytest.mark.component("mosquitto")
async def test_at_mosquitto(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(USERS["alice"])
    (tmp_path / "secret").chmod(0o600)
    with mosquitto(tmp_path / "broker") as broker:
        options = ("--mqtt-url", f"mqtt://alice@127.0.0.1:{broker.port}", "--password-file", str(tmp_path / "secret"))
        async with aiomqtt.Client("127.0.0.1", broker.port, username="shelfd", password=USERS["shelfd"]) as publisher:
            assert await shown(lambda t, p: publisher.publish(t, p, qos=1), *options) == [5, 5]
        assert "p5" in (broker.directory / "mosquitto.log").read_text()
