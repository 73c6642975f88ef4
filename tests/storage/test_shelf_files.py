"""Files and directories of shelves: their modes, crashes in the middle, damage."""

import asyncio
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from contract.samples import create, edit, make_link, write
from fakes import FakeClock
from shelfd.memory.errors import Conflict, DuplicateShelf, InvalidParams, ShelfNotFound, StorageCorrupt
from shelfd.memory.ports.sessions import Injection, Retraction, Variant
from shelfd.memory.ports.view import Writer
from shelfd.storage import SqliteStore, SqliteStores


@pytest.fixture
def stores(tmp_path: Path) -> SqliteStores:
    return SqliteStores(tmp_path / "data" / "shelves", FakeClock())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data" / "shelves"


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())


async def test_nobody_else_may_read_a_shelf(stores: SqliteStores, root: Path) -> None:
    store = await stores.create("work", owner="uid:1")
    assert _names(root / "work") == ["shelf.db"]
    await store.commit(create("n1"))

    assert _mode(root) == _mode(root / "work") == 0o700
    files = {file.name: _mode(file) for file in (root / "work").iterdir()}
    assert files == dict.fromkeys(["shelf.db", "shelf.db-wal", "shelf.db-shm"], 0o600)
    await store.close()
    assert _names(root / "work") == ["shelf.db"]


async def test_asking_for_an_owner_leaves_no_trace(stores: SqliteStores, root: Path) -> None:
    await (await stores.create("work", owner="uid:1")).close()

    assert stores.owner("work") == "uid:1"
    assert _names(root / "work") == ["shelf.db"]


async def test_a_crash_while_a_shelf_is_made_leaves_its_name_free(stores: SqliteStores, root: Path) -> None:
    (root / ".work.new").mkdir()
    (root / ".work.new" / "shelf.db").write_bytes(b"half")
    (root / "empty").mkdir()
    assert stores.names() == []
    assert not stores.exists(".work.new")

    for name in ("work", "empty"):
        await (await stores.create(name, owner="uid:1")).close()
    assert stores.names() == ["empty", "work"]
    assert _names(root) == ["empty", "work"]


async def test_a_crash_while_a_shelf_is_dropped_leaves_no_shelf(stores: SqliteStores, root: Path) -> None:
    (root / ".dropped-work").mkdir()
    (root / ".dropped-work" / "shelf.db").write_bytes(b"half")
    await (await stores.create("work", owner="uid:1")).close()
    await stores.drop("work")

    assert _names(root) == []


@pytest.mark.parametrize("name", ["letter.txt", "shelf.db-wal"])
async def test_a_directory_in_the_way_is_left_alone(stores: SqliteStores, root: Path, name: str) -> None:
    (root / "work").mkdir()
    (root / "work" / name).write_text("dear diary")
    (root / "work" / "MEMORY.md").write_text("# Mine")
    with pytest.raises(Conflict, match="move the rest away") as refused:
        await stores.create("work", owner="uid:1")

    assert not refused.value.retryable
    assert (root / "work" / name).read_text() == "dear diary"
    assert _names(root) == ["work"]


