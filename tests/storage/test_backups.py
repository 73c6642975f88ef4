"""Backups as files: what they are, what is refused before anything is touched, and what a full disk leaves."""

import asyncio
import errno
import gc
import json
import os
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contract.samples import create
from contract.test_backups import nothing, plan
from fakes import FakeClock
from shelfd.memory.errors import (
    BackupFailed,
    InvalidParams,
    NotFound,
    SchemaTooNew,
    ShuttingDown,
    StorageCorrupt,
    StoreBusy,
)
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.ports.backups import Backup, NewBackup
from shelfd.storage import SqliteStore, SqliteStores
from shelfd.storage.sqlite import backing_up, restoring
from shelfd.storage.sqlite import logical_hash as hashing
from shelfd.storage.sqlite.backing_up import BackupWriter
from shelfd.storage.sqlite.manifests import checksum, manifest_beside
from shelfd.storage.sqlite.migrations import load_migrations

NEWEST = load_migrations()[-1].number


@pytest.fixture
def stores(tmp_path: Path) -> SqliteStores:
    return SqliteStores(tmp_path / "shelves", FakeClock(), tmp_path / "backups")


@pytest.fixture
async def store(stores: SqliteStores) -> AsyncIterator[SqliteStore]:
    opened = await stores.create("default", owner="uid:1")
    await opened.commit(create("n1"))
    yield opened
    await opened.close()


@pytest.fixture
async def backup(store: SqliteStore) -> Backup:
    return (await store.backup(plan(), nothing)).backup


def read_all(path: Path) -> bytes:
    return path.read_bytes()


