"""Writes of a shelf's rows, inside the transaction that the group commit has opened."""
# ruff: noqa: D102 (the port documents these methods)

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Final, TypeAlias

from shelfd.memory.errors import DuplicateId, DuplicateKey, DuplicateNugget, NoteNotFound
from shelfd.memory.notes.note import Link, Note, Nugget, Usage
from shelfd.memory.ports.job import Job
from shelfd.memory.ports.ledger import Run
from shelfd.memory.ports.log import REDACTED, LogRow
from shelfd.memory.ports.tending import Promoted, Tended
from shelfd.memory.ports.view import Counts, RecentQuery, Recorded, RecordedKey, Writer
from shelfd.storage.counters import Counters
from shelfd.storage.encoding import decode_strings, encode, encode_strings
from shelfd.storage.sqlite.erasing import erase, redact_note
from shelfd.storage.sqlite.errors import translated, translating
from shelfd.storage.sqlite.nuggets import KeptNuggets
from shelfd.storage.sqlite.rows import (
    JOB_COLUMNS,
    LINK_COLUMNS,
    LOG_COLUMNS,
    NOTE_COLUMNS,
    NUGGET_COLUMNS,
    RUN_COLUMNS,
    TENDED_COLUMNS,
    USAGE_COLUMNS,
    Columns,
    job_to_columns,
    log_to_columns,
    note_to_columns,
    placeholders,
    run_to_columns,
    tended_to_columns,
)
from shelfd.storage.sqlite.view import SqliteView
from shelfd.storage.sqlite.work import UNFINISHED_JOB

# Table and column names are ours.
_INSERT_NOTE: Final = f"INSERT INTO note ({NOTE_COLUMNS}) VALUES ({placeholders(NOTE_COLUMNS)})"  # noqa: S608
# Not the row: SQLite would then take every index entry out and put it back.
_UPDATED_COLUMNS: Final = NOTE_COLUMNS.removeprefix("row, ")
_UPDATE_NOTE: Final = f"UPDATE note SET ({_UPDATED_COLUMNS}) = ({placeholders(_UPDATED_COLUMNS)}) WHERE row = ?"  # noqa: S608
_INSERT_LINK: Final = f"INSERT INTO link ({LINK_COLUMNS}) VALUES ({placeholders(LINK_COLUMNS)})"  # noqa: S608
_PUT_NUGGET: Final = f"INSERT OR REPLACE INTO nugget ({NUGGET_COLUMNS}) VALUES ({placeholders(NUGGET_COLUMNS)})"  # noqa: S608
_COUNTERS: Final = (
    "SELECT coalesce((SELECT max(seq) FROM change), last_seq),"
    " max(last_row, coalesce((SELECT max(row) FROM note), 0)) FROM floor"
)
_FORGET_RECORDED: Final = (
    "DELETE FROM idempotency WHERE (principal, method, key) IN"
    " (SELECT principal, method, key FROM idempotency WHERE at < ? ORDER BY at, principal, method, key LIMIT ?)"
)
_RECORDED_LATER: Final = (
    "UPDATE idempotency SET at = ?1 WHERE (principal, method, key) IN"
    " (SELECT principal, method, key FROM idempotency WHERE at > ?1 ORDER BY at, principal, method, key LIMIT ?2)"
)
_CLAIM_TURN: Final = "INSERT INTO turn VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
_INSERT_LOG: Final = f"INSERT INTO change ({LOG_COLUMNS}) VALUES ({placeholders(LOG_COLUMNS)})"  # noqa: S608
# Use is told up to a second late, and the note may have been purged meanwhile.
_STILL_THERE: Final = "WHERE EXISTS (SELECT 1 FROM note WHERE row = ?1)"
_PUT_USAGE: Final = (
    f"INSERT OR REPLACE INTO usage (note, {USAGE_COLUMNS}) SELECT ?1, {placeholders(USAGE_COLUMNS)} {_STILL_THERE}"
)
_ADD_HIT_SESSION: Final = f"INSERT OR IGNORE INTO hit_session SELECT ?1, ? {_STILL_THERE}"
_CLAIM_RUN: Final = f"INSERT INTO run ({RUN_COLUMNS}) VALUES ({placeholders(RUN_COLUMNS)})"  # noqa: S608
_PUT_RUN: Final = f"UPDATE run SET ({RUN_COLUMNS}) = ({placeholders(RUN_COLUMNS)}) WHERE job = ? AND slot = ?"  # noqa: S608
_INSERT_JOB: Final = f"INSERT INTO job ({JOB_COLUMNS}) VALUES ({placeholders(JOB_COLUMNS)})"  # noqa: S608
_PUT_JOB: Final = f"UPDATE job SET ({JOB_COLUMNS}) = ({placeholders(JOB_COLUMNS)}) WHERE id = ?"  # noqa: S608
_PUT_TENDED: Final = f"INSERT OR REPLACE INTO tended ({TENDED_COLUMNS}) VALUES ({placeholders(TENDED_COLUMNS)})"  # noqa: S608