@pytest.mark.parametrize("kind", ["file", "link", "dangling"])
async def test_what_is_no_directory_is_left_alone(stores: SqliteStores, root: Path, tmp_path: Path, kind: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    match kind:
        case "file":
            (root / "work").write_text("dear diary")
        case "link":
            (root / "work").symlink_to(tmp_path / "elsewhere")
        case _:
            (root / "work").symlink_to(tmp_path / "nowhere")
    with pytest.raises(Conflict, match=r"no directory|already exists"):
        await stores.create("work", owner="uid:1")

    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_a_shelf_is_made_beside_its_memory_file(stores: SqliteStores, root: Path) -> None:
    """Somebody wrote one beforehand, or kept it when the shelf's file was lost."""
    (root / "work").mkdir()
    (root / "work" / "MEMORY.md").write_text("# Mine")
    store = await stores.create("work", owner="uid:1")
    await store.commit(create("n1"))
    await store.close()

    assert (root / "work" / "MEMORY.md").read_text() == "# Mine"
    assert (stores.names(), stores.owner("work"), _names(root)) == (["work"], "uid:1", ["work"])
    again = await stores.open("work")
    assert again.view.notes.get("n1") is not None
    await again.close()


def _fifo(path: Path) -> None:
    os.mkfifo(path, 0o600)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _link(path: Path) -> None:
    path.symlink_to(path.parent.parent / "elsewhere.db")


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("put", [_fifo, _device, _link, Path.mkdir])
async def test_only_regular_files_are_opened(
    stores: SqliteStores, root: Path, put: Callable[[Path], None], suffix: str
) -> None:
    """Opening a FIFO would wait for ever: without the check this test does not end."""
    await (await stores.create("work", owner="uid:1")).close()
    (root / "work" / "shelf.db").rename(root / "elsewhere.db")
    if suffix:
        (root / "elsewhere.db").rename(root / "work" / "shelf.db")
    put(root / "work" / f"shelf.db{suffix}")
    before = _names(root / "work")

    with pytest.raises(StorageCorrupt) as caught:
        await stores.open("work")

    assert caught.value.data["reason"] == "NOT_A_FILE"
    assert f"shelf.db{suffix} " in caught.value.message
    assert stores.owner("work") is None
    assert stores.names() == ["work"]
    assert _names(root / "work") == before
    await stores.drop("work")
    assert stores.names() == []


async def test_a_directory_elsewhere_is_refused_and_stays_and_others_can_be_dropped(
    stores: SqliteStores, root: Path, tmp_path: Path
) -> None:
    for name in ("linked", "other"):
        await (await stores.create(name, owner="uid:1")).close()
    (root / "linked").rename(tmp_path / "elsewhere")
    (root / "linked").symlink_to(tmp_path / "elsewhere")
    (root / ".dropped-old").symlink_to(tmp_path / "elsewhere")
    (root / ".new.new").symlink_to(tmp_path / "elsewhere")

    for refused in (stores.open("linked"), stores.drop("linked")):
        with pytest.raises(StorageCorrupt, match="symbolic link") as caught:
            await refused
        assert str(tmp_path) not in caught.value.message
    assert stores.owner("linked") is None
    await (await stores.create("new", owner="uid:1")).close()
    await stores.drop("other")
    assert await stores.clean_up() == 1

    assert _names(tmp_path / "elsewhere") == ["shelf.db"]
    assert _names(root) == ["linked", "new"]


async def test_a_link_to_nowhere_has_its_name(stores: SqliteStores, root: Path) -> None:
    (root / "work").symlink_to(root / "nowhere")
    with pytest.raises(DuplicateShelf):
        await stores.create("work", owner="uid:1")
    with pytest.raises(StorageCorrupt):
        await stores.open("work")


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "../up", "nul\0"])
async def test_names_stay_inside_the_root(stores: SqliteStores, name: str) -> None:
    with pytest.raises(InvalidParams):
        await stores.create(name, owner="uid:1")
    with pytest.raises(ShelfNotFound):
        await stores.open(name)


async def _after_a_crash(store: SqliteStore, root: Path) -> Path:
    """Return a directory with the store's files as they lie on disk now."""
    directory = root / "crashed"
    directory.mkdir()
    for name in ("shelf.db", "shelf.db-wal"):
        (directory / name).write_bytes((store._path.parent / name).read_bytes())
    return directory


async def test_an_unclean_stop_is_checked_in_the_background(stores: SqliteStores, root: Path) -> None:
    store = await stores.create("work", owner="uid:1")
    await store.commit(create("n1"))
    await _after_a_crash(store, root)
    await store.close()

    with capture_logs() as logs:
        again = await stores.open("crashed")
        assert again.view.notes.get("n1") is not None
        assert again._background_check is not None
        await again._background_check._task
        await again.close()
        clean = await stores.open("crashed")
        assert clean._background_check is None
        await clean.close()
    assert [entry["event"] for entry in logs] == ["store.checked"]


async def test_a_shelf_that_is_closed_soon_is_not_checked(stores: SqliteStores, root: Path) -> None:
    store = await stores.create("work", owner="uid:1")
    await store.commit(create("n1"))
    await _after_a_crash(store, root)
    await store.close()

    with capture_logs() as logs:
        again = await SqliteStores(root, FakeClock(stands_still=True)).open("crashed")
        await asyncio.sleep(0)
        await again.close()
    assert logs == []


