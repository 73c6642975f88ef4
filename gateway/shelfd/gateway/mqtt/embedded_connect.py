"""The first packet of an MQTT connection, read before the broker's library sees it."""

import asyncio
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import Final

LEVEL_3_1_1: Final = 4
#: What a CONNECT may be long: a will of 64 KiB and room for names.
CONNECT_BYTES: Final = 128 * 1024

_CONNECT: Final = 0x10
_CONNACK: Final = b"\x20\x02\x00"
_LENGTH: Final = Struct("!H")
_CLEAN, _WILL, _PASSWORD, _USER = 0x02, 0x04, 0x40, 0x80


class ConnackRefusal(IntEnum):
    """Why a connection is not accepted, as CONNACK says it."""

    PROTOCOL = 1
    IDENTIFIER = 2
    NOT_AUTHORIZED = 5

    def packet(self) -> bytes:
        """Return the CONNACK."""
        return _CONNACK + bytes([self])


class Malformed(Exception):
    """What came is no CONNECT."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a client says when it connects. Beyond the level, all is empty unless that is MQTT 3.1.1.

    Attributes:
        level: Version of the protocol, 4 for 3.1.1.
        client_id: The session's name.
        is_clean: Whether the session ends with the connection.
        will_topic: Where the will goes; None without one.
        head: What comes before the client id.
        tail: What comes after it.
    """

    level: int
    client_id: str = ""
    is_clean: bool = True
    will_topic: str | None = None
    user: str | None = None
    password: bytes | None = None
    head: bytes = b""
    tail: bytes = b""

    def packet(self, client_id: str) -> bytes:
        """Return the CONNECT with another client id."""
        name = client_id.encode()
        body = self.head + _LENGTH.pack(len(name)) + name + self.tail
        return bytes([_CONNECT]) + _remaining(len(body)) + body


async def read_greeting(reader: asyncio.StreamReader) -> Greeting:
    """Read one CONNECT and nothing after it.

    Raises:
        Malformed: If it is none, or too long.
        asyncio.IncompleteReadError: If the connection ends first.
    """
    if (await reader.readexactly(1))[0] != _CONNECT:
        raise Malformed("not a CONNECT")
    length = 0
    for shift in range(0, 28, 7):
        [byte] = await reader.readexactly(1)
        length |= (byte & 0x7F) << shift
        if not byte & 0x80:
            break
    else:
        raise Malformed("a length of more than four bytes")
    if length > CONNECT_BYTES:
        raise Malformed("too long")
    return parse(await reader.readexactly(length))


def parse(body: bytes) -> Greeting:
    """Take a CONNECT apart, without its fixed header.

    Raises:
        Malformed: If it is none.
    """
    parts = _Parts(body)
    name, level, flags = parts.field(), parts.byte(), parts.byte()
    if level != LEVEL_3_1_1:
        return Greeting(level)
    parts.skip(2)  # keep-alive
    head = body[: parts.position]
    client_id = _text(parts.field())
    tail = body[parts.position :]
    will_topic = None
    if flags & _WILL:
        will_topic = _text(parts.field())
        parts.field()  # its message
    user = _text(parts.field()) if flags & _USER else None
    password = parts.field() if flags & _PASSWORD else None
    if name != b"MQTT" or parts.position != len(body):
        raise Malformed("not as MQTT 3.1.1 has it")
    return Greeting(level, client_id, bool(flags & _CLEAN), will_topic, user, password, head, tail)


class _Parts:
    """Reads a packet's body from its start."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.position = 0

    def byte(self) -> int:
        self.skip(1)
        return self._body[self.position - 1]

    def field(self) -> bytes:
        self.skip(_LENGTH.size)
        (length,) = _LENGTH.unpack_from(self._body, self.position - _LENGTH.size)
        self.skip(length)
        return self._body[self.position - length : self.position]

    def skip(self, count: int) -> None:
        self.position += count
        if self.position > len(self._body):
            raise Malformed("shorter than it says")


def _text(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Malformed("a name that is not UTF-8") from None
    if "\x00" in text:
        raise Malformed("a name with a null character")
    return text


def _remaining(length: int) -> bytes:
    out = bytearray()
    while True:
        length, low = divmod(length, 128)
        out.append(low | 0x80 if length else low)
        if not length:
            return bytes(out)
