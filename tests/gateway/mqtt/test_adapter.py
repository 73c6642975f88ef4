"""The adapter on a real broker: what the library does not do by itself, and what of its insides is relied on."""

import asyncio
import gc
import socket
import ssl
import subprocess
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from fakes import FakeClock, until
from gateway.fakes import SOON
from gateway.mqtt.requesting import TOPICS, caller, request_topic, station
from mosquitto import USERS, Mosquitto, free_port, mosquitto
from shelfd.gateway.mqtt import adapter, inbox, outgoing
from shelfd.gateway.mqtt.adapter import AiomqttBroker, AiomqttLink
from shelfd.gateway.mqtt.link import Address, Arrived, Trouble, Will, check_code, lost, not_let_in, tls_context
from shelfd.memory.errors import BrokerUnreachable

needs_mosquitto = pytest.mark.component("mosquitto")
WILL = Will(TOPICS.status, b'{"state":"offline"}', 0)
OWN = request_topic("me", "x")


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path / "broker") as running:
        yield running


def reach(url: str, clock: FakeClock | None = None, **options: Any) -> AiomqttBroker:
    options.setdefault("password", USERS["shelfd"])
    return AiomqttBroker(Address.parse(url), identifier="shelfd-here", clock=clock or FakeClock(), **options)


async def trouble_of(broker: AiomqttBroker) -> Trouble:
    """Return why no link comes about, and check that nothing is left of the attempt."""
    before = asyncio.all_tasks()
    with pytest.raises(BrokerUnreachable) as refused:
        async with asyncio.timeout(SOON), broker.connect(WILL):
            pass
    await until(lambda: asyncio.all_tasks() <= before)
    return Trouble(refused.value.data["reason"])


async def take(link: AiomqttLink, count: int) -> list[Arrived]:
    taken: list[Arrived] = []
    async with asyncio.timeout(SOON):
        async for message in link.messages():
            taken.append(message)
            if len(taken) == count:
                break
    return taken


# ---------------------------------------------------------------------- what is relied on


async def test_the_librarys_insides_are_where_they_are_looked_for() -> None:
    """If this fails, a new aiomqtt has moved what the adapter uses: look through adapter.py before anything else."""
    client = aiomqtt.Client("localhost", logger=adapter._silence)
    assert isinstance(client._disconnected, asyncio.Future)
    for name in (
        "_sock_recv", "_sock_send", "on_connect", "on_disconnect", "on_socket_open", "on_socket_register_write",
        "on_socket_unregister_write", "socket", "loop_read", "loop_write", "want_write",
    ):  # fmt: skip
        assert hasattr(client._client, name), name


# ---------------------------------------------------------------------- a link


@needs_mosquitto
@pytest.mark.parametrize("is_v5", [True, False], ids=["5", "3.1.1"])
async def test_messages_go_both_ways(broker: Mosquitto, is_v5: bool) -> None:
    clock = FakeClock()
    at = reach(broker.url, clock)
    at._v5_again_at = float("-inf") if is_v5 else float("inf")
    async with at.connect(WILL) as link:
        assert link.is_v5 is is_v5
        await link.subscribe([TOPICS.requests])
        await link.publish(OWN, b"\x00\xff", correlation=b"\x00c", content_type="application/json", expiry_s=100)
        (message,) = await take(link, 1)
        assert message[:4] == (OWN, b"\x00\xff", 1, False)
        assert message.correlation == (b"\x00c" if is_v5 else None)
        assert message.expires_at == (100 if is_v5 else None)
        link.acknowledge(message)
        await link.publish(OWN, b"again", qos=0)
        assert (await take(link, 1))[0].qos == 0


