"""A shelf's files as they lie in its directory: whether they are files at all, what waits in the WAL, and how a
directory is removed.

Opening a FIFO waits for its other end, and opening a device may do anything. So nothing is opened before
its kind is known, and no symbolic link is followed.

The write-ahead log (WAL) grows as changes come until it has about 8 MiB, which some hundred changes take, and is then
written over from its beginning. A commit that overwrites costs the disk less than one that also makes the file longer
(measured: 620 us against 760), so it keeps its length while there is a writer.
"""

import os
import shutil
import sqlite3
import stat
from pathlib import Path
from typing import Final

from shelfd.memory.errors import StorageCorrupt

#: Beside the file itself; SQLite opens all of them by name.
_SUFFIXES: Final = ("", "-wal", "-shm", "-journal")


def check_kinds(path: Path) -> None:
    """See that a shelf's file, and what SQLite keeps beside it, are regular files in a directory of their own.

    Opens nothing: closing a file that SQLite has open would drop its locks.

    Args:
        path: The shelf's file.

    Raises:
        StorageCorrupt: If something else is in the place of one; the message says what to do.
        OSError: If that cannot be seen, as when there is no such file.
    """
    if stat.S_ISLNK(os.lstat(path.parent).st_mode):
        raise StorageCorrupt(
            "the shelf's directory is a symbolic link, which is not followed; put the directory itself in its place,"
            " or remove the link",
            reason="SYMBOLIC_LINK",
        )
    for suffix in _SUFFIXES:
        try:
            mode = os.lstat(f"{path}{suffix}").st_mode
        except FileNotFoundError:
            if not suffix:
                raise
            continue
        if not stat.S_ISREG(mode):
            raise StorageCorrupt(
                f"shelf.db{suffix} in the shelf's directory is no regular file; it was left untouched: stop the daemon"
                " and see who put it there",
                reason="NOT_A_FILE",
            )


def read_beginning(path: Path, count: int) -> bytes:
    """Return the first *count* bytes of a regular file, fewer if it has no more. Never waits for another process.

    Raises:
        OSError: If it cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(descriptor, count)
    finally:
        os.close(descriptor)


def remove_all(path: Path) -> None:
    """Remove a directory with all that is in it, or whatever else *path* is; a link's target stays.

    Raises:
        OSError: If that fails.
    """
    if stat.S_ISDIR(os.lstat(path).st_mode):
        shutil.rmtree(path)
    else:
        path.unlink()


def sync(path: Path) -> None:
    """Make durable the content of a file that is not open, or the names in a directory.

    Raises:
        OSError: If that fails.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_HEADER_BYTES: Final = 32
_FRAME_HEADER_BYTES: Final = 24
_ZEROS: Final = bytes(1 << 16)
#: Frames of the transaction that restarts the WAL; more mean that it did not restart.
_FIRST_FRAMES: Final = 2


def has_wal(path: Path) -> bool:
    """Return whether changes wait in the WAL of the file at *path*, which a clean stop never leaves."""
    try:
        return _wal_of(path).stat().st_size > 0
    except FileNotFoundError:
        return False


def checkpoint(connection: sqlite3.Connection, mode: str) -> tuple[bool, int]:
    """Write the WAL back; return whether a reader at work prevented that, and how many frames there were.

    Does not wait for readers: that would hold up every change of the shelf.

    Raises:
        sqlite3.Error: If it fails.
    """
    patience = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        busy, frames, _ = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}")
    return bool(busy), int(frames)


def wipe_wal(connection: sqlite3.Connection, path: Path) -> bool:
    """Write the WAL back and overwrite what it held with zeros; return whether that worked.

    It keeps its length. Readers at work can prevent it; then it has to be tried again. A kill at any moment loses
    nothing: SQLite has restarted the WAL by then, and takes nothing after its few frames for its own.

    Args:
        connection: Of this file, outside of a transaction. No other connection may write.

    Raises:
        sqlite3.Error: If that fails.
        OSError: If the file cannot be written.
    """
    busy, frames = checkpoint(connection, "RESTART")
    if busy:
        return False
    if frames > 0 or has_wal(path):
        # The next transaction restarts the WAL. This one changes nothing.
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute(f"PRAGMA user_version = {version}")
        _, frames, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if frames > _FIRST_FRAMES:
            return False
        page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
        _zero(_wal_of(path), start=_HEADER_BYTES + frames * (page_bytes + _FRAME_HEADER_BYTES))
    return True


def _zero(file: Path, *, start: int) -> None:
    """Overwrite what comes after *start* with zeros, durably. What is zero already is not written again."""
    descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    try:
        position = start
        while chunk := os.pread(descriptor, len(_ZEROS), position):
            zeros = _ZEROS[: len(chunk)]
            if chunk != zeros:
                os.pwrite(descriptor, zeros, position)
            position += len(chunk)
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)


def _wal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def empty_wal(connection: sqlite3.Connection) -> bool:
    """Write the WAL back and truncate it; return whether that worked, which a reader at work can prevent."""
    busy, _ = checkpoint(connection, "TRUNCATE")
    return not busy