def tree(root: Path) -> list[str]:
    """All files below a directory but what SQLite keeps beside an open one."""
    found = (path for path in root.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm")))
    return sorted(str(path.relative_to(root)) for path in found)


async def test_a_backup_is_one_private_file_that_is_whole_by_itself(store: SqliteStore, backup: Backup) -> None:
    path = Path(backup.path)
    assert path.name == "default-20260101T000000Z-1.db"
    assert [entry.name for entry in sorted(path.parent.iterdir())] == [path.name, f"{path.name}.json"]
    assert {stat.S_IMODE(entry.stat().st_mode) for entry in path.parent.iterdir()} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert backup.manifest.sha256 == checksum(path, lambda: None)
    assert (backup.manifest.size, backup.manifest.schema) == (len(read_all(path)), NEWEST)
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert copy.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    said = json.loads(manifest_beside(path).read_text())
    assert (said["format"], said["file"], said["seq"], said["made_at"]) == (1, path.name, 1, "2026-01-01T00:00:00Z")


async def test_the_hash_is_the_same_from_a_process_of_its_own(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hashing, "_SMALL_BYTES", 0)
    made = await store.backup(plan(), nothing)
    assert made.backup.manifest.logical_hash == logical_hash(store.view)
    assert capfd.readouterr().err == "", "it says nothing into the daemon's log"


async def test_a_backup_that_is_written_to_meanwhile_has_one_moment(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two notes are written together, always; a backup with one more of the first kind would be torn."""
    committed, ended = threading.Event(), asyncio.Event()
    written = 1

    def until_others_wrote(_writer: BackupWriter) -> None:
        committed.clear()
        assert committed.wait(30)

    monkeypatch.setattr(backing_up, "_STEP_BYTES", 1 << 16)
    monkeypatch.setattr(BackupWriter, "_goes_on", until_others_wrote)

    async def write() -> None:
        nonlocal written
        while not ended.is_set():
            written += 1
            await store.commit(create(f"n{written}", content=f"{written} " * 400))
            committed.set()

    writing = asyncio.ensure_future(write())
    for number in range(1, 4):
        seqs: list[int] = []
        made = await store.backup(plan(number), lambda *_, seqs=seqs: seqs.append(store.view.log.last_seq))
        manifest = made.backup.manifest
        with closing(sqlite3.connect(made.backup.path)) as copy:
            notes, last = copy.execute("SELECT count(*), (SELECT max(seq) FROM change) FROM note").fetchone()
        assert notes == last == manifest.seq
        assert manifest.seq < seqs[-1]  # others wrote before it ended
    ended.set()
    await writing


async def test_backups_of_one_moment_have_names_of_their_own(store: SqliteStore, tmp_path: Path) -> None:
    names = [Path((await store.backup(plan(number), nothing)).backup.path).name for number in (1, 2, 3)]
    stem = "default-20260101T000000Z-1"
    assert names == [f"{stem}.db", f"{stem}_2.db", f"{stem}_3.db"]
    for number, to in enumerate((tmp_path, tmp_path / "named"), 4):
        made = await store.backup(plan(number, to=str(to)), nothing)
        assert Path(made.backup.path) == (tmp_path / f"{stem}.db" if to == tmp_path else to)


async def test_only_backups_of_the_shelf_make_way(store: SqliteStore, tmp_path: Path) -> None:
    mine = tmp_path / "disk"
    mine.mkdir()
    others = [
        "default-20250101T000000Z-1.db",
        "notes.txt",
        "other-20250101T000000Z-1.db",
        "default-20250101T000000Z-2.db.json",
    ]
    for name in others:
        (mine / name).write_text("{}")
    await store.backup(plan(1, to=str(mine / "by hand.db")), nothing)
    for number in (2, 3):
        await store.commit(create(f"m{number}"))
        await store.backup(plan(number, to=str(mine), keep=1), nothing)
    assert [name for name in tree(mine) if not name.startswith("default-2026")] == sorted(
        ["by hand.db", "by hand.db.json", *others[:3]]
    )
    assert len([name for name in tree(mine) if name.startswith("default-2026")]) == 2


# ------------------------------------------------------------- what is refused


@pytest.mark.parametrize(("to", "keep", "why"), [("there.db", None, "overwritten"), ("no/such/x", None, "not exist")])
async def test_a_place_that_is_taken_or_missing_is_refused(
    store: SqliteStore, tmp_path: Path, to: str, keep: int | None, why: str
) -> None:
    (tmp_path / "there.db").write_text("mine")
    before = tree(tmp_path)
    with pytest.raises(InvalidParams, match=why):
        await store.backup(plan(to=str(tmp_path / to), keep=keep), nothing)
    with pytest.raises(InvalidParams, match="no directory"):
        await store.backup(plan(to=str(tmp_path / "file"), keep=3), nothing)
    assert tree(tmp_path) == before
    assert (tmp_path / "there.db").read_text() == "mine"


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 4096)


def flip(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(5000)
        byte = file.read(1)
        file.seek(5000)
        file.write(bytes([byte[0] ^ 1]))


def signed_again(change: str) -> Callable[[Path], None]:
    """Change the file by SQL, and its manifest with it: the checksum is right."""

    def spoil(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as copy:
            copy.execute(change)
        said = json.loads(manifest_beside(path).read_text())
        said |= {"sha256": checksum(path, lambda: None), "bytes": path.stat().st_size}
        manifest_beside(path).write_text(json.dumps(said))

    return spoil


def manifest(text: str | None = None, **changes: Any) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        file = manifest_beside(path)
        file.write_text(text if text is not None else json.dumps(json.loads(file.read_text()) | changes))

    return spoil


DAMAGED = {
    "cut off": cut,
    "one bit": flip,
    "no shelf": signed_again("PRAGMA application_id = 7"),
    "another seq": signed_again("DELETE FROM change"),
    "no manifest": lambda path: manifest_beside(path).unlink(),
    "an empty manifest": manifest(""),
    "a list": manifest("[]"),
    "deep": manifest("[" * 60_000),
    "no number": manifest(seq="1"),
    "no time": manifest(made_at="yesterday"),
    "of the future": manifest(format=2),
    "another checksum": manifest(sha256="0" * 64),
}


@pytest.mark.parametrize("spoil", DAMAGED.values(), ids=DAMAGED.keys())
async def test_a_damaged_backup_is_refused_before_anything_is_touched(
    stores: SqliteStores, store: SqliteStore, backup: Backup, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    await store.commit(create("n2"))
    spoil(Path(backup.path))
    before = tree(tmp_path)
    for shelf in ("default", "other"):
        with pytest.raises(StorageCorrupt, match="nothing was changed"):
            await stores.prepare(shelf, backup.path, owner=None)
    assert tree(tmp_path) == before
    assert store.view.counts().notes == 2


async def test_a_newer_backup_is_refused_before_anything_is_touched(
    stores: SqliteStores, backup: Backup, tmp_path: Path
) -> None:
    signed_again(f"PRAGMA user_version = {NEWEST + 1}")(Path(backup.path))
    before = tree(tmp_path)
    with pytest.raises(SchemaTooNew, match="install a newer shelfd"):
        await stores.prepare("default", backup.path, owner=None)
    with pytest.raises(NotFound):
        await stores.prepare("default", str(tmp_path), owner=None)
    assert tree(tmp_path) == before


async def test_a_backup_of_an_older_schema_is_brought_up_to_date(stores: SqliteStores, tmp_path: Path) -> None:
    from storage.test_copies import OLD, old_shelf

    path = await old_shelf(tmp_path / "old")
    with closing(sqlite3.connect(path)) as old:
        old.execute("PRAGMA journal_mode = DELETE")
        seq = old.execute("SELECT max(seq) FROM change").fetchone()[0]
    said = {
        "format": 1, "file": "x", "made_at": "2026-01-01T00:00:00Z", "shelf": "work", "seq": seq, "schema_version": OLD,
        "shelfd": "0", "instance": "local", "bytes": path.stat().st_size, "sha256": checksum(path, lambda: None),
        "logical_hash": "", "run_id": "run-0",
    }  # fmt: skip
    manifest_beside(path).write_text(json.dumps(said))
    await stores.replace(await stores.prepare("work", str(path), owner=None), keep=True)
    opened = await stores.open("work")
    assert opened.view.notes.get("n1") is not None
    await opened.close()
    assert tree(tmp_path / "shelves") == ["work/shelf.db"]


# --------------------------------------------------------------- a full disk


async def test_without_room_nothing_is_begun(
    stores: SqliteStores, store: SqliteStore, backup: Backup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = os.statvfs_result((4096, 4096, 9, 9, 9, 9, 9, 9, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    before = tree(tmp_path)
    with pytest.raises(BackupFailed, match="make room") as refused:
        await store.backup(plan(2), nothing)
    assert refused.value.data["reason"] == "NO_ROOM"
    with pytest.raises(BackupFailed, match="make room"):
        await stores.prepare("default", backup.path, owner=None)
    assert tree(tmp_path) == before


def no_space(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("place", ["sync", "write_manifest", "checksum", "hash_aside"])
async def test_a_disk_that_fills_up_leaves_no_backup(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    before = tree(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(backing_up, place, no_space)
        with pytest.raises(BackupFailed, match="No space left"):
            await store.backup(plan(), nothing)
    assert tree(tmp_path) == before
    await store.backup(plan(), nothing)


async def test_a_disk_that_fills_up_while_a_backup_takes_its_place_leaves_the_shelf(
    stores: SqliteStores, store: SqliteStore, backup: Backup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.commit(create("n2"))
    await store.close()
    before = tree(tmp_path)
    for place in ("sync", "_copy"):
        with monkeypatch.context() as patch:
            patch.setattr(restoring, place, no_space)
            with pytest.raises(BackupFailed, match="nothing was changed"):
                await stores.prepare("default", backup.path, owner=None)
        assert tree(tmp_path) == before
    for name in ("link", "unlink", "replace"):
        prepared = await stores.prepare("default", backup.path, owner=None)
        with monkeypatch.context() as patch:
            patch.setattr(os if name == "link" else Path, name, _once(getattr(os if name == "link" else Path, name)))
            with pytest.raises(StoreBusy, match="as it was"):
                await stores.replace(prepared, keep=True)
        await stores.discard(prepared)
        assert tree(tmp_path) == before
    again = await stores.open("default")
    assert again.view.counts().notes == 2
    await again.close()


def _once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Fail the first time, as a disk does for a moment."""
    failed: list[bool] = []

    def call(*arguments: Any, **named: Any) -> Any:
        if not failed:
            failed.append(True)
            no_space()
        return function(*arguments, **named)

    return call


# ------------------------------------------------------------------- the end


async def test_that_a_cancelled_backup_was_stopped_is_no_news(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, stopped, news = threading.Event(), threading.Event(), list[dict[str, Any]]()

    def make(_writer: BackupWriter) -> NewBackup:
        begun.set()
        assert stopped.wait(30)
        raise ShuttingDown

    monkeypatch.setattr(BackupWriter, "make", make)
    monkeypatch.setattr(BackupWriter, "stop", lambda _writer: stopped.set())
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: news.append(context))
    making = asyncio.ensure_future(store.backup(plan(), nothing))
    assert await asyncio.to_thread(begun.wait, 30)

    making.cancel()
    with pytest.raises(asyncio.CancelledError):
        await making
    del making
    gc.collect()

    assert news == []


async def test_a_backup_ends_with_its_shelf(store: SqliteStore, tmp_path: Path) -> None:
    await store.commit(create("n2", content="a" * 200_000))
    before = tree(tmp_path)
    making = asyncio.ensure_future(store.backup(plan(), nothing))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    closing_ = asyncio.ensure_future(store.close())
    (made,) = await asyncio.gather(making, return_exceptions=True)
    assert isinstance(made, ShuttingDown | NewBackup)
    await closing_
    assert [
        name for name in tree(tmp_path) if name not in before and not name.startswith("backups/default/default-")
    ] == []
    with pytest.raises(ShuttingDown):
        await store.backup(plan(2), nothing)


async def test_what_a_crash_left_is_removed_and_what_is_being_written_is_not(
    stores: SqliteStores, store: SqliteStore, tmp_path: Path
) -> None:
    folder = tmp_path / "backups" / "default"
    folder.mkdir(parents=True)
    for name in (".shelfd-run-dead.db", ".shelfd-run-dead.json", ".shelfd-run-dead.db-journal"):
        (folder / name).write_text("")
    (tmp_path / "shelves" / "default" / ".restoring.new").write_text("")
    prepared: list[list[str]] = []

    async def sweep(*_: int) -> None:
        await stores.clean_up()
        prepared.append(tree(folder))

    tasks: list[asyncio.Task[None]] = []
    await store.backup(plan(), lambda *_: tasks.append(asyncio.ensure_future(sweep())))
    await asyncio.gather(*tasks)
    assert tree(folder) == ["default-20260101T000000Z-1.db", "default-20260101T000000Z-1.db.json"]
    assert tree(tmp_path / "shelves") == ["default/shelf.db"]