@needs_mosquitto
async def test_small_packets_are_not_held_back(broker: Mosquitto) -> None:
    async with reach(broker.url).connect(WILL) as link:
        sock: Any = link._paho.socket()
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@needs_mosquitto
@pytest.mark.parametrize("is_v5", [True, False], ids=["5", "3.1.1"])
async def test_what_is_not_acknowledged_comes_again(broker: Mosquitto, is_v5: bool) -> None:
    at = reach(broker.url)
    at._v5_again_at = float("-inf") if is_v5 else float("inf")
    async with at.connect(WILL) as link:
        await link.subscribe([TOPICS.requests])
        for number in range(10):
            await link.publish(OWN, str(number).encode())
        messages = await take(link, 10)
        for message in reversed(messages[:4]):  # in any order
            link.acknowledge(message)
        await link.publish(TOPICS.status, b"")  # when this has arrived, so have they
    async with at.connect(WILL) as link:
        assert [message.payload for message in await take(link, 6)] == [b"4", b"5", b"6", b"7", b"8", b"9"]


@needs_mosquitto
async def test_a_message_that_the_broker_refuses_is_reported_and_the_link_goes_on(broker: Mosquitto) -> None:
    async with reach(broker.url).connect(WILL) as link:
        with pytest.raises(BrokerUnreachable) as refused:
            await link.publish("elsewhere/x", b"x")
        assert refused.value.data["reason"] == Trouble.NOT_AUTHORIZED
        await link.publish(OWN, b"x")


@needs_mosquitto
async def test_a_message_that_is_too_large_for_the_broker_does_not_end_the_link(broker: Mosquitto) -> None:
    async with reach(broker.url).connect(WILL) as link:
        with pytest.raises(BrokerUnreachable) as refused:
            await link.publish(OWN, b"x" * 2_097_152)
        assert refused.value.data["reason"] == Trouble.TOO_LARGE
        await link.publish(OWN, b"x" * 2_000_000)


@needs_mosquitto
async def test_many_at_once_arrive_in_order(broker: Mosquitto) -> None:
    async with reach(broker.url).connect(WILL) as link:
        await link.subscribe([TOPICS.requests])
        sending = asyncio.gather(*(link.publish(OWN, str(number).encode()) for number in range(500)))
        payloads: list[bytes] = []
        async with asyncio.timeout(SOON):
            async for message in link.messages():
                payloads.append(message.payload)
                link.acknowledge(message)
                if len(payloads) == 500:
                    break
        await sending
        assert payloads == [str(number).encode() for number in range(500)]


