"""An MQTT broker that follows a script, in a thread."""

import json
import socket
import threading
from dataclasses import dataclass, field
from struct import pack, unpack_from
from types import TracebackType
from typing import Any, Self

TIMEOUT_S = 30.0
CONNECT, CONNACK, PUBLISH, SUBSCRIBE, SUBACK = 1, 2, 3, 8, 9
V311, V5 = 4, 5


@dataclass
class Visit:
    """What happens to one connection.

    Attributes:
        connack: The answer to CONNECT; anything but 0 ends the connection. 1 is how 3.1.1 refuses MQTT 5.
        suback: The answer to each filter.
        messages: (topic, payload, retained) sent once subscribed; behind the last one the connection is closed.
    """

    messages: list[tuple[str, bytes, bool]] = field(default_factory=list)
    connack: int = 0
    suback: int = 1


@dataclass
class Seen:
    """What a client said."""

    level: int
    user: str | None
    password: str | None
    filters: list[str] = field(default_factory=list)


class FakeBroker:
    """Listens on entry and treats each connection as the script says.

    Attributes:
        seen: What each client said, in order.
    """

    def __init__(self, *script: Visit) -> None:
        self.script = list(script)
        self.seen: list[Seen] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, name="fake-broker")

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join(TIMEOUT_S)
        self._listening.close()
        assert not self._thread.is_alive()

    def _serve(self) -> None:
        for visit in self.script:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(TIMEOUT_S)
                try:
                    self._treat(connection, visit)
                except ConnectionError:
                    continue  # the client left before the end of the script

    def _treat(self, connection: socket.socket, visit: Visit) -> None:
        kind, body = _packet(connection)
        assert kind == CONNECT
        self.seen.append(_greeting(body))
        # A broker that knows no MQTT 5 answers in the form it knows.
        properties = b"\0" if self.seen[-1].level == V5 and visit.connack != 1 else b""
        _send(connection, CONNACK << 4, bytes([0, visit.connack]) + properties)
        if visit.connack:
            return
        kind, body = _packet(connection)
        assert kind == SUBSCRIBE
        self.seen[-1].filters = _filters(body, skip=2 + len(properties))
        _send(connection, SUBACK << 4, body[:2] + properties + bytes([visit.suback]) * len(self.seen[-1].filters))
        for topic, payload, is_retained in visit.messages:
            name = topic.encode()
            _send(connection, PUBLISH << 4 | is_retained, pack("!H", len(name)) + name + properties + payload)


def message(
    seq: int,
    kind: str = "note.created",
    *,
    nugget: str = "_",
    shelf: str = "default",
    retained: bool = False,
    **more: Any,
) -> tuple[str, bytes, bool]:
    """One event on its topic."""
    event = {
        "type": f"shelfd.{kind}.v1", "time": "2026-01-31T09:00:00.000001Z", "seq": seq, "prev_seq": seq - 1,
        "subject": "note-memory-1", "data": {"title": "kettle"}, **more,
    }  # fmt: skip
    return f"shelfd/v1/local/ev/{shelf}/{nugget}/{kind}", json.dumps(event).encode(), retained


def _packet(connection: socket.socket) -> tuple[int, bytes]:
    head = _exactly(connection, 1)[0]
    length, shift = 0, 0
    while True:
        byte = _exactly(connection, 1)[0]
        length |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return head >> 4, _exactly(connection, length)


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionResetError
        data += part
    return data


def _send(connection: socket.socket, head: int, body: bytes) -> None:
    length = len(body)
    size = bytes([length]) if length < 128 else bytes([length % 128 | 0x80, length // 128])
    connection.sendall(bytes([head]) + size + body)


def _greeting(body: bytes) -> Seen:
    level, flags = body[6], body[7]
    at = 10 + (1 + body[10] if level == V5 else 0)
    fields = []
    while at < len(body):
        (length,) = unpack_from("!H", body, at)
        fields.append(body[at + 2 : at + 2 + length].decode())
        at += 2 + length
    user = fields[1] if flags & 0x80 else None
    password = fields[2] if flags & 0x40 else None
    return Seen(level, user, password)


def _filters(body: bytes, *, skip: int) -> list[str]:
    at, found = skip, []
    while at < len(body):
        (length,) = unpack_from("!H", body, at)
        found.append(body[at + 2 : at + 2 + length].decode())
        at += 3 + length
    return found