async def test_what_the_check_finds_is_logged_and_closing_does_not_wait_for_it(
    stores: SqliteStores, root: Path
) -> None:
    store = await stores.create("work", owner="uid:1")
    for number in range(300):
        await store.commit(create(f"n{number}", content=f"{number} " * 200))
    writer = (await store._awake()).connection
    await writer.run(lambda: writer.raw.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall())
    await store.commit(create("last"))
    file = await _after_a_crash(store, root) / "shelf.db"
    await store.close()
    content = bytearray(file.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 8192] = b"\xff" * 8192
    file.write_bytes(content)

    with capture_logs() as logs:
        damaged = await stores.open("crashed")
        assert damaged._background_check is not None
        await damaged._background_check._task
        assert [entry["event"] for entry in logs] == ["store.check_failed"]
        assert "restore a backup" in logs[0]["problems"][0]
        assert await damaged.check(full=False) != []
        with pytest.raises(StorageCorrupt):
            damaged.view.notes.scan(before_row=None, limit=1000)
        await damaged.close()


async def test_a_full_check_names_every_broken_rule(stores: SqliteStores) -> None:
    def spoil(rows: Writer) -> None:
        rows.links.put(make_link("n1", "ghost"))
        rows.links.put(make_link("ghost", "n1"))
        rows.rewinds.put_variant(Variant("s", 3, 0, is_live=False))
        rows.rewinds.put_variant(Variant("s", 4, 0, is_live=True))
        rows.rewinds.add_retraction(Retraction("s", 1, None, None, 99, 99, 99, "run-1"))
        rows.injections.add(Injection("s", 1, 0, 0, None, ("n2",), ("n1", "n3")))
        rows.injections.add(Injection("s", 2, 0, 0, ("ghost",), ("n1",), None))

    store = await stores.create("work", owner="uid:1")
    await store.commit(create("n1", superseded_by="ghost", parent_id="ghost"))
    await store.commit(create("n2", kind="fact"))
    await store.commit(create("n3", key="k", kind="note"))
    await store.commit(create("n4"))
    await store.commit(edit("n4", content="x"))
    await store.commit(write(spoil))
    with closing(sqlite3.connect(store._path)) as other:
        other.execute("INSERT INTO usage VALUES (99, 1, 1, 1, 's')")
        other.execute("INSERT INTO hit_session VALUES (98, 's')")
        other.execute("DELETE FROM change WHERE seq = 2")
        other.execute("UPDATE change SET tx = 1 WHERE seq = 4")
        other.execute("UPDATE floor SET last_seq = 1")
        other.commit()

    problems = await store.check(full=True)
    expected = """change 1 is older|gap before change 3|transaction 1 |fact n2 has no key
|note n3 is no fact|n1 is superseded by|n1 has a parent|ghost -> n1 begins|n1 -> ghost ends|row 98|row 99
|turn s 3 has|retraction 1 is|record 2 of"""
    for text in expected.replace("\n", "").split("|"):
        assert any(text in problem for problem in problems), text
    assert len(problems) == 14
    assert await store.check(full=False) == []
    await store.close()


async def test_checking_a_file_that_is_gone_says_so(stores: SqliteStores, root: Path) -> None:
    store = await stores.create("work", owner="uid:1")
    await store.close()
    (root / "work" / "shelf.db").write_bytes(b"garbage" * 1000)

    assert len(await store.check(full=True)) == 1


async def test_what_was_erased_before_a_crash_is_gone_once_the_shelf_is_open_again(
    stores: SqliteStores, root: Path
) -> None:
    store = await stores.create("work", owner="uid:1")
    await store.commit(create("n1", content="4711-secret"))

    def erase(writer: Writer) -> None:
        note = writer.notes.get("n1")
        assert note is not None
        writer.notes.delete(note)

    await store.commit(write(erase))
    directory = await _after_a_crash(store, root)  # before it was scrubbed
    await store.close()
    assert any(b"4711-secret" in path.read_bytes() for path in directory.iterdir())
    again = await stores.open("crashed")
    try:
        assert not any(b"4711-secret" in path.read_bytes() for path in directory.iterdir())
    finally:
        await again.close()
