"""A plain MQTT client for tests: publishes, and keeps what arrives until somebody waits for it."""

import json
import queue
import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple, Self

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

SOON = 30.0  #: seconds after which a test that waits is stuck


class Got(NamedTuple):
    """One message."""

    topic: str
    payload: bytes
    is_retained: bool
    correlation: bytes | None

    @property
    def body(self) -> Any:
        """The payload as JSON."""
        return json.loads(self.payload)


class MqttClient:
    """Connected on entry, gone on exit.

    Args:
        v5: MQTT 5, else 3.1.1.
        clean: False keeps a session at the broker, so that messages wait there while the client is away.
    """

    def __init__(
        self, port: int, user: str, password: str, *, name: str = "", v5: bool = True, clean: bool = True
    ) -> None:
        self.user = user
        self.name = name or f"test-{user}"
        self._port = port
        self._v5 = v5
        self._clean = clean
        self._arrived: queue.Queue[Got] = queue.Queue()
        self._granted: queue.Queue[int] = queue.Queue()
        self._taken_over = threading.Condition()
        self._published: set[int] = set()
        protocol = paho.MQTTv5 if v5 else paho.MQTTv311
        self.paho = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=self.name,
            protocol=protocol,
            clean_session=None if v5 else clean,
        )
        self.paho.username_pw_set(user, password)
        self.paho.max_inflight_messages_set(0)
        self.paho.reconnect_delay_set(1, 1)
        self.paho.on_message = self._on_message
        self.paho.on_publish = lambda _client, _data, mid, *_: self._on_publish(mid)
        self.paho.on_subscribe = lambda _client, _data, mid, *_: self._granted.put(mid)
        self.paho.on_socket_open = _no_delay

    def __enter__(self) -> Self:
        if self._v5:
            properties: Any = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            properties.SessionExpiryInterval = 0 if self._clean else 3600
            self.paho.connect("127.0.0.1", self._port, clean_start=self._clean, properties=properties)
        else:
            self.paho.connect("127.0.0.1", self._port)
        self.paho.loop_start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.paho.disconnect()
        self.paho.loop_stop()

    def _on_message(self, _client: object, _data: object, message: Any) -> None:
        properties = getattr(message, "properties", None)
        correlation = getattr(properties, "CorrelationData", None)
        self._arrived.put(Got(message.topic, message.payload, bool(message.retain), correlation))

    def _on_publish(self, number: int) -> None:
        with self._taken_over:
            self._published.add(number)
            self._taken_over.notify_all()

    def subscribe(self, topic: str) -> None:
        """Subscribe with QoS 1 and wait until the broker has granted it."""
        _, mid = self.paho.subscribe(topic, qos=1)
        while self._granted.get(timeout=SOON) != mid:
            pass

    def publish(
        self,
        topic: str,
        body: Any,
        *,
        reply_to: str | None = None,
        correlation: bytes | None = None,
        is_retained: bool = False,
        wait: bool = True,
    ) -> None:
        """Publish with QoS 1 and wait until the broker has it. *body* is JSON, or bytes as they are."""
        properties: Any = None
        if self._v5:
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            if reply_to is not None:
                properties.ResponseTopic = reply_to
            if correlation is not None:
                properties.CorrelationData = correlation
        payload = body if isinstance(body, bytes) else json.dumps(body)
        # While the broker is away paho says that there is no connection, and sends it when there is one again.
        number = self.paho.publish(topic, payload, qos=1, retain=is_retained, properties=properties).mid
        if wait:
            with self._taken_over:
                assert self._taken_over.wait_for(lambda: number in self._published, SOON)

    def get(self, wanted: Callable[[Got], bool] = lambda _: True) -> Got:
        """The next message that is wanted; others before it are dropped."""
        deadline = time.monotonic() + SOON
        while True:
            got = self._arrived.get(timeout=max(0.01, deadline - time.monotonic()))
            if wanted(got):
                return got

    def drain(self) -> list[Got]:
        """What has arrived by now."""
        found = []
        while True:
            try:
                found.append(self._arrived.get_nowait())
            except queue.Empty:
                return found

    def call(self, method: str, *, instance: str = "local", request_id: Any = "1", **params: Any) -> Any:
        """One request and its reply, by Response Topic or, with 3.1.1, by ``reply_to``."""
        reply_to = f"shelfd/v1/{instance}/rep/{self.user}/{self.name}"
        topic = f"shelfd/v1/{instance}/req/{self.user}/{method}"
        body = {"id": request_id, "params": params}
        if self._v5:
            self.publish(topic, body, reply_to=reply_to)
        else:
            self.publish(topic, {**body, "reply_to": reply_to})
        return self.get(lambda got: got.topic == reply_to and got.body.get("id") == request_id).body


def _no_delay(_client: object, _data: object, sock: Any) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
