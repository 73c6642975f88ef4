"""Makes a backup of a shelf's file while it is written to.

A connection of its own holds one state of the file and copies it page by page, at a measured pace: changes go on, and
wait for nothing but the disk. SQLite's copy begins anew when another connection has written between two of its steps;
not so inside of a transaction that reads. The write-ahead log grows meanwhile, and is cut back after.

What is copied is checked, and becomes a backup by a rename.
"""

import errno
import fcntl
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple

from shelfd.memory.errors import BackupFailed, InvalidParams, NotFound, ShuttingDown, StorageCorrupt
from shelfd.memory.ports.backups import Backup, BackupPlan, Manifest, NewBackup
from shelfd.memory.ports.store import Clock
from shelfd.storage.sqlite.check import check_rows
from shelfd.storage.sqlite.connection import open_reader, open_untouched
from shelfd.storage.sqlite.database import sqlite3_name
from shelfd.storage.sqlite.files import sync
from shelfd.storage.sqlite.logical_hash import hash_aside
from shelfd.storage.sqlite.manifests import (
    backups_in,
    checksum,
    manifest_beside,
    name_of,
    read_backup,
    thin_out,
    write_manifest,
)
from shelfd.storage.sqlite.view import SqliteView

_PRIVATE_DIR: Final = 0o700
_PRIVATE_FILE: Final = 0o600
#: Copied without a pause: about a millisecond.
_STEP_BYTES: Final = 1 << 20
#: Pauses between steps, as a share of what a step took.
_PAUSE: Final = 1.0
_CHECKED_OPERATIONS: Final = 100_000  #: between two looks whether to go on
_DRAFT: Final = ".shelfd-run-"
_DRAFT_END: Final = ".db"
#: Room that a disk has to have beside what a backup takes.
_SPARE_BYTES: Final = 1 << 20


class BackupTarget(NamedTuple):
    """Where a backup goes: a directory, and the file's name in it if that was chosen."""

    folder: Path
    name: str | None


def target_of(plan: BackupPlan, own: Path) -> BackupTarget:
    """Return where a backup goes; *own* is the directory that the shelf has for them, which is made.

    Raises:
        InvalidParams: If that is not possible.
        OSError: If the shelf's own directory cannot be made.
    """
    if plan.to is None:
        own.parent.mkdir(mode=_PRIVATE_DIR, parents=True, exist_ok=True)  # whose mode would be the umask's otherwise
        own.mkdir(mode=_PRIVATE_DIR, exist_ok=True)
        return BackupTarget(own, None)
    path = Path(plan.to)
    if not path.is_absolute():
        raise InvalidParams("to: is no absolute path", field="to")
    if path.is_dir():
        return BackupTarget(path, None)
    if plan.keep is not None:
        raise InvalidParams("to: is no directory, so that there are no others to keep", field="to")
    if not path.parent.is_dir():
        raise InvalidParams("to: its directory does not exist", field="to")
    return BackupTarget(path.parent, path.name)


def made_before(plan: BackupPlan, target: BackupTarget) -> Backup | None:
    """Return the backup that the same run has made already.

    Raises:
        InvalidParams: If there is something else in its place.
        OSError: If the directory cannot be read.
    """
    if target.name is None:
        found = backups_in(target.folder, plan.shelf)
        return next((backup for backup in found if backup.manifest.run_id == plan.run_id), None)
    path = target.folder / target.name
    with suppress(NotFound, StorageCorrupt):
        backup = read_backup(path)
        if backup.manifest.run_id == plan.run_id:
            return backup
    if os.path.lexists(path):
        raise InvalidParams("to: there is a file already; nothing is ever overwritten", field="to")
    return None