State: TypeAlias = tuple[Counters, frozenset[str]]


class SqliteWriter(SqliteView, Writer):
    """A shelf's rows inside a transaction.

    Attributes:
        counters: Numbers given away so far, this transaction's included.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        columns = self._one(_COUNTERS)
        self.counters = Counters(*columns or ())
        self._nuggets = KeptNuggets()

    @property
    def last_seq(self) -> int:
        return self.counters.seq

    def next_row(self) -> int:
        seq, row = self.counters
        self.counters = Counters(seq, row + 1)
        return row + 1

    def insert_note(self, note: Note) -> None:
        try:
            self._run(_INSERT_NOTE, note_to_columns(note))
        except sqlite3.IntegrityError as error:
            self._raise_duplicate(note, error)
            raise

    def update_note(self, note: Note) -> None:
        columns = note_to_columns(note)
        try:
            changed = self._run(_UPDATE_NOTE, (*columns[1:], columns[0]))
        except sqlite3.IntegrityError as error:
            self._raise_duplicate(note, error)
            raise
        if not changed:
            raise NoteNotFound(note.id)

    def erase_note(self, note: Note) -> None:
        with translating():
            erase(self._connection, note)

    def redact_note(self, note: Note, *, after: int, limit: int) -> int | None:
        with translating():
            return redact_note(self._connection, note, after=after, limit=limit)

    def redact(self, seqs: Sequence[int]) -> None:
        self._run_many("UPDATE change SET before = ? WHERE seq = ?", [(encode(REDACTED), seq) for seq in seqs])

    def put_link(self, link: Link) -> None:
        # No upsert: that would use up a row number each time.
        changed = self._run(
            "UPDATE link SET reason = ?, created_at = ?, valid_from = ?, valid_to = ?"
            " WHERE source = ? AND target = ? AND relation = ?",
            (
                link.reason,
                link.created_at,
                link.valid_from,
                link.valid_to,
                link.source,
                link.target,
                link.relation,
            ),
        )
        if not changed:
            self._run(_INSERT_LINK, link)

    def delete_link(self, link: Link) -> None:
        self._run("DELETE FROM link WHERE source = ? AND target = ? AND relation = ?", link[:3])

    def nugget(self, name: str) -> Nugget | None:
        known = self._nuggets.get(name)
        if known is None and (known := super().nugget(name)) is not None:
            self._nuggets.set(known)
        return known

    def put_nugget(self, nugget: Nugget) -> None:
        self._nuggets.set(nugget, is_new=True)

    def list_nuggets(self, *, after: str, limit: int) -> list[Nugget]:
        self.save_nuggets()
        return super().list_nuggets(after=after, limit=limit)

    def counts(self) -> Counts:
        self.save_nuggets()
        return super().counts()

    def save_nuggets(self) -> None:
        """Write the nuggets that changed: at the end of a group, and before SQL that asks for them."""
        for nugget in self._nuggets.take_unsaved():
            self._run(_PUT_NUGGET, nugget)

    def delete_nugget(self, name: str) -> None:
        self._nuggets.drop(name)
        self._run("DELETE FROM nugget WHERE name = ?", (name,))

    def rename_nugget(self, old: str, new: str) -> None:
        if old == new:
            return
        if self.nugget(new) is not None:
            raise DuplicateNugget(new)
        self.save_nuggets()
        self._nuggets.drop(old)
        names = (new, old)
        try:
            self._run("UPDATE note SET nugget = ? WHERE nugget = ?", names)
        except sqlite3.IntegrityError as error:
            raise DuplicateKey(new, "") from error
        self._run("UPDATE nugget SET name = ? WHERE name = ?", names)
        self._run("UPDATE OR REPLACE turn SET nugget = ? WHERE nugget = ?", names)

    def begin_change(self) -> State:
        """Return what :meth:`take_back` needs to undo a change's effect on what is kept outside the file."""
        return self.counters, self._nuggets.begin()

    def take_back(self, state: State) -> None:
        """Undo one change's effect, after its savepoint was rolled back."""
        self.counters, unsaved = state
        self._nuggets.take_back(unsaved)

    def forget(self, counters: Counters) -> None:
        """Let go of everything a failed group brought; *counters* are those from before it."""
        self.counters = counters
        self._nuggets = KeptNuggets()

    def claim_turn(self, nugget: str, session_id: str, turn: int, number: int) -> int:
        if self._run(_CLAIM_TURN, (nugget, session_id, turn, number)):
            return number
        known = self.turn_number(nugget, session_id, turn)
        return number if known is None else known

    def record(self, principal: str, method: str, key: str, outcome: Recorded) -> None:
        self._run(
            "INSERT OR REPLACE INTO idempotency (principal, method, key, payload, outcome, at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (principal, method, key, outcome.payload, encode(outcome.outcome), outcome.at),
        )

    def forget_recorded(self, before: int, *, now: int, limit: int) -> int:
        self._run(_RECORDED_LATER, (now, limit))
        return self._run(_FORGET_RECORDED, (before, limit))

    def drop_recorded(self, keys: Sequence[RecordedKey]) -> None:
        self._run_many("DELETE FROM idempotency WHERE principal = ? AND method = ? AND key = ?", keys)

    def put_usages(self, usages: Mapping[int, Usage]) -> None:
        self._run_many(_PUT_USAGE, [(row, *usage) for row, usage in usages.items()])

    def add_hit_sessions(self, sessions: Sequence[tuple[int, str]]) -> None:
        self._run_many(_ADD_HIT_SESSION, sessions)

    def put_meta(self, name: str, value: str) -> None:
        self._run("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def put_sink(self, name: str, seq: int) -> None:
        self._run("INSERT OR REPLACE INTO sink VALUES (?, ?)", (name, seq))

    def claim_run(self, run: Run) -> bool:
        if self.run(run.job, run.slot) is not None:  # asked, for a refused insert would use up a number
            return False
        self._run(_CLAIM_RUN, run_to_columns(run))
        return True

    def put_run(self, run: Run) -> None:
        self._run(_PUT_RUN, (*run_to_columns(run), run.job, run.slot))

    def forget_runs(self, before: int) -> int:
        return self._run("DELETE FROM run WHERE started_at < ?", (before,))

    def put_tended(self, tended: Tended) -> None:
        self._run(_PUT_TENDED, tended_to_columns(tended))

    def put_promoted(self, path: str, lines: Sequence[Promoted]) -> None:
        self._put_lines("promoted", path, lines)

    def put_promoting(self, path: str, lines: Sequence[Promoted]) -> None:
        self._put_lines("promoting", path, lines)

    def _put_lines(self, table: str, path: str, lines: Sequence[Promoted]) -> None:
        self._run(f"DELETE FROM {table} WHERE path = ?", (path,))  # noqa: S608 (a name of ours)
        self._run_many(
            f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
            [(path, position, *line) for position, line in enumerate(lines)],
        )

    def put_job(self, job: Job) -> None:
        columns = job_to_columns(job)
        if not self._run(_PUT_JOB, (*columns, job.id)):  # no upsert: that would use up a number each time
            self._run(_INSERT_JOB, columns)

    def forget_jobs(self, before: int, *, limit: int) -> int:
        oldest = "number IN (SELECT number FROM job ORDER BY number LIMIT ?)"
        sql = f"DELETE FROM job WHERE {oldest} AND NOT ({UNFINISHED_JOB}) AND updated_at < ?"  # noqa: S608
        return self._run(sql, (limit, before))

    def put_recent_queries(self, queries: Sequence[RecentQuery]) -> None:
        self._run_many(
            "INSERT OR REPLACE INTO recent_query VALUES (?, ?, ?)",
            [(query.params, encode_strings(query.ids), query.at) for query in queries],
        )

    def forget_recent_queries(self, *, before: int, now: int, kept: int) -> None:
        self._run("UPDATE recent_query SET at = ?1 WHERE at > ?1", (now,))
        self._run(
            "DELETE FROM recent_query WHERE at < ? OR rowid NOT IN"
            " (SELECT rowid FROM recent_query ORDER BY at DESC, params LIMIT ?)",
            (before, kept),
        )

    def forget_queries_of(self, ids: Collection[str]) -> None:
        found = self._all("SELECT params, ids FROM recent_query")  # bounded: some hundred are kept
        naming = [(params,) for params, named in found if not set(decode_strings(named)).isdisjoint(ids)]
        self._run_many("DELETE FROM recent_query WHERE params = ?", naming)

    def append_log(self, rows: Sequence[LogRow]) -> None:
        """Write log rows and move the counters on."""
        if not rows:
            return
        if len(rows) == 1:
            self._connection.execute(_INSERT_LOG, log_to_columns(rows[0]))
        else:
            self._connection.executemany(_INSERT_LOG, map(log_to_columns, rows))
        self.counters = Counters(rows[-1].seq, self.counters.row)

    def _run(self, sql: str, params: Columns) -> int:
        try:
            return self._connection.execute(sql, params).rowcount
        except sqlite3.Error as error:
            if told := translated(error):
                raise told from error
            raise

    def _run_many(self, sql: str, params: Sequence[Columns]) -> None:
        with translating():
            self._connection.executemany(sql, params)

    def _raise_duplicate(self, note: Note, error: sqlite3.IntegrityError) -> None:
        # Asked, not read from the message: where two constraints fail, SQLite names any one.
        taken = self.note(note.id)
        if taken is not None and taken.row != note.row:
            raise DuplicateId(note.id) from error
        other = None if note.key is None else self.fact(note.nugget, note.key)
        if other is not None and other.row != note.row:
            raise DuplicateKey(note.nugget, other.id) from error
