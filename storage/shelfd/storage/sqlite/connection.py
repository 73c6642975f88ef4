"""Connections to a shelf's file: one that writes, on a thread of its own, and short-lived or inline readers.

A hop between threads costs more than most statements (60 us against 4), so the writer is given whole
functions to run on the thread aiosqlite owns, by the two private members of aiosqlite that this product uses.
Hence its pinned version, and ``tests/storage/test_connection.py``.
"""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote

import aiosqlite

from shelfd.memory.notes.note import fold_key, type_tag
from shelfd.storage.sqlite.files import has_wal

T = TypeVar("T")

#: Statements kept prepared. A shelf has about 60.
_CACHED_STATEMENTS: Final = 256
#: How long another process may hold the write lock, ms. Only backup tools ever do.
_BUSY_TIMEOUT_MS: Final = 2_000
#: The loop must not block: readers meet a lock only while the WAL is being recovered.
_READ_TIMEOUT_MS: Final = 200
#: Of a file, by each connection. What is mapped and was touched counts as memory of the daemon, and to read the rest
#: takes no longer (measured: ten notes of a million, 0.15 ms).
_MMAP_BYTES: Final = 64 << 20

#: Pages after which the WAL is written back and restarted: 8 MiB to recover after a crash, at most a moment.
_WAL_PAGES: Final = 4000

_WRITER_PRAGMAS: Final = (
    f"busy_timeout = {_BUSY_TIMEOUT_MS}",
    "journal_mode = WAL",
    "synchronous = FULL",  # a commit survives power loss; in groups it costs 6 % against NORMAL
    "foreign_keys = ON",
    "secure_delete = ON",  # what is deleted is overwritten
    "temp_store = MEMORY",  # memories must not reach files that are never purged
    "cache_size = -16384",  # KiB
    f"mmap_size = {_MMAP_BYTES}",
    f"wal_autocheckpoint = {_WAL_PAGES}",
    "journal_size_limit = 16777216",  # bytes a WAL keeps once it was larger
)
_READER_PRAGMAS: Final = (
    f"busy_timeout = {_READ_TIMEOUT_MS}",
    "query_only = ON",
    "temp_store = MEMORY",
    f"mmap_size = {_MMAP_BYTES}",
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
            await writer.run(lambda: _prepare(writer.raw, _WRITER_PRAGMAS))
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

        The function itself notifies the callers, with one wake-up of the loop instead of two.
        """
        self._connection._tx.put_nowait((None, function))  # noqa: SLF001

    async def close(self) -> None:
        """Finish what is queued and close. As the file's last connection it also empties the WAL."""
        await self._connection.close()


def open_writer(path: Path) -> sqlite3.Connection:
    """Return a connection that writes as the store's does, for work on a shelf that is not open yet.

    Raises:
        sqlite3.Error: If that fails.
    """
    return _opened(_uri(path, "mode=rw"), _WRITER_PRAGMAS)


def open_reader(path: Path) -> sqlite3.Connection:
    """Return a connection that sees each commit and cannot write, bound to the calling thread.

    If it is the last one of the file it removes an empty WAL when it is closed; hence ``mode=rw``.
    """
    return _opened(_uri(path, "mode=rw"), _READER_PRAGMAS)


def open_untouched(path: Path) -> sqlite3.Connection:
    """Return a connection that reads the file without writing a byte to it or its WAL.

    Without a WAL the file is complete and has no writer: the connection then takes no lock, no shared memory and one
    descriptor, and does not see what is written later.
    """
    mode = "mode=ro" if has_wal(path) else "mode=ro&immutable=1"
    return _opened(_uri(path, mode), _READER_PRAGMAS)


def _opened(uri: str, pragmas: tuple[str, ...]) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, cached_statements=_CACHED_STATEMENTS)
    try:
        _prepare(connection, pragmas)
    except BaseException:
        connection.close()
        raise
    return connection


def add_functions(connection: sqlite3.Connection) -> None:
    """Let SQL on this connection fold names and types as the memory does."""
    connection.create_function("type_tag", 1, type_tag, deterministic=True)
    connection.create_function("fold_key", 1, fold_key, deterministic=True)


def _prepare(connection: sqlite3.Connection, pragmas: tuple[str, ...]) -> None:
    add_functions(connection)
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}")


def _uri(path: Path, mode: str) -> str:
    return f"file:{quote(os.fsencode(path.absolute()))}?{mode}"
