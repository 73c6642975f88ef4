"""Which part of the daemon's health who may see."""

from pathlib import Path
from typing import Any

import pytest

from fakes import ALICE, BOB
from shelfd.daemon.composition import Parts, build
from shelfd.daemon.places import choose
from shelfd.daemon.settings import load
from shelfd.daemon.system import visible
from shelfd.memory import ANYONE, Access, Rule

EVERYONE_S = {"status", "ready", "uptime_s", "connections", "clock", "shelves", "scheduler", "mqtt", "llm", "embedder"}
ACCESS = Access({"hers": ALICE}.get, frozenset({"uid:0"}), {"default": Rule(deny=frozenset({"mqtt:eve"}))})


def run(shelf: str) -> dict[str, Any]:
    return {"job": "reflection", "shelf": shelf, "run_id": "run-1", "status": "done"}


def health(last: str = "hers") -> dict[str, Any]:
    """All there is to say when something is wrong with everything."""
    broker = {"state": "down", "url": "mqtt://shelfd@broker.example:1883", "message": "no route to broker.example"}
    lags = {"shelves": [{"shelf": name, "lag": 1} for name in ("default", "hers")], "events_sent": 7}
    return {
        "status": "degraded", "ready": True, "uptime_s": 1.0, "connections": 2, "clock": {"jumped": None},
        "shelves": [{"shelf": "default", "state": "open"}, {"shelf": "hers", "state": "corrupt"}],
        "scheduler": {"cron": "0 9 * * *", "tz": "UTC", "next_at": None, "last": run(last),
                      "running": [run("default"), run("hers")], "last_tick_s": 1.0, "complaint": "reflection.cron"},
        "mqtt": {**broker, "agent_password_file": "/var/lib/shelfd/agent.password", "events": lags},
        "llm": {"state": "resting", "url": "https://models.example/v1", "last_error": "/v1 is not there"},
        "embedder": {"state": "failed", "model": "m", "last_error": "/opt/model.onnx is another file"},
        "config": {"complaints": ["/etc/shelfd.toml: mqtt.url: …"]},
    }  # fmt: skip


def shelves_in(value: object) -> set[str]:
    """Every shelf that is named anywhere."""
    if isinstance(value, dict):
        named = {value["shelf"]} if isinstance(value.get("shelf"), str) else set()
        return named.union(*(shelves_in(member) for member in value.values()))
    return set[str]().union(*(shelves_in(member) for member in value)) if isinstance(value, list) else set()


@pytest.mark.parametrize(
    ("principal", "seen"),
    [("uid:0", {"default", "hers"}), (ALICE, {"default", "hers"}), (BOB, {"default"}), (ANYONE, {"default"}),
     ("mqtt:eve", set())],
)  # fmt: skip
def test_a_shelf_shows_itself_to_those_who_may_read_it(principal: str, seen: set[str]) -> None:
    assert shelves_in(visible(health(), ACCESS, principal)) == seen


@pytest.mark.parametrize("principal", [ALICE, BOB, ANYONE])
def test_everyone_learns_how_it_is_and_nobody_where(principal: str) -> None:
    told = visible(health(), ACCESS, principal)

    assert told.keys() == EVERYONE_S
    assert (told["status"], told["ready"], told["mqtt"]["state"]) == ("degraded", True, "down")
    text = str(told)
    assert not any(place in text for place in ("/", "broker.example", "models.example", "reflection.cron"))


def test_administrators_see_all_of_it() -> None:
    assert visible(health(), ACCESS, "uid:0") == health()


def test_without_a_broker_and_before_the_first_run() -> None:
    quiet = health() | {"mqtt": None}
    quiet["scheduler"]["last"] = None
    told = visible(quiet, ACCESS, BOB)

    assert (told["mqtt"], told["scheduler"]["last"]) == (None, None)
    assert visible(health("default"), ACCESS, BOB)["scheduler"]["last"] == run("default")


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    loaded = load({}, {"HOME": str(tmp_path), "SHELFD__DAEMON__DATA_DIR": str(tmp_path / "data")}, None)
    (tmp_path / "data").mkdir()
    environ = {"HOME": str(tmp_path)}
    return build(loaded.settings, choose(loaded, environ, system=False, activated=None, pid=1))


async def test_the_daemon_s_own_health_keeps_to_that(parts: Parts) -> None:
    await parts.shelves.start()
    try:
        await parts.shelves.create("hers", owner=ALICE)
        assert shelves_in(parts.system.health(ALICE)) == {"default", "hers"}
        assert shelves_in(parts.system.health(BOB)) == {"default"}
        for_administrators = {"backups", "config", "data_dir", "recall", "socket", "warning"}
        assert parts.system.health("uid:0").keys() == EVERYONE_S | for_administrators
        assert parts.system.health(BOB).keys() == EVERYONE_S
    finally:
        await parts.shelves.close()
