"""Use, recent queries, sinks and properties as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from shelfd.memory.notes.note import Usage
from shelfd.memory.ports.log import SinksWriter
from shelfd.memory.ports.usage import QueriesWriter, RecentQuery, UsageWriter
from shelfd.memory.ports.view import MetaWriter
from shelfd.storage.encoding import decode_strings, encode_integers, encode_strings
from shelfd.storage.sqlite.database import AMONG, SqliteRows, placeholders

USAGE_COLUMNS: Final = ", ".join(Usage._fields)
# Use is reported up to a second late, and the note may have been purged meanwhile.
_STILL_THERE: Final = "WHERE EXISTS (SELECT 1 FROM note WHERE row = ?1)"
_PUT: Final = (
    f"INSERT OR REPLACE INTO usage (note, {USAGE_COLUMNS}) SELECT ?1, {placeholders(USAGE_COLUMNS)} {_STILL_THERE}"
)
_ADD_HIT_SESSION: Final = f"INSERT OR IGNORE INTO hit_session SELECT ?1, ? {_STILL_THERE}"


class SqliteUsage(SqliteRows, UsageWriter):
    """The use that was made of notes."""

    def by_rows(self, rows: Sequence[int]) -> dict[int, Usage]:
        found = self._database.all(
            f"SELECT note, {USAGE_COLUMNS} FROM usage WHERE note {AMONG}",  # noqa: S608
            (encode_integers(rows),),
        )
        return {columns[0]: Usage._make(columns[1:]) for columns in found}

    def was_hit(self, rows: Sequence[int], session_id: str) -> set[int]:
        found = self._database.all(
            f"SELECT note FROM hit_session WHERE note {AMONG} AND session_id = ?",  # noqa: S608
            (encode_integers(rows), session_id),
        )
        return {columns[0] for columns in found}

    def hit_sessions(self, rows: Sequence[int]) -> dict[int, frozenset[str]]:
        found = self._database.all(
            f"SELECT note, session_id FROM hit_session WHERE note {AMONG}",  # noqa: S608
            (encode_integers(rows),),
        )
        sessions: dict[int, set[str]] = {}
        for row, session_id in found:
            sessions.setdefault(row, set()).add(session_id)
        return {row: frozenset(kept) for row, kept in sessions.items()}

    def put(self, usages: Mapping[int, Usage]) -> None:
        self._database.run_many(_PUT, [(row, *usage) for row, usage in usages.items()])

    def add_hit_sessions(self, sessions: Sequence[tuple[int, str]]) -> None:
        self._database.run_many(_ADD_HIT_SESSION, sessions)


class SqliteQueries(SqliteRows, QueriesWriter):
    """Recent queries."""

    def recent(self, limit: int) -> list[RecentQuery]:
        found = self._database.all(
            "SELECT params, ids, at FROM recent_query ORDER BY at DESC, params LIMIT ?", (max(limit, 0),)
        )
        return [RecentQuery(columns[0], decode_strings(columns[1]), columns[2]) for columns in found]

    def put(self, queries: Sequence[RecentQuery]) -> None:
        self._database.run_many(
            "INSERT OR REPLACE INTO recent_query VALUES (?, ?, ?)",
            [(query.params, encode_strings(query.ids), query.at) for query in queries],
        )

    def delete_before(self, *, before: int, now: int, kept: int) -> None:
        self._database.run("UPDATE recent_query SET at = ?1 WHERE at > ?1", (now,))
        self._database.run(
            "DELETE FROM recent_query WHERE at < ? OR rowid NOT IN"
            " (SELECT rowid FROM recent_query ORDER BY at DESC, params LIMIT ?)",
            (before, kept),
        )

    def delete_naming(self, ids: Collection[str]) -> None:
        found = self._database.all("SELECT params, ids FROM recent_query")  # bounded: some hundred are kept
        naming = [(params,) for params, named in found if not set(decode_strings(named)).isdisjoint(ids)]
        self._database.run_many("DELETE FROM recent_query WHERE params = ?", naming)


class SqliteSinks(SqliteRows, SinksWriter):
    """How far sinks have come."""

    def get(self, name: str) -> int | None:
        columns = self._database.one("SELECT delivered_seq FROM sink WHERE name = ?", (name,))
        return None if columns is None else columns[0]

    def put(self, name: str, seq: int) -> None:
        self._database.run("INSERT OR REPLACE INTO sink VALUES (?, ?)", (name, seq))


class SqliteMeta(SqliteRows, MetaWriter):
    """The shelf's own properties."""

    def get(self, name: str) -> str | None:
        columns = self._database.one("SELECT value FROM meta WHERE name = ?", (name,))
        return None if columns is None else columns[0]

    def page(self, beginning: str, *, after: str, limit: int) -> list[tuple[str, str]]:
        sql = "SELECT name, value FROM meta WHERE name > ? AND name >= ? AND name < ? ORDER BY name LIMIT ?"
        end = beginning[:-1] + chr(ord(beginning[-1]) + 1)
        return [(name, value) for name, value in self._database.all(sql, (after, beginning, end, max(limit, 0)))]

    def put(self, name: str, value: str) -> None:
        self._database.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