@needs_mosquitto
@pytest.mark.parametrize("bound", ["UNREAD_COUNT", "UNREAD_BYTES"])
async def test_what_is_not_taken_is_not_read(broker: Mosquitto, bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = {"UNREAD_COUNT": 20, "UNREAD_BYTES": 20_000}[bound]
    monkeypatch.setattr(inbox, bound, limit)
    async with reach(broker.url).connect(WILL) as link, caller(broker) as alice:
        await link.subscribe([TOPICS.requests])
        for number in range(200):
            await alice.client.publish(request_topic("alice", "x"), f"{number:1000}", qos=0)
        await until(lambda: link._inbox.is_held_back)
        assert len(link._inbox._unread) == 21
        messages = await take(link, 200)
        assert [int(message.payload) for message in messages] == list(range(200))
        assert not link._inbox.is_held_back


# ---------------------------------------------------------------------- its end


@needs_mosquitto
async def test_a_broker_that_dies_ends_everything_that_waits(broker: Mosquitto) -> None:
    async with reach(broker.url).connect(WILL) as link:
        broker.pause()
        waiting = [
            asyncio.create_task(coroutine)
            for coroutine in (link.publish(OWN, b"x"), link.subscribe([TOPICS.requests]), take(link, 1))
        ]
        await asyncio.sleep(0)
        broker.kill()
        for ended in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(ended, BrokerUnreachable)
            assert ended.data["reason"] == Trouble.LOST
        with pytest.raises(BrokerUnreachable):
            await link.publish(OWN, b"x")
        with pytest.raises(BrokerUnreachable):
            await link.publish(OWN, b"x", qos=0)
        link.acknowledge(Arrived(OWN, b"", 1, False, 1))


@needs_mosquitto
async def test_a_broker_that_hangs_is_noticed(broker: Mosquitto) -> None:
    async with reach(broker.url, keepalive=timedelta(seconds=1)).connect(WILL) as link:
        broker.pause()
        with pytest.raises(BrokerUnreachable):
            await take(link, 1)
        broker.resume()


@needs_mosquitto
async def test_an_answer_that_does_not_come_is_not_waited_for_forever(
    broker: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outgoing, "ANSWER_S", 0.1)
    async with reach(broker.url).connect(WILL) as link:
        broker.pause()
        with pytest.raises(BrokerUnreachable) as refused:
            await link.publish(OWN, b"x")
        assert refused.value.data["reason"] == Trouble.TIMED_OUT
        broker.resume()


@needs_mosquitto
async def test_an_answer_is_waited_for_while_others_come(broker: Mosquitto, monkeypatch: pytest.MonkeyPatch) -> None:
    async with reach(broker.url).connect(WILL) as link:
        monkeypatch.setattr(outgoing, "ANSWER_S", 0.1)
        monkeypatch.setattr(link._outgoing, "answered", lambda *_: None)  # the answer that does not come
        publishing = asyncio.create_task(link.publish(OWN, b"x"))
        for _ in range(40):
            link._outgoing.received()
            await asyncio.sleep(0.005)
        assert not publishing.done()
        with pytest.raises(BrokerUnreachable):
            await publishing


@needs_mosquitto
async def test_leaving_is_a_farewell_and_keeps_the_will_unsaid(broker: Mosquitto) -> None:
    async with caller(broker) as alice:
        await alice.client.subscribe(TOPICS.status, qos=1)
        async with reach(broker.url).connect(WILL) as link:
            await link.publish(TOPICS.status, b'{"state":"online"}')
        async with reach(broker.url).connect(WILL) as link:
            await link.publish(TOPICS.status, b'{"state":"online again"}')
        await until(lambda: len(alice.replies) == 2)
        assert [body["state"] for body, _ in alice.replies] == ["online", "online again"]


# ---------------------------------------------------------------------- no link


@needs_mosquitto
async def test_a_wrong_password(broker: Mosquitto) -> None:
    assert await trouble_of(reach(broker.url, password="wrong")) is Trouble.BAD_CREDENTIALS
    at = reach(broker.url, password="wrong")
    at._v5_again_at = float("inf")
    assert await trouble_of(at) is Trouble.BAD_CREDENTIALS


async def test_nobody_there() -> None:
    assert await trouble_of(reach(f"mqtt://127.0.0.1:{free_port()}")) is Trouble.UNREACHABLE
    assert await trouble_of(reach("mqtt://no-such-host.invalid")) is Trouble.UNREACHABLE


@asynccontextmanager
async def stand_in(answers: dict[int, bytes | None], pass_on_to: int | None = None) -> AsyncIterator[int]:
    """A broker that answers CONNECT by its protocol level: with bytes, by hanging up (b""), or never (None).

    What has no answer goes to the broker at *pass_on_to*.
    """
    serving: set[asyncio.Task[Any]] = set()
    writers: list[asyncio.StreamWriter] = []

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"MQTT") + await reader.readexactly(1)
        level = head[-1]
        if level not in answers:
            near, far = await asyncio.open_connection("127.0.0.1", pass_on_to)
            writers.append(far)
            far.write(head)
            await asyncio.gather(pump(reader, far), pump(near, writer))
            return
        if (said := answers[level]) is None:
            await reader.read()
        else:
            writer.write(said)
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        writers.append(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await answer(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        for writer in writers:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


@needs_mosquitto
@pytest.mark.parametrize(
    "answer", [b"\x20\x03\x00\x84\x00", b"\x20\x02\x00\x01", b""], ids=["code 132", "code 1", "hangs up"]
)
async def test_a_broker_without_mqtt_5_is_spoken_to_in_3_1_1(broker: Mosquitto, answer: bytes) -> None:
    clock = FakeClock()
    async with stand_in({5: answer}, broker.port) as port:
        at = reach(f"mqtt://shelfd@127.0.0.1:{port}", clock)
        async with at.connect(WILL) as link:
            assert not link.is_v5
            await link.publish(OWN, b"x", correlation=b"c")
    async with stand_in({5: None}, broker.port) as port:
        # It is not asked again each time, but after a while: this one would never answer.
        at._address = at._address._replace(port=port)
        async with at.connect(WILL) as link:
            assert not link.is_v5
    clock.advance(timedelta(hours=1))
    at._address = at._address._replace(port=broker.port)
    async with at.connect(WILL) as link:
        assert link.is_v5


@needs_mosquitto
async def test_requests_by_3_1_1_all_the_way(broker: Mosquitto) -> None:
    async with (
        stand_in({5: b"\x20\x03\x00\x84\x00"}, broker.port) as port,
        station(f"mqtt://shelfd@127.0.0.1:{port}") as daemon,
        caller(broker, is_v5=False) as alice,
    ):
        assert daemon.session.status()["protocol"] == "3.1.1"
        assert (await alice.call("remember", content="tea"))["result"]["status"] == "created"


async def test_a_broker_that_only_hangs_up() -> None:
    async with stand_in({5: b"", 4: b""}) as port:
        assert await trouble_of(reach(f"mqtt://127.0.0.1:{port}")) is Trouble.LOST


async def test_a_broker_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "ANSWER_S", 0.1)
    async with stand_in({5: None, 4: None}) as port:
        assert await trouble_of(reach(f"mqtt://127.0.0.1:{port}")) is Trouble.TIMED_OUT


async def test_connecting_can_be_given_up() -> None:
    before = asyncio.all_tasks()
    async with stand_in({5: None}) as port:

        async def connect() -> None:
            async with reach(f"mqtt://127.0.0.1:{port}").connect(WILL):
                pass

        for steps in (0, 1, 50):
            connecting = asyncio.create_task(connect())
            for _ in range(steps):
                await asyncio.sleep(0.001)
            connecting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await connecting
    await until(lambda: asyncio.all_tasks() <= before)


def test_reason_codes_say_what_to_do() -> None:
    assert lost(0x8E).data["reason"] == Trouble.TAKEN_OVER
    assert lost(None).data["reason"] == Trouble.LOST
    assert not_let_in(0x86, "x").data["reason"] == Trouble.BAD_CREDENTIALS
    assert not_let_in(0x88, "x").data["reason"] == Trouble.UNREACHABLE
    check_code(0x10)
    with pytest.raises(BrokerUnreachable) as refused:
        check_code(0x97)
    assert refused.value.data["reason"] == Trouble.REFUSED


# ---------------------------------------------------------------------- TLS


@pytest.fixture
def tls(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A broker that speaks TLS: its address, and the certificate that vouches for it."""
    key, certificate, port = tmp_path / "key.pem", tmp_path / "cert.pem", free_port()
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost",
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    extra = f"listener {port} 127.0.0.1\ncertfile {certificate}\nkeyfile {key}\n"
    with mosquitto(tmp_path / "broker", extra=extra):
        yield f"mqtts://shelfd@localhost:{port}", certificate


@needs_mosquitto
async def test_by_tls(tls: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    url, certificate = tls
    monkeypatch.setattr(inbox, "UNREAD_COUNT", 20)
    async with reach(url, tls=tls_context(str(certificate))).connect(WILL) as link:
        await link.subscribe([TOPICS.requests])
        sending = asyncio.gather(*(link.publish(OWN, str(number).encode(), qos=0) for number in range(200)))
        await until(lambda: link._inbox.is_held_back)
        assert [int(message.payload) for message in await take(link, 200)] == list(range(200))
        await sending


@needs_mosquitto
async def test_a_certificate_that_nobody_vouches_for(tls: tuple[str, Path]) -> None:
    assert await trouble_of(reach(tls[0], tls=tls_context())) is Trouble.TLS_FAILED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # paho leaves this socket to the collector
        gc.collect()


# ---------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("mqtt://broker", Address("broker", 1883)),
        ("mqtts://broker", Address("broker", 8883, True)),
        ("mqtt://me@broker:1884", Address("broker", 1884, user="me")),
        ("mqtt://[::1]:1884", Address("::1", 1884)),
    ],
)
def test_addresses(url: str, address: Address) -> None:
    assert Address.parse(url) == address
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize("url", ["", "broker", "http://broker", "mqtt://", "mqtt://me:s3cret@broker", "mqtt://b:x"])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        Address.parse(url)
    assert "s3cret" not in str(refused.value)


def test_tls_is_never_lax() -> None:
    context = tls_context()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
