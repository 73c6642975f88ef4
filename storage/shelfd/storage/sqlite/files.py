"""A shelf's files as they lie in its directory: whether they are files at all, and how a directory is removed.

To open a FIFO waits for somebody at its other end, and to open a device may do anything. So nothing is opened before
its kind is known, and no symbolic link is followed.
"""

import os
import shutil
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
    """Make durable what is in a file that nobody has open, or which names are in a directory.

    Raises:
        OSError: If that fails.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
