"""Statements on one connection, whose errors are raised as the store's port names them."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, count
from typing import Any, Final, TypeAlias, cast

from shelfd.memory.errors import ShelfError, ShuttingDown, StorageCorrupt, StoreBusy

Columns: TypeAlias = tuple[Any, ...]

#: A list of values as one parameter: one prepared statement for any length.
AMONG: Final = "IN (SELECT value FROM json_each(?))"
#: Rows that are added by one step of SQLite. A step for each takes a sixth longer, and after each the thread has to get
#: the interpreter back from whoever took it meanwhile.
_ROWS_OF_A_STEP: Final = 32
#: From so many rows on, what all of them have alike is bound once a step: of notes that are two thirds of the columns.
_MANY: Final = 160
#: For which columns there are statements that bind the values of these once, by the statement for one row. Each is
#: prepared on every connection, in half a millisecond, and kept there; where there are so many, others get none.
_KNOWN_ALIKE: Final[dict[str, set[tuple[bool, ...]]]] = {}
_MOST_ALIKE: Final = 16

# sqlite3 binds None as it is, but only after it has asked for an adapter, and looked for two methods that neither None
# nor the protocol has: half of the time that a row takes of which a third is None. An adapter is found at once.
sqlite3.register_adapter(type(None), cast("Callable[[None], None]", {}.get))


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
            if known := translated(error):
                raise known from error
            raise
        return columns

    def all(self, sql: str, params: Columns = ()) -> list[Columns]:
        """Return a statement's rows."""
        try:
            return self.connection.execute(sql, params).fetchall()
        except sqlite3.Error as error:
            if known := translated(error):
                raise known from error
            raise

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Have the statements inside read one state: to lock it for each takes as long as to read a few rows."""
        self.all("BEGIN")
        try:
            yield
        finally:
            self.all("COMMIT")

    def run(self, sql: str, params: Columns) -> int:
        """Run a statement that writes; return how many rows it wrote."""
        try:
            return self.connection.execute(sql, params).rowcount
        except sqlite3.Error as error:
            if known := translated(error):
                raise known from error
            raise

    def add(self, sql: str, params: Columns) -> int:
        """Run a statement that adds one row; return the row's number."""
        try:
            number = self.connection.execute(sql, params).lastrowid
        except sqlite3.Error as error:
            if known := translated(error):
                raise known from error
            raise
        assert number is not None
        return number

    def run_many(self, sql: str, params: Sequence[Columns]) -> None:
        """Run a statement that writes once for each of *params*."""
        if not params:
            return
        try:
            self.connection.executemany(sql, params)
        except sqlite3.Error as error:
            if known := translated(error):
                raise known from error
            raise

    def add_many(self, sql: str, rows: Sequence[Columns]) -> None:
        """Run a statement that adds one row, and ends with its values, for each of *rows*.

        When it fails, some may have been added: whoever goes on then has to roll back.
        """
        whole = len(rows) - len(rows) % _ROWS_OF_A_STEP
        columns = tuple(zip(*rows[:whole], strict=True))
        alike = _alike(sql, columns) if whole >= _MANY else (False,) * len(columns)
        once = [column[0] for column, one in zip(columns, alike, strict=True) if one]
        others = [column for column, one in zip(columns, alike, strict=True) if not one]
        for begin in range(0, whole, _ROWS_OF_A_STEP):
            some = zip(*[column[begin : begin + _ROWS_OF_A_STEP] for column in others], strict=True)
            self.run(_adding_together(sql, alike), (*once, *chain.from_iterable(some)))
        self.run_many(sql, rows[whole:])


class SqliteRows:
    """Rows of one aggregate."""

    def __init__(self, database: Database) -> None:
        self._database = database


def placeholders(columns: str) -> str:
    """Return as many question marks as *columns* names."""
    return ", ".join("?" * (columns.count(",") + 1))


def _alike(sql: str, columns: Sequence[Columns]) -> tuple[bool, ...]:
    """Return of which columns all rows have the same value, as far as there is a statement for that."""
    found = tuple(map(_is_alike, columns))
    known = _KNOWN_ALIKE.setdefault(sql, set())
    if found not in known:
        if len(known) >= _MOST_ALIKE:
            return (False,) * len(columns)
        known.add(found)
    return found


