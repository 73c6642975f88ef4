"""The daemon and a real broker: requests, events, and what happens when either of them dies."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mosquitto import USERS, Mosquitto, mosquitto
from mqtt_client import SOON, Got, MqttClient
from running import Daemon, until

pytestmark = pytest.mark.component("mosquitto")

REQUEST = "shelfd/v1/local/req/alice/"
REPLY = "shelfd/v1/local/rep/alice/"
STATUS = "shelfd/v1/local/status"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path / "broker") as running:
        yield running


@pytest.fixture
def daemon(tmp_path: Path, broker: Mosquitto) -> Iterator[Daemon]:
    with Daemon(tmp_path, *mqtt_flags(tmp_path, broker)) as running:
        connected(running)
        yield running


def mqtt_flags(directory: Path, broker: Mosquitto) -> tuple[str, str]:
    """Flags by which a daemon finds the broker."""
    password = directory / "mqtt.password"
    password.write_text(USERS["shelfd"] + "\n")
    password.chmod(0o600)
    file = directory / "shelfd.toml"
    file.write_text(f'[mqtt]\nurl = "{broker.url}"\npassword_file = "{password}"\n')
    return "--config", str(file)


def connected(daemon: Daemon) -> None:
    until(lambda: daemon.call("system.health")["mqtt"]["state"] == "connected", "the daemon reaches the broker")


def alice(broker: Mosquitto, **settings: Any) -> MqttClient:
    return MqttClient(broker.port, "alice", USERS["alice"], **settings)


@pytest.mark.parametrize("v5", [True, False], ids=["mqtt5", "mqtt311"])
def test_remember_and_recall(broker: Mosquitto, daemon: Daemon, v5: bool) -> None:
    with alice(broker, v5=v5) as client:
        client.subscribe(REPLY + client.name)
        stored = client.call("remember", content="the kettle is green", request_id="a")["result"]
        found = client.call("recall", query="which colour has the kettle", request_id="b")["result"]
    assert stored["status"] == "created"
    assert found["results"][0]["note"]["id"] == stored["note"]["id"]
    assert daemon.call("shelf.log")["log"][-1]["principal"] == "mqtt:alice"


def test_correlation_comes_back(broker: Mosquitto, daemon: Daemon) -> None:
    with alice(broker) as client:
        client.subscribe(REPLY + "#")
        client.publish(
            REQUEST + "recall", {"id": 7, "params": {"query": "x"}}, reply_to=REPLY + "x", correlation=b"\x01\x02"
        )
        got = client.get()
    assert (got.topic, got.correlation, got.body["id"]) == (REPLY + "x", b"\x01\x02", 7)


def test_what_is_not_hers_is_not_shown(broker: Mosquitto, daemon: Daemon) -> None:
    daemon.call("shelf.create", shelf="private")
    daemon.call("remember", shelf="private", content="x")
    assert [shelf["shelf"] for shelf in daemon.call("system.health")["shelves"]] == ["default", "private"]
    with alice(broker) as client:
        client.subscribe(REPLY + client.name)
        client.subscribe("shelfd/v1/local/health")
        told = client.get(lambda got: got.topic.endswith("/health")).body
        asked = client.call("system.health", request_id="a")["result"]
    assert told["status"] == asked["status"] == "ok"
    assert "private" not in str([told, asked])
    assert str(broker.port) not in str([told, asked])


@pytest.mark.parametrize("method", ["promote", "promotion.preview"])
def test_only_an_administrator_has_a_project_s_file_written(broker: Mosquitto, daemon: Daemon, method: str) -> None:
    (daemon.directory / ".claude" / "projects" / "-srv-app").mkdir(parents=True)
    with alice(broker) as client:
        client.subscribe(REPLY + client.name)
        refused = client.call(method, project="/srv/app", request_id="a")["error"]
    assert (refused["code"], refused["data"]["field"]) == (-32004, "project")
    assert daemon.call(method, project="/srv/app")["path"].endswith("-srv-app/memory/MEMORY.md")


def test_a_killed_daemon_is_offline(broker: Mosquitto, daemon: Daemon) -> None:
    with alice(broker) as client:
        client.subscribe(STATUS)
        assert client.get().body["state"] == "online"
        daemon.kill()
        assert client.get(lambda got: got.body["state"] == "offline")
    with alice(broker, name="late") as late:
        late.subscribe(STATUS)
        got = late.get()
    assert (got.is_retained, got.body["state"]) == (True, "offline")


def test_a_stopped_daemon_says_so_and_comes_back(broker: Mosquitto, daemon: Daemon) -> None:
    with alice(broker) as client:
        client.subscribe(STATUS)
        assert daemon.stop() == 0
        assert client.get(lambda got: got.body["state"] == "offline")
        daemon.start()
        assert client.get(lambda got: got.body["state"] == "online")


def test_events_arrive_in_order_and_without_gaps(broker: Mosquitto, daemon: Daemon) -> None:
    with alice(broker) as client:
        client.subscribe("shelfd/v1/local/ev/default/#")
        for number in range(50):
            daemon.call("remember", content=f"observation {number}")
        last = daemon.call("get_stats")["last_seq"]
        events = [client.get() for _ in range(50)]
    created = [got for got in events if got.topic.endswith("/memory/note.created")]
    seqs = [got.body["seq"] for got in events]
    assert seqs == list(range(seqs[0], seqs[0] + 50))
    assert seqs[-1] in (last, last - 1)  # the nugget's own event came first
    assert len(created) >= 49
    assert all(got.body["prev_seq"] == got.body["seq"] - 1 for got in events)


def test_the_same_request_twice_makes_one_note(broker: Mosquitto, daemon: Daemon) -> None:
    with alice(broker) as client:
        client.subscribe(REPLY + client.name)
        first = client.call("remember", content="once", request_id="short")
        again = client.call("remember", content="once", request_id="short")
        other = client.call("remember", content="something else", request_id="short")
    assert again["result"]["note"]["id"] == first["result"]["note"]["id"]
    assert again["result"]["replayed"] is True
    assert other["result"]["status"] == "created"
    assert daemon.call("get_stats")["total_notes"] == 2


class Writer(threading.Thread):
    """Remembers over MQTT, a note as soon as the broker has taken over the one before, until told to stop."""

    def __init__(self, client: MqttClient) -> None:
        super().__init__(daemon=True)
        self.client = client
        self.sent = 0
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.is_set():
            self.client.publish(
                REQUEST + "remember",
                {
                    "id": f"{self.client.name}-{self.sent:020d}",
                    "params": {"content": f"{self.client.name} {self.sent}"},
                },
            )
            self.sent += 1


@contextmanager
def writers(broker: Mosquitto, count: int) -> Iterator[list[Writer]]:
    """So many writers at work; what they have sent is final when the block ends."""
    with ExitStack() as stack:
        found = [Writer(stack.enter_context(alice(broker, name=f"writer-{n}", clean=False))) for n in range(count)]
        for writer in found:
            writer.start()
        yield found


def finish(found: list[Writer]) -> int:
    """Let each end what it is at; return how many notes there must be."""
    for writer in found:
        writer.stopped.set()
    for writer in found:
        writer.join(SOON)
        assert not writer.is_alive()
    return sum(writer.sent for writer in found)


def by_writer(daemon: Daemon, found: list[Writer]) -> dict[str, list[int]]:
    """Numbers of each writer's notes in the order in which the shelf got them."""
    numbers: dict[str, list[int]] = {writer.client.name: [] for writer in found}
    for note in _notes(daemon):
        name, number = note["content"].split()
        if name in numbers:
            numbers[name].append(int(number))
    return numbers


