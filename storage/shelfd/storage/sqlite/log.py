"""The change log and stored outcomes as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Collection, Sequence
from typing import Final

from shelfd.memory.ports.log import (
    REDACTED,
    LogRow,
    LogView,
    LogWriter,
    Origin,
    Recorded,
    RecordedKey,
    RecordedWriter,
    Touched,
)
from shelfd.storage.encoding import (
    decode,
    decode_before,
    decode_strings,
    encode,
    encode_before,
    encode_strings,
    strings_in,
)
from shelfd.storage.sqlite.database import Columns, Database, SqliteRows, placeholders

LOG_COLUMNS: Final = (
    "seq, tx, tx_size, at, principal, method, request_id, session_id, turn, run_id, variant, kind, nugget,"
    " note, ids, before"
)
_LOG: Final = f"SELECT {LOG_COLUMNS} FROM change"  # noqa: S608 (column names of ours)
_INSERT: Final = f"INSERT INTO change ({LOG_COLUMNS}) VALUES ({placeholders(LOG_COLUMNS)})"  # noqa: S608
_LAST_SEQ: Final = "SELECT coalesce((SELECT max(seq) FROM change), last_seq) FROM floor"
_FIRST_SEQ: Final = "SELECT coalesce((SELECT min(seq) FROM change), last_seq + 1) FROM floor"
_OF_TURNS: Final = (
    "WHERE session_id = ?1 AND turn >= ?2 AND (?3 IS NULL OR turn <= ?3) AND (?4 IS NULL OR coalesce(variant, 0) = ?4)"
)
_ALL: Final = -1  # SQLite's LIMIT for none

_KEY: Final = "principal, method, key"
_FORGET: Final = (
    f"DELETE FROM idempotency WHERE ({_KEY}) IN"  # noqa: S608
    f" (SELECT {_KEY} FROM idempotency WHERE at < ? ORDER BY at, {_KEY} LIMIT ?)"
)
_LATER: Final = (
    f"UPDATE idempotency SET at = ?1 WHERE ({_KEY}) IN"  # noqa: S608
    f" (SELECT {_KEY} FROM idempotency WHERE at > ?1 ORDER BY at, {_KEY} LIMIT ?2)"
)


class SqliteLog(SqliteRows, LogView):
    """Reads of the change log."""

    @property
    def last_seq(self) -> int:
        return int(self._database.value(_LAST_SEQ))

    @property
    def first_seq(self) -> int:
        return int(self._database.value(_FIRST_SEQ))

    def page(self, *, since_seq: int, limit: int) -> list[LogRow]:
        return self._read("WHERE seq > ? ORDER BY seq LIMIT ?", (since_seq, max(limit, 0)))

    def of_note(self, row: int, *, since_seq: int = 0, limit: int | None = None) -> list[LogRow]:
        return self._read("WHERE note = ? AND seq > ? ORDER BY seq LIMIT ?", (row, since_seq, _at_most(limit)))

    def touched(self, *, after: int, until: int) -> Touched:
        # The plus signs keep SQLite from looking through the index of all notes instead of this stretch.
        created = self._database.value(
            "SELECT min(+note) FROM change WHERE seq > ? AND seq <= ? AND kind = 'note.created'", (after, until)
        )
        sql = (
            "SELECT DISTINCT +note FROM change"
            " WHERE seq > ? AND seq <= ? AND note IS NOT NULL AND kind <> 'note.created'"
        )
        return Touched(created, {row for (row,) in self._database.all(sql, (after, until))})

    def of_link(self, source: str, target: str) -> list[LogRow]:
        # The plus sign keeps SQLite from putting what ids are into the expression, which its index then is not of.
        return self._read(
            "WHERE kind IN ('link.added', 'link.removed') AND json_extract(ids, '$[0]') = ? AND +ids = ? ORDER BY seq",
            (source, encode_strings([source, target])),
        )

    def of_links_from(self, source: str, *, since_seq: int) -> list[LogRow]:
        return self._read(
            "WHERE kind IN ('link.added', 'link.removed') AND json_extract(ids, '$[0]') = ? AND seq > ? ORDER BY seq",
            (source, since_seq),
        )

    def of_run(self, run_id: str, *, since_seq: int = 0, limit: int | None = None) -> list[LogRow]:
        return self._read("WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?", (run_id, since_seq, _at_most(limit)))

    def of_turns(
        self,
        session_id: str,
        *,
        from_turn: int,
        until_turn: int | None = None,
        variant: int | None = None,
        after: tuple[int, int] = (0, 0),
        limit: int | None = None,
    ) -> list[LogRow]:
        return self._read(
            f"{_OF_TURNS} AND (turn, seq) > (?5, ?6) ORDER BY turn, seq LIMIT ?7",
            (session_id, max(from_turn, after[0]), until_turn, variant, *after, _at_most(limit)),
        )

    def first_of_turns(
        self,
        session_id: str,
        *,
        from_turn: int,
        until_turn: int | None = None,
        variant: int | None = None,
        above: int = 0,
    ) -> int | None:
        found = self._database.value(
            f"SELECT min(seq) FROM change {_OF_TURNS} AND seq > ?5",  # noqa: S608
            (session_id, from_turn, until_turn, variant, above),
        )
        return None if found is None else int(found)

    def last_of_turns(self, session_id: str, *, until_turn: int) -> int | None:
        sql = "SELECT max(seq) FROM change WHERE session_id = ? AND turn <= ?"
        found = self._database.value(sql, (session_id, until_turn))
        return None if found is None else int(found)

    def of_run_back(self, run_id: str, *, before: int | None, limit: int) -> list[LogRow]:
        return self._read(
            "WHERE run_id = ?1 AND (?2 IS NULL OR seq < ?2) ORDER BY seq DESC LIMIT ?3", (run_id, before, max(limit, 0))
        )

    def completed(self, kind: str, *, before: int | None, limit: int) -> list[LogRow]:
        # The kinds in so many words let SQLite use the index of what ends a run.
        return self._read(
            "WHERE (kind = 'reflection.completed' OR kind = 'reflection.undone' OR kind = 'promotion.completed')"
            " AND kind = ?1 AND (?2 IS NULL OR seq < ?2) ORDER BY seq DESC LIMIT ?3",
            (kind, before, max(limit, 0)),
        )

    def _read(self, clauses: str, params: Columns) -> list[LogRow]:
        return [_from_columns(columns) for columns in self._database.all(f"{_LOG} {clauses}", params)]


class SqliteLogWriter(SqliteLog, LogWriter):
    """Reads of the change log, and what the group commit appends to it.

    Attributes:
        seq: The last sequence number given away, this transaction's included.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.seq = int(database.value(_LAST_SEQ))

    @property
    def last_seq(self) -> int:
        return self.seq

    def append(self, rows: Sequence[LogRow]) -> None:
        """Write log rows and move on the last sequence number."""
        if not rows:
            return
        if len(rows) == 1:
            self._database.run(_INSERT, _to_columns(rows[0]))
        else:
            self._database.add_many(_INSERT, list(map(_to_columns, rows)))
        self.seq = rows[-1].seq

    def redact(self, seqs: Sequence[int]) -> None:
        self._database.run_many("UPDATE change SET before = ? WHERE seq = ?", [(encode(REDACTED), seq) for seq in seqs])


