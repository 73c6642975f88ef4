"""Puts a backup in the place of a shelf's file: checked and copied first, then in one step, whatever cuts it short.

The copy lies in the directory that it will belong to. The file that it replaces gets a second name there before, so
that at every moment there is one whole file by the shelf's name. What a crash left between is seen when the shelf is
opened.
"""

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from shelfd.memory.errors import BackupFailed, StorageCorrupt, StoreBusy
from shelfd.memory.ports.backups import Backup
from shelfd.storage.sqlite.check import check_rows
from shelfd.storage.sqlite.connection import open_untouched, open_writer
from shelfd.storage.sqlite.database import sqlite3_name
from shelfd.storage.sqlite.files import has_wal, sync
from shelfd.storage.sqlite.manifests import checksum, read_backup
from shelfd.storage.sqlite.migrations import inspect, load_migrations, migrate

#: Beside the shelf's file: the copy that will take its place, and the second name of what it replaces.
DRAFT: Final = ".restoring.new"
_REPLACED: Final = ".replacing"
_PRIVATE_FILE: Final = 0o600
_WAL: Final = "-wal"
_SHM: Final = "-shm"


def copy_checked(source: Path, draft: Path, *, shelf: str, owner: str | None, now: int) -> Backup:
    """Copy a backup to *draft*, checking it, and bring the copy to this version's schema; return the backup.

    Not for the event loop's thread. If it fails the copy is removed.

    Args:
        source: The backup.
        draft: Where to; nothing is there.
        shelf: The name of the shelf that it will be.
        owner: Whose it will be; None: as the backup has it.
        now: Microseconds since 1970 UTC.

    Raises:
        NotFound: If there is no backup.
        StorageCorrupt: If it is damaged, or no backup.
        SchemaTooNew: If a newer version made it.
        BackupFailed: If it cannot be read or copied.
    """
    try:
        backup = read_backup(source)
        _check_room(draft.parent, backup.manifest.size)
        _copy(source, draft, backup)
        _make_current(draft, backup, shelf, owner, now)
        sync(draft)
        sync(draft.parent)
    except sqlite3.Error as error:
        remove_draft(draft)
        raise BackupFailed(f"the backup cannot be copied: {sqlite3_name(error)}; nothing was changed") from error
    except OSError as error:
        remove_draft(draft)
        raise BackupFailed(f"the backup cannot be copied: {error.strerror}; nothing was changed") from error
    except BaseException:
        remove_draft(draft)
        raise
    return backup


def _check_room(folder: Path, size: int) -> None:
    if (free := shutil.disk_usage(folder).free) < size:
        raise BackupFailed(
            f"the backup takes {-(-size >> 20)} MiB, and {free >> 20} MiB are free; nothing was changed: make room",
            reason="NO_ROOM",
        )


def _copy(source: Path, draft: Path, backup: Backup) -> None:
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as file:
        digest = checksum(source, lambda: None, file.write)
        size = file.tell()
    if (digest, size) != (backup.manifest.sha256, backup.manifest.size):
        raise _damaged("it is not what its manifest says")


def _make_current(draft: Path, backup: Backup, shelf: str, owner: str | None, now: int) -> None:
    migrations = load_migrations()
    try:
        version = inspect(draft, newest=migrations[-1].number)
    except StorageCorrupt as error:
        raise _damaged("it is no shelf") from error
    with closing(open_untouched(draft)) as connection:
        if problems := check_rows(connection, full=False):
            raise _damaged(problems[0].partition(";")[0])
        last = connection.execute("SELECT coalesce((SELECT max(seq) FROM change), last_seq) FROM floor").fetchone()[0]
    if (version, last) != (backup.manifest.schema, backup.manifest.seq):
        raise _damaged("it is not the one that its manifest describes")
    with closing(open_writer(draft)) as connection:
        migrate(connection, migrations, now=now)
        connection.execute("UPDATE meta SET value = ? WHERE name = 'shelf'", (shelf,))
        if owner is not None:
            connection.execute("UPDATE meta SET value = ? WHERE name = 'owner'", (owner,))


def _damaged(why: str) -> StorageCorrupt:
    return StorageCorrupt(
        f"the backup is damaged: {why}; nothing was changed: take another backup", reason="BAD_BACKUP"
    )


def remove_draft(draft: Path) -> None:
    """Remove a copy and what SQLite keeps beside it."""
    for suffix in ("", _WAL, _SHM):
        with suppress(OSError):
            draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def replace(path: Path, draft: Path, *, now: int, keep: bool) -> Path | None:
    """Put a copy in the place of a shelf's file, which nobody has open; return where that is now, if it is kept.

    Args:
        path: The shelf's file; there need be none.
        draft: The copy, in the same directory.
        now: Microseconds since 1970 UTC.
        keep: Whether what is replaced is kept.

    Raises:
        OSError: If that fails; the shelf's file is as it was.
    """
    folder, second = path.parent, path.with_name(_REPLACED)
    if has_wal(draft):  # a name goes with the log beside it, and this one would stay behind
        raise StoreBusy("another process reads the copy of the backup; nothing was changed")
    is_there = os.path.lexists(path)
    if is_there:
        os.link(path, second)
        if has_wal(path):  # of a damaged shelf, or another process reads it
            os.link(f"{path}{_WAL}", f"{second}{_WAL}")
        sync(folder)
    # The log of what was there would be taken for the new file's own.
    for suffix in (_WAL, _SHM):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    sync(folder)
    draft.replace(path)
    sync(folder)
    return _settle(path, now=now, keep=keep) if is_there else None


def was_cut_short(path: Path) -> bool:
    """Return whether a replacement of a shelf's file was cut short."""
    return os.path.lexists(path.with_name(_REPLACED))


def recover(path: Path, *, now: int) -> bool:
    """Finish, or take back, a replacement of a shelf's file that was cut short; return whether there was one.

    Raises:
        OSError: If that fails.
    """
    second = path.with_name(_REPLACED)
    if not was_cut_short(path):
        return False
    if os.path.lexists(path) and not path.samefile(second):
        _settle(path, now=now, keep=True)
        return True
    log = path.with_name(path.name + _WAL)
    with suppress(FileNotFoundError):
        if not os.path.lexists(log):
            os.link(f"{second}{_WAL}", log)
    sync(path.parent)
    _forget(second)
    sync(path.parent)
    return True


def _settle(path: Path, *, now: int, keep: bool) -> Path | None:
    """Give what was replaced its own name, or remove it."""
    second = path.with_name(_REPLACED)
    if not keep:
        _forget(second)
        sync(path.parent)
        return None
    moment, number = f"{datetime.fromtimestamp(now / 1e6, tz=UTC):%Y%m%dT%H%M%SZ}", 1
    while os.path.lexists(kept := path.with_name(_name(moment, number))):
        number += 1
    with suppress(FileNotFoundError):
        Path(f"{second}{_WAL}").rename(f"{kept}{_WAL}")
    second.rename(kept)
    sync(path.parent)
    return kept


def _name(moment: str, number: int) -> str:
    return f"shelf.replaced-{moment}.sqlite" if number == 1 else f"shelf.replaced-{moment}_{number}.sqlite"


def _forget(second: Path) -> None:
    for suffix in (_WAL, ""):
        Path(f"{second}{suffix}").unlink(missing_ok=True)
