"""One shelf in one SQLite file."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from shelfd.memory.errors import StoreBusy
from shelfd.memory.ports import Applied, Change, Clock, Store
from shelfd.memory.view import Listing, NoteFilter, View
from shelfd.memory.waiting import Told
from shelfd.storage.commit_queue import CommitQueue, Deliver, Outcome, Take
from shelfd.storage.sqlite.check import BackgroundCheck, check_file
from shelfd.storage.sqlite.connection import WriterConnection, has_wal, lengthen_wal, open_reader
from shelfd.storage.sqlite.erasing import empty_wal
from shelfd.storage.sqlite.errors import translated
from shelfd.storage.sqlite.group import GroupWriter
from shelfd.storage.sqlite.migrations import prepare
from shelfd.storage.sqlite.paging import Page, Pages
from shelfd.storage.sqlite.view import SqliteView

T = TypeVar("T")


class SqliteStore(Store):
    """A shelf's file, open. Made by :meth:`open`; belongs to the event loop it was opened on."""

    def __init__(
        self, path: Path, writer: WriterConnection, group: GroupWriter, reader: sqlite3.Connection, *, unclean: bool
    ) -> None:
        self._path = path
        self._writer = writer
        self._group = group
        self._reader = reader
        self._view = SqliteView(reader)
        self._pages = Pages(path)
        self._queue = CommitQueue(self._write_group, shelf=path.parent.name)
        self._background_check = BackgroundCheck(path) if unclean else None
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, path: Path, clock: Clock) -> "SqliteStore":
        """Open an existing shelf file, bring its schema up to date and recover its WAL.

        The time this takes does not depend on the size of the shelf: after an unclean stop its pages are
        checked behind the open store, and what is found is logged as ``store.check_failed``.

        Raises:
            StorageCorrupt: If it is no shelf this version can read; it is left untouched.
            Unavailable: If it is in use or cannot be read.
        """
        try:
            unclean = has_wal(path)
            await asyncio.to_thread(prepare, path, now=clock.now())
            return await cls._connect(path, clock, unclean=unclean)
        except sqlite3.Error as error:
            raise translated(error) or StoreBusy("the shelf's file cannot be opened") from error
        except OSError as error:
            raise StoreBusy(f"the shelf's file cannot be read: {error.strerror}") from error

    @classmethod
    async def _connect(cls, path: Path, clock: Clock, *, unclean: bool) -> "SqliteStore":
        writer = await WriterConnection.open(path)
        try:
            group = await writer.run(lambda: GroupWriter(writer.raw, clock))
            if unclean:  # what was erased just before the end may still be in it
                with suppress(sqlite3.Error):  # as it may after a scrub that could not
                    await writer.run(lambda: _begin_wal_anew(writer.raw, path))
            reader = open_reader(path)
        except BaseException:
            await writer.close()
            raise
        return cls(path, writer, group, reader, unclean=unclean)

    @property
    def view(self) -> View:
        """Reads on a connection of the loop's own thread: faster inline than any hop."""
        return self._view

    def submit(self, change: Change[T], told: Told[Applied[T]]) -> None:
        """Queue *change*. See the port."""
        self._queue.submit(change, told)

    def follow(self, listener: Callable[[Sequence[Applied[Any]]], None]) -> Callable[[], None]:
        """Call *listener* with each group of applied changes. See the port."""
        return self._queue.follow(listener)

    @property
    def writing_since(self) -> float | None:
        """When the group at work was begun. See the port."""
        return self._queue.writing_since

    async def list_notes(
        self, wanted: NoteFilter, *, order: str, descending: bool, after: tuple[int, int] | None, limit: int
    ) -> Listing:
        """Read a page on another thread, a slice of the shelf at a time. See the port."""
        return await self._pages.read(Page(wanted, order, descending, after, limit))

    async def scrub(self) -> bool:
        """Empty the WAL, which still holds what was erased. See the port."""
        return await self._writer.run(lambda: _begin_wal_anew(self._writer.raw, self._path))

    async def check(self, *, full: bool) -> list[str]:
        """Check the file on another thread; return what is wrong. See the port."""
        return await asyncio.to_thread(check_file, self._path, full=full)

    async def close(self) -> None:
        """Finish what is queued, empty the WAL and close the file. A second call waits for the first."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name=f"shelfd.store.close.{self._path.parent.name}")
        # A cancelled caller must not leave the file half closed.
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await self._queue.drain()
        if self._background_check is not None:
            await self._background_check.stop()
        await self._pages.close()
        # The writer goes last: as the only connection left it may empty the WAL, which marks a clean stop.
        self._reader.close()
        await self._writer.close()

    def _write_group(self, take: Take, deliver: Deliver) -> None:
        loop = asyncio.get_running_loop()

        def write() -> None:
            try:
                outcomes: Sequence[Outcome] | Exception = self._group.apply(take())
            except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
                outcomes = error
            loop.call_soon_threadsafe(deliver, outcomes)

        self._writer.submit(write)


def _begin_wal_anew(connection: sqlite3.Connection, path: Path) -> bool:
    done = empty_wal(connection)
    lengthen_wal(path)
    return done
