"""Queries on one connection, whose errors are told in the words of the store's port."""

import sqlite3
from typing import Any

from shelfd.storage.sqlite.errors import translated
from shelfd.storage.sqlite.rows import Columns


class Queries:
    """Statements that read, through one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def move_to(self, connection: sqlite3.Connection) -> None:
        """Read by *connection* from now on; the one before is closed."""
        before, self._connection = self._connection, connection
        before.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _value(self, sql: str, params: Columns = ()) -> Any:  # noqa: ANN401
        columns = self._one(sql, params)
        assert columns is not None
        return columns[0]

    def _one(self, sql: str, params: Columns = ()) -> Columns | None:
        try:
            columns: Columns | None = self._connection.execute(sql, params).fetchone()
        except sqlite3.Error as error:
            if told := translated(error):
                raise told from error
            raise
        return columns

    def _all(self, sql: str, params: Columns = ()) -> list[Columns]:
        try:
            return self._connection.execute(sql, params).fetchall()
        except sqlite3.Error as error:
            if told := translated(error):
                raise told from error
            raise
