"""The broker's access list, and what a real broker makes of it."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from mosquitto import Mosquitto
from mqtt_client import MqttClient
from shelfd.gateway.mqtt.acl import acl_text, mqtt_users
from shelfd.memory import Access, Rule
from shelfd.memory.errors import ConfigError

CONFIG = Path(__file__).resolve().parents[3] / "config"
PASSWORDS = {name: f"{name}-secret" for name in ("shelfd", "alice", "bob", "carol")}
ROOT = "shelfd/v1/local"
OWNERS = {"default": "shelfd", "alices": "mqtt:alice", "bobs": "mqtt:bob"}
RULES = {"bobs": Rule(read=frozenset({"mqtt:dora"})), "default": Rule(deny=frozenset({"mqtt:bob"}))}


def text(users: list[str], *, rules: dict[str, Rule] | None = None, admins: frozenset[str] = frozenset()) -> str:
    return acl_text("local", users, OWNERS, Access(OWNERS.get, admins, rules or {}).may)


def block(acl: str, user: str) -> list[str]:
    """Return the lines of one user."""
    found = re.search(rf"^user {re.escape(user)}\n((?:topic .*\n)*)", acl, re.MULTILINE)
    assert found is not None, acl
    return found[1].splitlines()


# ------------------------------------------------------------------ the text


def test_a_user_has_a_block_with_the_shelves_they_may_read() -> None:
    acl = text(["alice", "dora"], rules=RULES)

    assert block(acl, "alice") == [
        f"topic read {ROOT}/{kind}/{shelf}/#" for shelf in ("alices", "default") for kind in ("ev", "watch")
    ]
    assert f"topic read {ROOT}/ev/bobs/#" in block(acl, "dora")
    assert not [line for line in block(acl, "dora") if "alices" in line]


def test_the_daemon_may_everything_under_its_root_and_appears_once() -> None:
    acl = text(["shelfd", "alice"])

    assert block(acl, "shelfd") == ["topic readwrite shelfd/v1/#"]
    assert acl.count("user shelfd") == 1
    other = acl_text("local", ["alice"], ["default"], Access(OWNERS.get).may, daemon="memory")
    assert block(other, "memory") == ["topic readwrite shelfd/v1/#"]
    assert "user shelfd" not in other


def test_a_shelf_open_to_everyone_is_open_to_users_nobody_named() -> None:
    everyone = {"alices": Rule(read=frozenset({"*"}))}

    assert f"pattern read {ROOT}/ev/default/#" in text([]).splitlines()
    assert f"pattern read {ROOT}/ev/alices/#" not in text([]).splitlines()
    assert f"pattern read {ROOT}/watch/alices/#" in text([], rules=everyone).splitlines()
    closed = {"default": Rule(read=frozenset({"mqtt:alice"}), deny=frozenset({"*"}))}
    assert f"pattern read {ROOT}/ev/default/#" not in text([], rules=closed).splitlines()
    assert f"topic read {ROOT}/ev/default/#" in block(text(["alice", "bob"], rules=closed), "alice")


def test_who_is_denied_an_open_shelf_is_denied_its_events() -> None:
    lines = block(text(["bob"], rules=RULES), "bob")

    assert f"topic deny {ROOT}/ev/default/#" in lines
    assert f"topic deny {ROOT}/watch/default/#" in lines
    assert f"topic read {ROOT}/ev/default/#" not in lines
    assert f"topic read {ROOT}/ev/bobs/#" in lines


def test_an_administrator_reads_every_shelf() -> None:
    lines = block(text(["alice"], admins=frozenset({"mqtt:alice"})), "alice")
    assert len([line for line in lines if "/ev/" in line]) == len(OWNERS)


def test_the_text_depends_on_no_order() -> None:
    assert text(["alice", "bob", "alice"]) == text(["bob", "alice"])
    assert "user alice" in text(["bob", "alice"])


@pytest.mark.parametrize("name", ["", "a b", "a\nuser root", "a\r", "a\tb", "a/b", "+", "al#ce", "\x7f", "a\u2028b"])
def test_a_name_that_could_reach_further_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="access list"):
        text([name])
    with pytest.raises(ConfigError, match="access list"):
        acl_text("local", [], [], Access(OWNERS.get).may, daemon=name)


@pytest.mark.parametrize("name", ["", "+", "a/b", "a#", "a\nuser root", "a b", "A"])
def test_instances_and_shelves_are_refused_unless_they_are_names(name: str) -> None:
    with pytest.raises(ConfigError, match="access list"):
        acl_text(name, [], [], Access(OWNERS.get).may)
    with pytest.raises(ConfigError, match="access list"):
        acl_text("local", [], [name], Access(OWNERS.get).may)


def test_users_of_the_broker_are_found_among_principals() -> None:
    assert mqtt_users(["uid:0", "mqtt:bob", "*", "mqtt:alice", "mqtt:bob", "shelfd", "mqtt:"]) == ["alice", "bob"]


def test_the_list_that_is_shipped_is_that_of_a_daemon_without_rules() -> None:
    shipped = (CONFIG / "mosquitto.acl").read_text(encoding="utf-8")
    assert shipped == acl_text("local", [], ["default"], Access(lambda _: "shelfd").may)


# ------------------------------------------------------------------ a real broker


@contextmanager
def clients(folder: Path, acl: str, *users: str, configuration: str | None = None) -> Iterator[list[MqttClient]]:
    """Run a broker with this list and log in as each of *users*."""
    broker = Mosquitto(folder, acl=acl, users=PASSWORDS)
    if configuration is not None:
        broker.configuration.write_text(configuration.replace("listener 1883", f"listener {broker.port}"))
    with ExitStack() as stack:
        stack.callback(broker.kill)
        broker.start()
        yield [stack.enter_context(MqttClient(broker.port, user, PASSWORDS[user])) for user in users]


def arrives(receiver: MqttClient, marker: str) -> list[str]:
    """Return the topics of what arrived before *marker*, which is waited for."""
    before: list[str] = []

    def is_marker(got: Any) -> bool:
        if got.topic != marker:
            before.append(got.topic)
        return bool(got.topic == marker)

    receiver.get(is_marker)
    return before


@pytest.mark.component("mosquitto")
def test_no_user_writes_requests_as_another(tmp_path: Path) -> None:
    with clients(tmp_path, text(["alice", "bob"]), "shelfd", "alice") as (daemon, alice):
        daemon.subscribe(f"{ROOT}/#")
        for topic in (f"{ROOT}/req/bob/remember", f"{ROOT}/rep/alice/x", f"{ROOT}/ev/default/_/note.created"):
            alice.publish(topic, {})
        alice.publish(f"{ROOT}/status", {}, is_retained=True)
        alice.publish(f"{ROOT}/req/alice/remember", {})

        assert arrives(daemon, f"{ROOT}/req/alice/remember") == []


@pytest.mark.component("mosquitto")
def test_no_user_reads_replies_or_requests_of_another(tmp_path: Path) -> None:
    with clients(tmp_path, text(["alice", "bob"]), "shelfd", "alice") as (daemon, alice):
        for topic in ("shelfd/v1/#", f"{ROOT}/rep/bob/#", f"{ROOT}/rep/+/x", f"{ROOT}/req/#", f"{ROOT}/rep/alice/#"):
            alice.subscribe(topic)
        daemon.publish(f"{ROOT}/rep/bob/x", {})
        daemon.publish(f"{ROOT}/req/bob/remember", {})
        daemon.publish(f"{ROOT}/rep/alice/x", {})

        assert arrives(alice, f"{ROOT}/rep/alice/x") == []


@pytest.mark.component("mosquitto")
def test_everyone_reads_events_of_their_own_shelves_only(tmp_path: Path) -> None:
    acl = text(["alice", "bob"], rules=RULES)
    told = [f"{ROOT}/{kind}/{shelf}/x/y" for shelf in ("alices", "bobs", "default") for kind in ("ev", "watch")]
    with clients(tmp_path, acl, "shelfd", "alice", "bob", "carol") as (daemon, *others):
        for user in others:
            user.subscribe("#")
        for topic in told:
            daemon.publish(topic, {})
        daemon.publish(f"{ROOT}/health", {})
        seen = {user.user: sorted({t.split("/")[4] for t in arrives(user, f"{ROOT}/health")}) for user in others}

        # bob is denied the shelf that is open to everyone; carol is a user nobody named.
        assert seen == {"alice": ["alices", "default"], "bob": ["bobs"], "carol": ["default"]}


@pytest.mark.component("mosquitto")
def test_status_and_health_are_for_everyone_to_read(tmp_path: Path) -> None:
    with clients(tmp_path, text([]), "shelfd", "carol") as (daemon, carol):
        daemon.publish(f"{ROOT}/status", {"state": "online"}, is_retained=True)
        carol.subscribe(f"{ROOT}/status")
        assert carol.get().body == {"state": "online"}


@pytest.mark.component("mosquitto")
def test_the_shipped_configuration_works_with_the_shipped_list(tmp_path: Path) -> None:
    shipped = (CONFIG / "mosquitto.conf").read_text(encoding="utf-8")
    acl = (CONFIG / "mosquitto.acl").read_text(encoding="utf-8")
    own = shipped.replace("/etc/mosquitto/shelfd.passwd", str(tmp_path / "passwords"))
    own = own.replace("/etc/mosquitto/shelfd.acl", str(tmp_path / "acl"))
    own += f"user {tmp_path.owner()}\n"  # not part of it: a test does not run as root's service
    with clients(tmp_path, acl, "shelfd", "alice", configuration=own) as (daemon, alice):
        alice.subscribe(f"{ROOT}/ev/#")
        daemon.publish(f"{ROOT}/ev/default/memory/note.created", {"seq": 1})
        assert alice.get().body == {"seq": 1}
