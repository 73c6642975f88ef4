"""Reads of what a shelf keeps about work: jobs, reflection's positions, promoted lines, recent queries."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Mapping
from typing import Any, Final

from shelfd.memory.ports.job import UNFINISHED, Job
from shelfd.memory.ports.tending import Promoted, Tended
from shelfd.memory.ports.view import RecentQuery
from shelfd.storage.encoding import decode, decode_strings
from shelfd.storage.sqlite.queries import Queries
from shelfd.storage.sqlite.rows import (
    JOB_COLUMNS,
    TENDED_COLUMNS,
    job_from_columns,
    tended_from_columns,
)

#: In so many words, which lets SQLite use the index of such jobs.
UNFINISHED_JOB: Final = "state IN ({})".format(", ".join(f"'{state}'" for state in UNFINISHED))


class WorkView(Queries):
    """The part of a shelf's rows that is about work."""

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

    def job_in_slot(self, kind: str, slot: str) -> Job | None:
        columns = self._one(f"SELECT {JOB_COLUMNS} FROM job WHERE kind = ? AND slot = ?", (kind, slot))  # noqa: S608
        return None if columns is None else job_from_columns(columns)

    def list_jobs(
        self,
        *,
        before: int | None,
        limit: int,
        unfinished: bool = False,
        in_slots: bool = False,
        kind: str | None = None,
    ) -> list[tuple[int, Job]]:
        wanted = [UNFINISHED_JOB] * unfinished + ["slot IS NOT NULL"] * in_slots + ["1"]
        found = self._all(
            f"SELECT number, {JOB_COLUMNS} FROM job WHERE {' AND '.join(wanted)}"  # noqa: S608
            " AND (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR number < ?2) ORDER BY number DESC LIMIT ?3",
            (kind, before, max(limit, 0)),
        )
        return [(columns[0], job_from_columns(columns[1:])) for columns in found]

    def pieces(self, job_id: str, *, after: int, limit: int) -> list[tuple[int, Mapping[str, Any]]]:
        sql = "SELECT number, piece FROM job_piece WHERE job = ? AND number > ? ORDER BY number LIMIT ?"
        return [(number, decode(piece)) for number, piece in self._all(sql, (job_id, after, max(limit, 0)))]

    def recent_queries(self, limit: int) -> list[RecentQuery]:
        found = self._all("SELECT params, ids, at FROM recent_query ORDER BY at DESC, params LIMIT ?", (max(limit, 0),))
        return [RecentQuery(columns[0], decode_strings(columns[1]), columns[2]) for columns in found]
