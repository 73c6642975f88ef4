"""Statements on one connection, whose errors are raised in the words of the store's port."""

import sqlite3
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from shelfd.storage.sqlite.errors import translated, translating

Columns: TypeAlias = tuple[Any, ...]

#: A list of values as one parameter: one prepared statement for any length.
AMONG: Final = "IN (SELECT value FROM json_each(?))"


class Database:
    """A connection that all of a view's aggregates share."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def move_to(self, connection: sqlite3.Connection) -> None:
        """Use *connection* from now on; the one before is closed."""
        before, self.connection = self.connection, connection
        before.close()

    def value(self, sql: str, params: Columns = ()) -> Any:  # noqa: ANN401
        """Return the first column of a statement's only row."""
        columns = self.one(sql, params)
        assert columns is not None
        return columns[0]

    def one(self, sql: str, params: Columns = ()) -> Columns | None:
        """Return a statement's first row."""
        try:
            columns: Columns | None = self.connection.execute(sql, params).fetchone()
        except sqlite3.Error as error:
            if told := translated(error):
                raise told from error
            raise
        return columns

    def all(self, sql: str, params: Columns = ()) -> list[Columns]:
        """Return a statement's rows."""
        try:
            return self.connection.execute(sql, params).fetchall()
        except sqlite3.Error as error:
            if told := translated(error):
                raise told from error
            raise

    def run(self, sql: str, params: Columns) -> int:
        """Run a statement that writes; return how many rows it wrote."""
        try:
            return self.connection.execute(sql, params).rowcount
        except sqlite3.Error as error:
            if told := translated(error):
                raise told from error
            raise

    def run_many(self, sql: str, params: Sequence[Columns]) -> None:
        """Run a statement that writes once for each of *params*."""
        with translating():
            self.connection.executemany(sql, params)


class Rows:
    """Rows of one aggregate."""

    def __init__(self, database: Database) -> None:
        self._database = database


def placeholders(columns: str) -> str:
    """Return as many question marks as *columns* names."""
    return ", ".join("?" * (columns.count(",") + 1))
