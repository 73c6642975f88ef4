"""SQLite files of other memories, opened so that nothing is written to them."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any
from urllib.parse import quote

from shelfd.client.foreign import Unusable


def opened(path: str) -> sqlite3.Connection:
    """Return a connection that writes nothing, also where the store's own log lies beside it.

    Raises:
        Unusable: If it cannot be read.
    """
    name = quote(os.fsencode(os.path.abspath(path)))  # noqa: PTH100
    for mode in ("mode=ro", "mode=ro&immutable=1"):  # the second where nothing may be made beside it
        try:
            connection = sqlite3.connect(f"file:{name}?{mode}", uri=True)
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.Error as error:
            refused = error
        else:
            return connection
    raise unreadable(path, refused)


def unreadable(path: str, error: sqlite3.Error) -> Unusable:
    """Return what to raise of a file that SQLite cannot read; none of its text is in it."""
    told = getattr(error, "sqlite_errorname", type(error).__name__)
    return Unusable(path, f"cannot be read: {told}", os.EX_DATAERR)


def columns(path: str, table: str) -> frozenset[str]:
    """Return the columns of a table; none if it is not there.

    Raises:
        Unusable: If the file cannot be read.
    """
    with closing(opened(path)) as connection:
        try:
            found = connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
        except sqlite3.Error as error:
            raise unreadable(path, error) from error
    return frozenset(name for (name,) in found)


def count(path: str, sql: str) -> int:
    """Return the number that a query gives.

    Raises:
        Unusable: If the file cannot be read.
    """
    ((found,),) = rows(path, sql)
    return int(found)


def tables(path: str) -> list[str]:
    """Return the names of the tables.

    Raises:
        Unusable: If the file cannot be read.
    """
    found = rows(path, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name LIMIT 100")
    return [str(name)[:64] for (name,) in found]


def rows(path: str, sql: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
    """Iterate over the rows of a query. Text that is not UTF-8 has its broken bytes replaced.

    Raises:
        Unusable: If the file cannot be read.
    """
    with closing(opened(path)) as connection:
        connection.text_factory = lambda raw: raw.decode(errors="replace")
        try:
            yield from connection.execute(sql, parameters)
        except sqlite3.Error as error:
            raise unreadable(path, error) from error
