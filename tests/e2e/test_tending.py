"""The daemon tends its shelf: reflection and promotion by the scheduler, in ledger, log, events and MEMORY.md."""

import os
import signal
from pathlib import Path
from typing import Any

from running import Daemon, refused, until

SESSIONS = ("one", "two", "three", "four")
FOREIGN = (
    "# Memory\r\n\r\nWritten by hand, with a\ttab and no final line end:\r\n\r\n"
    "- **by hand**: stays\r\n* nested\r\n  - as it is"
)


def memory_file(daemon: Daemon) -> Path:
    return daemon.data / "shelves" / "default" / "MEMORY.md"


def fill(daemon: Daemon) -> None:
    """A shelf with something to tidy, and with notes that four sessions asked for."""
    daemon.call("remember", content="Tokens use RS256. The public key is in auth/keys.pem.", key="learn:token format")
    daemon.call("remember", content="2-space indent, no semicolons", key="user:style preference")
    daemon.call("remember", content="The quick harbour crane lifts eleven blue containers at berth four every morning")
    daemon.call("remember", content="The quick harbour crane lifts eleven blue containers at berth four every morning")
    daemon.call("remember", content="scribbled", title="tmp file")
    daemon.call("remember", content="The line repeats itself here.\nThe line repeats itself here.\nAnd goes on.")
    for session in SESSIONS:
        daemon.call("recall", query="token format RS256", session_id=session)
        daemon.call("recall", query="indent style semicolons", session_id=session)


def run_job(daemon: Daemon, job: str) -> dict[str, Any]:
    """Run a job now and wait for its end."""
    run_id = daemon.call("scheduler.run", job=job)["run_id"]

    def finished() -> dict[str, Any] | None:
        runs: list[dict[str, Any]] = daemon.call("scheduler.history")["runs"]
        return next((run for run in runs if run["run_id"] == run_id and run["status"] != "running"), None)

    found: dict[str, Any] = until(finished, f"the end of {job}")
    return found


def test_reflection_and_promotion_leave_their_traces_and_nothing_else(daemon: Daemon) -> None:
    fill(daemon)
    memory_file(daemon).write_bytes(FOREIGN.encode())
    reflected = daemon.call("reflect")
    assert reflected["merged"] == 1
    assert reflected["hidden"] == 1
    assert reflected["rewritten"] == 1
    run = run_job(daemon, "promotion")
    assert (run["status"], run["reason"]) == ("done", "manual")

    text = memory_file(daemon).read_bytes()
    assert text.startswith(FOREIGN.encode())
    assert b"**user:style preference**: 2-space indent, no semicolons" in text

    log = daemon.call("shelf.log", limit=1000)["log"]
    mine = [row for row in log if row.get("run_id") == reflected["run_id"]]
    assert mine[0]["kind"] == "reflection.started"
    assert mine[-1]["kind"] == "reflection.completed"
    assert {row["kind"] for row in log if row.get("run_id") == run["run_id"]} == {
        "note.promoted",
        "promotion.completed",
    }
    kinds = [event["type"] for event in daemon.call("events.since", seq=0, limit=1000)["events"]]
    assert "shelfd.note.merged.v1" in kinds
    assert "shelfd.promotion.completed.v1" in kinds
    # Silent: no memory text in the daemon's log.
    for line in ("RS256", "semicolons", "harbour", "scribbled"):
        assert line not in daemon.log.read_text()


def test_what_is_tidy_stays_as_it_is(daemon: Daemon) -> None:
    fill(daemon)
    counts = ("rewritten", "merged", "hidden", "tagged", "linked")
    for _ in range(20):
        if not any(daemon.call("reflect")[name] for name in counts):
            break
    again = daemon.call("reflect")
    assert not any(again[name] for name in counts)
    assert daemon.call("promote")["added"] > 0
    before = memory_file(daemon).stat()
    result = daemon.call("promote")
    assert (result["added"], result["updated"], result["removed"]) == (0, 0, 0)
    after = memory_file(daemon).stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_reflection_can_be_undone(daemon: Daemon) -> None:
    fill(daemon)
    contents = sorted(note["content"] for note in daemon.call("note.list")["notes"])
    run_id = daemon.call("reflect")["run_id"]
    assert sorted(note["content"] for note in daemon.call("note.list")["notes"]) != contents
    result = daemon.call("reflection.undo", run_id=run_id)
    assert result["kept"] == []
    assert sorted(note["content"] for note in daemon.call("note.list")["notes"]) == contents


def test_a_purged_note_leaves_memory_md_too(daemon: Daemon) -> None:
    fill(daemon)
    daemon.call("promote")
    assert b"RS256" in memory_file(daemon).read_bytes()
    fact = daemon.call("recall", query="learn:token format")["answer"]
    daemon.call("forget", id=fact["note_id"], purge=True)
    assert b"RS256" not in memory_file(daemon).read_bytes()
    assert daemon.stop() == 0
    files = b"".join(path.read_bytes() for path in daemon.data.rglob("*") if path.is_file())
    assert b"RS256" not in files


def test_a_bad_cron_text_at_reload_leaves_the_old_schedule_and_is_said(tmp_path: Path) -> None:
    file = tmp_path / "shelfd.toml"
    file.write_text('[reflection]\ncron = "30 4 * * *"\n')
    daemon = Daemon(tmp_path, "--config", str(file)).start()
    try:
        file.write_text('[reflection]\ncron = "30 4 * *"\n')
        daemon.signal(signal.SIGHUP)
        health = until(lambda: _complained(daemon), "the complaint")
        assert health["status"] == "degraded"
        assert health["scheduler"]["cron"] == "30 4 * * *"
        assert "reflection.cron" in health["config"]["complaints"][0]
        file.write_text('[reflection]\ncron = "15 5 * * *"\n')
        daemon.signal(signal.SIGHUP)
        until(lambda: daemon.call("system.health")["scheduler"]["cron"] == "15 5 * * *", "the new schedule")
        assert daemon.call("system.health")["status"] == "ok"
    finally:
        daemon.kill()


def _complained(daemon: Daemon) -> dict[str, Any] | None:
    health: dict[str, Any] = daemon.call("system.health")
    return health if health["config"]["complaints"] else None


def test_bad_settings_are_refused_at_start(tmp_path: Path) -> None:
    file = tmp_path / "shelfd.toml"
    file.write_text('[reflection]\ncron = "0 0 31 2 *"\n')
    done = refused(tmp_path, "--data-dir", str(tmp_path / "data"), "--config", str(file))
    assert done.returncode == os.EX_CONFIG
    assert "reflection.cron" in done.stderr
