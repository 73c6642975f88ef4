"""Files of notes that lie beside a shelf's file: each has one state of the shelf, and is whole or not there."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final

from shelfd.memory.errors import ShuttingDown, StoreBusy
from shelfd.memory.ports.store import Snapshot
from shelfd.memory.ports.view import View
from shelfd.storage.sqlite.connection import open_reader
from shelfd.storage.sqlite.copies import Copy
from shelfd.storage.sqlite.database import translating
from shelfd.storage.sqlite.files import sync
from shelfd.storage.sqlite.view import SqliteView

#: Beside the shelf's file, and private like that.
FOLDER: Final = "snapshots"
_SUFFIX: Final = ".jsonl"
_DRAFT: Final = ".new"
_PRIVATE_DIR: Final = 0o700
_PRIVATE_FILE: Final = 0o600
_MICROSECONDS: Final = 1_000


class SqliteSnapshot(Snapshot):
    """A state of a shelf's file, read on the event loop's thread, and the file that is being written."""

    def __init__(self, view: View, descriptor: int, is_over: Callable[[], bool]) -> None:
        self.view = view
        self.path = ""
        self._descriptor = descriptor
        self._is_over = is_over

    async def write(self, data: bytes) -> None:
        """Write on another thread: a disk may be slow. See the port."""
        if self._is_over():
            raise ShuttingDown
        with _translated():
            await asyncio.to_thread(_write_all, self._descriptor, data)


@asynccontextmanager
async def snapshot_beside(path: Path, name: str, is_over: Callable[[], bool]) -> AsyncIterator[SqliteSnapshot]:
    """Show the state of a shelf's file and write a file *name* beside it. See the store's port.

    One at a time of a shelf.

    Args:
        path: The shelf's file.
        name: Of the new one, without suffix.
        is_over: Returns whether the shelf is being closed.
    """
    folder = path.parent / FOLDER
    with _translated():
        draft, descriptor = await asyncio.to_thread(_begin, folder, name)
    try:
        with frozen(path) as view:
            snapshot = SqliteSnapshot(view, descriptor, is_over)
            yield snapshot
        with _translated():
            snapshot.path = str(await asyncio.to_thread(_finish, draft, descriptor, name))
    finally:
        os.close(descriptor)
        with suppress(OSError):
            draft.unlink(missing_ok=True)


@contextmanager
def frozen(path: Path) -> Iterator[View]:
    """Show what is committed by now, and nothing later, for the length of a block."""
    with translating():
        view = SqliteView(open_reader(path))
    try:
        with translating():
            view.begin()
        yield view
    finally:
        view.close()


def snapshots_of(path: Path) -> list[Copy]:
    """Return the snapshots of a shelf, by name from its directory.

    Raises:
        OSError: If they cannot be looked for.
    """
    try:
        with os.scandir(path.parent / FOLDER) as entries:
            found = [entry for entry in entries if entry.name.endswith(_SUFFIX)]
            return sorted(Copy(f"{FOLDER}/{entry.name}", entry.stat().st_mtime_ns // _MICROSECONDS) for entry in found)
    except FileNotFoundError:
        return []


def remove_drafts(directory: Path) -> int:
    """Remove what a daemon that died had begun to write in a shelf's directory; return how many files."""
    removed = 0
    with suppress(OSError):
        for entry in os.scandir(directory / FOLDER):
            if entry.name.startswith(".") and entry.name.endswith(_DRAFT):
                Path(entry.path).unlink()
                removed += 1
    return removed


def _begin(folder: Path, name: str) -> tuple[Path, int]:
    if not folder.is_dir():
        folder.mkdir(mode=_PRIVATE_DIR)
        sync(folder.parent)
    remove_drafts(folder.parent)
    draft = folder / f".{name}{_DRAFT}"
    return draft, os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE_FILE)


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _finish(draft: Path, descriptor: int, name: str) -> Path:
    """Give the file its name, with a number if that is taken: none is ever overwritten."""
    os.fsync(descriptor)
    number = 1
    while os.path.lexists(path := draft.with_name(f"{name}{_SUFFIX}" if number == 1 else f"{name}_{number}{_SUFFIX}")):
        number += 1
    draft.rename(path)
    sync(path.parent)
    return path.absolute()


@contextmanager
def _translated() -> Iterator[None]:
    """Say what the system refuses without saying where."""
    try:
        yield
    except OSError as error:
        raise StoreBusy(f"the snapshot cannot be written: {error.strerror}; there is none") from error
