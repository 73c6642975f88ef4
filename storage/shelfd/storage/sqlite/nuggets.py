"""Nuggets and their turns as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

import sqlite3
from typing import Final

from shelfd.memory.errors import DuplicateKey, DuplicateNugget
from shelfd.memory.notes.note import Nugget
from shelfd.memory.ports.notes import NuggetCounts, NuggetsView, NuggetsWriter
from shelfd.storage.sqlite.database import Columns, Database, SqliteRows, placeholders

NUGGET_COLUMNS: Final = ", ".join(Nugget._fields)
_NUGGET: Final = f"SELECT {NUGGET_COLUMNS} FROM nugget"  # noqa: S608 (column names of ours)
_PUT: Final = f"INSERT OR REPLACE INTO nugget ({NUGGET_COLUMNS}) VALUES ({placeholders(NUGGET_COLUMNS)})"  # noqa: S608
_COUNTS: Final = (
    "SELECT (SELECT count(*) FROM note WHERE nugget = ?1 AND key IS NOT NULL AND archived_at IS NULL),"
    " (SELECT count(*) FROM note WHERE nugget = ?1),"
    " (SELECT count(*) FROM note WHERE nugget = ?1 AND archived_at IS NOT NULL)"
)
_CLAIM_TURN: Final = "INSERT INTO turn VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
_KEPT: Final = 1024


class SqliteNuggets(SqliteRows, NuggetsView):
    """Reads of nuggets."""

    def get(self, name: str) -> Nugget | None:
        columns = self._database.one(f"{_NUGGET} WHERE name = ?", (name,))
        return None if columns is None else _from_columns(columns)

    def page(self, *, after: str, limit: int) -> list[Nugget]:
        found = self._database.all(f"{_NUGGET} WHERE name > ? ORDER BY name LIMIT ?", (after, max(limit, 0)))
        return list(map(_from_columns, found))

    def count(self) -> int:
        return int(self._database.value("SELECT count(*) FROM nugget"))

    def counts(self, name: str) -> NuggetCounts:
        return NuggetCounts._make(self._database.one(_COUNTS, (name,)) or (0, 0, 0))

    def turn_number(self, nugget: str, session_id: str, turn: int) -> int | None:
        columns = self._database.one(
            "SELECT number FROM turn WHERE nugget = ? AND session_id = ? AND turn = ?",
            (nugget, session_id, turn),
        )
        return None if columns is None else columns[0]

    def last_turn(self, nugget: str, session_id: str) -> int | None:
        sql = "SELECT max(turn) FROM turn WHERE nugget = ? AND session_id = ?"
        last: int | None = self._database.value(sql, (nugget, session_id))
        return last

    def last_turns(self, nugget: str, session_id: str, *, limit: int) -> list[tuple[int, int]]:
        return self._database.all(
            "SELECT turn, number FROM turn WHERE nugget = ? AND session_id = ? ORDER BY turn DESC LIMIT ?",
            (nugget, session_id, max(limit, 0)),
        )

    def has_turns_beside(self, nugget: str, session_id: str) -> bool:
        # As two ranges, of which the index knows whether they are empty.
        sql = (
            "SELECT EXISTS (SELECT 1 FROM turn WHERE nugget = ?1 AND session_id < ?2)"
            " OR EXISTS (SELECT 1 FROM turn WHERE nugget = ?1 AND session_id > ?2)"
        )
        return bool(self._database.value(sql, (nugget, session_id)))


def _from_columns(columns: Columns) -> Nugget:
    return Nugget._make((*columns[:-1], columns[-1] == 1))


class SqliteNuggetsWriter(SqliteNuggets, NuggetsWriter):
    """Reads and writes of nuggets, which are kept beside the file while changes are applied.

    Nearly every change reads its nugget, and a turn's first note counts it on. The writer is the only one that
    changes them, so it can keep what it read, and write what changed once a group instead of once a note.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._known: dict[str, Nugget] = {}
        self._unsaved: set[str] = set()
        self._before: list[tuple[str, Nugget | None]] = []  # what the present change replaced, in order

    def get(self, name: str) -> Nugget | None:
        known = self._known.get(name)
        if known is None and (known := super().get(name)) is not None:
            self._keep(known)
        return known

    def count(self) -> int:
        self.save()
        return super().count()

    def page(self, *, after: str, limit: int) -> list[Nugget]:
        self.save()
        return super().page(after=after, limit=limit)

    def put(self, nugget: Nugget) -> None:
        self._keep(nugget)
        self._unsaved.add(nugget.name)

    def delete(self, name: str) -> None:
        self._drop(name)
        self._database.run("DELETE FROM nugget WHERE name = ?", (name,))

    def rename(self, old: str, new: str) -> None:
        if old == new:
            return
        if self.get(new) is not None:
            raise DuplicateNugget(new)
        self.save()
        self._drop(old)
        names = (new, old)
        try:
            self._database.run("UPDATE note SET nugget = ? WHERE nugget = ?", names)
        except sqlite3.IntegrityError as error:
            raise DuplicateKey(new, "") from error
        self._database.run("UPDATE nugget SET name = ? WHERE name = ?", names)
        for table in ("turn", "note_type", "note_name"):
            self._database.run(f"UPDATE OR REPLACE {table} SET nugget = ? WHERE nugget = ?", names)  # noqa: S608
        for table in ("session", "conflict"):
            self._database.run(f"UPDATE {table} SET nugget = ? WHERE nugget = ?", names)  # noqa: S608

    def claim_turn(self, nugget: str, session_id: str, turn: int, number: int) -> int:
        if self._database.run(_CLAIM_TURN, (nugget, session_id, turn, number)):
            return number
        known = self.turn_number(nugget, session_id, turn)
        return number if known is None else known

    def save(self) -> None:
        """Write the nuggets that changed: at the end of a group, and before SQL that asks for them."""
        for name in sorted(self._unsaved):
            self._database.run(_PUT, self._known[name])
        self._unsaved.clear()

    def begin(self) -> frozenset[str]:
        """Begin a change; return what :meth:`take_back` needs to undo it."""
        self._before.clear()
        if len(self._known) > _KEPT and not self._unsaved:
            self._known.clear()
        return frozenset(self._unsaved)

    def take_back(self, unsaved: frozenset[str]) -> None:
        """Undo the present change. What it saved of earlier ones was rolled back with it and is unsaved again."""
        for name, nugget in reversed(self._before):
            if nugget is None:
                self._known.pop(name, None)
            else:
                self._known[name] = nugget
        self._before.clear()
        self._unsaved = set(unsaved)

    def forget(self) -> None:
        """Discard everything: the group failed."""
        self._known.clear()
        self._unsaved.clear()
        self._before.clear()

    def _keep(self, nugget: Nugget) -> None:
        self._before.append((nugget.name, self._known.get(nugget.name)))
        self._known[nugget.name] = nugget

    def _drop(self, name: str) -> None:
        self._before.append((name, self._known.pop(name, None)))
        self._unsaved.discard(name)
