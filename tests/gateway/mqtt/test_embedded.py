"""The broker inside the daemon, spoken to by a real MQTT client."""

import asyncio
import io
import logging
import socket
import stat
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiomqtt
import pytest
import uvloop
from structlog.testing import capture_logs

from shelfd.gateway.mqtt import embedded
from shelfd.gateway.mqtt.embedded import EmbeddedBroker
from shelfd.gateway.mqtt.embedded_access import AGENT, DAEMON, covers, may
from shelfd.memory.errors import ConfigError

BASE = "shelfd/v1/local"
#: As a client tells the codes 1, 2 and 5 of MQTT 3.1.1.
BAD_PROTOCOL, BAD_IDENTIFIER, NOT_AUTHORIZED = 132, 133, 135
WAIT_S = 20


#: Shelves that user agent may read.
readable = frozenset({"default", "garden"})


def may_read(principal: str, shelf: str) -> bool:
    return principal == "mqtt:agent" and shelf in readable


def embedded_broker(directory: Path, **options: Any) -> EmbeddedBroker:
    return EmbeddedBroker(directory, may_read=may_read, **options)


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[EmbeddedBroker]:
    made = embedded_broker(tmp_path / "broker", port=0)
    await made.start()
    yield made
    await made.stop()


def address(broker: EmbeddedBroker) -> tuple[str, int]:
    host, _, port = broker.url().rpartition("@")[2].partition(":")
    return host, int(port)


def password(broker: EmbeddedBroker, user: str) -> str:
    file = broker.password_file if user == DAEMON else broker.agent_password_file
    return file.read_text().strip()


def client(broker: EmbeddedBroker, user: str, **options: Any) -> aiomqtt.Client:
    host, port = address(broker)
    given: dict[str, Any] = {
        "username": user, "password": password(broker, user), "protocol": aiomqtt.ProtocolVersion.V311,
        "socket_options": [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)], "timeout": WAIT_S,
    }  # fmt: skip
    return aiomqtt.Client(host, port, **{**given, **options})


async def received(of: aiomqtt.Client) -> tuple[str, Any]:
    async with asyncio.timeout(WAIT_S):
        message = await anext(aiter(of.messages))
    return str(message.topic), message.payload


async def refused(broker: EmbeddedBroker, user: str, **options: Any) -> int:
    """The code with which a connection is not accepted."""
    with pytest.raises(aiomqtt.MqttError) as caught:
        async with client(broker, user, **options):
            pass
    return number(getattr(caught.value, "rc", None))


def number(code: Any) -> int:
    return int(getattr(code, "value", code))


# ------------------------------------------------------------------ who gets in


async def test_requests_and_replies_go_through(broker: EmbeddedBroker) -> None:
    async with client(broker, DAEMON) as daemon, client(broker, AGENT) as agent:
        await daemon.subscribe(f"{BASE}/req/#", qos=1)
        await agent.subscribe(f"{BASE}/rep/agent/#", qos=1)
        await agent.publish(f"{BASE}/req/agent/recall", b"question", qos=1)
        assert await received(daemon) == (f"{BASE}/req/agent/recall", b"question")
        await daemon.publish(f"{BASE}/rep/agent/1", b"answer", qos=1)
        assert await received(agent) == (f"{BASE}/rep/agent/1", b"answer")


async def test_many_messages_keep_their_order(broker: EmbeddedBroker) -> None:
    async with client(broker, DAEMON) as daemon, client(broker, AGENT) as agent:
        await agent.subscribe(f"{BASE}/ev/#", qos=1)
        for number in range(300):
            await daemon.publish(f"{BASE}/ev/default/_/note.created", str(number), qos=1)
        assert [int((await received(agent))[1]) for _ in range(300)] == list(range(300))


async def test_a_wrong_password_a_stranger_and_nobody_are_refused(broker: EmbeddedBroker) -> None:
    assert await refused(broker, AGENT, password="wrong") == NOT_AUTHORIZED
    assert await refused(broker, AGENT, password=password(broker, DAEMON)) == NOT_AUTHORIZED
    assert await refused(broker, AGENT, username="bob") == NOT_AUTHORIZED
    assert await refused(broker, AGENT, username=None, password=None) == NOT_AUTHORIZED
    assert await refused(broker, AGENT, username=AGENT, password=None) == NOT_AUTHORIZED


