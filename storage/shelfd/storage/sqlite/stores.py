"""The directory of shelves: ``<root>/<shelf>/shelf.db``."""
# ruff: noqa: D102 (the port documents these methods)

import asyncio
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from shelfd.memory.errors import Conflict, DuplicateShelf, InvalidParams, ShelfNotFound, StorageCorrupt, StoreBusy
from shelfd.memory.ports.store import Clock, Stores
from shelfd.storage.memory_files import FILE_NAME, remove_left_over
from shelfd.storage.sqlite.connection import open_untouched
from shelfd.storage.sqlite.database import translated
from shelfd.storage.sqlite.files import check_kinds, remove_all, sync
from shelfd.storage.sqlite.migrations import load_migrations, migrate
from shelfd.storage.sqlite.snapshots import remove_drafts
from shelfd.storage.sqlite.store import SqliteStore
from shelfd.storage.sqlite.work import UNFINISHED_JOB

_FILE: Final = "shelf.db"
_PRIVATE_DIR: Final = 0o700
_PRIVATE_FILE: Final = 0o600
_WORK_LEFT: Final = f"SELECT EXISTS (SELECT 1 FROM job WHERE {UNFINISHED_JOB}) OR EXISTS (SELECT 1 FROM promoting)"  # noqa: S608


class SqliteStores(Stores):
    """Shelves as directories under *root*, which one process at a time may use.

    Names that begin with a dot are work in progress: a shelf that is being made or removed.
    """

    def __init__(self, root: Path, clock: Clock) -> None:
        self._root = root
        self._clock = clock
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
        return await SqliteStore.open(self._file(shelf), self._clock)

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
                removed += remove_left_over(Path(entry.path)) + remove_drafts(Path(entry.path))
        if removed:
            sync(self._root)
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
        sync(aside)
        directory = self._root / shelf
        if directory.exists():  # with a MEMORY.md in it, which stays
            file.rename(directory / _FILE)
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
