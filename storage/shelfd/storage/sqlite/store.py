"""One shelf in one SQLite file."""
# ruff: noqa: D102 (the port documents these methods)

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from sqlite3 import Error as SqliteError
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from shelfd.memory.errors import ShuttingDown, StoreBusy
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.backups import BackupPlan, NewBackup, Report
from shelfd.memory.ports.notes import Listing
from shelfd.memory.ports.store import Applied, Change, Clock, OnDone, Store, ended
from shelfd.memory.ports.view import View
from shelfd.storage.commit_queue import CommitQueue, Deliver, Outcome, Take
from shelfd.storage.sqlite.check import BackgroundCheck, check_file
from shelfd.storage.sqlite.connection import WriterConnection, open_reader, open_untouched
from shelfd.storage.sqlite.copies import Copy, copies_of
from shelfd.storage.sqlite.database import translated
from shelfd.storage.sqlite.files import empty_wal, has_wal, wipe_wal
from shelfd.storage.sqlite.group import GroupWriter, group_error
from shelfd.storage.sqlite.images import SqliteImages
from shelfd.storage.sqlite.migrations import prepare
from shelfd.storage.sqlite.paging import Page, Pages
from shelfd.storage.sqlite.snapshots import SqliteSnapshot, frozen, snapshot_beside, snapshots_of
from shelfd.storage.sqlite.subjects import KnownSubjects
from shelfd.storage.sqlite.view import SqliteView

if TYPE_CHECKING:
    from shelfd.storage.sqlite.backing_up import BackupWriter

T = TypeVar("T")


class _Writing(NamedTuple):
    """What only writing needs: a connection with its thread, and what applies groups on it."""

    connection: WriterConnection
    group: GroupWriter


