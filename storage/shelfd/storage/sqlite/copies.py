"""Copies of a shelf's file that lie beside it: made before its schema changes, or replaced by a backup.

A copy has what the shelf had then, and no purge reaches it: the reply to a purge names it. Of those made before the
schema changes only the last one is kept; one that was replaced stays until a person removes it.
"""

import os
import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from shelfd.memory.errors import StoreBusy
from shelfd.storage.sqlite.files import sync

log = structlog.get_logger("shelfd.storage")

_NAME: Final = re.compile(r"shelf\.(before-\d+|replaced-\d{8}T\d{6}Z(_\d+)?)\.sqlite")
_BEFORE: Final = "shelf.before-"
_PRIVATE: Final = 0o600
_MICROSECONDS: Final = 1_000


class Copy(NamedTuple):
    """A copy by its name beside the shelf's file or its path, and when it was made, microseconds since 1970 UTC."""

    name: str
    made_at: int


def copies_of(path: Path) -> list[Copy]:
    """Return the copies of a shelf's file.

    Raises:
        OSError: If its directory cannot be read.
    """
    with os.scandir(path.parent) as entries:
        found = [entry for entry in entries if _NAME.fullmatch(entry.name)]
        return sorted(Copy(entry.name, entry.stat().st_mtime_ns // _MICROSECONDS) for entry in found)


def copy_before(connection: sqlite3.Connection, path: Path, *, version: int) -> None:
    """Copy a shelf's file before its schema is brought to *version*, whole and durably or not at all.

    Raises:
        StoreBusy: If there is no room for it, or it cannot be made; the shelf's file is as it was.
    """
    name = f"shelf.before-{version}.sqlite"
    draft = path.with_name(f".{name}.new")
    try:
        draft.unlink(missing_ok=True)  # left by a crash
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, _PRIVATE))
        with closing(sqlite3.connect(draft, isolation_level=None)) as copy:
            copy.execute("PRAGMA synchronous = OFF")  # it is synced once, before it gets its name
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file that is complete by itself
        sync(draft)
        draft.replace(path.with_name(name))
        sync(path.parent)
    except (OSError, sqlite3.Error) as error:
        for left in (draft, draft.with_name(f"{draft.name}-journal")):
            with suppress(OSError):
                left.unlink(missing_ok=True)
        raise StoreBusy(
            f"the shelf's file has to be brought to schema {version}, and cannot be copied before ({_why(error)});"
            " nothing was changed: make room for it and start the daemon again",
            schema=version,
        ) from error
    for other in copies_of(path):
        if other.name.startswith(_BEFORE) and other.name != name:
            path.with_name(other.name).unlink(missing_ok=True)
    log.info("shelf.copied", shelf=path.parent.name, copy=name, schema=version)


def _why(error: OSError | sqlite3.Error) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return getattr(error, "sqlite_errorname", "") or type(error).__name__
