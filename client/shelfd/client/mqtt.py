"""Events over MQTT, for people without an MQTT client. Imported only by the command that follows them.

Blocking, on paho's own loop: there is nothing to do while waiting.
"""

import json
import os
import socket
import ssl
import time
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, NoReturn

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.reasoncodes import ReasonCode

from shelfd.client.broker import BrokerLogin, NoBroker
from shelfd.client.output import clean

FIRST_RETRY_S: Final = 0.2
LONGEST_RETRY_S: Final = 10.0
ANSWER_S: Final = 10.0
KEEPALIVE_S: Final = 30

#: What a broker answers that does not speak MQTT 5, and one that does not know this user, as paho reports them.
_UNSUPPORTED: Final = 132
_NOT_ADMITTED: Final = (134, 135)
_GAP: Final = "_/events.gap"
_LEVELS: Final = 7  # shelfd/v1/<instance>/ev/<shelf>/<nugget>/<type>

Event = dict[str, Any]


class NotAdmitted(Exception):
    """The broker does not let us in, or does not let us read."""


class _Lost(ConnectionError):
    """The connection did not come about or has ended."""

    def __init__(self, why: str, code: int = 0) -> None:
        super().__init__(why)
        self.code = code


@dataclass(frozen=True, slots=True)
class WantedEvents:
    """Which events.

    Attributes:
        types: Like ``note.created`` or ``note.*``; empty for all.
        nugget: None for all.
    """

    shelf: str
    types: Sequence[str] = ()
    nugget: str | None = None

    @property
    def is_everything(self) -> bool:
        """Whether no event of the shelf is left out."""
        return not self.types and self.nugget is None

    def filters(self, instance: str) -> list[str]:
        """Return topic filters that let through all of it, and not much else."""
        shelf = f"shelfd/v1/{instance}/ev/{self.shelf}"
        base = f"{shelf}/{_folded(self.nugget) if self.nugget else '+'}"
        all_types = not self.types or any("*" in one for one in self.types)
        filters = [f"{base}/+"] if all_types else [f"{base}/{one}" for one in dict.fromkeys(self.types)]
        return filters if all_types and self.nugget is None else [*filters, f"{shelf}/{_GAP}"]

    def is_gap(self, topic: str) -> bool:
        """Return whether this topic announces events that will not be published."""
        return topic.endswith(f"/ev/{self.shelf}/{_GAP}")

    def includes(self, topic: str) -> bool:
        """Return whether an event with this topic is wanted: a broker may send what was not subscribed to."""
        levels = topic.split("/")
        if len(levels) != _LEVELS or levels[3:5] != ["ev", self.shelf]:
            return False
        nugget, kind = levels[5:]
        is_of_nugget = self.nugget is None or nugget == _folded(self.nugget)
        return is_of_nugget and (not self.types or any(fnmatchcase(kind, one) for one in self.types))


class EventFollower:
    """Follows events across lost connections.

    Args:
        locate: Returns the broker's address; called before each connection, because it may have moved.
        wanted: Which events.
        notice: Called with what a person should know.
    """

    def __init__(self, locate: Callable[[], BrokerLogin], wanted: WantedEvents, notice: Callable[[str], None]) -> None:
        self._locate = locate
        self._wanted = wanted
        self._notice = notice
        self._is_v5 = True
        self._last_seq: int | None = None

    def events(self) -> Iterator[Event]:
        """Yield events for ever.

        Raises:
            NotAdmitted: If the broker refuses us.
            NoBroker: If it is not clear which broker.
            ConnectionError: If there is none at the first try.
        """
        is_known = False  # whether there was a broker at all: the first try must not wait for one
        delay_s = FIRST_RETRY_S
        while True:
            try:
                connection = self._connect()
                is_known, delay_s = True, FIRST_RETRY_S
                yield from self._read(connection)
            except (ConnectionError, NoBroker) as error:
                if not is_known:
                    raise
                if delay_s == FIRST_RETRY_S:
                    self._notice(f"{error}; waiting for the broker")
                # Jitter, so that many watchers do not come back in one moment.
                time.sleep(delay_s * (0.5 + os.urandom(1)[0] / 512))
                delay_s = min(LONGEST_RETRY_S, delay_s * 2)

    def _connect(self) -> "_Connection":
        broker = self._locate()
        try:
            return _Connection(broker, self._wanted.filters(broker.instance), is_v5=self._is_v5)
        except _Lost as lost:
            if lost.code == _UNSUPPORTED and self._is_v5:
                self._is_v5 = False
                return self._connect()
            raise

    def _read(self, connection: "_Connection") -> Iterator[Event]:
        try:
            for message in connection.messages():
                event = self._event(message)
                if event is not None:
                    yield event
        finally:
            connection.close()

    def _event(self, message: paho.MQTTMessage) -> Event | None:
        if message.retain:
            return None
        if self._wanted.is_gap(message.topic):
            self._tell_gap(message.payload)
            return None
        if not self._wanted.includes(message.topic):
            return None
        event = _decoded(message.payload)
        if event is None:
            self._notice("something came that is no event of shelfd")
            return None
        previous, last = event.get("prev_seq"), self._last_seq
        # With a filter, others may lie between two of ours.
        if self._wanted.is_everything and last is not None and isinstance(previous, int) and previous > last:
            self._notice(f"events {last + 1} to {previous} are missing; read them with: shelfd log --since {last}")
        self._last_seq = event["seq"]
        return event

    def _tell_gap(self, payload: bytes | bytearray) -> None:
        try:
            gap = json.loads(payload)["data"]
            first, last, reason = int(gap["from_seq"]), int(gap["to_seq"]), str(gap["reason"])
        except (ValueError, TypeError, KeyError):
            return
        self._notice(clean(f"events {first} to {last} are missing: {reason}"))
        self._last_seq = last


