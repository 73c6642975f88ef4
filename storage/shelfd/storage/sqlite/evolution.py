"""What notes state, and which contradict each other, as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Callable, Collection, Sequence
from typing import Final

from pydantic_core import from_json

from shelfd.memory.ports.evolution import ConflictsWriter, OlderNote, StatementsWriter, StoredConflict
from shelfd.storage.encoding import encode_integers
from shelfd.storage.sqlite.database import Database, SqliteRows, placeholders

# Table and column names are ours.
_OLDER: Final = (
    "SELECT note.row, id, key, scope, session_id, author, subject,"
    " coalesce(occurred_at, iif(key IS NULL, created_at, updated_at)), valid_to, note.rev, statement.rev, said"
    # In this order: SQLite would rather walk through all notes of the nugget.
    " FROM (SELECT value AS near FROM json_each(?)) CROSS JOIN statement ON statement.note = near"
    " CROSS JOIN note ON note.row = statement.note WHERE nugget = ?"
    " AND archived_at IS NULL AND superseded_by IS NULL AND parent_id IS NULL"
    " AND (expires_at IS NULL OR expires_at > ?)"
)
_SLOTS_AT_ONCE: Final = 8
#: By how many slots are looked into or added. What goes for all of them is the first parameter.
_IN_SLOTS: Final = [
    " UNION ALL ".join(
        f"SELECT note FROM (SELECT note FROM slot WHERE slot = ?{at + 2} ORDER BY note DESC LIMIT ?1)"  # noqa: S608
        for at in range(count)
    )
    for count in range(_SLOTS_AT_ONCE + 1)
]
_ADD_SLOTS: Final = [
    f"INSERT INTO slot VALUES {', '.join(f'(?{at + 2}, ?1)' for at in range(count))}"  # noqa: S608
    for count in range(_SLOTS_AT_ONCE + 1)
]
CONFLICT_COLUMNS: Final = ", ".join(StoredConflict._fields)
_CONFLICT: Final = f"SELECT {CONFLICT_COLUMNS} FROM conflict"  # noqa: S608
_ADD_CONFLICT: Final = f"INSERT INTO conflict ({CONFLICT_COLUMNS}) VALUES ({placeholders(CONFLICT_COLUMNS)})"  # noqa: S608


class SqliteStatements(SqliteRows, StatementsWriter):
    """What notes state."""

    def unread(self, *, limit: int) -> list[int]:
        newer = "SELECT row FROM note WHERE row > (SELECT coalesce(max(note), 0) FROM statement)"
        found = self._database.all(f"{newer} ORDER BY row DESC LIMIT ?", (max(limit, 0),))
        return [columns[0] for columns in found]

    def rev(self, row: int) -> int | None:
        columns = self._database.one("SELECT rev FROM statement WHERE note = ?", (row,))
        return None if columns is None else columns[0]

    def in_slots(self, slots: Sequence[int], *, limit: int) -> set[int]:
        found, limit = set[int](), max(limit, 0)
        for begin in range(0, len(slots), _SLOTS_AT_ONCE):
            some = slots[begin : begin + _SLOTS_AT_ONCE]
            if rows := self._database.all(_IN_SLOTS[len(some)], (limit, *some)):
                found.update([columns[0] for columns in rows])
        return found

    def older(self, rows: Sequence[int], nugget: str, *, now: int) -> list[OlderNote]:
        wanted = encode_integers(sorted(set(rows), reverse=True))
        return [OlderNote._make(columns) for columns in self._database.all(_OLDER, (wanted, nugget, now))]

    def put(self, row: int, rev: int, said: str, slots: Sequence[int]) -> None:
        database = self._database
        columns = (row, rev, encode_integers(slots), said)
        if not database.run("INSERT OR IGNORE INTO statement VALUES (?, ?, ?, ?)", columns):
            _forget_slots(database, row)
            database.run("REPLACE INTO statement VALUES (?, ?, ?, ?)", columns)
        for begin in range(0, len(slots), _SLOTS_AT_ONCE):
            some = slots[begin : begin + _SLOTS_AT_ONCE]
            database.run(_ADD_SLOTS[len(some)], (row, *some))


class SqliteStatementsWriter(SqliteStatements):
    """What notes state, by the writer's connection: it knows whether any came since the newest that was read.

    Args:
        database: The connection.
        newest: Returns the highest row that was given to a note.
    """

    def __init__(self, database: Database, newest: Callable[[], int]) -> None:
        super().__init__(database)
        self._newest = newest
        self._read = 0  #: a note whose statements are stored, the newest that is known of

    def unread(self, *, limit: int) -> list[int]:
        return [] if self._read >= self._newest() else super().unread(limit=limit)

    def put(self, row: int, rev: int, said: str, slots: Sequence[int]) -> None:
        super().put(row, rev, said, slots)
        self._read = max(self._read, row)

    def forget(self) -> None:
        """Forget which note that is: its change was rolled back."""
        self._read = 0


class SqliteConflicts(SqliteRows, ConflictsWriter):
    """Conflicts."""

    def get(self, conflict_id: str) -> StoredConflict | None:
        columns = self._database.one(f"{_CONFLICT} WHERE id = ?", (conflict_id,))
        return None if columns is None else StoredConflict._make(columns)

    def page(self, *, nugget: str | None, resolved: bool, before: int | None, limit: int) -> list[StoredConflict]:
        place, params = ("", ()) if nugget is None else (" AND nugget = ?", (nugget,))
        found = self._database.all(
            f"{_CONFLICT} WHERE (resolved_at IS NULL) = ?{place} AND number < ? ORDER BY number DESC LIMIT ?",
            (0 if resolved else 1, *params, 2**62 if before is None else before, max(limit, 0)),
        )
        return [StoredConflict._make(columns) for columns in found]

    def of_note(self, row: int, *, limit: int) -> list[StoredConflict]:
        found = self._database.all(
            f"{_CONFLICT} WHERE a = ?1 OR b = ?1 ORDER BY number DESC LIMIT ?2", (row, max(limit, 0))
        )
        return [StoredConflict._make(columns) for columns in found]

    def disputed(self, rows: Collection[int]) -> set[int]:
        asked = ", ".join("?" * len(rows))
        found = self._database.all(
            f"SELECT a, b FROM conflict WHERE resolved_at IS NULL AND (a IN ({asked}) OR b IN ({asked}))",  # noqa: S608
            (*rows, *rows),
        )
        return {row for pair in found for row in pair}.intersection(rows)

    def put(self, conflict: StoredConflict) -> None:
        database = self._database
        sql = "UPDATE conflict SET resolved_at = ?, resolution = ? WHERE id = ?"
        if not database.run(sql, (conflict.resolved_at, conflict.resolution, conflict.id)):
            database.run(_ADD_CONFLICT, (None, *conflict[1:]))


def forget_statements(database: Database, row: int) -> None:
    """Delete what a note states, and its conflicts."""
    _forget_slots(database, row)
    database.run("DELETE FROM statement WHERE note = ?", (row,))
    database.run("DELETE FROM conflict WHERE a = ?1 OR b = ?1", (row,))


def _forget_slots(database: Database, row: int) -> None:
    columns = database.one("SELECT slots FROM statement WHERE note = ?", (row,))
    if columns is not None:
        database.run_many("DELETE FROM slot WHERE slot = ? AND note = ?", [(s, row) for s in from_json(columns[0])])