def _is_alike(column: Columns) -> bool:
    first = column[0]
    if column[-1] != first or column.count(first) < len(column):
        return False
    if first is None or type(first) is str:
        return True
    # Equal numbers may be stored as different ones: 1 and 1.0, or zeros with and without a sign.
    is_one = type(first) is int or (type(first) is float and first != 0)
    return is_one and {type(first)}.issuperset(map(type, column))


@lru_cache
def _adding_together(sql: str, alike: tuple[bool, ...]) -> str:
    """Return the statement that adds several rows where *sql* adds one.

    Args:
        sql: One that ends with a question mark for each value.
        alike: Which values all rows have alike: these come first, once. The others of each row follow.
    """
    begin, values = sql.rsplit("VALUES", 1)
    assert values.count("?") == len(alike)
    numbers = count(1)
    shared = [f"?{next(numbers)}" if one else None for one in alike]
    rows = [f"({', '.join(known or f'?{next(numbers)}' for known in shared)})" for _ in range(_ROWS_OF_A_STEP)]
    # One that has to take back what it did when it fails would copy each page before it writes there first.
    return f"{begin.replace('INSERT INTO', 'INSERT OR FAIL INTO', 1)}VALUES {','.join(rows)}"


_CORRUPT: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY: Final = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk reported an error",
    sqlite3.SQLITE_BUSY: "the shelf is in use by another process",
    sqlite3.SQLITE_LOCKED: "the shelf is locked",
    sqlite3.SQLITE_CANTOPEN: "the shelf's file cannot be opened",
    sqlite3.SQLITE_READONLY: "the shelf's file is read-only",
    sqlite3.SQLITE_PERM: "the shelf's file may not be opened",
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
    sqlite3.SQLITE_PROTOCOL: "the shelf is locked",
    sqlite3.SQLITE_INTERRUPT: "the statement was interrupted",
}

#: What to do, where it is more than to try again.
_ADVICE: Final = {
    sqlite3.SQLITE_FULL: "make room on it and try again",
    sqlite3.SQLITE_IOERR: "the kernel's log says more of the disk",
    sqlite3.SQLITE_BUSY: "close what has the shelf's file open",
    sqlite3.SQLITE_CANTOPEN: "shelfd doctor says what is wrong with it",
    sqlite3.SQLITE_READONLY: "shelfd doctor says what is wrong with it",
    sqlite3.SQLITE_PERM: "shelfd doctor says what is wrong with it",
}

#: What to do about a file that cannot be used. It is never written to, so nothing gets worse meanwhile.
REMEDY: Final = (
    "it was left untouched: stop the daemon, move the shelf's folder away and put a backup in its place, or save what"
    ' can be read with: sqlite3 shelf.db ".recover" | sqlite3 recovered.db'
)


def translated(error: sqlite3.Error) -> ShelfError | None:
    """Return the error that callers get for *error*; None if it is a mistake and no condition of disk or file."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # raised by the driver, not by SQLite
        return ShuttingDown() if "closed database" in str(error) else None
    primary = code & 0xFF  # extended codes carry their detail in the higher bytes
    if primary in _CORRUPT:
        return StorageCorrupt("the shelf's file is damaged; " + REMEDY, reason="DAMAGED")
    if primary in _BUSY:
        advice = _ADVICE.get(primary, "try again")
        return StoreBusy(f"{_BUSY[primary]}; nothing happened; {advice}", reason=sqlite3_name(error))
    return None


@contextmanager
def translating() -> Iterator[None]:
    """Raise what :func:`translated` makes of SQLite's errors; mistakes stay what they are."""
    try:
        yield
    except sqlite3.Error as error:
        if known := translated(error):
            raise known from error
        raise


def sqlite3_name(error: sqlite3.Error) -> str:
    """Return SQLite's own name of an error, such as ``SQLITE_FULL``."""
    return getattr(error, "sqlite_errorname", type(error).__name__)
