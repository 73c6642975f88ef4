"""Standing queries in a shelf's file."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Collection
from typing import Any, Final

from shelfd.memory.ports.watches import Watch, WatchesWriter
from shelfd.storage.encoding import decode, encode
from shelfd.storage.sqlite.database import SqliteRows, placeholders

# Table and column names are ours.
_COLUMNS: Final = ", ".join(Watch._fields)
_ADD: Final = f"INSERT INTO watch ({_COLUMNS}) VALUES ({placeholders(_COLUMNS)})"  # noqa: S608
_PAGE: Final = f"SELECT number, {_COLUMNS} FROM watch WHERE number > ?"  # noqa: S608


class SqliteWatches(SqliteRows, WatchesWriter):
    """Standing queries."""

    def get(self, watch_id: str) -> Watch | None:
        columns = self._database.one(f"SELECT {_COLUMNS} FROM watch WHERE id = ?", (watch_id,))  # noqa: S608
        return None if columns is None else _watch(columns)

    def page(self, *, principal: str | None = None, after: int = 0, limit: int) -> tuple[list[Watch], int | None]:
        whose, params = ("", ()) if principal is None else (" AND principal = ?", (principal,))
        found = self._database.all(f"{_PAGE}{whose} ORDER BY number LIMIT ?", (after, *params, limit + 1))
        page = found[:limit]
        return [_watch(columns[1:]) for columns in page], page[-1][0] if len(found) > limit else None

    def count(self, principal: str | None = None) -> int:
        whose, params = ("", ()) if principal is None else (" WHERE principal = ?", (principal,))
        columns = self._database.one(f"SELECT count(*) FROM watch{whose}", params)  # noqa: S608
        assert columns is not None
        return int(columns[0])

    def add(self, watch: Watch) -> None:
        self._database.run(_ADD, (*watch[:4], encode(watch.filters), *watch[5:]))

    def delete(self, ids: Collection[str]) -> int:
        return sum(self._database.run("DELETE FROM watch WHERE id = ?", (watch_id,)) for watch_id in ids)

    def rename_nugget(self, old: str, new: str) -> None:
        self._database.run("UPDATE watch SET nugget = ? WHERE nugget = ?", (new, old))


def _watch(columns: tuple[Any, ...]) -> Watch:
    return Watch._make((*columns[:4], decode(columns[4]), *columns[5:]))
