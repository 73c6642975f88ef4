"""A file of an older schema is copied before it is changed; its runs are carried over; what cannot be copied stays."""

import json
import os
import sqlite3
import stat
from contextlib import closing
from errno import ENOSPC
from pathlib import Path

import pytest

from contract.samples import create
from fakes import FakeClock, memory
from shelfd.memory.errors import StoreBusy
from shelfd.scheduler.ledger import run_of
from shelfd.storage import SqliteStores
from shelfd.storage.sqlite import copies
from shelfd.storage.sqlite.migrations import inspect, load_migrations, migrate

OLD = 6
RUNS = (
    ("run-1", "reflection", "a", "cron", 10, 11, 12, "done", 2, None, '{"inspected":3}'),
    ("run-2", "promotion", "a", "cron", 10, 12, 13, "failed", 3, "OSError", None),
    ("run-3", "reflection", "b", "heartbeat", 20, 21, 22, "missed", 0, None, None),
    ("run-4", "reflection", "manual:run-4", "manual", 30, 31, None, "running", 1, None, None),
    ("run-5", "reflection", "c", "cron", 40, 41, 42, "interrupted", 1, None, None),
    ("run-6", "promotion", "c", "cron", 40, 43, None, "running", 2, None, None),
)
NEWEST = load_migrations()[-1].number
COPY = f"shelf.before-{NEWEST}.sqlite"


async def old_shelf(root: Path) -> Path:
    """Make a shelf with a note in it, in a file as an older version wrote it."""
    stores = SqliteStores(root, FakeClock())
    store = await stores.create("work", owner="uid:1")
    await store.commit(create("n1"))
    await store.close()
    path = root / "work" / "shelf.db"
    with closing(sqlite3.connect(path)) as new:
        tables = ("meta", "note", "change", "nugget")
        new.row_factory = sqlite3.Row
        rows = {table: [dict(row) for row in new.execute(f"SELECT * FROM {table}")] for table in tables}
    path.unlink()
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        old.execute("PRAGMA journal_mode = WAL")
        migrate(old, load_migrations()[:OLD], now=1)
        for table, found in rows.items():
            known = [name for _, name, *_ in old.execute(f"PRAGMA table_info({table})")]
            for row in found:
                columns = ", ".join(name for name in known if name in row)
                values = [row[name] for name in known if name in row]
                old.execute(f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(values))})", values)
        old.executemany(f"INSERT INTO run VALUES (NULL, {', '.join('?' * 11)})", RUNS)
        params, cursor = {"nugget": "memory", "drop": False, "seq": 0}, {"done": 1, "total": 2}
        job = ("job-old", "hide", "queued", "p", "nugget.clear", None, "run-0", json.dumps(params), json.dumps(cursor))
        old.execute(f"INSERT INTO job VALUES (NULL, {', '.join('?' * 14)})", (*job, 0, None, None, 15, 15))
    path.chmod(0o600)
    return path


async def test_what_there_was_is_carried_over_in_its_order(tmp_path: Path) -> None:
    await old_shelf(tmp_path)
    store = await SqliteStores(tmp_path, FakeClock()).open("work")
    jobs = [job for _, job in store.view.jobs.page(before=None, limit=99)][::-1]

    assert store.view.notes.get("n1") is not None
    assert [note.id for note in store.view.notes.named("memory", "note", ["about n1"])] == ["n1"]
    assert [job.id for job in jobs] == ["job-1", "job-2", "job-old", "job-3", "job-4", "job-5", "job-6"]
    told = [(run.run_id, run.status, run.attempts, run.error) for run in map(run_of, jobs) if run.slot]
    assert told == [
        ("run-1", "done", 2, None),
        ("run-2", "failed", 3, "OSError"),
        ("run-3", "missed", 0, None),
        ("run-4", "interrupted", 1, None),  # somebody asked for it, and may do so again
        ("run-5", "interrupted", 1, None),
        ("run-6", "interrupted", 2, None),
    ]
    assert [job.id for job in jobs if job.is_unfinished] == ["job-old", "job-5", "job-6"]
    assert run_of(jobs[0]).result == {"inspected": 3}
    assert (jobs[0].planned_at, jobs[0].started_at, jobs[0].finished_at) == (10, 11, 12)
    assert (jobs[2].kind, jobs[2].slot, dict(jobs[2].params)["nugget"]) == ("hide", None, "memory")
    await store.close()


async def test_the_file_is_copied_before(tmp_path: Path) -> None:
    path = await old_shelf(tmp_path)
    (path.parent / "shelf.before-3.sqlite").write_bytes(b"an older copy")
    (path.parent / f".{COPY}.new").write_bytes(b"left by a crash")
    store = await SqliteStores(tmp_path, FakeClock()).open("work")
    await store.close()

    copy = path.parent / COPY
    assert sorted(entry.name for entry in path.parent.iterdir()) == [COPY, "shelf.db"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert inspect(copy, newest=NEWEST) == OLD
    with closing(sqlite3.connect(copy)) as old:
        assert old.execute("SELECT id FROM note").fetchall() == [("n1",)]
        assert old.execute("SELECT count(*) FROM run").fetchone() == (len(RUNS),)
        assert old.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_a_file_of_this_version_is_not_copied(tmp_path: Path) -> None:
    stores = SqliteStores(tmp_path, FakeClock())
    for store in (await stores.create("work", owner="uid:1"), await stores.open("work")):
        assert list(store.copies()) == []
        await store.close()
    assert [entry.name for entry in (tmp_path / "work").iterdir()] == ["shelf.db"]


async def test_without_room_for_a_copy_nothing_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = await old_shelf(tmp_path)
    before = path.read_bytes()

    def full(_path: Path) -> None:
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    stores = SqliteStores(tmp_path, FakeClock())
    with monkeypatch.context() as patch:
        patch.setattr(copies, "sync", full)
        with pytest.raises(StoreBusy, match=r"No space left on device.*nothing was changed: make room"):
            await stores.open("work")
    assert inspect(path, newest=NEWEST) == OLD
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["shelf.db"]

    store = await stores.open("work")
    assert [name for name, _ in store.copies()] == [str(path.with_name(COPY))]
    await store.close()


async def test_a_purge_names_a_copy_that_may_hold_the_note(tmp_path: Path) -> None:
    async with memory(lambda clock: SqliteStores(tmp_path, clock)) as api:
        note = await api.remember("4711-secret")
        copy = tmp_path / "default" / COPY
        copy.write_bytes(b"")
        later = api.clock.now() // 1_000_000 + 60
        os.utime(copy, (later, later))
        result = await api.call("forget", id=note["id"], purge=True)
        assert result["still_in"] == [str(copy)]

        os.utime(copy, (0, 0))
        younger = await api.remember("4712-secret")
        assert (await api.call("forget", id=younger["id"], purge=True))["still_in"] == []
