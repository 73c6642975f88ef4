"""Many rows are added by a few steps of SQLite, and are the same as if each were added alone."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from shelfd.storage.sqlite import database as together
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


_ADD_SEVERAL = "INSERT INTO several (a, b, c, d, e) VALUES (?, ?, ?, ?, ?)"


@pytest.fixture
def several(database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A table whose columns keep values as they are bound."""
    monkeypatch.setattr(together, "_KNOWN_ALIKE", {})
    database.run("CREATE TABLE several (row INTEGER PRIMARY KEY, a, b, c, d, e)", ())
    return database


def added(database: Database, rows: list[tuple[Any, ...]]) -> list[str]:
    """Add rows; return them as they are kept, and the sign of each zero."""
    database.run("DELETE FROM several", ())
    database.add_many(_ADD_SEVERAL, rows)
    return [repr(row) for row in database.all("SELECT a, b, c, d, e FROM several ORDER BY row")]


def drawn(draw: random.Random, count: int) -> list[tuple[Any, ...]]:
    """Rows of which some columns have one value, or values that are equal, or all but one."""
    kinds: tuple[list[Any], ...] = (
        [None], ["x"], [""], [0], [7], [2.5], [1, 1.0], [0.0, -0.0], [0.0], [True, 1], [b"x"], ["a", "b"], [None, "x"],
    )  # fmt: skip
    columns = []
    for _ in range(5):
        values = draw.choice(kinds)
        columns.append([draw.choice(values) for _ in range(count)])
        if draw.random() < 0.2:
            columns[-1][draw.randrange(count)] = draw.choice(["odd", None, 0, 1.0])
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("count", [159, 160, 165, 336])
def test_what_rows_have_alike_is_bound_once_and_kept_as_it_is(several: Database, count: int) -> None:
    draw = random.Random(count)
    for _ in range(60):
        rows = drawn(draw, count)
        assert added(several, rows) == [repr(tuple(int(v) if v is True else v for v in row)) for row in rows]


def test_there_are_no_more_statements_than_so_many(several: Database) -> None:
    for number in range(32):
        same = [number >> bit & 1 for bit in range(5)]
        rows = [tuple("x" if one else str(row) for one in same) for row in range(160)]
        assert added(several, rows) == list(map(repr, rows))
    assert len(together._KNOWN_ALIKE[_ADD_SEVERAL]) == together._MOST_ALIKE
