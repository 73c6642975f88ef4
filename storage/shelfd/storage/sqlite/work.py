"""Jobs, reflection's positions and promoted lines as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic_core import to_json

from shelfd.memory.ports.job import ITEM_BY_ITEM, UNFINISHED, Job, JobsWriter
from shelfd.memory.ports.tending import (
    Promoted,
    PromotionsWriter,
    ReflectionProgress,
    ReflectionProgressWriter,
)
from shelfd.storage.encoding import decode, encode
from shelfd.storage.sqlite.database import Columns, SqliteRows, placeholders

# Table and column names are ours.
JOB_COLUMNS: Final = ", ".join(Job._fields)
_JOB_JSON: Final = ("params", "cursor", "result")
#: A listed job: without what may be very long, which would have to be decoded.
_LISTED: Final = JOB_COLUMNS.replace(
    "result", "json_remove(result, {}) AS result".format(", ".join(f"'$.{name}'" for name in ITEM_BY_ITEM))
)
_INSERT_JOB: Final = f"INSERT INTO job ({JOB_COLUMNS}) VALUES ({placeholders(JOB_COLUMNS)})"  # noqa: S608
_PUT_JOB: Final = f"UPDATE job SET ({JOB_COLUMNS}) = ({placeholders(JOB_COLUMNS)}) WHERE id = ?"  # noqa: S608
#: In so many words, which lets SQLite use the index of such jobs.
UNFINISHED_JOB: Final = "state IN ({})".format(", ".join(f"'{state}'" for state in UNFINISHED))

TENDED_COLUMNS: Final = "nugget, changed_at, changed, again_at, again, served_at"
_PUT_TENDED: Final = f"INSERT OR REPLACE INTO tended ({TENDED_COLUMNS}) VALUES ({placeholders(TENDED_COLUMNS)})"  # noqa: S608


class SqliteJobs(SqliteRows, JobsWriter):
    """Jobs."""

    def get(self, job_id: str) -> Job | None:
        columns = self._database.one(f"SELECT {JOB_COLUMNS} FROM job WHERE id = ?", (job_id,))  # noqa: S608
        return None if columns is None else _job_from_columns(columns)

    def in_slot(self, kind: str, slot: str) -> Job | None:
        sql = f"SELECT {JOB_COLUMNS} FROM job WHERE kind = ? AND slot = ?"  # noqa: S608
        columns = self._database.one(sql, (kind, slot))
        return None if columns is None else _job_from_columns(columns)

    def page(
        self,
        *,
        before: int | None,
        limit: int,
        unfinished: bool = False,
        in_slots: bool = False,
        kind: str | None = None,
    ) -> list[tuple[int, Job]]:
        wanted = [UNFINISHED_JOB] * unfinished + ["slot IS NOT NULL"] * in_slots + ["1"]
        found = self._database.all(
            f"SELECT number, {_LISTED} FROM job WHERE {' AND '.join(wanted)}"  # noqa: S608
            " AND (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR number < ?2) ORDER BY number DESC LIMIT ?3",
            (kind, before, max(limit, 0)),
        )
        return [(columns[0], _job_from_columns(columns[1:])) for columns in found]

    def pieces(self, job_id: str, *, after: int, limit: int) -> list[tuple[int, Mapping[str, Any]]]:
        sql = "SELECT number, piece FROM job_piece WHERE job = ? AND number > ? ORDER BY number LIMIT ?"
        found = self._database.all(sql, (job_id, after, max(limit, 0)))
        return [(number, decode(piece)) for number, piece in found]

    def put(self, job: Job) -> None:
        columns = tuple(_encoded(value) if name in _JOB_JSON else value for name, value in job._asdict().items())
        if not self._database.run(_PUT_JOB, (*columns, job.id)):  # no upsert: that would use up a number each time
            self._database.run(_INSERT_JOB, columns)

    def delete_ended(self, before: int, *, limit: int, in_slots: bool = False) -> int:
        slot = "slot IS NOT NULL" if in_slots else "slot IS NULL"
        oldest = f"SELECT number FROM job WHERE {slot} ORDER BY number LIMIT ?"  # noqa: S608
        old = f"number IN ({oldest}) AND NOT ({UNFINISHED_JOB}) AND updated_at < ?"
        pieces = f"DELETE FROM job_piece WHERE job IN (SELECT id FROM job WHERE {old})"  # noqa: S608
        self._database.run(pieces, (limit, before))
        return self._database.run(f"DELETE FROM job WHERE {old}", (limit, before))  # noqa: S608

    def put_piece(self, job_id: str, number: int, piece: Mapping[str, Any]) -> None:
        text = to_json(piece).decode()  # much at once, and of nothing but what JSON knows: a quarter of encode's time
        self._database.run("INSERT OR REPLACE INTO job_piece VALUES (?, ?, ?)", (job_id, number, text))

    def delete_pieces(self, job_id: str | None) -> None:
        if job_id is not None:
            self._database.run("DELETE FROM job_piece WHERE job = ?", (job_id,))
        else:
            unfinished = f"SELECT id FROM job WHERE {UNFINISHED_JOB}"  # noqa: S608
            self._database.run(f"DELETE FROM job_piece WHERE job NOT IN ({unfinished})", ())  # noqa: S608


def _job_from_columns(columns: Columns) -> Job:
    named = zip(Job._fields, columns, strict=True)
    return Job._make(_decoded(value) if name in _JOB_JSON else value for name, value in named)


def _encoded(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else encode(value)


def _decoded(text: str | None) -> Mapping[str, Any] | None:
    return None if text is None else decode(text)


class SqliteReflectionProgress(SqliteRows, ReflectionProgressWriter):
    """How far reflection has come."""

    def all(self) -> list[ReflectionProgress]:
        found = self._database.all(f"SELECT {TENDED_COLUMNS} FROM tended")  # noqa: S608
        return [
            ReflectionProgress(nugget, (changed_at, changed), (again_at, again), served_at)
            for nugget, changed_at, changed, again_at, again, served_at in found
        ]

    def put(self, tended: ReflectionProgress) -> None:
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
