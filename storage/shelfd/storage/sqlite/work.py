"""Jobs, runs, reflection's positions and promoted lines as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Mapping, Sequence
from typing import Any, Final

from shelfd.memory.notes.note import EMPTY
from shelfd.memory.ports.job import UNFINISHED, Job, JobsWriter
from shelfd.memory.ports.ledger import Run, RunsWriter
from shelfd.memory.ports.tending import (
    Promoted,
    PromotionsWriter,
    Tended,
    TendedWriter,
)
from shelfd.storage.encoding import decode, encode
from shelfd.storage.sqlite.database import Columns, SqliteRows, placeholders

# Table and column names are ours.
JOB_COLUMNS: Final = ", ".join(Job._fields)
_JOB_JSON: Final = ("params", "cursor", "result")
_INSERT_JOB: Final = f"INSERT INTO job ({JOB_COLUMNS}) VALUES ({placeholders(JOB_COLUMNS)})"  # noqa: S608
_PUT_JOB: Final = f"UPDATE job SET ({JOB_COLUMNS}) = ({placeholders(JOB_COLUMNS)}) WHERE id = ?"  # noqa: S608
#: In so many words, which lets SQLite use the index of such jobs.
UNFINISHED_JOB: Final = "state IN ({})".format(", ".join(f"'{state}'" for state in UNFINISHED))

RUN_COLUMNS: Final = ", ".join(Run._fields)
_CLAIM_RUN: Final = f"INSERT INTO run ({RUN_COLUMNS}) VALUES ({placeholders(RUN_COLUMNS)})"  # noqa: S608
_PUT_RUN: Final = f"UPDATE run SET ({RUN_COLUMNS}) = ({placeholders(RUN_COLUMNS)}) WHERE job = ? AND slot = ?"  # noqa: S608

TENDED_COLUMNS: Final = "nugget, changed_at, changed, again_at, again, served_at"
_PUT_TENDED: Final = f"INSERT OR REPLACE INTO tended ({TENDED_COLUMNS}) VALUES ({placeholders(TENDED_COLUMNS)})"  # noqa: S608


class SqliteJobs(SqliteRows, JobsWriter):
    """Jobs."""

    def get(self, job_id: str) -> Job | None:
        columns = self._database.one(f"SELECT {JOB_COLUMNS} FROM job WHERE id = ?", (job_id,))  # noqa: S608
        return None if columns is None else _job_from_columns(columns)

    def page(self, *, unfinished: bool, before: int | None, limit: int) -> list[tuple[int, Job]]:
        condition = UNFINISHED_JOB if unfinished else "1"
        found = self._database.all(
            f"SELECT number, {JOB_COLUMNS} FROM job WHERE {condition}"  # noqa: S608
            " AND (?1 IS NULL OR number < ?1) ORDER BY number DESC LIMIT ?2",
            (before, max(limit, 0)),
        )
        return [(columns[0], _job_from_columns(columns[1:])) for columns in found]

    def put(self, job: Job) -> None:
        columns = tuple(_encoded(value) if name in _JOB_JSON else value for name, value in job._asdict().items())
        if not self._database.run(_PUT_JOB, (*columns, job.id)):  # no upsert: that would use up a number each time
            self._database.run(_INSERT_JOB, columns)

    def forget(self, before: int, *, limit: int) -> int:
        oldest = "number IN (SELECT number FROM job ORDER BY number LIMIT ?)"
        sql = f"DELETE FROM job WHERE {oldest} AND NOT ({UNFINISHED_JOB}) AND updated_at < ?"  # noqa: S608
        return self._database.run(sql, (limit, before))


def _job_from_columns(columns: Columns) -> Job:
    named = zip(Job._fields, columns, strict=True)
    return Job._make(_decoded(value) if name in _JOB_JSON else value for name, value in named)


def _encoded(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else encode(value)


def _decoded(text: str | None) -> Mapping[str, Any] | None:
    return None if text is None else decode(text)


class SqliteRuns(SqliteRows, RunsWriter):
    """The ledger."""

    def get(self, job: str, slot: str) -> Run | None:
        columns = self._database.one(f"SELECT {RUN_COLUMNS} FROM run WHERE job = ? AND slot = ?", (job, slot))  # noqa: S608
        return None if columns is None else _run_from_columns(columns)

    def page(self, *, job: str | None, before: int | None, limit: int) -> list[tuple[int, Run]]:
        found = self._database.all(
            f"SELECT number, {RUN_COLUMNS} FROM run"  # noqa: S608
            " WHERE (?1 IS NULL OR job = ?1) AND (?2 IS NULL OR number < ?2) ORDER BY number DESC LIMIT ?3",
            (job, before, max(limit, 0)),
        )
        return [(columns[0], _run_from_columns(columns[1:])) for columns in found]

    def claim(self, run: Run) -> bool:
        if self.get(run.job, run.slot) is not None:  # asked, for a refused insert would use up a number
            return False
        self._database.run(_CLAIM_RUN, _run_to_columns(run))
        return True

    def put(self, run: Run) -> None:
        self._database.run(_PUT_RUN, (*_run_to_columns(run), run.job, run.slot))

    def forget(self, before: int) -> int:
        return self._database.run("DELETE FROM run WHERE started_at < ?", (before,))


def _run_to_columns(run: Run) -> Columns:
    return (*run[:-1], encode(run.result) if run.result else None)


def _run_from_columns(columns: Columns) -> Run:
    *values, result = columns
    return Run._make((*values, EMPTY if result is None else decode(result)))


class SqliteTended(SqliteRows, TendedWriter):
    """How far reflection has come."""

    def all(self) -> list[Tended]:
        found = self._database.all(f"SELECT {TENDED_COLUMNS} FROM tended")  # noqa: S608
        return [
            Tended(nugget, (changed_at, changed), (again_at, again), served_at)
            for nugget, changed_at, changed, again_at, again, served_at in found
        ]

    def put(self, tended: Tended) -> None:
        self._database.run(_PUT_TENDED, (tended.nugget, *tended.changed, *tended.again, tended.served_at))


class SqlitePromotions(SqliteRows, PromotionsWriter):
    """The lines that promotion wrote to files."""

    def lines(self, path: str) -> list[Promoted]:
        return self._lines("promoted", path)

    def planned(self, path: str) -> list[Promoted]:
        return self._lines("promoting", path)

    def paths(self) -> list[str]:
        found = self._database.all("SELECT path FROM promoted UNION SELECT path FROM promoting ORDER BY path")
        return [columns[0] for columns in found]

    def planned_paths(self) -> list[str]:
        return [columns[0] for columns in self._database.all("SELECT DISTINCT path FROM promoting ORDER BY path")]

    def paths_naming(self, note_id: str) -> list[str]:
        found = self._database.all(
            "SELECT path FROM promoted WHERE note_id = ?1 UNION SELECT path FROM promoting WHERE note_id = ?1"
            " ORDER BY path",
            (note_id,),
        )
        return [columns[0] for columns in found]

    def _lines(self, table: str, path: str) -> list[Promoted]:
        found = self._database.all(
            f"SELECT note_id, section, line, promoted_at FROM {table} WHERE path = ? ORDER BY position",  # noqa: S608
            (path,),
        )
        return [Promoted(*columns) for columns in found]

    def put(self, path: str, lines: Sequence[Promoted]) -> None:
        self._put_lines("promoted", path, lines)

    def plan(self, path: str, lines: Sequence[Promoted]) -> None:
        self._put_lines("promoting", path, lines)

    def _put_lines(self, table: str, path: str, lines: Sequence[Promoted]) -> None:
        self._database.run(f"DELETE FROM {table} WHERE path = ?", (path,))  # noqa: S608 (a name of ours)
        self._database.run_many(
            f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
            [(path, position, *line) for position, line in enumerate(lines)],
        )
