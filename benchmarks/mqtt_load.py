"""A load generator for MQTT in its own process: some clients, each with several requests on the way.

Speaks MQTT by paho-mqtt's plain client on one selector loop, without threads. Prints one JSON object: acknowledged
requests, seconds, latencies in ms, how long after its commit each event arrived, and its own CPU seconds.
"""

import argparse
import json
import select
import selectors
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

INSTANCE = "local"


class Client:
    """One paho client on a selector loop."""

    def __init__(self, name: str, port: int, user: str, password: str, on_message: Callable[[Any], Any]) -> None:
        self.paho = paho.Client(CallbackAPIVersion.VERSION2, client_id=name, protocol=paho.MQTTv5)
        self.paho.username_pw_set(user, password)
        self.paho.max_inflight_messages_set(0)
        self.paho.on_message = lambda _client, _data, message: on_message(message)
        self.is_subscribed = False
        self.reads_all = False
        self.paho.on_subscribe = self._subscribed
        self.paho.connect("127.0.0.1", port, clean_start=True)

    def _subscribed(self, *_: object) -> None:
        self.is_subscribed = True

    def turn(self, *, readable: bool) -> None:
        """Read and write what is due."""
        if readable:
            self.paho.loop_read()
            # paho reads one packet at a time: a listener that hears sixteen others would fall behind.
            sock: Any = self.paho.socket()
            while self.reads_all and select.select([sock], [], [], 0)[0]:
                self.paho.loop_read()
        if self.paho.want_write():
            self.paho.loop_write()
        self.paho.loop_misc()


class Loop:
    """Drives clients until a condition holds."""

    def __init__(self, clients: list[Client]) -> None:
        self.clients = clients
        self.selector = selectors.DefaultSelector()
        for client in clients:
            sock: Any = client.paho.socket()
            sock.setsockopt(6, 1, 1)  # TCP_NODELAY
            self.selector.register(sock, selectors.EVENT_READ, client)

    def until(self, condition: Callable[[], bool], seconds: float = 60) -> None:
        """Turn until *condition* holds."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "the replies do not come"
            for client in self.clients:
                if client.paho.want_write():
                    client.paho.loop_write()
            for key, _ in self.selector.select(0.05):
                key.data.turn(readable=True)


class Writer:
    """One client: its requests, and when each was sent."""

    def __init__(self, number: int, port: int, user: str, password: str, count: int, window: int) -> None:
        self.number, self.user, self.count, self.window = number, user, count, window
        self.client = Client(f"load-{number}", port, user, password, self._replied)
        self.reply_topic = f"shelfd/v1/{INSTANCE}/rep/{user}/load-{number}"
        self.client.paho.subscribe(self.reply_topic, qos=1)
        self.properties: Any = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
        self.properties.ResponseTopic = self.reply_topic
        self.sent = self.done = self.failed = 0
        self.began: dict[int, float] = {}
        self.latencies: list[float] = []

    def fill(self) -> None:
        """Send as many requests as may be on the way."""
        topic = f"shelfd/v1/{INSTANCE}/req/{self.user}/remember"
        while self.sent < min(self.count, self.done + self.window):
            content = (
                f"Writer {self.number} noted observation {self.sent}: the harbour crane lifted container "
                f"{self.sent * 7919 % 9973} at berth {self.number} while the tide turned and rain set in from the west"
            )
            params = {"content": content, "session_id": f"load-{self.number}"}
            self.began[self.sent] = time.perf_counter()
            self.client.paho.publish(
                topic, json.dumps({"id": self.sent, "params": params}), qos=1, properties=self.properties
            )
            self.sent += 1

    def _replied(self, message: Any) -> None:
        reply = json.loads(message.payload)
        self.latencies.append(time.perf_counter() - self.began.pop(reply["id"]))
        self.failed += "result" not in reply
        self.done += 1
        self.fill()


class Listener:
    """One subscriber to events: how long after its commit each came."""

    def __init__(self, port: int, user: str, password: str) -> None:
        self.lags_ms: list[float] = []
        self.seqs: list[int] = []
        self.client = Client("listener", port, user, password, self._came)
        self.client.reads_all = True
        self.client.paho.subscribe(f"shelfd/v1/{INSTANCE}/ev/default/#", qos=1)

    def _came(self, message: Any) -> None:
        now = time.time()
        event = json.loads(message.payload)
        if event["type"] == "shelfd.note.created.v1":
            self.lags_ms.append((now - datetime.fromisoformat(event["time"]).timestamp()) * 1000)
        self.seqs.append(event["seq"])


def main() -> None:
    """Send everything, wait for every reply and event, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--user", required=True)
    parser.add_argument("--password-file", required=True)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--window", type=int, default=8, help="requests of one client on the way")
    parser.add_argument("--each", type=int, default=500, help="requests of one client in all")
    arguments = parser.parse_args()
    with Path(arguments.password_file).open(encoding="utf-8") as file:
        password = file.read().strip()
    writers = [
        Writer(i, arguments.port, arguments.user, password, arguments.each, arguments.window)
        for i in range(arguments.clients)
    ]
    listener = Listener(arguments.port, arguments.user, password)
    loop = Loop([*(writer.client for writer in writers), listener.client])
    loop.until(lambda: all(client.is_subscribed for client in loop.clients))
    total = arguments.clients * arguments.each
    cpu, began = time.process_time(), time.perf_counter()
    for writer in writers:
        writer.fill()
    loop.until(lambda: all(writer.done == arguments.each for writer in writers), 120)
    took = time.perf_counter() - began
    loop.until(lambda: len(listener.lags_ms) >= total)
    latencies = sorted(one for writer in writers for one in writer.latencies)
    lags = sorted(listener.lags_ms)
    failed = sum(writer.failed for writer in writers)
    print(
        json.dumps(
            {
                "acknowledged": total - failed,
                "failed": failed,
                "seconds": took,
                "cpu_s": time.process_time() - cpu,
                "p50_ms": latencies[total // 2] * 1000,
                "p99_ms": latencies[int(total * 0.99)] * 1000,
                "lag_p50_ms": lags[len(lags) // 2],
                "lag_p99_ms": lags[int(len(lags) * 0.99)],
                "events": len(listener.seqs),
                "in_order": listener.seqs == sorted(listener.seqs),
            }
        )
    )


if __name__ == "__main__":
    main()
