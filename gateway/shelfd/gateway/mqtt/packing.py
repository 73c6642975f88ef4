"""PUBLISH and its answer as bytes (OASIS standards of MQTT 5 and 3.1.1, sections 3.3 and 3.4).

The library's own are general and slow: these two are nearly all that goes over a link, and with what it does beside
them, locks and tables for each packet, they were a third of the processor time of a request.
"""

from functools import lru_cache
from struct import Struct, pack
from typing import Final, NamedTuple

from paho.mqtt.properties import Properties

PUBLISH: Final = 3  #: first half byte of a packet
PUBACK: Final = 4
#: Packet ids of what is published. The library counts its own, those of subscriptions, up from 1.
FIRST_NUMBER: Final = 0x8000
LAST_NUMBER: Final = 0xFFFF

_MESSAGE_EXPIRY: Final = 0x02
_CONTENT_TYPE: Final = 0x03
_RESPONSE_TOPIC: Final = 0x08
_CORRELATION: Final = 0x09
_SUBSCRIPTION: Final = 0x0B
_USER_PROPERTY: Final = 0x26
#: Sizes of the other properties that a PUBLISH may have.
_SIZES: Final = {0x01: 1, _MESSAGE_EXPIRY: 4, 0x23: 2}
_TEXTS: Final = frozenset((_CONTENT_TYPE, _RESPONSE_TOPIC, _CORRELATION))

_SHORT: Final = Struct("!H")
_LONG: Final = Struct("!I")
_LONGEST_TEXT: Final = 0xFFFF
_LONGEST_REST: Final = 268_435_455  #: what a packet's length can say
_NO_PROPERTIES: Final = b"\0"


class Published(NamedTuple):
    """A PUBLISH as it was received.

    Attributes:
        topic: Empty if it is not UTF-8, as is *response_topic*.
        number: Packet id, 0 for QoS 0.
        expiry_s: For how many seconds it still means something.
    """

    topic: str
    payload: bytes
    qos: int
    is_retained: bool
    number: int
    response_topic: str | None = None
    correlation: bytes | None = None
    expiry_s: int | None = None


def publish_packet(topic: str, payload: bytes, number: int, *, is_retained: bool, properties: bytes | None) -> bytes:
    """Return a PUBLISH of QoS 1, or of QoS 0 if *number* is 0.

    Args:
        topic: Without wildcards.
        payload: What it says.
        number: Packet id.
        is_retained: Whether the broker keeps it for later subscribers.
        properties: From :func:`packed`; None for MQTT 3.1.1, which has none.

    Raises:
        ValueError: If no broker takes such a message.
    """
    name = topic.encode()
    if not name or len(name) > _LONGEST_TEXT or b"+" in name or b"#" in name or b"\0" in name:
        raise ValueError("no topic to publish to")
    head = _SHORT.pack(len(name)) + name + (_SHORT.pack(number) if number else b"") + (properties or b"")
    if len(head) + len(payload) > _LONGEST_REST:
        raise ValueError("too large")
    first = PUBLISH << 4 | (2 if number else 0) | is_retained
    return bytes((first,)) + _length(len(head) + len(payload)) + head + payload


def acknowledgement(number: int) -> bytes:
    """Return the PUBACK of a message that was received under that packet id."""
    return b"\x40\x02" + _SHORT.pack(number)


def read_answer(body: bytes) -> tuple[int, int]:
    """Return the packet id and the reason code of a PUBACK.

    Raises:
        ValueError: If it is none.
    """
    if len(body) < 2:
        raise ValueError("not a PUBACK")
    return body[0] << 8 | body[1], body[2] if len(body) > 2 else 0


