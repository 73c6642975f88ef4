"""Schema versions: numbered, append-only, each applied completely, with its own record, or not at all."""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from shelfd.memory.errors import SchemaTooNew, StorageCorrupt
from shelfd.storage.sqlite.connection import add_functions, open_untouched, open_writer
from shelfd.storage.sqlite.copies import copy_before
from shelfd.storage.sqlite.database import REMEDY
from shelfd.storage.sqlite.files import check_kinds, empty_wal, has_wal, read_beginning

#: "shlf", in the file's header, so that no other program's database is ever taken for a shelf.
APPLICATION_ID: Final = 0x73686C66

_MAGIC: Final = b"SQLite format 3\x00"
_NAME: Final = re.compile(r"(\d{4})_(\w+)\.sql")
_RECORD_TABLE: Final = """
CREATE TABLE IF NOT EXISTS migration (
    number     INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    applied_at INTEGER NOT NULL  -- microseconds since 1970 UTC
);
"""


class Migration(NamedTuple):
    """One step of the schema."""

    number: int
    name: str
    sql: str


def load_migrations() -> tuple[Migration, ...]:
    """Return all migrations in order."""
    return tuple(
        sorted(
            Migration(int(match[1]), match[2], file.read_text("utf-8"))
            for file in files("shelfd.storage.sqlite").joinpath("schema").iterdir()
            if (match := _NAME.fullmatch(file.name))
        )
    )


def inspect(path: Path, *, newest: int) -> int:
    """Return the schema version of a shelf file without changing a byte of it.

    Reads the header, application id and version only, so that its time does not depend on the shelf's size.

    Raises:
        StorageCorrupt: If it is no shelf; the message says what to do.
        SchemaTooNew: If a newer version wrote it.
        OSError: If it cannot be read.
    """
    check_kinds(path)
    if read_beginning(path, len(_MAGIC)) != _MAGIC:
        raise StorageCorrupt("the shelf's file is not a database; " + REMEDY, reason="NOT_A_DATABASE")
    try:
        application_id, version = _identify(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):  # locked or unreadable, which says nothing of the content
            raise
        raise StorageCorrupt("the shelf's file is damaged; " + REMEDY, reason="DAMAGED") from error
    if application_id != APPLICATION_ID:
        raise StorageCorrupt("the shelf's file belongs to another program; move it away", reason="FOREIGN_FILE")
    if version > newest:
        raise SchemaTooNew(schema=version, newest=newest)
    return version


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration], *, now: int) -> list[int]:
    """Apply what is missing, one transaction each; return the numbers applied.

    Args:
        connection: In autocommit mode.
        migrations: All known ones, in order.
        now: Time for the records, microseconds.

    Raises:
        sqlite3.Error: If one fails; it leaves nothing, those before it stand.
    """
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    applied = []
    add_functions(connection)
    for migration in migrations:
        if migration.number > version:
            _apply(connection, migration, now)
            applied.append(migration.number)
    return applied


def _apply(connection: sqlite3.Connection, migration: Migration, now: int) -> None:
    try:
        # executescript ends an open transaction first, so this one has to begin inside it.
        connection.executescript(f"BEGIN IMMEDIATE;\n{_RECORD_TABLE}\n{migration.sql}")
        connection.execute("INSERT INTO migration VALUES (?, ?, ?)", (migration.number, migration.name, now))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {migration.number}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _identify(path: Path) -> tuple[int, int]:
    with closing(open_untouched(path)) as connection:
        application_id: int = connection.execute("PRAGMA application_id").fetchone()[0]
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return application_id, version


def prepare(path: Path, *, now: int) -> None:
    """Bring an existing shelf file to the newest schema, refusing what is no shelf, and recover its WAL.

    A copy of what it was before stays beside it: see :mod:`~shelfd.storage.sqlite.copies`. Afterwards there is no WAL,
    unless another process reads the file.

    Raises:
        StorageCorrupt, SchemaTooNew: As :func:`inspect` does.
        StoreBusy: If it cannot be copied before; it is as it was.
        OSError: If it cannot be read.
        sqlite3.Error: If a migration fails; the file keeps its version.
    """
    migrations = load_migrations()
    newest = migrations[-1].number
    version = inspect(path, newest=newest)
    if version == newest and not has_wal(path):
        return
    with closing(open_writer(path)) as connection:
        if version < newest:
            copy_before(connection, path, version=newest)
        migrate(connection, migrations, now=now)
        # What was erased just before an unclean stop may still be in the WAL. Another process that reads can keep it.
        with suppress(sqlite3.Error):
            empty_wal(connection)


def look_at_shelf(path: Path) -> str:
    """Return what can be said of a shelf's file without opening it for use; changes nothing.

    Raises:
        StorageCorrupt, SchemaTooNew, OSError: As :func:`inspect` does.
    """
    newest = load_migrations()[-1].number
    version = inspect(path, newest=newest)
    size = f"{path.stat().st_size >> 20} MiB, schema {version}"
    if version < newest:
        size += f", brought to {newest} when it is opened, after a copy"
    return f"{size}; it was not closed, which is mended when it is opened" if has_wal(path) else size
