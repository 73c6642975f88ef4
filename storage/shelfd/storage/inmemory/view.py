"""Reads of the twin: plain loops, so that they can be seen to be right."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

from shelfd.memory.notes.note import MERGED_INTO, Link, Note, Nugget, Usage
from shelfd.memory.ports.job import Job
from shelfd.memory.ports.ledger import Run
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.tending import Promoted, Tended
from shelfd.memory.ports.view import Counts, NoteFilter, NuggetCounts, RecentQuery, Recorded, RecordedKey, View
from shelfd.storage.encoding import encode, strings_in
from shelfd.storage.inmemory.tables import Tables

_EQUAL: Final = ("nugget", "kind", "subject", "scope", "type", "stability")
_ORDERS: Final[dict[str, Callable[[Note], int]]] = {
    "updated_at": lambda note: note.updated_at,
    "row": lambda note: note.row,
}


class InMemoryView(View):
    """A shelf's rows."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    @property
    def last_seq(self) -> int:
        return self._tables.counters.seq

    @property
    def first_seq(self) -> int:
        return next(iter(self._tables.log), self._tables.counters.seq + 1)

    def note(self, note_id: str) -> Note | None:
        row = self._tables.note_rows.get(note_id)
        return None if row is None else self._tables.notes[row]

    def notes(self, ids: Sequence[str]) -> dict[str, Note]:
        return {note_id: note for note_id in ids if (note := self.note(note_id)) is not None}

    def notes_at(self, rows: Sequence[int]) -> dict[int, Note]:
        return {row: self._tables.notes[row] for row in rows if row in self._tables.notes}

    def fact(self, nugget: str, key: str) -> Note | None:
        row = self._tables.facts.get((key, nugget))
        return None if row is None else self._tables.notes[row]

    def facts_by_key(self, key: str) -> list[Note]:
        return [note for note in self._tables.notes.values() if note.key == key]

    def list_notes(
        self, wanted: NoteFilter, *, order: str, descending: bool, after: tuple[int, int] | None, limit: int
    ) -> list[Note]:
        if order not in _ORDERS:
            raise ValueError(f"notes are not ordered by {order!r}")
        value = _ORDERS[order]

        def place(note: Note) -> tuple[int, int]:
            return value(note), note.row

        found = sorted(self._wanted(wanted), key=place, reverse=descending)
        if after is not None:
            # By row, the first of the two is ignored: it says nothing more.
            mark = (after[1], after[1]) if order == "row" else after
            found = [note for note in found if (place(note) < mark if descending else place(note) > mark)]
        return found[: max(limit, 0)]

    def count_notes(self, wanted: NoteFilter) -> int:
        return len(self._wanted(wanted))

    def changed_positions(self, nugget: str, *, after: tuple[int, int], limit: int) -> list[tuple[int, int]]:
        notes = (note for note in self._tables.notes.values() if note.nugget == nugget)
        positions = sorted((note.updated_at, note.row) for note in notes)
        return [position for position in positions if position > after][:limit]

    def scan_notes(self, *, before_row: int | None, limit: int) -> list[Note]:
        rows = (row for row in reversed(self._tables.notes) if before_row is None or row < before_row)
        return [self._tables.notes[row] for _, row in zip(range(limit), rows, strict=False)]

    def superseded_by(self, note_id: str) -> list[str]:
        return [note.id for note in self._tables.notes.values() if note.superseded_by == note_id]

    def links_from(self, ids: Sequence[str]) -> dict[str, list[Link]]:
        return {note_id: [link for _, link in self._links() if link.source == note_id] for note_id in ids}

    def link(self, source: str, target: str, relation: str) -> Link | None:
        found = self._tables.links.get((source, target, relation))
        return None if found is None else found[1]

    def links_between(self, source: str, target: str) -> list[Link]:
        return [link for _, link in self._links() if (link.source, link.target) == (source, target)]

    def list_links(
        self, *, note_id: str | None, relation: str | None, after: int, limit: int
    ) -> list[tuple[int, Link]]:
        found = [
            (row, link)
            for row, link in self._links()
            if row > after
            and (note_id is None or note_id in (link.source, link.target))
            and (relation is None or link.relation == relation)
        ]
        return found[: max(limit, 0)]

    def count_links_from(self, note_id: str) -> int:
        return sum(1 for _, link in self._links() if link.source == note_id)

    def nugget(self, name: str) -> Nugget | None:
        return self._tables.nuggets.get(name)

    def list_nuggets(self, *, after: str, limit: int) -> list[Nugget]:
        names = sorted(name for name in self._tables.nuggets if name > after)
        return [self._tables.nuggets[name] for name in names[: max(limit, 0)]]

    def nugget_counts(self, name: str) -> NuggetCounts:
        notes = [note for note in self._tables.notes.values() if note.nugget == name]
        return NuggetCounts(_visible_facts(notes), len(notes), sum(note.hidden for note in notes))

    def counts(self) -> Counts:
        notes = self._tables.notes.values()
        return Counts(
            notes=len(notes),
            facts=_visible_facts(notes),
            hidden=sum(note.hidden for note in notes),
            superseded=sum(note.superseded_by is not None for note in notes),
            nuggets=len(self._tables.nuggets),
            links=len(self._tables.links),
        )

    def usage(self, rows: Sequence[int]) -> dict[int, Usage]:
        return {row: self._tables.usage[row] for row in rows if row in self._tables.usage}

    def was_hit(self, rows: Sequence[int], session_id: str) -> set[int]:
        return {row for row in rows if session_id in self._tables.hit_sessions.get(row, ())}

    def hit_sessions(self, rows: Sequence[int]) -> dict[int, frozenset[str]]:
        kept = self._tables.hit_sessions
        return {row: frozenset(kept[row]) for row in rows if kept.get(row)}

    def log(self, *, since_seq: int, limit: int) -> list[LogRow]:
        seqs = range(max(since_seq, 0) + 1, self.last_seq + 1)
        return [self._tables.log[seq] for seq in seqs[: max(limit, 0)]]

    def note_log(self, row: int, *, since_seq: int = 0, limit: int | None = None) -> list[LogRow]:
        found = [entry for entry in self._tables.log.values() if entry.row == row and entry.seq > since_seq]
        return found if limit is None else found[: max(limit, 0)]

    def link_log(self, source: str, target: str) -> list[LogRow]:
        kinds = ("link.added", "link.removed")
        found = [entry for entry in self._tables.log.values() if entry.kind in kinds]
        return [entry for entry in found if tuple(entry.ids) == (source, target)]

    def run_log(self, run_id: str, *, since_seq: int = 0, limit: int | None = None) -> list[LogRow]:
        log = self._tables.log.values()
        found = [entry for entry in log if entry.origin.run_id == run_id and entry.seq > since_seq]
        return found if limit is None else found[: max(limit, 0)]

    def completed_log(self, kind: str, *, before: int | None, limit: int) -> list[LogRow]:
        found = [
            entry
            for entry in reversed(self._tables.log.values())
            if entry.kind == kind and (before is None or entry.seq < before)
        ]
        return found[: max(limit, 0)]

    def recorded(self, principal: str, method: str, key: str) -> Recorded | None:
        return self._tables.recorded.get((principal, method, key))

    def recorded_naming(
        self, ids: Collection[str], *, after: RecordedKey | None, limit: int
    ) -> tuple[list[RecordedKey], RecordedKey | None]:
        keys = sorted(key for key in self._tables.recorded if after is None or key > after)[: max(limit, 0)]
        recorded = self._tables.recorded
        naming = [key for key in keys if not strings_in(encode(recorded[key].outcome)).isdisjoint(ids)]
        return naming, keys[-1] if len(keys) == limit else None

    def turn_number(self, nugget: str, session_id: str, turn: int) -> int | None:
        return self._tables.turns.get((nugget, session_id, turn))

    def meta(self, name: str) -> str | None:
        return self._tables.meta.get(name)

    def sink(self, name: str) -> int | None:
        return self._tables.sinks.get(name)

    def run(self, job: str, slot: str) -> Run | None:
        numbered = self._tables.runs.get((job, slot))
        return None if numbered is None else numbered[1]

    def list_runs(self, *, job: str | None, before: int | None, limit: int) -> list[tuple[int, Run]]:
        found = [
            (number, run)
            for number, run in self._tables.runs.values()
            if job in (None, run.job) and (before is None or number < before)
        ]
        return sorted(found, key=lambda numbered: -numbered[0])[: max(limit, 0)]

    def tended(self) -> list[Tended]:
        return sorted(self._tables.tended.values(), key=lambda tended: tended.nugget.encode())

    def promoted(self, path: str) -> list[Promoted]:
        return list(self._tables.promoted.get(path, ()))

    def promoting(self, path: str) -> list[Promoted]:
        return list(self._tables.promoting.get(path, ()))

    def promoted_paths(self) -> list[str]:
        tables = (self._tables.promoted, self._tables.promoting)
        return sorted({path for table in tables for path, lines in table.items() if lines})

    def promoting_paths(self) -> list[str]:
        return sorted(path for path, lines in self._tables.promoting.items() if lines)

    def promoted_to(self, note_id: str) -> list[str]:
        paths = self.promoted_paths()
        lines = {path: [*self.promoted(path), *self.promoting(path)] for path in paths}
        return [path for path in paths if any(line.note_id == note_id for line in lines[path])]

    def job(self, job_id: str) -> Job | None:
        numbered = self._tables.jobs.get(job_id)
        return None if numbered is None else numbered[1]

    def list_jobs(self, *, unfinished: bool, before: int | None, limit: int) -> list[tuple[int, Job]]:
        found = [
            (number, job)
            for number, job in self._tables.jobs.values()
            if (job.is_unfinished or not unfinished) and (before is None or number < before)
        ]
        return sorted(found, key=lambda numbered: -numbered[0])[: max(limit, 0)]

    def recent_queries(self, limit: int) -> list[RecentQuery]:
        queries = sorted(self._tables.recent_queries.values(), key=lambda query: (-query.at, query.params))
        return queries[: max(limit, 0)]

    def notes_with_hits(self, minimum: int) -> list[Note]:
        usage = self._tables.usage
        return [
            note
            for row, note in self._tables.notes.items()
            if row in usage and usage[row].hits >= max(minimum, 3) and not note.hidden and note.superseded_by is None
        ]

    def merged_rows(self, note_id: str, *, limit: int) -> list[int]:
        found: dict[str, int] = {}
        waiting = [note_id]
        for target in waiting:
            ids = [link.source for _, link in self._links() if (link.target, link.relation) == (target, MERGED_INTO)]
            hidden = [note for note in self.notes(ids).values() if note.hidden and note.id not in (*found, note_id)]
            found |= {note.id: note.row for note in hidden}
            waiting += [note.id for note in hidden]
        return list(found.values())[: max(limit, 0)]

    def merge_targets(self, *, after: str, limit: int) -> list[str]:
        targets = {link.target for _, link in self._links() if link.relation == MERGED_INTO}
        return sorted(target for target in targets if target > after)[: max(limit, 0)]

    def _links(self) -> list[tuple[int, Link]]:
        return sorted(self._tables.links.values(), key=lambda numbered: numbered[0])

    def _wanted(self, wanted: NoteFilter) -> list[Note]:
        return [note for note in self._tables.notes.values() if _passes(note, wanted)]


def _passes(note: Note, wanted: NoteFilter) -> bool:
    return (
        all(getattr(wanted, name) in (None, getattr(note, name)) for name in _EQUAL)
        and (wanted.include_hidden or not note.hidden)
        and (wanted.include_superseded or note.superseded_by is None)
        and set(wanted.tags) <= {*note.tags, *note.derived_tags}
        and wanted.needs_review in (None, _needs_review(note))
    )


def _needs_review(note: Note) -> bool:
    evolutions: Any = note.extra.get("evolution_count") or 0
    return note.confidence < 0.5 or evolutions > 5


def _visible_facts(notes: Iterable[Note]) -> int:
    return sum(note.key is not None and not note.hidden for note in notes)