class SqliteStore(Store):
    """A shelf's file, open. Made by :meth:`open`; belongs to the event loop it was opened on.

    Without a writer it has one descriptor and no thread: it reads the file without its WAL, which is empty then.
    The first change opens what writing needs and moves the reader to a connection that sees each commit;
    :meth:`rest` goes the other way.
    """

    def __init__(self, path: Path, clock: Clock, *, unclean: bool, backups: Path) -> None:
        self._path = path
        self._backups = backups  # the shelf's own directory of them
        self._backing_up: BackupWriter | None = None
        self._clock = clock
        self._view = SqliteView(open_untouched(path))
        self._pages = Pages(path)
        self._snapshots = asyncio.Lock()  # one at a time
        self._images = SqliteImages(path)
        self._queue = CommitQueue(self._write_group, shelf=path.parent.name)
        self._background_check = BackgroundCheck(path, clock) if unclean else None
        self._subjects = KnownSubjects()
        self._writing: _Writing | None = None
        self._changing = asyncio.Lock()  # held while what writing needs is opened or closed
        self._is_used = False  # by a writer since the last rest
        self._scrubs = 0
        self._is_closed = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, path: Path, clock: Clock, backups: Path) -> "SqliteStore":
        """Open an existing shelf file, bring its schema up to date and recover its WAL; *backups* are kept there.

        The time this takes does not depend on the size of the shelf: after an unclean stop its pages are
        checked in the background, and what is found is logged as ``store.check_failed``.

        Raises:
            StorageCorrupt: If it is no shelf; it is left untouched.
            SchemaTooNew: If a newer version wrote it; it is left untouched.
            Unavailable: If it is in use or cannot be read.
        """
        try:
            unclean = has_wal(path)
            await asyncio.to_thread(prepare, path, now=clock.now())
            return cls(path, clock, unclean=unclean, backups=backups)
        except SqliteError as error:
            raise translated(error) or StoreBusy("the shelf's file cannot be opened") from error
        except OSError as error:
            raise StoreBusy(f"the shelf's file cannot be read: {error.strerror}") from error

    @property
    def view(self) -> View:
        """Reads on a connection of the loop's own thread: faster inline than any hop."""
        return self._view

    def submit(self, change: Change[T], on_done: OnDone[Applied[T]]) -> None:
        self._queue.submit(change, on_done)

    def follow(self, listener: Callable[[Sequence[Applied[Any]]], None]) -> Callable[[], None]:
        return self._queue.follow(listener)

    @property
    def writing_since(self) -> float | None:
        return self._queue.writing_since

    async def list_notes(
        self, wanted: NoteFilter, *, order: str, descending: bool, after: tuple[int, int] | None, limit: int
    ) -> Listing:
        """Read a page on another thread, a slice of the shelf at a time. See the port."""
        return await self._pages.read(Page(wanted, order, descending, after, limit))

    async def scrub(self) -> bool:
        """Overwrite what the WAL still holds of what was erased. See the port."""
        if self._writing is None and not has_wal(self._path):
            return True
        self._scrubs += 1
        try:
            async with self._snapshots:  # one that is being read keeps the WAL from being emptied
                connection = (await self._awake()).connection
                return await connection.run(lambda: wipe_wal(connection.raw, self._path))
        except SqliteError as error:
            raise translated(error) or StoreBusy("the shelf's write-ahead log cannot be emptied") from error
        except OSError as error:
            raise StoreBusy(f"the shelf's write-ahead log cannot be emptied: {error.strerror}") from error
        finally:
            self._scrubs -= 1

    def copies(self) -> list[Copy]:
        """Return copies of the file, snapshots, and backups in the shelf's own directory. See the port."""
        from shelfd.storage.sqlite.manifests import backups_in  # only a purge needs it

        try:
            backups = backups_in(self._backups, self._path.parent.name)
            saved = [Copy(backup.path, backup.manifest.made_at) for backup in backups]
            beside = [*copies_of(self._path), *snapshots_of(self._path)]
            return [*(Copy(str(self._path.parent / name), made_at) for name, made_at in beside), *saved]
        except OSError as error:
            raise StoreBusy(f"the shelf's directory cannot be read: {error.strerror}") from error

    @asynccontextmanager
    async def snapshot(self, name: str) -> AsyncIterator[SqliteSnapshot]:
        """Read by a connection of its own, on the loop; write on another thread. See the port."""
        async with self._snapshots, snapshot_beside(self._path, name, lambda: self._closing is not None) as snapshot:
            yield snapshot

    async def backup(self, plan: BackupPlan, report: Report) -> NewBackup:
        """Copy on another thread, by a connection of its own. See the port."""
        from shelfd.storage.sqlite.backing_up import BackupWriter  # only a backup needs it

        loop = asyncio.get_running_loop()
        async with self._snapshots:
            if self._closing is not None:
                raise ShuttingDown

            def told(done: int, total: int) -> None:
                loop.call_soon_threadsafe(report, done, total)

            self._backing_up = writer = BackupWriter(self._path, plan, self._backups, self._clock, told)
            making = asyncio.ensure_future(asyncio.to_thread(writer.make))
            try:
                return await asyncio.shield(making)
            except asyncio.CancelledError:
                writer.stop()
                await ended(making)  # a file that somebody still writes cannot be closed
                raise
            finally:
                self._backing_up = None

    @asynccontextmanager
    async def frozen(self) -> AsyncIterator[View]:
        """Read by a connection of its own, on the loop. See the port."""
        async with self._snapshots:
            with frozen(self._path) as view:
                yield view

    @property
    def images(self) -> SqliteImages:
        """Files in the folder ``index``. See the port."""
        return self._images

    async def check(self, *, full: bool) -> list[str]:
        """Check the files on another thread; return what is wrong. See the port."""
        return await asyncio.to_thread(check_file, self._path, full=full)

    async def rest(self) -> None:
        """Close what only writing needs, unless there was a change since the last call. See the port."""
        is_used, self._is_used = self._is_used, False
        if self._writing is not None and not is_used and self._closing is None:
            await asyncio.shield(
                self._begin(self._rest(), "rest")
            )  # also when the caller is cancelled, it runs to its end

    async def close(self) -> None:
        """Finish what is queued, empty the WAL and close the file. A second call waits for the first."""
        if self._closing is None:
            self._closing = self._begin(self._close(), "close")
        # A cancelled caller must not leave the file half closed.
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await self._queue.drain()
        if self._background_check is not None:
            await self._background_check.stop()
        await self._pages.close()
        self._subjects.stop()
        if self._backing_up is not None:
            self._backing_up.stop()
        async with self._snapshots:  # the one that is being written ends early, as reading subjects does
            pass
        async with self._changing:
            # The writer goes last: as the only connection left it may empty the WAL, which marks a clean stop.
            self._view.close()
            self._is_closed = True
            writing, self._writing = self._writing, None
            if writing is not None:
                await writing.connection.close()

    # -------------------------------------------------------------- writing

    def _write_group(self, take: Take, deliver: Deliver) -> None:
        self._is_used = True
        if self._writing is None:
            self._begin(self._write_first(take, deliver), "wake")
        else:
            self._write(self._writing, take, deliver)

    async def _write_first(self, take: Take, deliver: Deliver) -> None:
        try:
            writing = await self._awake()
        except Exception as error:  # noqa: BLE001 - the callers that wait must be notified
            deliver([group_error(error) for _ in take()])
        else:
            self._write(writing, take, deliver)

    def _write(self, writing: _Writing, take: Take, deliver: Deliver) -> None:
        loop = asyncio.get_running_loop()

        def write() -> None:
            try:
                outcomes: Sequence[Outcome] | Exception = writing.group.apply(take())
            except Exception as error:  # noqa: BLE001 - the callers that wait must be notified
                outcomes = error
            if self._subjects.needs_reading:
                self._subjects.needs_reading = False
                loop.call_soon_threadsafe(self._begin_reading)
            loop.call_soon_threadsafe(deliver, outcomes)

        writing.connection.submit(write)

    def _begin_reading(self) -> None:
        if self._closing is None:
            self._begin(self._read_subjects(), "subjects")

    async def _read_subjects(self) -> None:
        async with self._snapshots:  # a reader keeps the WAL from being emptied
            await asyncio.to_thread(self._subjects.read, self._path)

    async def _awake(self) -> _Writing:
        """Return what writing needs, opened if need be. What is submitted to it at once is done before it closes."""
        if self._writing is None:
            await asyncio.shield(self._begin(self._wake(), "wake"))
        assert self._writing is not None
        return self._writing

    async def _wake(self) -> None:
        async with self._changing:
            if self._writing is not None:
                return
            if self._is_closed:
                raise ShuttingDown
            connection = await WriterConnection.open(self._path)
            try:
                group = await connection.run(lambda: GroupWriter(connection.raw, self._clock, self._subjects))
                self._view.move_to(open_reader(self._path))
            except BaseException:
                await connection.close()
                raise
            self._writing = _Writing(connection, group)

    async def _rest(self) -> None:
        async with self._changing:
            if self._writing is None or self._is_at_work:
                return
            connection = self._writing.connection
            try:
                await connection.run(lambda: empty_wal(connection.raw))
                if self._is_at_work or has_wal(self._path):  # a change came meanwhile, or a reader is at work
                    return
                still = open_untouched(self._path)
            except (SqliteError, OSError):
                return  # it stays as it is, and is tried again
            # From here to the writer's end no change can begin.
            self._writing = None
            self._view.move_to(still)
            with suppress(SqliteError):  # the next change meets the same disk
                await connection.close()

    @property
    def _is_at_work(self) -> bool:
        return self._is_used or self._queue.writing_since is not None or self._scrubs > 0

    def _begin(self, work: Any, name: str) -> asyncio.Task[None]:  # noqa: ANN401
        task: asyncio.Task[None] = asyncio.create_task(work, name=f"shelfd.store.{name}.{self._path.parent.name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
