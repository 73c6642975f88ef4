"""Which notes contradict each other, as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from shelfd.memory.ports.evolution import ConflictsWriter, StoredConflict
from shelfd.storage.sqlite.database import Database, SqliteRows, placeholders

# Table and column names are ours.
CONFLICT_COLUMNS: Final = ", ".join(StoredConflict._fields)
_CONFLICT: Final = f"SELECT {CONFLICT_COLUMNS} FROM conflict"  # noqa: S608
_ANY_OPEN: Final = "SELECT 1 FROM conflict WHERE (resolved_at IS NULL) = 1 LIMIT 1"  # as the index has it
_ADD_CONFLICT: Final = f"INSERT INTO conflict ({CONFLICT_COLUMNS}) VALUES ({placeholders(CONFLICT_COLUMNS)})"  # noqa: S608


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

    def disputed(self, rows: Collection[int]) -> Mapping[int, Sequence[str]]:
        if self._database.one(_ANY_OPEN) is None:
            return {}
        asked = ", ".join("?" * len(rows))
        found = self._database.all(
            f"SELECT id, a, b FROM conflict WHERE resolved_at IS NULL AND (a IN ({asked}) OR b IN ({asked}))"  # noqa: S608
            " ORDER BY number DESC",
            (*rows, *rows),
        )
        disputed: dict[int, list[str]] = {}
        for conflict_id, *ends in found:
            for row in ends:
                disputed.setdefault(row, []).append(conflict_id)
        return {row: disputed[row] for row in rows if row in disputed}

    def put(self, conflict: StoredConflict) -> None:
        database = self._database
        sql = "UPDATE conflict SET resolved_at = ?, resolution = ? WHERE id = ?"
        if not database.run(sql, (conflict.resolved_at, conflict.resolution, conflict.id)):
            database.run(_ADD_CONFLICT, (None, *conflict[1:]))


def forget_conflicts(database: Database, row: int) -> None:
    """Delete the conflicts of a note."""
    database.run("DELETE FROM conflict WHERE a = ?1 OR b = ?1", (row,))
