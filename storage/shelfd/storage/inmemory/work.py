"""The twin's work: use, queries, jobs, reflection's positions, promoted lines, sinks and properties."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from shelfd.memory.notes.note import Usage
from shelfd.memory.ports.job import ITEM_BY_ITEM, Job, JobsWriter
from shelfd.memory.ports.log import SinksWriter
from shelfd.memory.ports.tending import (
    Promoted,
    PromotionsWriter,
    ReflectionProgress,
    ReflectionProgressWriter,
)
from shelfd.memory.ports.usage import QueriesWriter, RecentQuery, UsageWriter
from shelfd.memory.ports.view import MetaWriter
from shelfd.storage.encoding import decode, encode
from shelfd.storage.inmemory.tables import InMemoryRows


class InMemoryUsage(InMemoryRows, UsageWriter):
    """The use that was made of notes."""

    def by_rows(self, rows: Sequence[int]) -> dict[int, Usage]:
        return {row: self._tables.usage[row] for row in rows if row in self._tables.usage}

    def was_hit(self, rows: Sequence[int], session_id: str) -> set[int]:
        return {row for row in rows if session_id in self._tables.hit_sessions.get(row, ())}

    def hit_sessions(self, rows: Sequence[int]) -> dict[int, frozenset[str]]:
        kept = self._tables.hit_sessions
        return {row: frozenset(kept[row]) for row in rows if kept.get(row)}

    def put(self, usages: Mapping[int, Usage]) -> None:
        for row, usage in usages.items():
            if row in self._tables.notes:
                self._tables.put(self._tables.usage, row, usage)

    def add_hit_sessions(self, sessions: Sequence[tuple[int, str]]) -> None:
        for row, session_id in sessions:
            if row not in self._tables.notes:
                continue
            known = self._tables.hit_sessions.get(row, frozenset())
            self._tables.put(self._tables.hit_sessions, row, known | {session_id})


class InMemoryQueries(InMemoryRows, QueriesWriter):
    """Recent queries."""

    def recent(self, limit: int) -> list[RecentQuery]:
        queries = sorted(self._tables.recent_queries.values(), key=lambda query: (-query.at, query.params))
        return queries[: max(limit, 0)]

    def put(self, queries: Sequence[RecentQuery]) -> None:
        for query in queries:
            self._tables.put(self._tables.recent_queries, query.params, query)

    def delete_before(self, *, before: int, now: int, kept: int) -> None:
        for query in list(self._tables.recent_queries.values()):
            if query.at > now:
                self._tables.put(self._tables.recent_queries, query.params, query._replace(at=now))
        known = self.recent(len(self._tables.recent_queries))
        for query in [*known[kept:], *(query for query in known[:kept] if query.at < before)]:
            self._tables.remove(self._tables.recent_queries, query.params)

    def delete_naming(self, ids: Collection[str]) -> None:
        for params in [p for p, query in self._tables.recent_queries.items() if not set(query.ids).isdisjoint(ids)]:
            self._tables.remove(self._tables.recent_queries, params)


class InMemoryJobs(InMemoryRows, JobsWriter):
    """Jobs."""

    def get(self, job_id: str) -> Job | None:
        numbered = self._tables.jobs.get(job_id)
        return None if numbered is None else numbered[1]

    def in_slot(self, kind: str, slot: str) -> Job | None:
        return next((job for _, job in self._tables.jobs.values() if (job.kind, job.slot) == (kind, slot)), None)

    def page(
        self,
        *,
        before: int | None,
        limit: int,
        unfinished: bool = False,
        in_slots: bool = False,
        kind: str | None = None,
    ) -> list[tuple[int, Job]]:
        found = [
            (number, job if job.result is None else job._replace(result=_listed(job.result)))
            for number, job in self._tables.jobs.values()
            if (job.is_unfinished or not unfinished)
            and (job.slot is not None or not in_slots)
            and kind in (None, job.kind)
            and (before is None or number < before)
        ]
        return sorted(found, key=lambda numbered: -numbered[0])[: max(limit, 0)]

    def pieces(self, job_id: str, *, after: int, limit: int) -> list[tuple[int, Mapping[str, Any]]]:
        numbers = sorted(number for job, number in self._tables.pieces if job == job_id and number > after)
        return [(number, self._tables.pieces[job_id, number]) for number in numbers[: max(limit, 0)]]

    def put(self, job: Job) -> None:
        known = self._tables.jobs.get(job.id)
        if known is None:
            self._tables.job_number += 1
        number = self._tables.job_number if known is None else known[0]
        self._tables.put(self._tables.jobs, job.id, (number, _stored_job(job)))

    def delete_ended(self, before: int, *, limit: int, in_slots: bool = False) -> int:
        jobs = [numbered for numbered in self._tables.jobs.values() if (numbered[1].slot is not None) == in_slots]
        oldest = sorted(jobs, key=lambda numbered: numbered[0])[:limit]
        old = [job.id for _, job in oldest if not job.is_unfinished and job.updated_at < before]
        for job_id in old:
            self.delete_pieces(job_id)
            self._tables.remove(self._tables.jobs, job_id)
        return len(old)

    def put_piece(self, job_id: str, number: int, piece: Mapping[str, Any]) -> None:
        self._tables.put(self._tables.pieces, (job_id, number), decode(encode(piece)))

    def delete_pieces(self, job_id: str | None) -> None:
        unfinished = {job.id for _, job in self._tables.jobs.values() if job.is_unfinished}
        for key in [
            key for key in self._tables.pieces if key[0] == job_id or (job_id is None and key[0] not in unfinished)
        ]:
            self._tables.remove(self._tables.pieces, key)


def _listed(result: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in result.items() if name not in ITEM_BY_ITEM}


class InMemoryReflectionProgress(InMemoryRows, ReflectionProgressWriter):
    """How far reflection has come."""

    def all(self) -> list[ReflectionProgress]:
        return sorted(self._tables.tended.values(), key=lambda tended: tended.nugget.encode())

    def put(self, tended: ReflectionProgress) -> None:
        self._tables.put(self._tables.tended, tended.nugget, tended)


class InMemoryPromotions(InMemoryRows, PromotionsWriter):
    """The lines that promotion wrote to files."""

    def lines(self, path: str) -> list[Promoted]:
        return list(self._tables.promoted.get(path, ()))

    def planned(self, path: str) -> list[Promoted]:
        return list(self._tables.promoting.get(path, ()))

    def paths(self) -> list[str]:
        tables = (self._tables.promoted, self._tables.promoting)
        return sorted({path for table in tables for path, lines in table.items() if lines})

    def planned_paths(self) -> list[str]:
        return sorted(path for path, lines in self._tables.promoting.items() if lines)

    def paths_naming(self, note_id: str) -> list[str]:
        paths = self.paths()
        lines = {path: [*self.lines(path), *self.planned(path)] for path in paths}
        return [path for path in paths if any(line.note_id == note_id for line in lines[path])]

    def put(self, path: str, lines: Sequence[Promoted]) -> None:
        self._tables.put(self._tables.promoted, path, tuple(lines))

    def plan(self, path: str, lines: Sequence[Promoted]) -> None:
        self._tables.put(self._tables.promoting, path, tuple(lines))


class InMemorySinks(InMemoryRows, SinksWriter):
    """How far sinks have come."""

    def get(self, name: str) -> int | None:
        return self._tables.sinks.get(name)

    def put(self, name: str, seq: int) -> None:
        self._tables.put(self._tables.sinks, name, seq)


class InMemoryMeta(InMemoryRows, MetaWriter):
    """The shelf's own properties."""

    def get(self, name: str) -> str | None:
        return self._tables.meta.get(name)

    def page(self, beginning: str, *, after: str, limit: int) -> list[tuple[str, str]]:
        named = sorted(one for one in self._tables.meta.items() if one[0].startswith(beginning) and one[0] > after)
        return named[: max(limit, 0)]

    def put(self, name: str, value: str) -> None:
        self._tables.put(self._tables.meta, name, value)


def _stored_job(job: Job) -> Job:
    return job._replace(
        params=decode(encode(job.params)),
        cursor=decode(encode(job.cursor)),
        result=None if job.result is None else decode(encode(job.result)),
    )