def test_an_outage_of_the_broker_loses_nothing(broker: Mosquitto, daemon: Daemon) -> None:
    with alice(broker, name="listener", clean=False) as listener, writers(broker, 4) as found:
        listener.subscribe("shelfd/v1/local/ev/default/memory/note.created")
        until(lambda: daemon.call("get_stats")["total_notes"] > 20, "notes before the outage")
        broker.stop()
        before = daemon.call("get_stats")["last_seq"]
        for number in range(20):  # by the socket, while the broker is away
            daemon.call("remember", content=f"meanwhile {number}")
        until(lambda: daemon.call("system.health")["mqtt"]["state"] != "connected", "the outage is noticed")
        broker.start()
        until(lambda: daemon.call("get_stats")["last_seq"] > before + 60, "notes after the outage")
        sent = finish(found)
        until(lambda: daemon.call("get_stats")["total_notes"] == sent + 20, "every request carried out once")
        first = _first_event_of(listener)
        last = daemon.call("get_stats")["last_seq"]
        expected = last - first.body["seq"] + 1
        events = [first]
        while max(event.body["seq"] for event in events) < last:  # some may come twice
            events += _events(listener, 1)
    seqs = list(dict.fromkeys(event.body["seq"] for event in events))
    assert seqs == list(range(seqs[0], seqs[0] + expected))
    assert by_writer(daemon, found) == {writer.client.name: list(range(writer.sent)) for writer in found}


