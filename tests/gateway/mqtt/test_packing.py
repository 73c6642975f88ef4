"""Messages and their answers as bytes: what the library makes of them, and what comes in pieces or is none."""

from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from shelfd.gateway.mqtt.packing import (
    FIRST_NUMBER,
    LAST_NUMBER,
    PUBACK,
    acknowledgement,
    packed,
    publish_packet,
    read_answer,
    read_length,
    read_published,
)
from shelfd.gateway.mqtt.wire import SocketReader

texts = st.text(st.characters(codec="utf-8", exclude_characters="+#\0"), min_size=1, max_size=40)
numbers = st.integers(FIRST_NUMBER, LAST_NUMBER) | st.just(0)


class Pieces:
    """A socket that has received what was sent in such pieces."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def receive(self, size: int) -> bytes:
        if not self._pieces:
            raise BlockingIOError
        piece = self._pieces.pop(0)
        assert len(piece) <= size
        return piece


def cut(data: bytes, places: list[int]) -> list[bytes]:
    bounds = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[begin:end] for begin, end in pairwise(bounds)]


@given(
    st.lists(st.tuples(texts, st.binary(max_size=300), numbers, st.booleans(), st.none() | st.binary(max_size=20))),
    st.lists(st.integers(0, 10_000), max_size=8),
    st.booleans(),
)
def test_what_is_sent_in_any_pieces_is_received(
    messages: list[tuple[str, bytes, int, bool, bytes | None]], places: list[int], is_v5: bool
) -> None:
    sent = b"".join(
        publish_packet(
            topic,
            payload,
            number,
            is_retained=is_retained,
            properties=packed(correlation, "application/json", 7) if is_v5 else None,
        )
        for topic, payload, number, is_retained, correlation in messages
    )
    socket = Pieces(cut(sent, places))
    reader = SocketReader(socket.receive)
    received = []
    while not reader.is_dry or reader.first() is not None:
        if (first := reader.first()) is None:
            reader.is_dry = False
            reader.fill()
            reader.is_dry = not socket._pieces
        else:
            received.append(read_published(first, reader.packet(), is_v5=is_v5))

    assert [
        (one.topic, one.payload, one.number, one.is_retained, one.correlation, one.qos, one.expiry_s)
        for one in received
    ] == [
        (topic, payload, number, kept, correlation if is_v5 else None, int(number > 0), 7 if is_v5 else None)
        for topic, payload, number, kept, correlation in messages
    ]


@given(
    response=st.none() | texts,
    correlation=st.none() | st.binary(max_size=40),
    expiry=st.none() | st.integers(0, 2**32 - 1),
    beside=st.fixed_dictionaries(
        {},
        optional={
            "PayloadFormatIndicator": st.integers(0, 1),
            "ContentType": texts,
            "TopicAlias": st.integers(1, 2**16 - 1),
            "UserProperty": st.tuples(texts, texts),
            "SubscriptionIdentifier": st.integers(1, 268_435_455),
        },
    ),
)
def test_properties_that_the_library_packs_are_read(
    response: str | None, correlation: bytes | None, expiry: int | None, beside: dict[str, Any]
) -> None:
    properties: Any = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    named = {"ResponseTopic": response, "CorrelationData": correlation, "MessageExpiryInterval": expiry, **beside}
    for name, value in named.items():
        if value is not None:
            setattr(properties, name, value)
    packet = publish_packet("a/b", b"payload", FIRST_NUMBER, is_retained=False, properties=properties.pack())

    _, begin = read_length(packet, 1)
    message = read_published(packet[0], packet[begin:], is_v5=True)

    assert (message.response_topic, message.correlation, message.expiry_s) == (response, correlation, expiry)
    assert (message.topic, message.payload, message.number) == ("a/b", b"payload", FIRST_NUMBER)


@given(st.binary(max_size=60), st.integers(0x30, 0x3F), st.booleans())
def test_what_is_no_message_is_refused(body: bytes, first: int, is_v5: bool) -> None:
    with suppress(ValueError):
        read_published(first, body, is_v5=is_v5)


@pytest.mark.parametrize("topic", ["", "a/+", "a/#", "a\0b", "a" * 65_536, "\ud800"])
def test_what_no_broker_takes_is_not_sent(topic: str) -> None:
    with pytest.raises(ValueError, match=r"topic|surrogates"):
        publish_packet(topic, b"x", 1, is_retained=False, properties=None)


def test_answers_have_a_number_and_perhaps_a_reason() -> None:
    packet = acknowledgement(0xABCD)
    assert (packet[0] >> 4, packet[1]) == (PUBACK, 2)
    assert read_answer(packet[2:]) == (0xABCD, 0)
    assert read_answer(b"\xab\xcd\x87\x00") == (0xABCD, 0x87)
    with pytest.raises(ValueError, match="PUBACK"):
        read_answer(b"\xab")


def test_a_length_has_at_most_four_bytes() -> None:
    assert read_length(b"\xff\xff\xff\x7f", 0) == (268_435_455, 4)
    with pytest.raises(ValueError, match="four bytes"):
        read_length(b"\xff\xff\xff\xff\x01", 0)
