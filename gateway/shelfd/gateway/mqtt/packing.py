"""The properties of a PUBLISH, put together as MQTT 5 wants them (OASIS standard, 2.2.2 and 3.3.2.3).

The library's own are general and slow: making and packing those of one message costs 60 us, as much as all else it
does for it. Here it is the three that this gateway sends.
"""

from functools import lru_cache
from struct import pack
from typing import Final

from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

_MESSAGE_EXPIRY: Final = 0x02
_CONTENT_TYPE: Final = 0x03
_CORRELATION: Final = 0x09


class PublishProperties(Properties):
    """Properties of one PUBLISH, packed once.

    Args:
        correlation: At most 65,535 bytes.
        expiry_s: Seconds for which the message means something.
    """

    _packed: bytes

    def __init__(self, correlation: bytes | None, content_type: str | None, expiry_s: int | None) -> None:
        # The base's constructor fills tables that only its own pack needs; its other methods find no property set.
        # Nor does its __setattr__ know anything but properties.
        object.__setattr__(self, "packetType", PacketTypes.PUBLISH)
        object.__setattr__(self, "_packed", _packed(correlation, content_type, expiry_s))

    def pack(self) -> bytes:
        """Return them with their length in front."""
        return self._packed

    def __str__(self) -> str:
        return f"{len(self.pack())} bytes"


@lru_cache(maxsize=64)
def common(content_type: str | None, expiry_s: int | None) -> PublishProperties | None:
    """Return properties that many messages share; None if there are none."""
    return None if content_type is None and expiry_s is None else PublishProperties(None, content_type, expiry_s)


def _packed(correlation: bytes | None, content_type: str | None, expiry_s: int | None) -> bytes:
    body = b""
    if expiry_s is not None:
        body += pack("!BI", _MESSAGE_EXPIRY, expiry_s)
    if content_type is not None:
        text = content_type.encode()
        body += pack("!BH", _CONTENT_TYPE, len(text)) + text
    if correlation is not None:
        body += pack("!BH", _CORRELATION, len(correlation)) + correlation
    return _length(len(body)) + body


def _length(number: int) -> bytes:
    """A variable byte integer: seven bits each, the lowest first."""
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
