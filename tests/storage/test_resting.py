"""What an open shelf costs while nobody writes, and how it comes and goes with writing."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from contract.samples import create, write
from fakes import FakeClock
from shelfd.memory.errors import ShuttingDown, StoreBusy
from shelfd.memory.ports.store import Change
from shelfd.memory.ports.view import Writer
from shelfd.storage import SqliteStore, SqliteStores

EMPTY_BYTES = 225_000


@pytest.fixture
def stores(tmp_path: Path) -> SqliteStores:
    return SqliteStores(tmp_path / "shelves", FakeClock())


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "shelves" / "work"


@pytest.fixture
async def store(stores: SqliteStores) -> AsyncIterator[SqliteStore]:
    store = await stores.create("work", owner="uid:1")
    yield store
    await store.close()


def _names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())


def _bytes(directory: Path) -> int:
    return sum(entry.stat().st_size for entry in directory.iterdir())


def _content(directory: Path) -> bytes:
    return b"".join(entry.read_bytes() for entry in directory.iterdir())


def _descriptors(directory: Path) -> int:
    links = Path("/proc/self/fd").iterdir()
    return sum(link.readlink().is_relative_to(directory) for link in links if os.path.lexists(link))


def _threads() -> set[threading.Thread]:
    """Threads of connections; those of the loop's executor are there for everybody.

    One of a test before may be among them, on its way out: what counts is which came since.
    """
    return {thread for thread in threading.enumerate() if "connection" in thread.name}


async def _rest(store: SqliteStore) -> None:
    await store.rest()  # says only that nobody wrote since then
    await store.rest()


async def test_a_shelf_without_writes_costs_one_descriptor_no_thread_and_no_wal(
    stores: SqliteStores, directory: Path
) -> None:
    before = _threads()
    store = await stores.create("work", owner="uid:1")
    for _ in range(2):
        assert store.view.log.last_seq == 0
        assert store.view.notes.scan(before_row=None, limit=9) == []
        assert await store.scrub()
        assert _names(directory) == ["shelf.db"]
        assert _bytes(directory) <= EMPTY_BYTES
        assert _descriptors(directory) == 1
        assert not _threads() - before
        await store.close()
        assert _names(directory) == ["shelf.db"]
        assert _descriptors(directory) == 0
        store = await stores.open("work")
    await store.close()


async def test_the_first_change_does_not_write_a_whole_wal(store: SqliteStore, directory: Path) -> None:
    await store.commit(create("n1"))

    assert _bytes(directory) <= 2 * EMPTY_BYTES


async def test_a_shelf_that_is_not_written_to_any_more_gives_back_what_writing_took(
    store: SqliteStore, directory: Path
) -> None:
    before = _threads()
    await store.commit(create("n1"))
    assert _descriptors(directory) > 1
    assert len(_threads() - before) == 1
    await store.rest()
    assert _names(directory) != ["shelf.db"]  # somebody wrote a moment ago

    await store.rest()

    assert _names(directory) == ["shelf.db"]
    assert _descriptors(directory) == 1
    for thread in _threads() - before:  # on its way out: it says that it is done before it is
        await asyncio.to_thread(thread.join, 10)
    assert not _threads() - before
    assert store.view.notes.get("n1") is not None
    assert (await store.commit(create("n2"))).last_seq == 2
    assert store.view.notes.get("n2") is not None
    assert await store.check(full=True) == []


async def test_changes_that_come_while_it_goes_to_rest_lose_nothing(store: SqliteStore) -> None:
    count = 0
    for turns in range(40):
        await store.commit(create(f"n{count}"))
        await store.rest()
        resting = asyncio.create_task(store.rest())
        for _ in range(turns):  # so that the change meets it at another step each time
            await asyncio.sleep(0)
        if turns % 3 == 0:
            resting.cancel()
        scrubbed, *_ = await asyncio.gather(
            store.scrub(), store.commit(create(f"n{count + 1}")), store.commit(create(f"n{count + 2}"))
        )
        assert scrubbed
        await asyncio.gather(resting, return_exceptions=True)
        count += 3
        assert store.view.log.last_seq == count
        assert len(store.view.notes.scan(before_row=None, limit=1000)) == count
    assert await store.check(full=True) == []


async def test_closing_and_going_to_rest_at_once_is_fine(stores: SqliteStores, directory: Path) -> None:
    store = await stores.create("work", owner="uid:1")
    await store.commit(create("n1"))
    await store.rest()
    await asyncio.gather(store.rest(), store.close(), store.rest())
    await store.rest()

    assert _names(directory) == ["shelf.db"]
    assert await store.scrub()
    with pytest.raises(ShuttingDown):
        await store.commit(create("n2"))


async def test_a_writer_that_cannot_be_opened_fails_the_change_and_the_next_one_tries_again(
    store: SqliteStore, directory: Path
) -> None:
    await store.commit(create("n1"))
    await _rest(store)
    (directory / "shelf.db").rename(directory / "away")
    results = await asyncio.gather(store.commit(create("n2")), store.commit(create("n3")), return_exceptions=True)
    (directory / "away").rename(directory / "shelf.db")

    assert [type(result) for result in results] == [StoreBusy, StoreBusy]
    assert store.view.notes.get("n1") is not None
    assert (await store.commit(create("n2"))).last_seq == 2


async def test_a_shelf_that_is_closed_before_its_writer_is_there_still_takes_what_was_queued(
    stores: SqliteStores,
) -> None:
    store = await stores.create("work", owner="uid:1")
    writing = asyncio.create_task(store.commit(create("n1")))
    await asyncio.sleep(0)
    await store.close()
    assert (await writing).last_seq == 1

    again = await stores.open("work")
    assert again.view.notes.get("n1") is not None
    await again.close()


# ------------------------------------------------------------------ erasing


def _erase(note_id: str) -> Change[None]:
    def erase(writer: Writer) -> None:
        note = writer.notes.get(note_id)
        assert note is not None
        writer.notes.delete(note)

    return write(erase)


async def test_the_wal_keeps_its_length_when_what_was_erased_is_taken_out_of_it(
    store: SqliteStore, directory: Path
) -> None:
    for number in range(100):
        await store.commit(create(f"n{number}", content=f"secret-{number} " * 20))
    wal = directory / "shelf.db-wal"
    length = wal.stat().st_size
    for number in range(50):
        await store.commit(_erase(f"n{number}"))
    assert await store.scrub()

    assert wal.stat().st_size >= length
    content = _content(directory)
    assert not [number for number in range(50) if b"secret-%d " % number in content]
    assert b"secret-99 " in content
    await store.commit(create("after"))
    assert wal.stat().st_size >= length
    assert await store.check(full=True) == []


async def test_a_kill_while_the_wal_is_overwritten_loses_nothing(
    stores: SqliteStores, store: SqliteStore, directory: Path
) -> None:
    for number in range(60):
        await store.commit(create(f"n{number}", content=f"text {number}"))
    before = (directory / "shelf.db-wal").read_bytes()
    assert await store.scrub()
    database, after = (directory / "shelf.db").read_bytes(), (directory / "shelf.db-wal").read_bytes()
    head = len(after.rstrip(b"\0"))
    assert 0 < head < 10_000 < len(before) == len(after)

    for cut in (head, head + 1, len(after) // 2, len(after)):
        copy = directory.parent / f"killed-{cut}"
        copy.mkdir()
        (copy / "shelf.db").write_bytes(database)
        (copy / "shelf.db-wal").write_bytes(after[:cut] + before[cut:])
        killed = await stores.open(copy.name)
        assert len(killed.view.notes.scan(before_row=None, limit=100)) == 60
        assert (await killed.commit(create("next"))).last_seq == 61
        assert await killed.check(full=True) == []
        await killed.close()


async def test_a_reader_at_work_puts_the_scrub_off(store: SqliteStore, directory: Path) -> None:
    await store.commit(create("n1"))
    writer = (await store._awake()).connection
    await writer.run(lambda: writer.raw.execute("PRAGMA busy_timeout = 0"))
    reader = await asyncio.to_thread(_reading, directory / "shelf.db")
    try:
        await store.commit(_erase("n1"))
        assert not await store.scrub()
    finally:
        reader.close()
    assert await store.scrub()


def _reading(path: Path) -> sqlite3.Connection:
    reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM note").fetchall()
    return reader