async def test_mqtt_5_is_told_to_come_back_with_3_1_1(broker: EmbeddedBroker) -> None:
    assert await refused(broker, AGENT, protocol=aiomqtt.ProtocolVersion.V5) == BAD_PROTOCOL


async def test_bytes_that_are_no_mqtt_end_only_their_connection(broker: EmbeddedBroker) -> None:
    reader, writer = await asyncio.open_connection(*address(broker))
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    assert await asyncio.wait_for(reader.read(), WAIT_S) == b""
    writer.close()
    async with client(broker, AGENT):
        pass


async def test_who_says_nothing_is_sent_away(broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "GREETING_S", 0.01)
    reader, writer = await asyncio.open_connection(*address(broker))
    assert await asyncio.wait_for(reader.read(), WAIT_S) == b""
    writer.close()


async def test_connections_are_counted(broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "CONNECTIONS_COUNT", 1)
    async with client(broker, DAEMON):
        reader, writer = await asyncio.open_connection(*address(broker))
        assert await asyncio.wait_for(reader.read(), WAIT_S) == b""
        writer.close()


# ------------------------------------------------------------------ topics


async def test_an_agent_cannot_ask_for_another_or_speak_as_the_daemon(broker: EmbeddedBroker) -> None:
    async with client(broker, DAEMON) as daemon, client(broker, AGENT) as agent:
        await daemon.subscribe("shelfd/v1/#", qos=1)
        for topic in (f"{BASE}/req/bob/recall", f"{BASE}/ev/default/_/note.created", f"{BASE}/status", "else/where"):
            await agent.publish(topic, b"forbidden", qos=1)
        await agent.publish(f"{BASE}/req/agent/recall", b"allowed", qos=1)
        assert (await received(daemon))[1] == b"allowed"


async def test_an_agent_cannot_listen_to_requests_or_foreign_replies(broker: EmbeddedBroker) -> None:
    filters = [
        f"{BASE}/req/#",
        f"{BASE}/rep/#",
        f"{BASE}/rep/bob/#",
        "#",
        "shelfd/#",
        f"{BASE}/+/agent/#",
        f"{BASE}/ev/#",
    ]
    async with client(broker, DAEMON) as daemon, client(broker, AGENT) as agent:
        codes = await agent.subscribe([(one, 1) for one in filters])
        assert [number(code) for code in codes] == [128] * 6 + [1]
        await daemon.publish(f"{BASE}/req/agent/recall", b"secret", qos=1)
        await daemon.publish(f"{BASE}/rep/bob/1", b"secret", qos=1)
        await daemon.publish(f"{BASE}/ev/default/_/note.created", b"event", qos=1)
        assert (await received(agent))[1] == b"event"


async def test_an_agent_gets_events_of_the_shelves_it_may_read_alone(broker: EmbeddedBroker) -> None:
    async with client(broker, DAEMON) as daemon, client(broker, AGENT) as agent:
        await agent.subscribe([(f"{BASE}/ev/#", 1), (f"{BASE}/ev/secret/#", 1), (f"{BASE}/watch/+/w", 1)])
        for shelf in ("secret", "garden"):
            await daemon.publish(f"{BASE}/ev/{shelf}/_/note.created", b"event", qos=1)
            await daemon.publish(f"{BASE}/watch/{shelf}/w", b"match", qos=1)
        assert await received(agent) == (f"{BASE}/ev/garden/_/note.created", b"event")
        assert await received(agent) == (f"{BASE}/watch/garden/w", b"match")


async def test_a_retained_message_goes_to_a_new_subscription_of_the_client_s_own_alone(broker: EmbeddedBroker) -> None:
    async with client(broker, DAEMON) as daemon, client(broker, AGENT) as watcher:
        await daemon.publish(f"{BASE}/status", b"online", qos=1, retain=True)
        await watcher.subscribe(f"{BASE}/status", qos=1)
        assert await received(watcher) == (f"{BASE}/status", b"online")
        async with client(broker, AGENT) as caller:
            await caller.subscribe(f"{BASE}/rep/agent/#", qos=1)
            await daemon.publish(f"{BASE}/rep/agent/1", b"answer", qos=1)
            assert await received(caller) == (f"{BASE}/rep/agent/1", b"answer")
            await caller.subscribe(f"{BASE}/status", qos=1)
            assert await received(caller) == (f"{BASE}/status", b"online")


