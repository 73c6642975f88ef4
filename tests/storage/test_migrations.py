"""Schema versions: whole steps, and hands off what is not ours."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contract.samples import create
from fakes import FakeClock
from shelfd.memory.errors import SchemaTooNew, StorageCorrupt
from shelfd.storage import SqliteStores
from shelfd.storage.sqlite.migrations import APPLICATION_ID, Migration, inspect, load_migrations, migrate

FIRST = Migration(1, "first", "CREATE TABLE a (x); INSERT INTO a VALUES (1);")
SECOND = Migration(2, "second", "CREATE TABLE b (x); INSERT INTO b SELECT x FROM a;")
BROKEN = Migration(2, "broken", "CREATE TABLE b (x); INSERT INTO nowhere VALUES (1);")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    yield connection
    connection.close()


def _state(connection: sqlite3.Connection) -> tuple[int, set[str]]:
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    return connection.execute("PRAGMA user_version").fetchone()[0], {name for (name,) in tables}


def test_the_shipped_migrations_are_numbered_without_a_gap() -> None:
    migrations = load_migrations()

    assert [migration.number for migration in migrations] == list(range(1, len(migrations) + 1))
    assert migrations[0].name == "initial"


def test_each_migration_is_applied_once_and_recorded(connection: sqlite3.Connection) -> None:
    assert migrate(connection, [FIRST], now=5) == [1]
    assert migrate(connection, [FIRST, SECOND], now=7) == [2]
    assert migrate(connection, [FIRST, SECOND], now=9) == []

    assert _state(connection) == (2, {"a", "b", "migration"})
    assert connection.execute("SELECT * FROM migration").fetchall() == [(1, "first", 5), (2, "second", 7)]
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert connection.execute("SELECT x FROM b").fetchall() == [(1,)]


def test_a_failing_migration_leaves_the_version_before_it(connection: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(connection, [FIRST, BROKEN], now=5)

    assert not connection.in_transaction
    assert _state(connection) == (1, {"a", "migration"})
    assert connection.execute("SELECT number FROM migration").fetchall() == [(1,)]
    assert migrate(connection, [FIRST, SECOND], now=6) == [2]


def test_a_failing_first_migration_leaves_nothing(connection: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, [BROKEN._replace(number=1)], now=5)

    assert _state(connection) == (0, set())
    assert connection.execute("PRAGMA application_id").fetchone() == (0,)


def _garbage(path: Path) -> None:
    path.write_bytes(b"these are somebody's tax returns\n" * 500)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _truncated(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00" + b"\x10\x00\x02\x02")


def _foreign(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE bookmarks (url); PRAGMA application_id = 7")
    connection.close()


def _newer(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(f"CREATE TABLE x (y); PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 99")
    connection.close()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_garbage, "NOT_A_DATABASE"),
        (_empty, "NOT_A_DATABASE"),
        (_truncated, "DAMAGED"),
        (_foreign, "FOREIGN_FILE"),
    ],
)
async def test_a_file_that_is_no_shelf_of_ours_is_refused_untouched(
    tmp_path: Path, make: Callable[[Path], None], reason: str
) -> None:
    stores = SqliteStores(tmp_path, FakeClock())
    directory = tmp_path / "work"
    directory.mkdir()
    make(directory / "shelf.db")
    before = (directory / "shelf.db").read_bytes()

    with pytest.raises(StorageCorrupt) as caught:
        await stores.open("work")

    assert caught.value.data["reason"] == reason
    assert str(tmp_path) not in caught.value.message
    assert (directory / "shelf.db").read_bytes() == before
    assert [entry.name for entry in directory.iterdir()] == ["shelf.db"]
    assert stores.exists("work")
    assert stores.names() == ["work"]
    assert stores.owner("work") is None


async def test_a_newer_shelf_is_refused_untouched_and_is_not_called_damaged(tmp_path: Path) -> None:
    directory = tmp_path / "work"
    directory.mkdir()
    _newer(directory / "shelf.db")
    before = (directory / "shelf.db").read_bytes()

    with pytest.raises(SchemaTooNew, match="install a newer shelfd") as caught:
        await SqliteStores(tmp_path, FakeClock()).open("work")

    assert caught.value.data == {"schema": 99, "newest": load_migrations()[-1].number}
    assert (directory / "shelf.db").read_bytes() == before
    assert [entry.name for entry in directory.iterdir()] == ["shelf.db"]


async def test_a_newer_version_that_is_still_in_the_wal_is_refused_untouched(tmp_path: Path) -> None:
    stores = SqliteStores(tmp_path / "shelves", FakeClock())
    store = await stores.create("work", owner="uid:1")
    writer = (await store._awake()).connection
    await writer.run(lambda: writer.raw.execute("PRAGMA user_version = 99"))
    copy = tmp_path / "copy"
    copy.mkdir()
    files = ("shelf.db", "shelf.db-wal")
    for name in files:
        (copy / name).write_bytes((tmp_path / "shelves" / "work" / name).read_bytes())
    await store.close()
    before = [(copy / name).read_bytes() for name in files]

    with pytest.raises(SchemaTooNew):
        inspect(copy / "shelf.db", newest=1)

    assert [(copy / name).read_bytes() for name in files] == before


async def test_an_older_shelf_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stores = SqliteStores(tmp_path, FakeClock())
    store = await stores.create("work", owner="uid:1")
    await store.commit(create("n1"))
    await store.close()
    newest = load_migrations()[-1].number
    more = (*load_migrations(), Migration(newest + 1, "more", "CREATE TABLE more (x)"))
    monkeypatch.setattr("shelfd.storage.sqlite.migrations.load_migrations", lambda: more)

    store = await stores.open("work")
    assert store.view.notes.get("n1") is not None
    await store.close()
    assert inspect(tmp_path / "work" / "shelf.db", newest=99) == newest + 1
