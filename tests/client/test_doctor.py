"""The doctor, with a daemon and without one: what is wrong, and the command that mends it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from client.in_process import shelfd as in_this_process
from fakes import FakeClock
from mosquitto import USERS, mosquitto
from running import Daemon
from shelfd.storage import SqliteStores


def examined(home: Path, *arguments: str, socket: str | None = None) -> dict[str, dict[str, Any]]:
    """What the doctor finds, by what it looked at; its status says whether all is well."""
    env = {"HOME": str(home), **({"SHELFD_SOCKET": socket} if socket else {})}
    ended = in_this_process("doctor", "--json", *arguments, env=env)
    found = json.loads(ended.stdout)
    assert ended.returncode == (0 if found["ok"] else 1)
    return {one["check"]: one for one in found["findings"]}


def test_a_running_daemon_is_asked_and_its_version_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Daemon(tmp_path) as daemon:
        found = examined(tmp_path, socket=daemon.socket)
        assert found["version"]["ok"]
        assert found["data_dir"] == {"check": "data_dir", "ok": True, "detail": "writable and private"}
        assert found["backups"]["fix"] == "shelfd backup"
        daemon.data.chmod(0o755)
        monkeypatch.setattr("shelfd.client.examining.version", lambda _: "99.0")
        found = examined(tmp_path, socket=daemon.socket)
        assert found["data_dir"]["fix"] == f"chmod 700 {daemon.data}"
        assert (found["version"]["ok"], "99.0" in found["version"]["detail"]) == (False, True)
        said = in_this_process("doctor", env={"HOME": str(tmp_path), "SHELFD_SOCKET": daemon.socket})
        assert f"data_dir: chmod 700 {daemon.data}" in said.stdout.splitlines()
        assert examined(tmp_path, "--data-dir", str(daemon.data))["daemon"]["fix"].startswith("shelfd doctor --socket ")


async def test_without_a_daemon_files_are_looked_at(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    stores = SqliteStores(data / "shelves", FakeClock())
    for name in ("default", "work"):
        await (await stores.create(name, owner="uid:1")).close()
    assert (await stores.open("default")).view.counts().notes == 0
    (data / "shelves" / "work" / "shelf.db").write_bytes(b"no database")
    found = examined(tmp_path, "--data-dir", str(data))

    assert (found["daemon"]["ok"], found["daemon"]["fix"]) == (False, "shelfd run")
    assert found["shelf default"]["ok"]
    assert (found["shelf work"]["ok"], found["shelf work"]["fix"]) == (False, "shelfd restore --latest --shelf work")
    assert found["clock"]["ok"]
    later = 4_000_000_000
    os.utime(data / "shelves" / "default" / "shelf.db", (later, later))
    assert examined(tmp_path, "--data-dir", str(data))["clock"]["fix"] == "timedatectl set-ntp true"


def test_where_nothing_is_yet_a_daemon_is_all_that_is_missing(tmp_path: Path) -> None:
    env = {"SHELFD__DAEMON__SOCKET": str(tmp_path / "data" / "s")}
    ended = in_this_process(
        "doctor", "--json", "--data-dir", str(tmp_path / "data"), env={"HOME": str(tmp_path), **env}
    )
    findings = json.loads(ended.stdout)["findings"]
    assert [(one["check"], one["fix"]) for one in findings if not one["ok"]] == [("daemon", "shelfd run")]
    assert not (tmp_path / "data").exists()


def test_wrong_settings_are_a_finding(tmp_path: Path) -> None:
    file = tmp_path / "shelfd.toml"
    file.write_text('[memory]\nlangage = "english"\n')
    found = examined(tmp_path, "--config", str(file))
    assert (found["settings"]["ok"], found["settings"]["fix"]) == (False, "shelfd config check")
    assert "memory.langage" in found["settings"]["detail"]
    file.write_text(f'[promotion]\npath = "{tmp_path}/none/MEMORY.md"\n[mqtt]\nurl = "mqtt://127.0.0.1:1"\n')
    found = examined(tmp_path, "--config", str(file), "--data-dir", str(tmp_path / "data"))
    assert found["memory_md default"]["fix"] == f"mkdir -p {tmp_path}/none"
    assert not found["mqtt"]["ok"]


@pytest.mark.component("mosquitto")
def test_a_broker_is_tried_by_a_round_trip(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker:
        password = tmp_path / "password"
        password.write_text(USERS["shelfd"])
        file = tmp_path / "shelfd.toml"
        file.write_text(f'[mqtt]\nurl = "{broker.url}"\npassword_file = "{password}"\n')
        found = examined(tmp_path, "--config", str(file), "--data-dir", str(tmp_path / "data"))
        assert found["mqtt"]["ok"], found["mqtt"]
