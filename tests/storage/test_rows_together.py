"""Many rows are added by a few steps of SQLite, and are the same as if each were added alone."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from shelfd.storage.sqlite.database import Database

_ADD = "INSERT INTO kept (number, name) VALUES (?, ?)"


@pytest.fixture
def database() -> Iterator[Database]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE kept (row INTEGER PRIMARY KEY, number INTEGER UNIQUE, name TEXT)")
        yield Database(connection)


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 64, 100])
def test_every_row_is_there_in_its_order(database: Database, count: int) -> None:
    rows = [(count - number, None if number % 3 else f"row {number}") for number in range(count)]
    database.add_many(_ADD, rows)
    assert database.all("SELECT number, name FROM kept ORDER BY row") == rows


@pytest.mark.parametrize("twice", [5, 40, 99])
def test_a_row_that_cannot_be_added_is_an_error(database: Database, twice: int) -> None:
    rows = [(number, "") for number in range(100)]
    rows[twice] = (twice - 1, "")
    with pytest.raises(sqlite3.IntegrityError):
        database.add_many(_ADD, rows)
