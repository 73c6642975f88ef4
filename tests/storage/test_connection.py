"""The private members of aiosqlite that are used, and what the connections are set to."""

import asyncio
import importlib.metadata
import sqlite3
import threading
from pathlib import Path

import aiosqlite
import pytest

from shelfd.storage.sqlite.connection import WriterConnection, open_reader, open_untouched
from shelfd.storage.sqlite.files import has_wal


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "odd name?%#.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE x (a)")
    connection.commit()
    connection.close()
    return path


def test_aiosqlite_still_has_the_method_this_rests_on() -> None:
    """If this fails, read the new aiosqlite before the pin is moved: storage/sqlite/connection.py rests on it."""
    assert importlib.metadata.version("aiosqlite").startswith("0.22.")
    assert asyncio.iscoroutinefunction(aiosqlite.Connection._execute)
    assert isinstance(aiosqlite.Connection._conn, property)


async def test_what_is_submitted_runs_in_its_turn_and_what_it_raises_harms_no_other(file: Path) -> None:
    """Rests on the queue of aiosqlite's thread, which takes functions that nobody waits for."""
    writer = await WriterConnection.open(file)
    order: list[str] = []

    def fail() -> None:
        order.append("submitted")
        raise ZeroDivisionError

    first = asyncio.create_task(writer.run(lambda: order.append("before")))
    await asyncio.sleep(0)
    writer.submit(fail)
    await writer.run(lambda: order.append("after"))
    await first
    await writer.close()

    assert order == ["before", "submitted", "after"]


async def test_functions_run_in_order_on_one_thread_that_is_not_the_loops(file: Path) -> None:
    writer = await WriterConnection.open(file)
    order: list[int] = []

    def note(number: int) -> int:
        order.append(number)
        return threading.get_ident()

    threads = await asyncio.gather(*(writer.run(lambda number=number: note(number)) for number in range(50)))  # type: ignore[misc]
    await writer.close()

    assert order == list(range(50))
    assert len(set(threads)) == 1
    assert threads[0] != threading.get_ident()


async def test_what_a_function_raises_reaches_its_caller_and_the_thread_goes_on(file: Path) -> None:
    writer = await WriterConnection.open(file)
    with pytest.raises(ZeroDivisionError):
        await writer.run(lambda: 1 // 0)

    assert await writer.run(lambda: writer.raw.execute("SELECT 1").fetchone()) == (1,)
    await writer.close()


async def test_a_function_runs_even_if_its_caller_is_cancelled(file: Path) -> None:
    writer = await WriterConnection.open(file)
    go, ran = threading.Event(), threading.Event()
    blocker = asyncio.create_task(writer.run(go.wait))
    task = asyncio.create_task(writer.run(ran.set))
    await asyncio.sleep(0)
    task.cancel()
    go.set()
    await blocker
    await writer.run(lambda: None)
    await writer.close()

    assert task.cancelled()
    assert ran.is_set()


async def test_the_writer_is_durable_and_in_wal_mode(file: Path) -> None:
    writer = await WriterConnection.open(file)

    def pragma(name: str) -> object:
        return writer.raw.execute(f"PRAGMA {name}").fetchone()[0]

    names = ["journal_mode", "synchronous", "foreign_keys", "temp_store", "busy_timeout"]
    found = [await writer.run(lambda name=name: pragma(name)) for name in names]  # type: ignore[misc]
    assert found == ["wal", 2, 1, 2, 2000]
    assert await writer.run(lambda: writer.raw.isolation_level) is None
    await writer.close()


async def test_a_clean_close_empties_the_wal(file: Path) -> None:
    writer = await WriterConnection.open(file)
    await writer.run(lambda: writer.raw.execute("INSERT INTO x VALUES (1)"))
    assert has_wal(file)
    await writer.close()

    assert not has_wal(file)


async def test_a_writer_that_cannot_be_set_up_leaves_nothing_open(tmp_path: Path) -> None:
    garbage = tmp_path / "garbage.db"
    garbage.write_bytes(b"no database at all, but long enough to look at" * 100)
    before = set(threading.enumerate())
    with pytest.raises(sqlite3.DatabaseError):
        await WriterConnection.open(garbage)

    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=10)
        assert not thread.is_alive()


def test_readers_cannot_write(file: Path) -> None:
    for reader in (open_reader(file), open_untouched(file)):
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("INSERT INTO x VALUES (1)")
        reader.close()
