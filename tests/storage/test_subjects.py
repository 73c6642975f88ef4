"""Of which subjects something is stated: nothing that is stored or held is ever missing, and most of the rest is."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from contract.samples import create, write
from fakes import FakeClock
from shelfd.memory.ports.evolution import WITHIN_BITS
from shelfd.memory.ports.view import Writer
from shelfd.storage import SqliteStore, SqliteStores
from shelfd.storage.sqlite.files import has_wal
from shelfd.storage.sqlite.subjects import KnownSubjects

OTHERS = range(10**6, 10**6 + 1_000)


class _Said:
    def encoded(self) -> str:
        return "[]"


def slots(*subjects: int) -> list[int]:
    return [subject << WITHIN_BITS | 7 for subject in subjects]


@pytest.fixture
def stores(tmp_path: Path) -> SqliteStores:
    return SqliteStores(tmp_path, FakeClock())


async def opened(stores: SqliteStores) -> SqliteStore:
    return await stores.open("default") if stores.exists("default") else await stores.create("default", owner="uid:0")


async def put(store: SqliteStore, row: int, *subjects: int) -> None:
    await store.commit(write(lambda rows: rows.statements.put(row, 1, "[]", slots(*subjects))))


async def hold(store: SqliteStore, row: int, *subjects: int) -> None:
    await store.commit(write(lambda rows: rows.statements.hold(row, 1, _Said(), slots(*subjects))))


async def known(store: SqliteStore, *subjects: int) -> set[int]:
    return {*(await store.commit(write(lambda rows: rows.statements.spoken_of({*subjects})))).value}


async def read(store: SqliteStore) -> None:
    """Wait until what was stored before is read, which the first question begins."""
    await known(store, 0)
    async with store.frozen():  # after it
        pass


async def test_whoever_is_not_spoken_of_is_told_apart_once_all_is_read(stores: SqliteStores) -> None:
    store = await opened(stores)
    await put(store, 1, 5, 2**32 - 1)
    assert await known(store, 5, 6) == {5, 6}  # perhaps
    await read(store)
    assert await known(store, 5, 6, 2**32 - 1, *OTHERS) == {5, 2**32 - 1}
    await store.close()


async def test_what_is_stored_or_held_meanwhile_and_since_is_known(stores: SqliteStores) -> None:
    store = await opened(stores)
    for row in range(1, 5):
        await store.commit(create(f"n{row}"))
    await hold(store, 1, 5)

    def ask_and_put(rows: Writer) -> None:
        rows.statements.put(2, 1, "[]", slots(6))
        rows.statements.spoken_of({1})
        rows.statements.put(3, 1, "[]", slots(7))

    await store.commit(write(ask_and_put))
    await read(store)
    await hold(store, 4, 8)
    assert await known(store, 5, 6, 7, 8, *OTHERS) == {5, 6, 7, 8}
    await store.close()


async def test_what_is_held_when_it_is_first_asked_for_is_known(stores: SqliteStores) -> None:
    store = await opened(stores)
    await store.commit(create("n1"))
    await hold(store, 1, 5)
    await read(store)
    assert await known(store, 5, *OTHERS) == {5}
    await store.close()


async def test_what_was_rolled_back_and_comes_again_is_known(stores: SqliteStores) -> None:
    store = await opened(stores)
    for row in range(1, 3):
        await store.commit(create(f"n{row}"))
    await hold(store, 1, 5)

    def fail(rows: Writer) -> None:
        rows.statements.spoken_of({1})
        rows.statements.put(2, 1, "[]", slots(6))  # stores what is held as well
        raise ValueError("taken back")

    with pytest.raises(ValueError, match="taken back"):
        await store.commit(write(fail))
    await read(store)
    assert await known(store, 5, *OTHERS) == {5}
    await put(store, 2, 6)
    assert await known(store, 5, 6, *OTHERS) == {5, 6}
    await store.close()


async def test_a_store_that_rested_or_is_opened_again_knows_all_that_is_stored(stores: SqliteStores) -> None:
    store = await opened(stores)
    await put(store, 1, 5)
    await read(store)
    await store.rest()
    await store.rest()
    await put(store, 2, 6)
    assert await known(store, 5, 6, *OTHERS) == {5, 6}
    await store.close()
    again = await opened(stores)
    await put(again, 3, 7)
    await read(again)
    assert await known(again, 5, 6, 7, *OTHERS) == {5, 6, 7}
    await again.close()


async def test_a_store_that_is_closed_at_once_ends_the_reading(stores: SqliteStores, tmp_path: Path) -> None:
    store = await opened(stores)
    await put(store, 1, 5)
    await known(store, 5)
    await store.close()
    assert not has_wal(tmp_path / "default" / "shelf.db")


def test_a_file_that_cannot_be_read_leaves_everybody_perhaps_spoken_of(tmp_path: Path) -> None:
    subjects = KnownSubjects()
    assert [*subjects.among([1, 2])] == [1, 2]
    (tmp_path / "shelf.db").write_bytes(b"none" * 1_000)
    subjects.read(tmp_path / "shelf.db")
    assert [*subjects.among([1, 2])] == [1, 2]
    subjects.read(tmp_path / "nowhere.db")
    assert [*subjects.among([1, 2])] == [1, 2]


def test_subjects_that_share_a_bit_are_both_perhaps_spoken_of(tmp_path: Path) -> None:
    path = tmp_path / "shelf.db"
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE slot (slot INTEGER, note INTEGER)")
    file.close()
    subjects = KnownSubjects()
    assert [*subjects.among([1])] == [1]
    subjects.read(path)
    alike: Any = (1, 1 + (1 << 23))
    assert [*subjects.among(alike)] == []
    subjects.add(slots(1))
    assert [*subjects.among([*alike, 2])] == [*alike]