async def test_a_session_that_is_taken_up_again_gets_no_retained_message(broker: EmbeddedBroker) -> None:
    async with client(broker, DAEMON) as daemon:
        await daemon.publish(f"{BASE}/status", b"online", qos=1, retain=True)
        async with client(broker, AGENT, identifier="a", clean_session=False) as agent:
            await agent.subscribe(f"{BASE}/status", qos=1)
            assert (await received(agent))[1] == b"online"
        async with client(broker, AGENT, identifier="a", clean_session=False) as agent:
            await agent.subscribe(f"{BASE}/rep/agent/#", qos=1)
            await daemon.publish(f"{BASE}/rep/agent/1", b"answer", qos=1)
            assert await received(agent) == (f"{BASE}/rep/agent/1", b"answer")


@pytest.mark.parametrize("topic", [f"{BASE}/status", f"{BASE}/req/bob/recall", f"{BASE}/req/agent/+"])
async def test_a_will_is_held_to_the_same_rules(broker: EmbeddedBroker, topic: str) -> None:
    assert await refused(broker, AGENT, will=aiomqtt.Will(topic, b"offline", qos=1, retain=True)) == NOT_AUTHORIZED


async def test_the_daemon_s_will_is_delivered_and_retained(broker: EmbeddedBroker) -> None:
    async with client(broker, AGENT) as agent:
        await agent.subscribe(f"{BASE}/status", qos=1)
        will = aiomqtt.Will(f"{BASE}/status", b"offline", qos=1, retain=True)
        async with client(broker, DAEMON, will=will, identifier="d") as daemon:
            daemon._client._sock_close()  # as a killed process would
            assert await received(agent) == (f"{BASE}/status", b"offline")
            with pytest.raises(aiomqtt.MqttError):
                await daemon.publish("x")
        async with client(broker, AGENT) as late:
            await late.subscribe(f"{BASE}/status", qos=1)
            assert await received(late) == (f"{BASE}/status", b"offline")


async def test_a_client_id_is_its_user_s_own(broker: EmbeddedBroker) -> None:
    async with client(broker, DAEMON, identifier="same") as daemon, client(broker, AGENT, identifier="same") as agent:
        await daemon.subscribe(f"{BASE}/req/#", qos=1)
        await agent.publish(f"{BASE}/req/agent/recall", b"x", qos=1)
        assert (await received(daemon))[1] == b"x"
    assert await refused(broker, AGENT, identifier="x" * 257) == BAD_IDENTIFIER


async def test_a_session_keeps_what_came_while_its_client_was_away(broker: EmbeddedBroker) -> None:
    async with client(broker, DAEMON, identifier="d", clean_session=False) as daemon:
        await daemon.subscribe(f"{BASE}/req/#", qos=1)
    async with client(broker, AGENT) as agent:
        await agent.publish(f"{BASE}/req/agent/remember", b"kept", qos=1)
    async with client(broker, DAEMON, identifier="d", clean_session=False) as daemon:
        assert (await received(daemon))[1] == b"kept"


async def cut_off(broker: EmbeddedBroker, payload: bytes) -> None:
    """Publish, and be disconnected for it."""
    try:
        async with client(broker, AGENT) as agent:
            agent._client.publish(f"{BASE}/req/agent/remember", payload, qos=1)
            await anext(aiter(agent.messages))
    except aiomqtt.MqttError:
        return
    pytest.fail("a message came")


async def test_a_packet_over_the_limit_ends_the_connection_alone(broker: EmbeddedBroker) -> None:
    async with client(broker, DAEMON) as daemon:
        await daemon.subscribe(f"{BASE}/req/#", qos=1)
        async with asyncio.timeout(WAIT_S):
            await cut_off(broker, b"x" * 2_200_000)
        async with client(broker, AGENT) as agent:
            await agent.publish(f"{BASE}/req/agent/remember", b"small", qos=1)
        assert (await received(daemon))[1] == b"small"


