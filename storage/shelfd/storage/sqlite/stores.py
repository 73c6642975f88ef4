"""The directory of shelves: ``<root>/<shelf>/shelf.db``."""
# ruff: noqa: D102 (the port documents these methods)

import asyncio
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from shelfd.memory.errors import (
    BackupFailed,
    Conflict,
    DuplicateShelf,
    InvalidParams,
    ShelfNotFound,
    StorageCorrupt,
    StoreBusy,
)
from shelfd.memory.ports.backups import Backup, Prepared
from shelfd.memory.ports.store import Clock, Stores, ended
from shelfd.storage.memory_files import FILE_NAME, remove_left_over
from shelfd.storage.sqlite import restoring
from shelfd.storage.sqlite.backing_up import remove_backup_drafts
from shelfd.storage.sqlite.connection import open_untouched, open_writer
from shelfd.storage.sqlite.database import translated
from shelfd.storage.sqlite.files import check_kinds, remove_all, sync
from shelfd.storage.sqlite.manifests import backups_in
from shelfd.storage.sqlite.migrations import load_migrations, migrate
from shelfd.storage.sqlite.snapshots import remove_drafts
from shelfd.storage.sqlite.store import SqliteStore
from shelfd.storage.sqlite.work import UNFINISHED_JOB

_FILE: Final = "shelf.db"
_BACKUPS: Final = ".backups"
_PRIVATE_DIR: Final = 0o700
_PRIVATE_FILE: Final = 0o600
_WORK_LEFT: Final = f"SELECT EXISTS (SELECT 1 FROM job WHERE {UNFINISHED_JOB}) OR EXISTS (SELECT 1 FROM promoting)"  # noqa: S608