class _Connection:
    """One connection with its subscription made.

    Raises:
        NotAdmitted: If the broker does not let us in or read.
        ConnectionError: If there is no connection.
    """

    def __init__(self, broker: BrokerLogin, filters: Sequence[str], *, is_v5: bool) -> None:
        self._arrived: deque[paho.MQTTMessage] = deque()
        self._answers: list[ReasonCode] = []
        self._broker = broker
        self._client = paho.Client(
            CallbackAPIVersion.VERSION2,
            protocol=paho.MQTTv5 if is_v5 else paho.MQTTv311,
            reconnect_on_failure=False,
        )
        self._client.on_connect = lambda _client, _data, _flags, code, _more: self._answers.append(code)
        self._client.on_subscribe = lambda _client, _data, _id, codes, _more: self._answers.extend(codes)
        self._client.on_message = lambda _client, _data, message: self._arrived.append(message)
        if broker.user is not None:
            self._client.username_pw_set(broker.user, broker.password)
        if broker.is_tls:
            self._client.tls_set_context(_tls(broker.ca_file))
        self._open()
        self._client.subscribe([(one, 1) for one in filters])
        if any(code.is_failure for code in self._wait(len(filters))):
            self.close()
            raise NotAdmitted("the broker does not let this user read these events")

    def messages(self) -> Iterator[paho.MQTTMessage]:
        """Yield messages until the connection is lost, which raises ConnectionError."""
        while True:
            while self._arrived:
                yield self._arrived.popleft()
            self._turn()

    def close(self) -> None:
        """End it."""
        self._client.disconnect()

    def _open(self) -> None:
        try:
            self._client.connect(self._broker.host, self._broker.port, keepalive=KEEPALIVE_S)
        except OSError as error:
            raise _Lost(f"cannot reach the broker at {self._broker}: {error.strerror or error}") from error
        raw = self._client.socket()
        if isinstance(raw, socket.socket):
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        [code] = self._wait(1)
        if code.is_failure:
            self._refused(code)

    def _refused(self, code: ReasonCode) -> NoReturn:
        if code.value in _NOT_ADMITTED:
            raise NotAdmitted(f"the broker at {self._broker} refuses this user or password")
        raise _Lost(f"the broker at {self._broker} refuses the connection: {code}", code.value)

    def _wait(self, count: int) -> list[ReasonCode]:
        """Return the broker's next *count* answers."""
        deadline = time.monotonic() + ANSWER_S
        while len(self._answers) < count:
            if time.monotonic() > deadline:
                raise _Lost(f"the broker at {self._broker} does not answer")
            self._turn(enough=count)
        answers, self._answers = self._answers[:count], self._answers[count:]
        return answers

    def _turn(self, enough: int = 1) -> None:
        # A refusal arrives together with the end of the connection: what was answered counts.
        if self._client.loop(timeout=1.0) != paho.MQTT_ERR_SUCCESS and len(self._answers) < enough:
            raise _Lost("connection lost")


def _tls(ca_file: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise NoBroker(f"cannot use the certificates in {ca_file}: {error.strerror or 'no certificate'}") from error


def _decoded(payload: bytes | bytearray) -> Event | None:
    try:
        event = json.loads(payload)
    except ValueError:
        return None
    if not isinstance(event, dict) or not isinstance(event.get("seq"), int):
        return None
    texts = (event.get(name) for name in ("type", "time", "subject"))
    return event if all(isinstance(text, str) for text in texts) else None


def _folded(nugget: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", nugget).casefold())
