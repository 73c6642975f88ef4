"""How fast the MQTT gateway answers, as a ratio to what the broker takes for a round trip alone.

* one client, one request at a time, taken in turns with a message to a plain echo in a process of its own: the same
  QoS, the same sizes, the same two ways through the broker, and nothing done in between;
* 16 clients with several remembers on the way each, and how long after its commit each event arrives.

Needs mosquitto. Run: ``python benchmarks/mqtt.py``
"""

import argparse
import json
import multiprocessing
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from mqtt_load import INSTANCE, Client, Loop
from served import CHECKOUT, Served, median, percentile, served, table, working_directory
from shelfd.client import connect

sys.path.append(str(CHECKOUT / "tests"))
from mosquitto import USERS, Mosquitto, mosquitto

USER = "alice"
_ECHO_ACL = """\
user shelfd
topic readwrite #
user alice
topic readwrite #
"""


def word(number: int) -> str:
    """One of 2,000 made-up words, some far more common than others, as words are."""
    syllables = ("ba", "do", "fi", "gu", "le", "mo", "ni", "po", "ra", "su", "te", "vo", "zi")
    rank = int(2000 ** random.Random(number).random())
    return syllables[rank % 13] + syllables[rank // 13 % 13] + syllables[rank // 169]


def content(number: int) -> str:
    """Eighteen words."""
    return " ".join(word(number * 18 + position) for position in range(18))


class Caller:
    """One client that asks, waits for the answer and takes the time."""

    def __init__(self, port: int, qos: int) -> None:
        self.qos = qos
        self.reply_topic = f"shelfd/v1/{INSTANCE}/rep/{USER}/bench"
        self.answers: list[bytes] = []
        self.client = Client("caller", port, USER, USERS[USER], lambda message: self.answers.append(message.payload))
        self.client.paho.subscribe([(self.reply_topic, qos), ("echo/rep", qos)])
        self.loop = Loop([self.client])
        self.loop.until(lambda: self.client.is_subscribed)
        self.properties: Any = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
        self.properties.ResponseTopic = self.reply_topic
        self.properties.CorrelationData = b"bench"

    def ask(self, topic: str, body: dict[str, Any]) -> tuple[float, bytes]:
        """Publish *body*; return the seconds until the answer and the answer."""
        self.answers.clear()
        payload = json.dumps(body)
        began = time.perf_counter()
        self.client.paho.publish(topic, payload, qos=self.qos, properties=self.properties)
        self.loop.until(lambda: bool(self.answers))
        return time.perf_counter() - began, self.answers[0]


def echo(port: int, qos: int, size: int) -> None:
    """Answer each message on ``echo/req`` with *size* bytes, until killed."""
    answer = b"x" * size
    client: list[Client] = []
    client.append(
        Client("echo", port, "shelfd", USERS["shelfd"], lambda _: client[0].paho.publish("echo/rep", answer, qos=qos))
    )
    client[0].paho.subscribe("echo/req", qos=qos)
    Loop(client).until(lambda: False, 3600)


def latencies(broker: Mosquitto, qos: int, rounds: int) -> dict[str, list[float]]:
    """Seconds of a remember, a recall and a bare round trip, taken in turns."""
    caller = Caller(broker.port, qos)
    base = f"shelfd/v1/{INSTANCE}/req/{USER}"
    found: dict[str, list[float]] = {"remember": [], "recall": [], "bare": []}
    _, reply = caller.ask(f"{base}/remember", {"id": "first", "params": {"content": content(0)}})
    responder = multiprocessing.Process(target=echo, args=(broker.port, qos, len(reply)), daemon=True)
    responder.start()
    time.sleep(1)  # until it listens; no part of what is measured
    try:
        asks: dict[str, Callable[[int], tuple[float, bytes]]] = {
            "remember": lambda n: caller.ask(
                f"{base}/remember", {"id": f"r{n}", "params": {"content": content(n), "session_id": "bench"}}
            ),
            "recall": lambda n: caller.ask(
                f"{base}/recall", {"id": f"q{n}", "params": {"query": " ".join(content(n).split()[:5]), "k": 1}}
            ),
            "bare": lambda n: caller.ask("echo/req", {"id": f"b{n}", "params": {"content": content(n)}}),
        }
        for number in range(rounds + 30):
            for name, ask in asks.items():
                seconds, answer = ask(number)
                assert name == "bare" or b'"result"' in answer, answer
                if number >= 30:  # the first ones warm caches
                    found[name].append(seconds)
    finally:
        responder.kill()
        responder.join()
    return found


def configuration(directory: Path, broker: Mosquitto) -> str:
    """Write a configuration for the daemon; return its path."""
    password, file = directory / "password", directory / "shelfd.toml"
    password.write_text(USERS["shelfd"])
    password.chmod(0o600)
    file.write_text(f'[mqtt]\nurl = "{broker.url}"\npassword_file = "{password}"\n')
    return str(file)


def wait_for_link(daemon: Served) -> None:
    """Wait until the daemon is connected: before its first time the broker keeps nothing for it."""
    with connect(daemon.socket) as client:
        while client.call("system.health")["mqtt"]["state"] != "connected":
            time.sleep(0.05)


def load(broker: Mosquitto, daemon: Served, directory: Path, each: int, window: int) -> dict[str, float]:
    """16 clients at once; the figures of the generator with the daemon's CPU share."""
    password = directory / "alice"
    password.write_text(USERS[USER])
    cpu = daemon.cpu_s()
    command = [sys.executable, str(Path(__file__).with_name("mqtt_load.py")), "--port", str(broker.port)]
    command += ["--user", USER, "--password-file", str(password), "--each", str(each), "--window", str(window)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    figures: dict[str, float] = json.loads(output)
    assert not figures["failed"], "some requests were refused"
    assert figures["in_order"], "events came out of order"
    figures["daemon_cores"] = (daemon.cpu_s() - cpu) / figures["seconds"]
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", help="directory on the disk to measure; default: .run in the checkout")
    parser.add_argument("--rounds", type=int, default=500, help="requests of the one client, of each kind")
    parser.add_argument("--each", type=int, default=500, help="remembers of each of the 16 clients")
    parser.add_argument("--window", type=int, default=8, help="requests of one client on the way")
    arguments = parser.parse_args()
    rows = [["measurement", "measured", "baseline of the same run", "ratio", "must be"]]
    with (
        working_directory(arguments.dir) as directory,
        mosquitto(directory / "broker", acl=_ECHO_ACL, saves_at_once=False) as broker,
    ):
        flags = ("--config", configuration(directory, broker))
        with served(directory, *flags) as daemon:
            wait_for_link(daemon)
            for qos in (1, 0):
                found = latencies(broker, qos, arguments.rounds)
                bare = median(found["bare"])
                for name in ("remember", "recall"):
                    p50, p99 = median(found[name]), percentile(found[name], 0.99)
                    rows.append(
                        [
                            f"one client, {name}, QoS {qos}, p50",
                            f"{p50 * 1000:.2f} ms (p99 {p99 * 1000:.2f})",
                            f"bare round trip {bare * 1000:.2f} ms",
                            f"{p50 / bare:.2f}",
                            "<= 3",
                        ]
                    )
            figures = load(broker, daemon, directory, arguments.each, arguments.window)
    rate = figures["acknowledged"] / figures["seconds"]
    rows.append(
        [
            "16 clients, acknowledged remembers",
            f"{rate:,.0f}/s (p50 {figures['p50_ms']:.1f} ms, p99 {figures['p99_ms']:.1f})",
            "-",
            "-",
            ">= 1,500/s",
        ]
    )
    rows.append(
        [
            "16 clients, event lag p99",
            f"{figures['lag_p99_ms']:.1f} ms (p50 {figures['lag_p50_ms']:.1f})",
            "-",
            "-",
            "< 100 ms",
        ]
    )
    print(table(rows))
    cores = figures["cpu_s"] / figures["seconds"]
    print(f"\n16 clients: daemon {figures['daemon_cores']:.2f} cores, load generator {cores:.2f} cores")


if __name__ == "__main__":
    main()