class SqliteStores(Stores):
    """Shelves as directories under *root*, which one process at a time may use.

    Names that begin with a dot are work in progress: a shelf that is being made or removed.

    Args:
        root: The directory.
        clock: Tells the time.
        backups: Where backups are kept, a directory for each shelf; None: below *root*.
    """

    def __init__(self, root: Path, clock: Clock, backups: Path | None = None) -> None:
        self._root = root
        self._clock = clock
        self._backups = backups or root / _BACKUPS
        self._preparing: set[str] = set()
        self._changing = asyncio.Lock()
        root.mkdir(mode=_PRIVATE_DIR, parents=True, exist_ok=True)

    def names(self) -> list[str]:
        """Return the shelves that exist, sound or not, sorted."""
        return sorted(
            entry.name for entry in self._root.iterdir() if not entry.name.startswith(".") and self.exists(entry.name)
        )

    def exists(self, shelf: str) -> bool:
        """Return whether there is a file for the shelf, sound or not."""
        return _is_name(shelf) and (os.path.lexists(self._file(shelf)) or (self._root / shelf).is_symlink())

    async def open(self, shelf: str) -> SqliteStore:
        if not self.exists(shelf):
            raise ShelfNotFound(shelf)
        if restoring.was_cut_short(self._file(shelf)):
            async with self._changing:
                await asyncio.to_thread(self._recover, shelf)
        return await SqliteStore.open(self._file(shelf), self._clock, self._backups / shelf)

    async def create(self, shelf: str, *, owner: str) -> SqliteStore:
        """Make a shelf aside and move it into place: a crash leaves all of it or nothing. See the port."""
        if not _is_name(shelf):
            raise InvalidParams("this cannot be the name of a shelf", field="shelf")
        async with self._changing:
            if self.exists(shelf):
                raise DuplicateShelf(shelf)
            try:
                await asyncio.to_thread(self._build, shelf, owner)
            except sqlite3.Error as error:
                raise translated(error) or StoreBusy("the shelf's file cannot be made") from error
            except OSError as error:
                raise StoreBusy(f"the shelf's directory cannot be made: {error.strerror}") from error
        return await self.open(shelf)

    async def drop(self, shelf: str) -> None:
        """Move the shelf out of sight in one step, then delete its files. See the port."""
        async with self._changing:
            if not self.exists(shelf):
                raise ShelfNotFound(shelf)
            try:
                await asyncio.to_thread(self._remove, shelf)
            except OSError as error:
                raise StoreBusy(f"the shelf's files cannot be removed: {error.strerror}") from error

    async def backups(self, shelf: str) -> list[Backup]:
        try:
            return await asyncio.to_thread(backups_in, self._backups / shelf, shelf)
        except OSError as error:
            raise BackupFailed(f"the directory of backups cannot be read: {error.strerror}") from error

    def backups_directory(self, shelf: str) -> str:
        return str(self._backups / shelf)

    async def prepare(self, shelf: str, backup: str, *, owner: str | None) -> Prepared:
        """Copy it into the shelf's directory, or one that will be the shelf's. See the port."""
        if not _is_name(shelf):
            raise InvalidParams("this cannot be the name of a shelf", field="shelf")
        if shelf in self._preparing:
            raise Conflict(f"a backup is being put in the place of shelf {shelf!r} already", shelf=shelf)
        self._preparing.add(shelf)
        preparing = asyncio.ensure_future(asyncio.to_thread(self._prepare, shelf, Path(backup), owner))
        try:
            return await asyncio.shield(preparing)
        except BaseException:
            await ended(preparing)  # what is still written must not be in the way of the next one
            self._discard(shelf)
            raise

    def _prepare(self, shelf: str, source: Path, owner: str | None) -> Prepared:
        draft = self._draft(shelf)
        try:
            if self.exists(shelf):
                restoring.remove_draft(draft)  # left by a crash
            else:
                self._check_place(shelf)
                if os.path.lexists(draft.parent):
                    remove_all(draft.parent)
                draft.parent.mkdir(mode=_PRIVATE_DIR)
        except OSError as error:
            raise StoreBusy(f"the shelf's directory cannot be written to: {error.strerror}") from error
        backup = restoring.copy_checked(source, draft, shelf=shelf, owner=owner, now=self._clock.now())
        return Prepared(shelf, str(draft), backup)

    async def open_prepared(self, prepared: Prepared) -> SqliteStore:
        return await SqliteStore.open(Path(prepared.place), self._clock, self._backups / prepared.shelf)

    async def replace(self, prepared: Prepared, *, keep: bool) -> str | None:
        """Do it by a rename. See the port."""
        async with self._changing:
            try:
                replaced = await asyncio.to_thread(self._replace, prepared, keep)
            except OSError as error:
                raise StoreBusy(f"the shelf's file cannot be replaced: {error.strerror}; it is as it was") from error
        self._preparing.discard(prepared.shelf)
        return None if replaced is None else str(replaced)

    def _replace(self, prepared: Prepared, keep: bool) -> Path | None:
        draft, path, now = Path(prepared.place), self._file(prepared.shelf), self._clock.now()
        if draft.parent == path.parent:
            try:
                replaced = restoring.replace(path, draft, now=now, keep=keep)
            except BaseException:
                restoring.recover(path, now=now)
                raise
            self._drop_images(path.parent)
            return replaced
        self._check_place(prepared.shelf)
        self._put_in_place(draft.parent, prepared.shelf)
        return None

    def _recover(self, shelf: str) -> None:
        try:
            restoring.recover(self._file(shelf), now=self._clock.now())
        except OSError as error:
            raise StoreBusy(f"what was begun with a backup of the shelf cannot be ended: {error.strerror}") from error

    @staticmethod
    def _drop_images(directory: Path) -> None:
        """Remove what was derived from the file that was replaced; a crash leaves it to be recognised as such."""
        from shelfd.storage.sqlite.images import FOLDER  # only this needs it here

        with suppress(OSError):
            remove_all(directory / FOLDER)

    async def discard(self, prepared: Prepared) -> None:
        await asyncio.to_thread(self._discard, prepared.shelf)

    def _discard(self, shelf: str) -> None:
        if shelf not in self._preparing:
            return
        with suppress(OSError):
            if self.exists(shelf):
                restoring.remove_draft(self._draft(shelf))
            elif os.path.lexists(aside := self._root / f".{shelf}.new"):
                remove_all(aside)
        self._preparing.discard(shelf)

    def _draft(self, shelf: str) -> Path:
        return self._root / shelf / restoring.DRAFT if self.exists(shelf) else self._root / f".{shelf}.new" / _FILE

    async def rename(self, shelf: str, to: str) -> None:
        """Rename its directory; the name inside follows. See the port."""
        if not _is_name(to):
            raise InvalidParams("this cannot be the name of a shelf", field="to")
        async with self._changing:
            if not self.exists(shelf):
                raise ShelfNotFound(shelf)
            if self.exists(to) or self._is_taken(to):
                raise DuplicateShelf(to)
            try:
                await asyncio.to_thread(self._rename, shelf, to)
            except sqlite3.Error as error:
                raise translated(error) or StoreBusy("the shelf's file cannot be written") from error
            except OSError as error:
                raise StoreBusy(f"the shelf's directory cannot be renamed: {error.strerror}") from error

    def _is_taken(self, shelf: str) -> bool:
        return os.path.lexists(self._root / shelf)

    def _rename(self, shelf: str, to: str) -> None:
        check_kinds(self._file(shelf))
        (self._root / shelf).rename(self._root / to)
        sync(self._root)
        with closing(open_writer(self._file(to))) as connection:
            connection.execute("UPDATE meta SET value = ? WHERE name = 'shelf'", (to,))

    def owner(self, shelf: str) -> str | None:
        """Return the shelf's owner, None if there is no such shelf or it cannot be read."""
        owner = self._asked(shelf, "SELECT value FROM meta WHERE name = 'owner'")
        return None if owner is None else str(owner)

    def has_unfinished_work(self, shelf: str) -> bool:
        return bool(self._asked(shelf, _WORK_LEFT))

    def next_expiry(self, shelf: str) -> int | None:
        found = self._asked(shelf, "SELECT min(expires_at) FROM expiring")
        return found if isinstance(found, int) else None

    def _asked(self, shelf: str, sql: str) -> object:
        """What the file of a shelf answers to a question for one value; None if it cannot be asked."""
        if not self.exists(shelf):
            return None
        try:
            check_kinds(self._file(shelf))
            with closing(open_untouched(self._file(shelf))) as connection:
                row = connection.execute(sql).fetchone()
        except (StorageCorrupt, sqlite3.Error, OSError):
            return None  # damaged, or of a version that did not know such a thing
        return None if row is None else row[0]

    async def clean_up(self) -> int:
        """Remove what a crash left of shelves that were being made or removed. See the port."""
        async with self._changing:
            return await asyncio.to_thread(self._remove_left_over)

    def _remove_left_over(self) -> int:
        removed = 0
        for entry in os.scandir(self._root):
            if _is_left_over(entry.name):
                with suppress(OSError):  # one that stays does no harm
                    remove_all(Path(entry.path))
                    removed += 1
            elif entry.is_dir(follow_symlinks=False):
                removed += self._remove_drafts(Path(entry.path))
        if removed:
            sync(self._root)
        return removed

    def _remove_drafts(self, directory: Path) -> int:
        """Remove what was being written in a shelf's directory, and for the shelf elsewhere; return how many files."""
        shelf = directory.name
        removed = remove_left_over(directory) + remove_drafts(directory) + remove_backup_drafts(self._backups / shelf)
        with suppress(OSError):
            removed += restoring.recover(directory / _FILE, now=self._clock.now())
            if shelf not in self._preparing and os.path.lexists(draft := directory / restoring.DRAFT):
                restoring.remove_draft(draft)
                removed += 1
        return removed

    def _file(self, shelf: str) -> Path:
        return self._root / shelf / _FILE

    def _build(self, shelf: str, owner: str) -> None:
        self._check_place(shelf)
        aside = self._root / f".{shelf}.new"
        if os.path.lexists(aside):  # left by a crash
            remove_all(aside)
        aside.mkdir(mode=_PRIVATE_DIR)
        file = aside / _FILE
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _PRIVATE_FILE))
        now = self._clock.now()
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            # A commit writes one page of each table and index it touches. Half of SQLite's usual page takes a fifth
            # off the time of a single remember and still holds three notes.
            connection.execute("PRAGMA page_size = 2048")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")  # the file is synced once, before it gets its name
            migrate(connection, load_migrations(), now=now)
            connection.executemany(
                "INSERT INTO meta VALUES (?, ?)",
                [("shelf", shelf), ("owner", owner), ("created_at", str(now))],
            )
        sync(file)
        self._put_in_place(aside, shelf)

    def _put_in_place(self, aside: Path, shelf: str) -> None:
        """Make a directory with a shelf's file in it the shelf's."""
        sync(aside)
        directory = self._root / shelf
        if directory.exists():  # with a MEMORY.md in it, which stays
            (aside / _FILE).rename(directory / _FILE)
            sync(directory)
            aside.rmdir()
        else:
            aside.rename(directory)
        sync(self._root)

    def _check_place(self, shelf: str) -> None:
        """Raise unless there is nothing in a new shelf's place, or a directory that holds its MEMORY.md alone.

        Anything else is not ours to keep, and would go when the shelf is dropped.

        Raises:
            Conflict: If there is.
        """
        directory = self._root / shelf
        if not os.path.lexists(directory):
            return
        if directory.is_symlink() or not directory.is_dir():
            raise Conflict(f"shelves/{shelf} in the data directory is no directory; move it away", shelf=shelf)
        if any(entry.name != FILE_NAME for entry in directory.iterdir()):
            raise Conflict(
                f"shelves/{shelf} in the data directory holds more than a {FILE_NAME}; move the rest away", shelf=shelf
            )

    def _remove(self, shelf: str) -> None:
        directory, aside = self._root / shelf, self._root / f".dropped-{shelf}"
        if directory.is_symlink():
            check_kinds(self._file(shelf))  # which says so
        if os.path.lexists(aside):  # left by a crash
            remove_all(aside)
        directory.rename(aside)
        sync(self._root)
        remove_all(aside)


def _is_name(shelf: str) -> bool:
    return shelf not in {"", ".", ".."} and not shelf.startswith(".") and "/" not in shelf and "\0" not in shelf


def _is_left_over(name: str) -> bool:
    return name.startswith(".dropped-") or (name.startswith(".") and name.endswith(".new"))
