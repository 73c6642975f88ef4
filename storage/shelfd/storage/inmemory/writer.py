"""Writes of the twin."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Collection, Mapping, Sequence

from shelfd.memory.errors import DuplicateId, DuplicateKey, DuplicateNugget, NoteNotFound
from shelfd.memory.notes.note import NO_EXTRA, Link, Note, Nugget, Usage
from shelfd.memory.ports.job import Job
from shelfd.memory.ports.ledger import Run
from shelfd.memory.ports.log import REDACTED, LogRow
from shelfd.memory.ports.tending import Promoted, Tended
from shelfd.memory.ports.view import RecentQuery, Recorded, RecordedKey, Writer
from shelfd.storage.encoding import decode, encode
from shelfd.storage.inmemory.view import InMemoryView


class InMemoryWriter(InMemoryView, Writer):
    """A shelf's rows inside a transaction. What is stored goes through JSON where the file's rows do."""

    def next_row(self) -> int:
        row = self._tables.counters.row + 1
        self._tables.counters = self._tables.counters._replace(row=row)
        return row

    def insert_note(self, note: Note) -> None:
        if note.id in self._tables.note_rows:
            raise DuplicateId(note.id)
        self._put_note(note)

    def update_note(self, note: Note) -> None:
        old = self._tables.notes.get(note.row)
        if old is None:
            raise NoteNotFound(note.id)
        if self._tables.note_rows.get(note.id, note.row) != note.row:
            raise DuplicateId(note.id)
        self._put_note(note, old)

    def erase_note(self, note: Note) -> None:
        tables = self._tables
        tables.remove(tables.notes, note.row)
        tables.remove(tables.note_rows, note.id)
        if note.key is not None:
            tables.remove(tables.facts, (note.key, note.nugget))
        tables.remove(tables.usage, note.row)
        tables.remove(tables.hit_sessions, note.row)

    def redact_note(self, note: Note, *, after: int, limit: int) -> int | None:
        tables = self._tables
        seqs = [seq for seq, entry in tables.log.items() if seq > after and _is_about(entry, note)][:limit]
        self.redact(seqs)
        links = [key for key in tables.links if note.id in key[:2]][:limit]
        for key in links:
            tables.remove(tables.links, key)
        if max(len(seqs), len(links)) < limit:
            return None
        return seqs[-1] if seqs else after

    def redact(self, seqs: Sequence[int]) -> None:
        for seq in seqs:
            self._tables.put(self._tables.log, seq, self._tables.log[seq]._replace(before=dict(REDACTED)))

    def put_link(self, link: Link) -> None:
        old = self._tables.links.get(link[:3])
        if old is None:
            self._tables.link_row += 1
        self._tables.put(self._tables.links, link[:3], (self._tables.link_row if old is None else old[0], link))

    def delete_link(self, link: Link) -> None:
        self._tables.remove(self._tables.links, link[:3])

    def put_nugget(self, nugget: Nugget) -> None:
        self._tables.put(self._tables.nuggets, nugget.name, nugget)

    def delete_nugget(self, name: str) -> None:
        self._tables.remove(self._tables.nuggets, name)

    def rename_nugget(self, old: str, new: str) -> None:
        if old == new:
            return
        if new in self._tables.nuggets:
            raise DuplicateNugget(new)
        notes = [note for note in self._tables.notes.values() if note.nugget == old]
        if any(note.key is not None and (note.key, new) in self._tables.facts for note in notes):
            raise DuplicateKey(new, "")
        for note in notes:
            self._put_note(note._replace(nugget=new), note)
        if old in self._tables.nuggets:
            self._tables.put(self._tables.nuggets, new, self._tables.nuggets[old]._replace(name=new))
            self._tables.remove(self._tables.nuggets, old)
        for (nugget, session_id, turn), number in list(self._tables.turns.items()):
            if nugget == old:
                self._tables.put(self._tables.turns, (new, session_id, turn), number)
                self._tables.remove(self._tables.turns, (old, session_id, turn))

    def claim_turn(self, nugget: str, session_id: str, turn: int, number: int) -> int:
        known = self.turn_number(nugget, session_id, turn)
        if known is not None:
            return known
        self._tables.put(self._tables.turns, (nugget, session_id, turn), number)
        return number

    def record(self, principal: str, method: str, key: str, outcome: Recorded) -> None:
        stored = outcome._replace(outcome=decode(encode(outcome.outcome)))
        self._tables.put(self._tables.recorded, (principal, method, key), stored)

    def forget_recorded(self, before: int, *, now: int, limit: int) -> int:
        recorded = self._tables.recorded

        def by_age(key: tuple[str, str, str]) -> tuple[int, list[bytes]]:
            return recorded[key].at, [part.encode() for part in key]

        for key in sorted((key for key in recorded if recorded[key].at > now), key=by_age)[:limit]:
            self._tables.put(recorded, key, recorded[key]._replace(at=now))
        old = sorted((key for key in recorded if recorded[key].at < before), key=by_age)[:limit]
        for key in old:
            self._tables.remove(recorded, key)
        return len(old)

    def drop_recorded(self, keys: Sequence[RecordedKey]) -> None:
        for key in keys:
            self._tables.remove(self._tables.recorded, key)

    def put_usages(self, usages: Mapping[int, Usage]) -> None:
        for row, usage in usages.items():
            if row in self._tables.notes:
                self._tables.put(self._tables.usage, row, usage)

    def add_hit_sessions(self, sessions: Sequence[tuple[int, str]]) -> None:
        for row, session_id in sessions:
            if row not in self._tables.notes:
                continue
            known = self._tables.hit_sessions.get(row, frozenset())
            self._tables.put(self._tables.hit_sessions, row, known | {session_id})

    def put_meta(self, name: str, value: str) -> None:
        self._tables.put(self._tables.meta, name, value)

    def put_sink(self, name: str, seq: int) -> None:
        self._tables.put(self._tables.sinks, name, seq)

    def claim_run(self, run: Run) -> bool:
        if (run.job, run.slot) in self._tables.runs:
            return False
        self._tables.run_number += 1
        self._tables.put(self._tables.runs, (run.job, run.slot), (self._tables.run_number, _stored(run)))
        return True

    def put_run(self, run: Run) -> None:
        numbered = self._tables.runs.get((run.job, run.slot))
        if numbered is not None:
            self._tables.put(self._tables.runs, (run.job, run.slot), (numbered[0], _stored(run)))

    def forget_runs(self, before: int) -> int:
        old = [key for key, (_, run) in self._tables.runs.items() if run.started_at < before]
        for key in old:
            self._tables.remove(self._tables.runs, key)
        return len(old)

    def put_tended(self, tended: Tended) -> None:
        self._tables.put(self._tables.tended, tended.nugget, tended)

    def put_promoted(self, path: str, lines: Sequence[Promoted]) -> None:
        self._tables.put(self._tables.promoted, path, tuple(lines))

    def put_promoting(self, path: str, lines: Sequence[Promoted]) -> None:
        self._tables.put(self._tables.promoting, path, tuple(lines))

    def put_job(self, job: Job) -> None:
        known = self._tables.jobs.get(job.id)
        if known is None:
            self._tables.job_number += 1
        number = self._tables.job_number if known is None else known[0]
        self._tables.put(self._tables.jobs, job.id, (number, _stored_job(job)))

    def forget_jobs(self, before: int, *, limit: int) -> int:
        jobs = self._tables.jobs
        oldest = sorted(jobs.values(), key=lambda numbered: numbered[0])[:limit]
        old = [job.id for _, job in oldest if not job.is_unfinished and job.updated_at < before]
        for key in old:
            self._tables.remove(jobs, key)
        return len(old)

    def put_recent_queries(self, queries: Sequence[RecentQuery]) -> None:
        for query in queries:
            self._tables.put(self._tables.recent_queries, query.params, query)

    def forget_recent_queries(self, *, before: int, now: int, kept: int) -> None:
        for query in list(self._tables.recent_queries.values()):
            if query.at > now:
                self._tables.put(self._tables.recent_queries, query.params, query._replace(at=now))
        known = self.recent_queries(len(self._tables.recent_queries))
        for query in [*known[kept:], *(query for query in known[:kept] if query.at < before)]:
            self._tables.remove(self._tables.recent_queries, query.params)

    def forget_queries_of(self, ids: Collection[str]) -> None:
        for params in [p for p, query in self._tables.recent_queries.items() if not set(query.ids).isdisjoint(ids)]:
            self._tables.remove(self._tables.recent_queries, params)

    def append_log(self, rows: Sequence[LogRow]) -> None:
        """Write log rows and move the counters on."""
        for row in rows:
            before = None if row.before is None else decode(encode(row.before))
            self._tables.put(self._tables.log, row.seq, row._replace(before=before))
            self._tables.counters = self._tables.counters._replace(seq=row.seq)

    def _put_note(self, note: Note, old: Note | None = None) -> None:
        if note.key is not None:
            other = self._tables.facts.get((note.key, note.nugget), note.row)
            if other != note.row:
                raise DuplicateKey(note.nugget, self._tables.notes[other].id)
        if old is not None:
            self._tables.remove(self._tables.note_rows, old.id)
            if old.key is not None:
                self._tables.remove(self._tables.facts, (old.key, old.nugget))
        stored = note._replace(extra=decode(encode(note.extra)) if note.extra else NO_EXTRA)
        self._tables.put(self._tables.notes, note.row, stored)
        self._tables.put(self._tables.note_rows, note.id, note.row)
        if note.key is not None:
            self._tables.put(self._tables.facts, (note.key, note.nugget), note.row)


def _stored(run: Run) -> Run:
    return run._replace(result=decode(encode(run.result)) if run.result else NO_EXTRA)


def _stored_job(job: Job) -> Job:
    return job._replace(
        params=decode(encode(job.params)),
        cursor=decode(encode(job.cursor)),
        result=None if job.result is None else decode(encode(job.result)),
    )


def _is_about(entry: LogRow, note: Note) -> bool:
    return entry.row == note.row or (entry.kind in ("link.added", "link.removed") and note.id in entry.ids)
