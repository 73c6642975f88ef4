"""The first packet of a connection, from strangers."""

import asyncio
import contextlib
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.gateway.mqtt.embedded_connect import CONNECT_BYTES, ConnackRefusal, Malformed, parse, read_greeting

CLEAN, WILL, PASSWORD, USER = 2, 4, 64, 128


def field(data: str | bytes) -> bytes:
    raw = data.encode() if isinstance(data, str) else data
    return pack("!H", len(raw)) + raw


def body(
    *, name: str = "MQTT", level: int = 4, flags: int = CLEAN, client_id: bytes | str = "c", rest: bytes = b""
) -> bytes:
    return field(name) + bytes([level, flags]) + b"\x00\x3c" + field(client_id) + rest


async def read(data: bytes) -> object:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    return await read_greeting(reader)


def test_all_there_can_be_is_read() -> None:
    rest = field("t") + field("w") + field("ü") + field(b"\xff")
    found = parse(body(flags=WILL | PASSWORD | USER, client_id="me", rest=rest))
    assert (found.client_id, found.is_clean, found.will_topic) == ("me", False, "t")
    assert (found.user, found.password) == ("ü", b"\xff")


def test_a_bare_one_has_nobody_in_it() -> None:
    found = parse(body())
    assert (found.client_id, found.is_clean, found.will_topic, found.user, found.password) == (
        "c",
        True,
        None,
        None,
        None,
    )


@given(old=st.text(max_size=40).filter(lambda text: "\x00" not in text), new=st.text("abc/", max_size=300))
async def test_only_the_client_id_changes(old: str, new: str) -> None:
    rest = field("user") + field("password")
    given_body = body(flags=CLEAN | USER | PASSWORD, client_id=old, rest=rest)
    reader = asyncio.StreamReader()
    reader.feed_data(parse(given_body).packet(new) + b"next")
    found = await read_greeting(reader)
    assert (found.client_id, found.user, found.password) == (new, "user", b"password")
    assert found.packet(old)[-len(given_body) :] == given_body
    assert await reader.readexactly(4) == b"next"


@pytest.mark.parametrize("level", [3, 5, 0, 255])
def test_another_level_is_recognised_whatever_follows(level: int) -> None:
    assert parse(field("MQTT") + bytes([level, 0]) + b"\xff\xff\xff").level == level


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"\x00\x04MQ",
        body(name="MQIsdp"),
        body(flags=USER),
        body(rest=b"more"),
        body(client_id=b"\xff\xfe"),
        body(client_id="a\x00b"),
        body(flags=WILL, rest=field(b"\xc3")),
    ],
)
def test_what_is_no_connect_is_refused(bad: bytes) -> None:
    with pytest.raises(Malformed):
        parse(bad)


@pytest.mark.parametrize(
    "bad",
    [
        b"GET / HTTP/1.1\r\n",
        b"\x10\xff\xff\xff\xff\x01",
        b"\x10" + bytes([0x81, 0x80, 0x08]) + b"x" * CONNECT_BYTES,
    ],
)
async def test_a_stranger_s_bytes_are_not_read_to_their_end(bad: bytes) -> None:
    with pytest.raises(Malformed):
        await read(bad)


@given(st.binary(max_size=200))
async def test_any_bytes_are_a_greeting_or_refused(data: bytes) -> None:
    with contextlib.suppress(Malformed, asyncio.IncompleteReadError):
        await read(data)


def test_refusals_are_connacks() -> None:
    assert ConnackRefusal.NOT_AUTHORIZED.packet() == b"\x20\x02\x00\x05"
