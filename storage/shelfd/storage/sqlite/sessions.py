"""Conversations as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Collection, Mapping
from typing import Any, Final

from shelfd.memory.ports.sessions import (
    Injection,
    InjectionsWriter,
    NoteTypesWriter,
    Retraction,
    RewindsWriter,
    Session,
    SessionsWriter,
    Variant,
)
from shelfd.storage.encoding import decode, decode_strings, encode, encode_strings, quote, strings_in
from shelfd.storage.sqlite.database import Columns, SqliteRows, placeholders

# Table and column names are ours.
SESSION_COLUMNS: Final = ", ".join(Session._fields)
_PUT_SESSION: Final = f"INSERT OR REPLACE INTO session ({SESSION_COLUMNS}) VALUES ({placeholders(SESSION_COLUMNS)})"  # noqa: S608

RETRACTION_COLUMNS: Final = ", ".join(Retraction._fields)
_RETRACTIONS: Final = f"SELECT number, {RETRACTION_COLUMNS} FROM retraction"  # noqa: S608
_PUT_RETRACTION: Final = (
    f"UPDATE retraction SET ({RETRACTION_COLUMNS}) = ({placeholders(RETRACTION_COLUMNS)}) WHERE number = ?"  # noqa: S608
)
_ADD_RETRACTION: Final = f"INSERT INTO retraction ({RETRACTION_COLUMNS}) VALUES ({placeholders(RETRACTION_COLUMNS)})"  # noqa: S608

INJECTION_COLUMNS: Final = ", ".join(Injection._fields)
_ADD_INJECTION: Final = f"INSERT INTO injection ({INJECTION_COLUMNS}) VALUES ({placeholders(INJECTION_COLUMNS)})"  # noqa: S608
_REPLACE_INJECTION: Final = (
    f"UPDATE injection SET ({INJECTION_COLUMNS}) = ({placeholders(INJECTION_COLUMNS)}) WHERE number = ?"  # noqa: S608
)
_SURPLUS: Final = "SELECT number FROM injection WHERE session_id = ? ORDER BY number DESC LIMIT -1 OFFSET ?"
#: Ids that are looked for one by one.
_FEW: Final = 16
#: Records of conversations past that one new one deletes: more than one, so that they become fewer.
_PAST_AT_ONCE: Final = 4
_PAST: Final = (
    "SELECT number FROM injection WHERE number <= (SELECT max(number) FROM injection) - ? ORDER BY number LIMIT ?"
)


class SqliteSessions(SqliteRows, SessionsWriter):
    """Sessions."""

    def get(self, session_id: str) -> Session | None:
        columns = self._database.one(f"SELECT {SESSION_COLUMNS} FROM session WHERE session_id = ?", (session_id,))  # noqa: S608
        return None if columns is None else Session._make(columns)

    def page(
        self, *, after: str, limit: int, nugget: str | None = None, used_since: int | None = None
    ) -> list[Session]:
        wanted, params = ["session_id > ?"], [after]
        if nugget is not None:
            wanted.append("nugget = ?")
            params.append(nugget)
        if used_since is not None:
            wanted.append("closed_at IS NULL AND last_used_at >= ?")
        found = self._database.all(
            f"SELECT {SESSION_COLUMNS} FROM session WHERE {' AND '.join(wanted)} ORDER BY session_id LIMIT ?",  # noqa: S608
            (*params, *([] if used_since is None else [used_since]), max(limit, 0)),
        )
        return [Session._make(columns) for columns in found]

    def count(self) -> int:
        return int(self._database.value("SELECT count(*) FROM session"))

    def put(self, session: Session) -> None:
        self._database.run(_PUT_SESSION, session)


class SqliteNoteTypes(SqliteRows, NoteTypesWriter):
    """Types of notes that were set."""

    def of(self, nugget: str) -> dict[str, Mapping[str, Any]]:
        found = self._database.all("SELECT name, spec FROM note_type WHERE nugget = ? ORDER BY name", (nugget,))
        return {name: decode(spec) for name, spec in found}

    def put(self, nugget: str, name: str, spec: Mapping[str, Any]) -> None:
        self._database.run("INSERT OR REPLACE INTO note_type VALUES (?, ?, ?)", (nugget, name, encode(spec)))

    def delete(self, nugget: str, name: str) -> bool:
        return self._database.run("DELETE FROM note_type WHERE nugget = ? AND name = ?", (nugget, name)) > 0


class SqliteRewinds(SqliteRows, RewindsWriter):
    """What was taken back of conversations."""

    def live_variant(self, session_id: str, turn: int) -> int | None:
        columns = self._database.one(
            "SELECT variant FROM variant WHERE session_id = ? AND turn = ? AND is_live", (session_id, turn)
        )
        return None if columns is None else columns[0]

    def variants(self, session_id: str, *, from_turn: int, until_turn: int | None = None) -> list[Variant]:
        found = self._database.all(
            "SELECT session_id, turn, variant, is_live, run_id FROM variant"
            " WHERE session_id = ?1 AND turn >= ?2 AND (?3 IS NULL OR turn <= ?3) ORDER BY turn, variant",
            (session_id, from_turn, until_turn),
        )
        return [
            Variant(session, turn, variant, is_live == 1, run_id) for session, turn, variant, is_live, run_id in found
        ]

    def get(self, number: int) -> Retraction | None:
        found = self._retractions("number = ?", number)
        return found[0][1] if found else None

    def by_run(self, run_id: str) -> list[tuple[int, Retraction]]:
        return self._retractions("run_id = ?", run_id)

    def since(self, seq: int) -> list[tuple[int, Retraction]]:
        return self._retractions("done_seq >= ?", seq)

    def of_variant(self, session_id: str, turn: int, variant: int) -> list[tuple[int, Retraction]]:
        condition = "session_id = ? AND from_turn = ? AND until_turn = from_turn AND variant = ?"
        return self._retractions(f"{condition} AND revives IS NULL AND undone_by IS NULL", session_id, turn, variant)

    def _retractions(self, condition: str, *params: str | int) -> list[tuple[int, Retraction]]:
        found = self._database.all(f"{_RETRACTIONS} WHERE {condition} ORDER BY +number", params)
        return [(columns[0], Retraction._make(columns[1:])) for columns in found]

    def put_variant(self, variant: Variant) -> None:
        self._database.run("INSERT OR REPLACE INTO variant VALUES (?, ?, ?, ?, ?)", variant)

    def add_retraction(self, retraction: Retraction) -> int:
        return self._database.add(_ADD_RETRACTION, retraction)

    def copies(self, note_id: str) -> list[str]:
        return [row[0] for row in self._database.all("SELECT id FROM copy WHERE original = ? ORDER BY id", (note_id,))]

    def add_copy(self, note_id: str, copy_id: str) -> None:
        self._database.run("INSERT OR IGNORE INTO copy VALUES (?, ?)", (note_id, copy_id))

    def put_retraction(self, number: int, retraction: Retraction) -> None:
        self._database.run(_PUT_RETRACTION, (*retraction, number))


class SqliteInjections(SqliteRows, InjectionsWriter):
    """What was handed to prompts."""

    def last(self, session_id: str, *, turn: int | None = None, at_seq: int | None = None) -> Injection | None:
        wanted = "session_id = ?1 AND (?3 IS NULL OR seq < ?3) ORDER BY number DESC"
        if turn is not None:
            wanted = f"turn <= ?2 AND {wanted.replace('ORDER BY', 'ORDER BY turn DESC,')}"
        params = (session_id, turn, at_seq)
        columns = self._database.one(f"SELECT {INJECTION_COLUMNS} FROM injection WHERE {wanted} LIMIT 1", params)  # noqa: S608
        return None if columns is None else _injection(columns)

    def page(self, *, after: int, limit: int) -> list[tuple[int, Injection]]:
        sql = f"SELECT number, {INJECTION_COLUMNS} FROM injection WHERE number > ? ORDER BY number LIMIT ?"  # noqa: S608
        return [(row[0], _injection(row[1:])) for row in self._database.all(sql, (after, max(limit, 0)))]

    def naming(self, ids: Collection[str], *, after: int, limit: int) -> tuple[list[int], int | None]:
        sql = "SELECT number, pinned, recalled, frontier FROM injection WHERE number > ? ORDER BY number LIMIT ?"
        found = self._database.all(sql, (after, max(limit, 0)))
        last = found[-1][0] if len(found) == limit else None
        if len(ids) <= _FEW:  # as they stand in the text: most need not be taken apart
            quoted = [quote(note_id) for note_id in ids]
            found = [row for row in found if any(one in named for named in row[1:] if named for one in quoted)]
        naming = [
            number
            for number, *lists in found
            if any(named is not None and not strings_in(named).isdisjoint(ids) for named in lists)
        ]
        return naming, last

    def count(self, session_id: str) -> int:
        return int(self._database.value("SELECT count(*) FROM injection WHERE session_id = ?", (session_id,)))

    def add(self, injection: Injection) -> int:
        return self._database.add(_ADD_INJECTION, _injection_columns(injection))

    def replace(self, number: int, injection: Injection) -> None:
        self._database.run(_REPLACE_INJECTION, (*_injection_columns(injection), number))

    def delete_beyond(self, session_id: str, *, kept: int, kept_in_all: int) -> None:
        self._database.run(f"DELETE FROM injection WHERE number IN ({_SURPLUS})", (session_id, kept))  # noqa: S608
        self._database.run(f"DELETE FROM injection WHERE number IN ({_PAST})", (kept_in_all, _PAST_AT_ONCE))  # noqa: S608

    def delete_of(self, session_id: str, *, limit: int) -> int:
        oldest = "SELECT number FROM injection WHERE session_id = ? ORDER BY number LIMIT ?"
        return self._database.run(f"DELETE FROM injection WHERE number IN ({oldest})", (session_id, limit))  # noqa: S608


def _injection_columns(injection: Injection) -> Columns:
    return (
        *injection[:4],  # session_id, turn, at, seq
        None if injection.pinned is None else encode_strings(injection.pinned),
        encode_strings(injection.recalled),
        None if injection.frontier is None else encode_strings(injection.frontier),
        None if injection.blocks is None else encode(injection.blocks),
        injection.tokens,
        None if injection.trace is None else encode(injection.trace),
    )


def _injection(columns: Columns) -> Injection:
    session_id, turn, at, seq, pinned, recalled, frontier, blocks, tokens, trace = columns
    return Injection(
        session_id,
        turn,
        at,
        seq,
        None if pinned is None else decode_strings(pinned),
        decode_strings(recalled),
        None if frontier is None else decode_strings(frontier),
        None if blocks is None else decode(blocks),
        tokens,
        None if trace is None else decode(trace),
    )