def _first_event_of(listener: MqttClient) -> Got:
    """The first event that came behind the subscription; those before it had no listener."""
    return listener.get()


def _events(listener: MqttClient, count: int) -> list[Got]:
    """Events until *count* different ones have come; the broker may give some twice."""
    events: list[Got] = []
    seen: set[int] = set()
    while len(seen) < count:
        events.append(listener.get())
        seen.add(events[-1].body["seq"])
    return events


def _notes(daemon: Daemon) -> list[dict[str, Any]]:
    notes: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = daemon.call("note.list", limit=1000, order="created_at", **({"cursor": cursor} if cursor else {}))
        notes += page["notes"]
        cursor = page.get("next_cursor")
        if cursor is None:
            return notes


def _holds(daemon: Daemon, count: int) -> bool:
    return int(daemon.call("get_stats")["total_notes"]) >= count


def test_a_killed_daemon_loses_no_request_and_makes_no_note_twice(broker: Mosquitto, daemon: Daemon) -> None:
    with writers(broker, 4) as found:
        for _ in range(5):
            count = daemon.call("get_stats")["total_notes"]
            until(partial(_holds, daemon, count + 11), "notes under load")
            daemon.kill()
            daemon.start()
        sent = finish(found)
        until(partial(_holds, daemon, sent), "every request carried out")
    numbers = by_writer(daemon, found)
    assert {name: sorted(own) for name, own in numbers.items()} == {
        writer.client.name: list(range(writer.sent)) for writer in found
    }


def test_a_wrong_password_is_said_and_the_socket_is_unaffected(tmp_path: Path, broker: Mosquitto) -> None:
    flags = mqtt_flags(tmp_path, broker)
    (tmp_path / "mqtt.password").write_text("no-such-secret")
    daemon = Daemon(tmp_path, *flags).start()
    try:
        until(lambda: daemon.call("system.health")["mqtt"]["state"] == "refused", "the refusal is in health")
        assert daemon.call("remember", content="still here")["status"] == "created"
        assert "no-such-secret" not in daemon.log.read_text()
        findings = {finding["check"]: finding["ok"] for finding in daemon.call("system.doctor")["findings"]}
        assert findings["mqtt"] is False
    finally:
        daemon.kill()


@pytest.mark.parametrize("may_read", [True, False])
def test_doctor_finds_out_whether_requests_arrive(tmp_path: Path, may_read: bool) -> None:
    """A broker that forbids reading grants the subscription all the same."""
    allowed = "readwrite" if may_read else "write"
    with mosquitto(tmp_path / "broker", acl=f"user shelfd\ntopic {allowed} shelfd/v1/#\n") as broker:
        daemon = Daemon(tmp_path, *mqtt_flags(tmp_path, broker)).start()
        try:
            connected(daemon)
            findings = {finding["check"]: finding for finding in daemon.call("system.doctor")["findings"]}
            # A machine that is busy may be slow, which is another complaint.
            assert ("did not arrive" in findings["mqtt requests"]["detail"]) is not may_read
            assert may_read or not findings["mqtt requests"]["ok"]
        finally:
            daemon.kill()


def test_no_broker_at_all_is_no_reason_not_to_serve(tmp_path: Path, broker: Mosquitto) -> None:
    broker.kill()
    daemon = Daemon(tmp_path, *mqtt_flags(tmp_path, broker)).start()
    try:
        assert daemon.call("remember", content="without a broker")["status"] == "created"
        broker.start()
        connected(daemon)
        assert daemon.stop() == 0
    finally:
        if daemon.is_running:
            daemon.kill()