@pytest.mark.parametrize(
    ("allowed", "wanted", "expected"),
    [
        ("a/#", "a/b/c", True),
        ("a/#", "a", True),
        ("a/#", "a/+/#", True),
        ("a/+/c", "a/b/c", True),
        ("a/+/c", "a/+/c", True),
        ("a/+", "a/#", False),
        ("a/b", "a/+", False),
        ("a/b", "#", False),
        ("a/+/c", "a/b", False),
        ("a/b", "a/b/c", False),
    ],
)
def test_a_filter_covers_another_or_not(allowed: str, wanted: str, expected: bool) -> None:
    assert covers(allowed, wanted) is expected


def test_nobody_may_do_anything() -> None:
    assert not may(None, "read", f"{BASE}/status")
    assert not may("bob", "write", f"{BASE}/req/bob/recall")


# ------------------------------------------------------------------ passwords


async def test_passwords_are_private_and_used_again(tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        broker = embedded_broker(tmp_path / "broker", port=0)
        await broker.start()
        found.append((password(broker, DAEMON), password(broker, AGENT)))
        await broker.stop()
    assert found[0] == found[1]
    assert len({*found[0]}) == 2
    assert min(len(one) for one in found[0]) >= 32
    assert stat.S_IMODE((tmp_path / "broker").stat().st_mode) == 0o700
    for file in (broker.password_file, broker.agent_password_file):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(path.name for path in (tmp_path / "broker").iterdir()) == ["agent.password", "shelfd.password"]


async def test_a_password_others_may_read_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "agent.password").write_text("known")
    (tmp_path / "agent.password").chmod(0o644)
    with pytest.raises(ConfigError, match="may be read by others"):
        await embedded_broker(tmp_path, port=0).start()


async def test_a_link_is_not_followed_and_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "agent.password").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="passwords"):
        await embedded_broker(tmp_path, port=0).start()
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="file"):
        await embedded_broker(tmp_path / "file", port=0).start()


# ------------------------------------------------------------------ start and stop


@contextmanager
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


async def test_a_taken_port_is_named_and_the_usual_one_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with taken() as port:
        with pytest.raises(ConfigError, match=f"127.0.0.1:{port}"):
            await embedded_broker(tmp_path, port=port).start()
        monkeypatch.setattr(embedded, "USUAL_PORT", port)
        broker = embedded_broker(tmp_path)
        await broker.start()
        assert address(broker)[1] != port
        await broker.stop()


def test_only_loopback(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"127\.0\.0\.1"):
        embedded_broker(tmp_path, host="0.0.0.0")


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amqtt", None)
    with pytest.raises(ConfigError, match=r"\[broker\]"):
        embedded_broker(tmp_path)


@asynccontextmanager
async def no_task_left() -> AsyncIterator[None]:
    before = asyncio.all_tasks()
    yield
    assert asyncio.all_tasks() <= before


async def stopped_while_connected(broker: EmbeddedBroker) -> None:
    try:
        async with client(broker, DAEMON) as daemon:
            await daemon.subscribe(f"{BASE}/req/#", qos=1)
            await broker.stop()
            await broker.stop()
            await anext(aiter(daemon.messages))
    except aiomqtt.MqttError:
        return
    pytest.fail("the connection outlived the broker")


async def use_and_stop(directory: Path) -> None:
    async with no_task_left():
        broker = embedded_broker(directory, port=0)
        await broker.start()
        host, port = address(broker)
        async with client(broker, AGENT, identifier="a"):
            pass
        idle = await asyncio.open_connection(host, port)
        await stopped_while_connected(broker)
        idle[1].close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(host, port)


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_it_stops_with_clients_connected_and_leaves_nothing(tmp_path: Path, run: Callable[..., None]) -> None:
    run(use_and_stop(tmp_path))


async def test_what_the_library_says_is_not_repeated(broker: EmbeddedBroker) -> None:
    heard = io.StringIO()
    root = logging.StreamHandler(heard)
    logging.getLogger().addHandler(root)
    with capture_logs() as logged:
        logging.getLogger("amqtt.mqtt").warning("payload: my secret")
        try:
            raise ValueError("my secret")
        except ValueError:
            logging.getLogger("amqtt.broker").exception("my secret")
    logging.getLogger().removeHandler(root)
    assert heard.getvalue() == ""
    assert "secret" not in str(logged)
    assert [entry["event"] for entry in logged] == ["broker.complained", "broker.failed"]
    assert logged[1]["error"] == "ValueError"
