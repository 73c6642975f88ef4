"""Reads of what a shelf keeps about work: runs, reflection's positions, promoted lines, jobs, recent queries."""
# ruff: noqa: D102 (the port documents these methods)

from typing import Final

from shelfd.memory.ports.job import UNFINISHED, Job
from shelfd.memory.ports.ledger import Run
from shelfd.memory.ports.tending import Promoted, Tended
from shelfd.memory.ports.view import RecentQuery
from shelfd.storage.encoding import decode_strings
from shelfd.storage.sqlite.queries import Queries
from shelfd.storage.sqlite.rows import (
    JOB_COLUMNS,
    RUN_COLUMNS,
    TENDED_COLUMNS,
    job_from_columns,
    run_from_columns,
    tended_from_columns,
)

#: In so many words, which lets SQLite use the index of such jobs.
UNFINISHED_JOB: Final = "state IN ({})".format(", ".join(f"'{state}'" for state in UNFINISHED))


class WorkView(Queries):
    """The part of a shelf's rows that is about work."""

    def run(self, job: str, slot: str) -> Run | None:
        columns = self._one(f"SELECT {RUN_COLUMNS} FROM run WHERE job = ? AND slot = ?", (job, slot))  # noqa: S608
        return None if columns is None else run_from_columns(columns)

    def list_runs(self, *, job: str | None, before: int | None, limit: int) -> list[tuple[int, Run]]:
        found = self._all(
            f"SELECT number, {RUN_COLUMNS} FROM run"  # noqa: S608
            " WHERE (?1 IS NULL OR job = ?1) AND (?2 IS NULL OR number < ?2) ORDER BY number DESC LIMIT ?3",
            (job, before, max(limit, 0)),
        )
        return [(columns[0], run_from_columns(columns[1:])) for columns in found]

    def tended(self) -> list[Tended]:
        return [tended_from_columns(columns) for columns in self._all(f"SELECT {TENDED_COLUMNS} FROM tended")]  # noqa: S608

    def promoted(self, path: str) -> list[Promoted]:
        return self._lines("promoted", path)

    def promoting(self, path: str) -> list[Promoted]:
        return self._lines("promoting", path)

    def _lines(self, table: str, path: str) -> list[Promoted]:
        found = self._all(
            f"SELECT note_id, section, line, promoted_at FROM {table} WHERE path = ? ORDER BY position",  # noqa: S608
            (path,),
        )
        return [Promoted(*columns) for columns in found]

    def promoted_paths(self) -> list[str]:
        found = self._all("SELECT path FROM promoted UNION SELECT path FROM promoting ORDER BY path")
        return [columns[0] for columns in found]

    def promoting_paths(self) -> list[str]:
        return [columns[0] for columns in self._all("SELECT DISTINCT path FROM promoting ORDER BY path")]

    def promoted_to(self, note_id: str) -> list[str]:
        found = self._all(
            "SELECT path FROM promoted WHERE note_id = ?1 UNION SELECT path FROM promoting WHERE note_id = ?1"
            " ORDER BY path",
            (note_id,),
        )
        return [columns[0] for columns in found]

    def job(self, job_id: str) -> Job | None:
        columns = self._one(f"SELECT {JOB_COLUMNS} FROM job WHERE id = ?", (job_id,))  # noqa: S608
        return None if columns is None else job_from_columns(columns)

    def list_jobs(self, *, unfinished: bool, before: int | None, limit: int) -> list[tuple[int, Job]]:
        condition = UNFINISHED_JOB if unfinished else "1"
        found = self._all(
            f"SELECT number, {JOB_COLUMNS} FROM job WHERE {condition}"  # noqa: S608
            " AND (?1 IS NULL OR number < ?1) ORDER BY number DESC LIMIT ?2",
            (before, max(limit, 0)),
        )
        return [(columns[0], job_from_columns(columns[1:])) for columns in found]

    def recent_queries(self, limit: int) -> list[RecentQuery]:
        found = self._all("SELECT params, ids, at FROM recent_query ORDER BY at DESC, params LIMIT ?", (max(limit, 0),))
        return [RecentQuery(columns[0], decode_strings(columns[1]), columns[2]) for columns in found]