class BackupWriter:
    """Makes one backup, on another thread than the event loop's.

    Args:
        path: The shelf's file.
        plan: What is wanted.
        own: The shelf's own directory of backups.
        clock: Tells the time.
        report: Told how far it is, on this thread.
    """

    def __init__(
        self, path: Path, plan: BackupPlan, own: Path, clock: Clock, report: Callable[[int, int], None]
    ) -> None:
        self._path = path
        self._plan = plan
        self._own = own
        self._clock = clock
        self._report = report
        self._stop = Event()

    def stop(self) -> None:
        """Have it end soon; nothing is left of the backup. From any thread."""
        self._stop.set()

    def make(self) -> NewBackup:
        """Make the backup.

        Raises:
            InvalidParams: If it cannot be where it is wanted.
            BackupFailed: If it cannot be made; nothing is left of it.
            ShuttingDown: If it was stopped.
        """
        try:
            target = target_of(self._plan, self._own)
            backup = made_before(self._plan, target) or self._make(target)
            removed: list[str] = []
            if target.name is None:
                removed = thin_out(target.folder, self._plan.shelf, keep=self._plan.keep)
        except sqlite3.Error as error:
            raise self._failed(sqlite3_name(error), full=getattr(error, "sqlite_errorcode", 0) & 0xFF == 13) from error
        except OSError as error:
            raise self._failed(error.strerror or str(error), full=error.errno == errno.ENOSPC) from error
        return NewBackup(backup, tuple(removed))

    def _make(self, target: BackupTarget) -> Backup:
        remove_backup_drafts(target.folder)
        draft = target.folder / f"{_DRAFT}{self._plan.run_id.removeprefix('run-')}{_DRAFT_END}"
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE_FILE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # so that nobody takes it for left over
            manifest = self._copied(draft)
            return self._published(draft, manifest, target)
        finally:
            os.close(descriptor)
            _remove(draft)

    def _copied(self, draft: Path) -> Manifest:
        with closing(SqliteView(open_reader(self._path))) as view:
            view.begin()
            made_at, seq = self._clock.now(), view.log.last_seq
            self._copy(view, draft)
        schema = self._finished(draft)
        self._check(draft)
        logical = hash_aside(draft, self._goes_on)
        digest = checksum(draft, self._goes_on)
        sync(draft)
        plan, size = self._plan, draft.stat().st_size
        return Manifest(plan.shelf, seq, schema, _version(), plan.instance, made_at, size, digest, logical, plan.run_id)

    def _copy(self, view: SqliteView, draft: Path) -> None:
        page_bytes, pages = view.size()
        self._check_room(draft.parent, page_bytes * pages)
        began = self._clock.monotonic()

        def after_step(_status: int, left: int, total: int) -> None:
            nonlocal began
            self._goes_on()
            self._report((total - left) * page_bytes, total * page_bytes)
            if left:
                self._stop.wait((self._clock.monotonic() - began) * _PAUSE)
                began = self._clock.monotonic()

        with closing(sqlite3.connect(draft, isolation_level=None)) as copy:
            copy.execute("PRAGMA journal_mode = OFF")  # what is cut short is thrown away
            copy.execute("PRAGMA synchronous = OFF")  # it is synced once, before it gets its name
            view.copy_to(copy, pages=max(1, _STEP_BYTES // page_bytes), after_step=after_step)

    def _finished(self, draft: Path) -> int:
        """Take the job that makes the copy out of it, where it would be begun anew; return the schema's version."""
        with closing(sqlite3.connect(draft, isolation_level=None)) as copy:
            copy.execute("PRAGMA journal_mode = DELETE")  # one file that is complete by itself
            copy.execute("PRAGMA synchronous = OFF")
            copy.execute("PRAGMA secure_delete = ON")
            copy.execute("DELETE FROM job WHERE id = ?", (self._plan.job_id,))
            copy.execute("DELETE FROM idempotency WHERE json_extract(outcome, '$.job') = ?", (self._plan.job_id,))
            return int(copy.execute("PRAGMA user_version").fetchone()[0])

    def _check(self, draft: Path) -> None:
        with closing(open_untouched(draft)) as copy:
            copy.set_progress_handler(self._stop.is_set, _CHECKED_OPERATIONS)
            try:
                problems = check_rows(copy, full=False)
            except sqlite3.OperationalError:
                self._goes_on()
                raise
        if problems:
            raise BackupFailed(
                f"the shelf's file is damaged ({problems[0]}); there is no backup of it. shelf.check says more"
            )

    def _check_room(self, folder: Path, size: int) -> None:
        disk = os.statvfs(folder)
        free = disk.f_bavail * disk.f_frsize
        if free < (needed := size + _SPARE_BYTES):
            raise BackupFailed(
                f"the backup needs {-(-needed >> 20)} MiB, and {free >> 20} MiB are free; there is none: make room",
                reason="NO_ROOM",
            )

    def _published(self, draft: Path, manifest: Manifest, target: BackupTarget) -> Backup:
        """Give it its name: the manifest first, so that a file with a name is whole."""
        path = target.folder / (target.name or _free_name(target.folder, self._plan.shelf, manifest))
        said = draft.with_suffix(".json")
        write_manifest(said, manifest, path.name)
        if os.path.lexists(path):
            raise InvalidParams("to: there is a file by now; nothing is ever overwritten", field="to")
        said.rename(manifest_beside(path))
        try:
            draft.rename(path)
        except OSError:
            manifest_beside(path).unlink(missing_ok=True)
            raise
        sync(target.folder)
        return Backup(str(path), manifest)

    def _goes_on(self) -> None:
        if self._stop.is_set():
            raise ShuttingDown

    @staticmethod
    def _failed(why: str, *, full: bool) -> BackupFailed:
        return BackupFailed(f"the backup cannot be written: {why}; there is none", reason="NO_ROOM" if full else None)


def _free_name(folder: Path, shelf: str, manifest: Manifest) -> str:
    stem, number = name_of(shelf, manifest.made_at, manifest.seq), 1
    while os.path.lexists(folder / (name := f"{stem}.db" if number == 1 else f"{stem}_{number}.db")):
        number += 1
    return name


def _remove(draft: Path) -> None:
    """Remove a draft and what belongs to it."""
    for path in (draft, draft.with_name(f"{draft.name}-journal"), draft.with_suffix(".json")):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def remove_backup_drafts(folder: Path) -> int:
    """Remove the backups that a daemon which died had begun in a directory; return how many.

    Those that are being written are locked.
    """
    removed = 0
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith(_DRAFT) and entry.name.endswith(_DRAFT_END) and _is_left_over(Path(entry.path)):
                _remove(Path(entry.path))
                removed += 1
    return removed


def _is_left_over(draft: Path) -> bool:
    descriptor = os.open(draft, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


@cache
def _version() -> str:
    from importlib import metadata  # takes 20 ms

    return metadata.version("shelfd")