def _at_most(limit: int | None) -> int:
    return _ALL if limit is None else max(limit, 0)


def _to_columns(log_row: LogRow) -> Columns:
    seq, tx, tx_size, at, origin, kind, nugget, ids, row, before = log_row
    encoded = None if before is None else encode_before(before)
    return (seq, tx, tx_size, at, *origin, kind, nugget, row, encode_strings(ids), encoded)


def _from_columns(columns: Columns) -> LogRow:
    seq, tx, tx_size, at = columns[:4]
    kind, nugget, note, ids, before = columns[11:]
    return LogRow(
        seq,
        tx,
        tx_size,
        at,
        Origin(*columns[4:11]),
        kind,
        nugget,
        decode_strings(ids),
        note,
        None if before is None else decode_before(before),
    )


class SqliteRecorded(SqliteRows, RecordedWriter):
    """Stored outcomes."""

    def get(self, principal: str, method: str, key: str) -> Recorded | None:
        columns = self._database.one(
            "SELECT payload, outcome, at FROM idempotency WHERE principal = ? AND method = ? AND key = ?",
            (principal, method, key),
        )
        return None if columns is None else Recorded(columns[0], decode(columns[1]), columns[2])

    def naming(
        self, ids: Collection[str], *, after: RecordedKey | None, limit: int
    ) -> tuple[list[RecordedKey], RecordedKey | None]:
        found = self._database.all(
            f"SELECT {_KEY}, outcome FROM idempotency WHERE ({_KEY}) > (?, ?, ?) ORDER BY {_KEY} LIMIT ?",  # noqa: S608
            (*(after or ("", "", "")), max(limit, 0)),
        )
        naming = [columns[:3] for columns in found if not strings_in(columns[3]).isdisjoint(ids)]
        return naming, found[-1][:3] if len(found) == limit else None

    def put(self, principal: str, method: str, key: str, outcome: Recorded) -> None:
        self._database.run(
            f"INSERT OR REPLACE INTO idempotency ({_KEY}, payload, outcome, at) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
            (principal, method, key, outcome.payload, encode(outcome.outcome), outcome.at),
        )

    def delete_before(self, before: int, *, now: int, limit: int) -> int:
        self._database.run(_LATER, (now, limit))
        return self._database.run(_FORGET, (before, limit))

    def delete(self, keys: Sequence[RecordedKey]) -> None:
        self._database.run_many("DELETE FROM idempotency WHERE principal = ? AND method = ? AND key = ?", keys)