def read_published(first: int, body: bytes, *, is_v5: bool) -> Published:
    """Return what a PUBLISH says.

    Args:
        first: The packet's first byte.
        body: All after its length.
        is_v5: Whether it has properties.

    Raises:
        ValueError: If it is none.
    """
    qos = first >> 1 & 3
    name, at = _text(body, 0)
    number = 0
    if qos:
        if qos == 3 or len(body) < at + 2:
            raise ValueError("not a PUBLISH")
        (number,) = _SHORT.unpack_from(body, at)
        at += 2
    if not is_v5:
        return Published(_topic(name), body[at:], qos, bool(first & 1), number)
    try:
        size, at = read_length(body, at)
        end = at + size
        if end > len(body):
            raise ValueError("properties end beyond their packet")
        response_topic, correlation, expiry_s = _read_properties(body, at, end)
    except IndexError:
        raise ValueError("ends within a number") from None
    return Published(_topic(name), body[end:], qos, bool(first & 1), number, response_topic, correlation, expiry_s)


def _topic(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        return ""  # raising here would end the connection, and the message would come again


def _read_properties(body: bytes, at: int, end: int) -> tuple[str | None, bytes | None, int | None]:
    response_topic: str | None = None
    correlation: bytes | None = None
    expiry_s: int | None = None
    while at < end:
        kind = body[at]
        at += 1
        if kind in _TEXTS:
            text, at = _text(body, at)
            if kind == _CORRELATION:
                correlation = text
            elif kind == _RESPONSE_TOPIC:
                response_topic = _topic(text)
        elif kind == _USER_PROPERTY:
            _, at = _text(body, at)
            _, at = _text(body, at)
        elif kind == _SUBSCRIPTION:
            _, at = read_length(body, at)
        elif kind in _SIZES:
            if kind == _MESSAGE_EXPIRY and at + 4 <= end:
                (expiry_s,) = _LONG.unpack_from(body, at)
            at += _SIZES[kind]
        else:
            raise ValueError("a PUBLISH has no such property")
    if at > end:
        raise ValueError("a property ends beyond the others")
    return response_topic, correlation, expiry_s


def _text(body: bytes, at: int) -> tuple[bytes, int]:
    """The text or bytes at a place, which begin with their length, and where they end."""
    start = at + 2
    if start > len(body):
        raise ValueError("ends within a length")
    end = start + (body[at] << 8 | body[at + 1])
    if end > len(body):
        raise ValueError("ends within a text")
    return body[start:end], end


def read_length(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """Return the variable byte integer at a place, and where it ends.

    Raises:
        ValueError: If it has more than four bytes.
        IndexError: If it ends beyond *data*.
    """
    found = shift = 0
    while True:
        byte = data[at]
        at += 1
        found |= (byte & 0x7F) << shift
        if byte < 0x80:
            return found, at
        shift += 7
        if shift > 21:
            raise ValueError("a length has at most four bytes")


@lru_cache(maxsize=64)
def common(content_type: str | None, expiry_s: int | None) -> bytes:
    """Return packed properties that many messages share."""
    return packed(None, content_type, expiry_s)


def packed(correlation: bytes | None, content_type: str | None, expiry_s: int | None) -> bytes:
    """Return the properties of one PUBLISH with their length in front.

    Args:
        correlation: At most 65,535 bytes.
        content_type: Of the payload.
        expiry_s: Seconds for which the message means something.
    """
    body = b""
    if expiry_s is not None:
        body += pack("!BI", _MESSAGE_EXPIRY, expiry_s)
    if content_type is not None:
        text = content_type.encode()
        body += pack("!BH", _CONTENT_TYPE, len(text)) + text
    if correlation is not None:
        body += pack("!BH", _CORRELATION, len(correlation)) + correlation
    return _length(len(body)) + body if body else _NO_PROPERTIES


def _length(number: int) -> bytes:
    """A variable byte integer: seven bits each, the lowest first."""
    if number < 0x80:
        return bytes((number,))
    found = bytearray()
    while True:
        number, low = divmod(number, 128)
        found.append(low | 0x80 if number else low)
        if not number:
            return bytes(found)


def general(packet: int, **given: object) -> Properties | None:
    """Return MQTT 5's properties of one packet, without those that are None; None if there are none."""
    properties = Properties(packet)  # type: ignore[no-untyped-call]
    for name, value in given.items():
        if value is not None:
            setattr(properties, name, value)
    return None if properties.isEmpty() else properties  # type: ignore[no-untyped-call]
