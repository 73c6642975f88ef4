"""What happens to a group when the disk, the lock or the commit itself fails."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from contract.samples import change, create, make_note
from fakes import FakeClock
from shelfd.memory.errors import ShuttingDown, StorageCorrupt, StoreBusy, Unavailable
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.store import Applied, Change, outcome_of
from shelfd.storage import SqliteStore, SqliteStores
from shelfd.storage.commit_queue import CommitQueue, Deliver, Outcome, Take
from shelfd.storage.sqlite.group import GroupWriter
from shelfd.storage.sqlite.migrations import load_migrations, migrate
from shelfd.storage.sqlite.subjects import KnownSubjects


class FailingConnection(sqlite3.Connection):
    """A connection on which one statement fails once, as SQLite would report it."""

    failing: str | None = None
    error_code = sqlite3.SQLITE_IOERR

    def execute(self, sql: str, *params: Any) -> sqlite3.Cursor:
        if self.failing is not None and sql.startswith(self.failing):
            self.failing = None
            error = sqlite3.OperationalError("injected")
            error.sqlite_errorcode = self.error_code
            error.sqlite_errorname = "INJECTED"
            raise error
        return super().execute(sql, *params)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = await SqliteStores(tmp_path, FakeClock()).create("work", owner="uid:1")
    yield opened
    await opened.close()


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[FailingConnection]:
    with closing(sqlite3.connect(tmp_path / "x.db", isolation_level=None, factory=FailingConnection)) as connection:
        migrate(connection, load_migrations(), now=0)
        yield connection


def _seqs(outcomes: list[Outcome]) -> list[int | type[BaseException]]:
    return [outcome.last_seq if isinstance(outcome, Applied) else type(outcome) for outcome in outcomes]


@pytest.mark.parametrize("statement", ["BEGIN", "COMMIT", "SAVEPOINT", "RELEASE"])
def test_a_group_that_cannot_be_made_durable_fails_whole_and_the_next_goes_on(
    connection: FailingConnection, statement: str
) -> None:
    group = GroupWriter(connection, FakeClock(), KnownSubjects())
    assert _seqs(group.apply([create("n0")])) == [1]

    connection.failing = statement
    failed = group.apply([create("n1"), create("n2")])

    assert _seqs(failed) == [StoreBusy, StoreBusy]
    assert failed[0] is not failed[1]
    assert isinstance(failed[0], Unavailable)
    assert failed[0].retryable
    assert not connection.in_transaction
    following = group.apply([create("n1"), create("n2")])
    assert _seqs(following) == [2, 3]
    assert [outcome.value.row for outcome in following if isinstance(outcome, Applied)] == [2, 3]
    assert GroupWriter(connection, FakeClock(), KnownSubjects()).apply([create("n3")])[0].last_seq == 4  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (sqlite3.SQLITE_FULL, StoreBusy),
        (sqlite3.SQLITE_BUSY, StoreBusy),
        (sqlite3.SQLITE_IOERR_FSYNC, StoreBusy),
        (sqlite3.SQLITE_CORRUPT_INDEX, StorageCorrupt),
        (sqlite3.SQLITE_ERROR, StoreBusy),
    ],
)
def test_a_failed_commit_is_reported_in_the_shelfs_terms(
    connection: FailingConnection, code: int, told: type[Exception]
) -> None:
    connection.failing, connection.error_code = "COMMIT", code

    assert _seqs(GroupWriter(connection, FakeClock(), KnownSubjects()).apply([create("n1")])) == [told]


def test_an_error_inside_one_change_fails_that_change_alone(connection: FailingConnection) -> None:
    def spoil(tx: Transaction) -> None:
        connection.failing = "INSERT INTO note"
        tx.create_note(make_note("n2"))

    group = GroupWriter(connection, FakeClock(), KnownSubjects())

    assert _seqs(group.apply([create("n1"), change(spoil), create("n3")])) == [1, StoreBusy, 2]


async def test_a_full_disk_fails_the_change_and_the_store_goes_on(store: SqliteStore) -> None:
    def limit(pages: int) -> None:
        writer.raw.execute(f"PRAGMA max_page_count = {pages}")

    await store.commit(create("n1"))
    writer = (await store._awake()).connection
    await writer.run(lambda: limit(60))
    outcomes = await asyncio.gather(
        store.commit(create("small")), store.commit(create("big", content="x" * 1_000_000)), return_exceptions=True
    )

    assert isinstance(outcomes[1], StoreBusy)
    assert outcomes[1].data["reason"] == "SQLITE_FULL"
    # Whether its neighbour stands is SQLite's choice; what it was told has to be what there is.
    assert isinstance(outcomes[0], Applied) == (store.view.notes.get("small") is not None)
    assert store.view.notes.get("big") is None

    await writer.run(lambda: limit(1_000_000))
    applied = await store.commit(create("big", content="x" * 1_000_000))
    assert [row.seq for row in store.view.log.page(since_seq=0, limit=9)] == list(range(1, applied.last_seq + 1))
    assert await store.check(full=True) == []


async def test_a_locked_file_fails_the_group_retryably(store: SqliteStore) -> None:
    writer = (await store._awake()).connection
    await writer.run(lambda: writer.raw.execute("PRAGMA busy_timeout = 0"))
    with closing(sqlite3.connect(store._path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy) as caught:
            await store.commit(create("n1"))
        other.execute("ROLLBACK")

    assert caught.value.data["reason"] == "SQLITE_BUSY"
    assert (await store.commit(create("n1"))).last_seq == 1


async def _put(queue: CommitQueue, change: Change[Any]) -> Any:
    applied: Applied[Any] = await outcome_of(lambda told: queue.submit(change, told))
    return applied.value


async def test_whatever_applying_a_group_raises_the_queue_goes_on() -> None:
    broken = [True]

    def write_group(take: Take, deliver: Deliver) -> None:
        changes = take()
        deliver(ValueError("a mistake") if broken.pop() else [Applied("done", (), {}, 1) for _ in changes])

    queue = CommitQueue(write_group, shelf="work")
    with capture_logs() as logs, pytest.raises(StoreBusy):
        await _put(queue, create("n1"))
    assert [entry["event"] for entry in logs] == ["store.group_failed"]

    broken.append(False)
    assert await _put(queue, create("n1")) == "done"


async def test_draining_waits_for_what_is_queued_and_takes_no_more() -> None:
    begun: list[Deliver] = []

    def write_group(take: Take, deliver: Deliver) -> None:
        changes = take()
        begun.append(lambda _: deliver([Applied("done", (), {}, 1) for _ in changes]))

    queue = CommitQueue(write_group, shelf="work")
    told: list[Applied[Any] | Exception] = []
    queue.submit(create("n1"), told.append)
    queue.submit(create("n2"), told.append)
    drained = asyncio.create_task(queue.drain())
    await asyncio.sleep(0)
    with pytest.raises(ShuttingDown):
        queue.submit(create("n3"), told.append)

    begun.pop()([])
    assert [outcome.value for outcome in told if isinstance(outcome, Applied)] == ["done"]
    assert not drained.done()
    await asyncio.sleep(0)
    begun.pop()([])
    await drained
    assert len(told) == 2
    assert queue.writing_since is None
