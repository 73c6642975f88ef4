"""Connections to a shelf's file: one that writes, on a thread of its own, and short-lived or inline readers.

A hop between threads costs more than most statements (60 us against 4), so the writer is given whole
functions to run on the thread aiosqlite owns, by the two private members of aiosqlite that this product uses.
Hence its pinned version, and ``tests/storage/test_connection.py``.
"""

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote

import aiosqlite

T = TypeVar("T")

#: Statements kept prepared. A shelf has about 60.
_CACHED_STATEMENTS: Final = 256
#: How long another process may hold the write lock, ms. Only backup tools ever do.
_BUSY_TIMEOUT_MS: Final = 2_000
#: The loop must not stand still: readers meet a lock only while the WAL is being recovered.
_READ_TIMEOUT_MS: Final = 200
_MMAP_BYTES: Final = 1 << 30

#: Pages after which the WAL is written back and begun anew: 8 MiB to recover after a crash, at most a moment.
_WAL_PAGES: Final = 4000
#: What that many frames of 2 KiB pages take, and one large group beyond them.
_WAL_BYTES: Final = (_WAL_PAGES + 100) * (2048 + 24)

_WRITER_PRAGMAS: Final = (
    f"busy_timeout = {_BUSY_TIMEOUT_MS}",
    "journal_mode = WAL",
    "synchronous = FULL",  # a commit survives power loss; in groups it costs 6 % against NORMAL
    "foreign_keys = ON",
    "secure_delete = ON",  # what is deleted is overwritten
    "temp_store = MEMORY",  # memories must not reach files that nobody purges
    "cache_size = -16384",  # KiB
    f"mmap_size = {_MMAP_BYTES}",
    f"wal_autocheckpoint = {_WAL_PAGES}",
    "journal_size_limit = 16777216",  # bytes a WAL keeps once it was larger
)


class WriterConnection:
    """The connection that writes, and the thread it lives on."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, path: Path) -> "WriterConnection":
        """Connect to an existing shelf file.

        Raises:
            sqlite3.Error: If that fails; nothing is left open.
        """
        connection = await aiosqlite.connect(
            _uri(path, "mode=rw"), uri=True, isolation_level=None, cached_statements=_CACHED_STATEMENTS
        )
        writer = cls(connection)
        try:
            await writer.run(lambda: _set_pragmas(writer.raw, _WRITER_PRAGMAS))
            await writer.run(lambda: lengthen_wal(path))
        except BaseException:
            await connection.close()
            raise
        return writer

    @property
    def raw(self) -> sqlite3.Connection:
        """The plain connection, for functions given to :meth:`run` alone."""
        return self._connection._conn  # noqa: SLF001

    async def run(self, function: Callable[[], T]) -> T:
        """Run *function* on the connection's thread, after those given before it, and return its result.

        The function stays in the queue when the caller is cancelled.
        """
        # aiosqlite logs what it runs: a function without arguments keeps memory text out of that.
        result: T = await self._connection._execute(function)  # type: ignore[no-untyped-call]  # noqa: SLF001
        return result

    def submit(self, function: Callable[[], None]) -> None:
        """Run *function* on the connection's thread, after those given before it; it must not raise.

        Who waits for what comes of it is told by the function, with one wake-up of the loop instead of two.
        """
        self._connection._tx.put_nowait((None, function))  # noqa: SLF001

    async def close(self) -> None:
        """Finish what is queued and close. As the file's last connection it also empties the WAL."""
        await self._connection.close()


def open_reader(path: Path, *, any_thread: bool = False) -> sqlite3.Connection:
    """Return a connection that can only read, bound to the calling thread or, one at a time, for *any_thread*."""
    reader = sqlite3.connect(
        _uri(path, "mode=ro"),
        uri=True,
        isolation_level=None,
        cached_statements=_CACHED_STATEMENTS,
        check_same_thread=not any_thread,
    )
    try:
        _set_pragmas(
            reader,
            (
                f"busy_timeout = {_READ_TIMEOUT_MS}",
                "query_only = ON",
                "temp_store = MEMORY",
                f"mmap_size = {_MMAP_BYTES}",
            ),
        )
    except BaseException:
        reader.close()
        raise
    return reader


def open_untouched(path: Path) -> sqlite3.Connection:
    """Return a connection that reads the file without writing a byte to it or its WAL.

    Without a WAL the file is complete and nobody has it open; a plain reader would leave an empty WAL behind.
    """
    mode = "mode=ro" if has_wal(path) else "mode=ro&immutable=1"
    return sqlite3.connect(_uri(path, mode), uri=True, isolation_level=None)


def has_wal(path: Path) -> bool:
    """Return whether changes wait in the file's WAL, which a clean stop never leaves."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


def _set_pragmas(connection: sqlite3.Connection, pragmas: tuple[str, ...]) -> None:
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}")


def lengthen_wal(path: Path) -> None:
    """Give the empty WAL of the file at *path* its usual length in zeros, which SQLite takes for no more frames.

    A commit that overwrites costs the disk less than one that also makes the file longer (measured: 620 us
    against 760), and without this the first few hundred commits after every start would be such.
    """
    # A full disk only makes those commits slower: the file system takes back what did not fit.
    with suppress(OSError), path.with_name(f"{path.name}-wal").open("r+b", buffering=0) as file:
        if os.fstat(file.fileno()).st_size:
            return
        try:
            file.write(bytes(_WAL_BYTES))
            os.fsync(file.fileno())
        except OSError:
            file.truncate(0)


def _uri(path: Path, mode: str) -> str:
    return f"file:{quote(str(path.absolute()))}?{mode}"
