"""Backing up and restoring by the command, with a daemon and without one."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from client.in_process import Ended
from client.in_process import shelfd as in_this_process
from running import Daemon, until


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("backups")) as running:
        yield running


def shelfd(home: Path, *arguments: str, socket: str | None = None) -> Ended:
    return in_this_process(*arguments, env={"HOME": str(home), **({"SHELFD_SOCKET": socket} if socket else {})})


def test_a_shelf_is_backed_up_and_comes_back(daemon: Daemon, tmp_path: Path) -> None:
    daemon.call("remember", content="the crane is at berth four")
    made = shelfd(tmp_path, "backup", str(tmp_path / "copy.db"), socket=daemon.socket)
    assert made.stdout.startswith(f"{tmp_path}/copy.db  ")
    assert {path.name for path in tmp_path.iterdir()} == {"copy.db", "copy.db.json"}

    daemon.call("nugget.clear", name="memory")
    assert daemon.call("recall", query="crane")["results"] == []
    dry = shelfd(tmp_path, "restore", str(tmp_path / "copy.db"), "--dry-run", socket=daemon.socket)
    assert "would be" in dry.stdout
    back = shelfd(tmp_path, "restore", str(tmp_path / "copy.db"), socket=daemon.socket)
    assert "what was there is kept: " in back.stdout
    assert len(daemon.call("recall", query="crane")["results"]) == 1


def test_backups_are_listed_and_the_last_becomes_another_shelf(daemon: Daemon, tmp_path: Path) -> None:
    for _ in range(3):
        assert shelfd(tmp_path, "backup", "--keep", "2", socket=daemon.socket).returncode == 0
    listed = json.loads(shelfd(tmp_path, "backup", "--list", "--json", socket=daemon.socket).stdout)
    assert len(listed["backups"]) == 2
    made = shelfd(tmp_path, "restore", "--latest", "--as", "beside", "--json", socket=daemon.socket)
    assert json.loads(made.stdout)["shelf"] == "beside"
    assert shelfd(tmp_path, "move", "renamed", "--shelf", "beside", socket=daemon.socket).stdout == (
        "beside is renamed now\n"
    )


def test_wrong_use_is_said(daemon: Daemon, tmp_path: Path) -> None:
    for arguments in (
        ["restore"],
        ["restore", "a.db", "b.db"],
        ["restore", "--latest", "a.db"],
        ["backup", "--keep", "0"],
    ):
        assert shelfd(tmp_path, *arguments, socket=daemon.socket).returncode == 64
    (tmp_path / "broken.db").write_text("SQLite format 3")
    refused = shelfd(tmp_path, "restore", str(tmp_path / "broken.db"), socket=daemon.socket)
    assert (refused.returncode, "nothing was changed" in refused.stderr) == (74, True)
    assert shelfd(tmp_path, "restore", str(tmp_path / "none.db"), socket=daemon.socket).returncode == 66
    assert shelfd(tmp_path, "backup", str(tmp_path / "broken.db"), socket=daemon.socket).returncode == 65


def test_without_a_daemon_the_directory_is_worked_on_under_its_lock(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        daemon.call("remember", content="the crane is at berth four")
        data = str(daemon.data)
        held = shelfd(tmp_path, "backup", "--data-dir", data)
        assert (held.returncode, f"pid {daemon.pid}" in held.stderr) == (75, True)
        daemon.stop()
    made = json.loads(shelfd(tmp_path, "backup", "--data-dir", data, "--json").stdout)["backup"]
    fresh = tmp_path / "fresh"
    back = shelfd(tmp_path, "restore", made["path"], "--data-dir", str(fresh))
    assert (back.returncode, back.stderr) == (0, "")
    daemon.data.rename(tmp_path / "before")
    fresh.rename(daemon.data)
    with Daemon(tmp_path) as restored:
        assert len(restored.call("recall", query="crane")["results"]) == 1


def test_shelves_are_backed_up_by_a_schedule_of_their_own(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    settings = {"SHELFD__BACKUP__CRON": "@daily", "SHELFD__BACKUP__KEEP": "1", "SHELFD__BACKUP__DIRECTORY": str(kept)}
    with Daemon(tmp_path, environment=settings) as daemon:
        jobs = {job["job"]: job["cron"] for job in daemon.call("scheduler.jobs")["jobs"]}
        assert jobs == {
            "reflection": "0 9 * * *",
            "promotion": "0 9 * * *",
            "compaction": "0 9 * * *",
            "backup": "@daily",
        }
        assert daemon.call("system.health")["backups"]["cron"] == "@daily"
        for _ in range(2):
            run_id = daemon.call("scheduler.run", job="backup")["run_id"]
            until(partial(_ended, daemon, run_id), "the backup ends")
        assert len(list((kept / "default").glob("*.db"))) == 1
        assert [run["status"] for run in daemon.call("scheduler.history", job="backup")["runs"]] == ["done", "done"]


def _ended(daemon: Daemon, run_id: str) -> bool:
    runs = daemon.call("scheduler.history", job="backup")["runs"]
    return any(run["run_id"] == run_id and run["status"] == "done" for run in runs)


def test_who_follows_a_shelf_that_is_replaced_is_told_to_begin_anew(daemon: Daemon) -> None:
    daemon.call("remember", content="before")
    made = daemon.call("shelf.backup")["backup"]
    with daemon.connect() as client:
        events = client.events(types=["note.created"])
        after = daemon.call("remember", content="after")["note"]["id"]
        while next(events)["params"]["data"]["id"] != after:
            pass  # what was written just before may still be on its way
        daemon.call("shelf.restore", backup=made["path"])
        assert next(events)["method"] == "events.lagged"
