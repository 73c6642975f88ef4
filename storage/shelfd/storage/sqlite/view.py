"""Reads of a shelf's rows by plain SQL, on whatever connection they are given."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Collection, Sequence
from typing import Any, Final

from shelfd.memory.notes.note import Link, Note, Nugget, Usage
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.view import Counts, NoteFilter, NuggetCounts, Recorded, RecordedKey, View
from shelfd.storage.encoding import decode, encode_integers, encode_strings, strings_in
from shelfd.storage.sqlite.listing import between, direction, where
from shelfd.storage.sqlite.rows import (
    LINK_COLUMNS,
    LOG_COLUMNS,
    NOTE_COLUMNS,
    NUGGET_COLUMNS,
    USAGE_COLUMNS,
    Columns,
    log_from_columns,
    note_from_columns,
)
from shelfd.storage.sqlite.work import WorkView

_NOTE: Final = f"SELECT {NOTE_COLUMNS} FROM note"  # noqa: S608 (column names of ours)
_LINK: Final = f"SELECT {LINK_COLUMNS} FROM link"  # noqa: S608
_NUGGET: Final = f"SELECT {NUGGET_COLUMNS} FROM nugget"  # noqa: S608
_LOG: Final = f"SELECT {LOG_COLUMNS} FROM change"  # noqa: S608
#: A list of values as one parameter: one prepared statement for any length.
_AMONG: Final = "IN (SELECT value FROM json_each(?))"
_ALL: Final = -1  # SQLite's LIMIT for none

#: Hidden notes that became part of a note, those of these, and so on; each once, even around a circle.
_MERGED = """
WITH RECURSIVE part (id, row) AS (
    SELECT ?1, NULL
    UNION
    SELECT note.id, note.row FROM part
    CROSS JOIN link ON link.target = part.id AND link.relation = 'merged_into'
    CROSS JOIN note ON note.id = link.source
    WHERE note.archived_at IS NOT NULL AND note.id <> ?1
)
SELECT row FROM part WHERE row IS NOT NULL LIMIT ?2
"""


class SqliteView(WorkView, View):
    """A shelf's rows through one connection. Each method is one statement, so that it sees one state."""

    @property
    def last_seq(self) -> int:
        return int(self._value("SELECT coalesce((SELECT max(seq) FROM change), last_seq) FROM floor"))

    @property
    def first_seq(self) -> int:
        return int(self._value("SELECT coalesce((SELECT min(seq) FROM change), last_seq + 1) FROM floor"))

    def note(self, note_id: str) -> Note | None:
        columns = self._one(f"{_NOTE} WHERE id = ?", (note_id,))
        return None if columns is None else note_from_columns(columns)

    def notes(self, ids: Sequence[str]) -> dict[str, Note]:
        found = {note.id: note for note in self._notes(f"WHERE id {_AMONG}", (encode_strings(ids),))}
        return {note_id: found[note_id] for note_id in ids if note_id in found}

    def notes_at(self, rows: Sequence[int]) -> dict[int, Note]:
        return {note.row: note for note in self._notes(f"WHERE row {_AMONG}", (encode_integers(rows),))}

    def fact(self, nugget: str, key: str) -> Note | None:
        columns = self._one(f"{_NOTE} WHERE key = ? AND nugget = ?", (key, nugget))
        return None if columns is None else note_from_columns(columns)

    def facts_by_key(self, key: str) -> list[Note]:
        return self._notes("WHERE key = ? ORDER BY row", (key,))

    def list_notes(
        self, wanted: NoteFilter, *, order: str, descending: bool, after: tuple[int, int] | None, limit: int
    ) -> list[Note]:
        return self._listed("note", wanted, order, (after, None), limit, descending=descending)

    def count_notes(self, wanted: NoteFilter) -> int:
        if wanted == NoteFilter(nugget=wanted.nugget):
            return self._count_visible(wanted.nugget)
        condition, params = where(wanted)
        return int(self._value(f"SELECT count(*) FROM note WHERE {condition}", tuple(params)))  # noqa: S608

    def changed_positions(self, nugget: str, *, after: tuple[int, int], limit: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for condition, params in between("updated_at", after, None, descending=False):
            query = (
                f"SELECT updated_at, row FROM note WHERE nugget = ? AND {condition} ORDER BY updated_at, row LIMIT ?"  # noqa: S608
            )
            found += self._all(query, (nugget, *params, limit - len(found)))
        return found

    def scan_notes(self, *, before_row: int | None, limit: int) -> list[Note]:
        if before_row is None:
            return self._notes("ORDER BY row DESC LIMIT ?", (max(limit, 0),))
        return self._notes("WHERE row < ? ORDER BY row DESC LIMIT ?", (before_row, max(limit, 0)))

    def superseded_by(self, note_id: str) -> list[str]:
        return [row[0] for row in self._all("SELECT id FROM note WHERE superseded_by = ? ORDER BY row", (note_id,))]

    def links_from(self, ids: Sequence[str]) -> dict[str, list[Link]]:
        links: dict[str, list[Link]] = {note_id: [] for note_id in ids}
        for columns in self._all(f"{_LINK} WHERE source {_AMONG} ORDER BY row", (encode_strings(ids),)):
            links[columns[0]].append(Link._make(columns))
        return links

    def link(self, source: str, target: str, relation: str) -> Link | None:
        columns = self._one(f"{_LINK} WHERE source = ? AND target = ? AND relation = ?", (source, target, relation))
        return None if columns is None else Link._make(columns)

    def links_between(self, source: str, target: str) -> list[Link]:
        found = self._all(f"{_LINK} WHERE source = ? AND target = ? ORDER BY row", (source, target))
        return [Link._make(columns) for columns in found]

    def list_links(
        self, *, note_id: str | None, relation: str | None, after: int, limit: int
    ) -> list[tuple[int, Link]]:
        condition, params = "row > ?", [after]
        narrowing: list[Any] = []
        if note_id is not None:
            condition += " AND (source = ? OR target = ?)"
            narrowing += [note_id, note_id]
        if relation is not None:
            condition += " AND relation = ?"
            narrowing.append(relation)
        found = self._all(
            f"SELECT row, {LINK_COLUMNS} FROM link WHERE {condition} ORDER BY row LIMIT ?",  # noqa: S608
            (*params, *narrowing, max(limit, 0)),
        )
        return [(columns[0], Link._make(columns[1:])) for columns in found]

    def count_links_from(self, note_id: str) -> int:
        return int(self._value("SELECT count(*) FROM link WHERE source = ?", (note_id,)))

    def nugget(self, name: str) -> Nugget | None:
        columns = self._one(f"{_NUGGET} WHERE name = ?", (name,))
        return None if columns is None else Nugget._make(columns)

    def list_nuggets(self, *, after: str, limit: int) -> list[Nugget]:
        found = self._all(f"{_NUGGET} WHERE name > ? ORDER BY name LIMIT ?", (after, max(limit, 0)))
        return [Nugget._make(columns) for columns in found]

    def nugget_counts(self, name: str) -> NuggetCounts:
        columns = self._one(
            "SELECT"
            " (SELECT count(*) FROM note WHERE nugget = ? AND key IS NOT NULL AND archived_at IS NULL),"
            " (SELECT count(*) FROM note WHERE nugget = ?),"
            " (SELECT count(*) FROM note WHERE nugget = ? AND archived_at IS NOT NULL)",
            (name, name, name),
        )
        return NuggetCounts._make(columns or (0, 0, 0))

    def counts(self) -> Counts:
        columns = self._one(
            "SELECT (SELECT count(*) FROM note),"
            " (SELECT count(*) FROM note WHERE key IS NOT NULL AND archived_at IS NULL),"
            " (SELECT count(*) FROM note WHERE archived_at IS NOT NULL),"
            " (SELECT count(*) FROM note WHERE superseded_by IS NOT NULL),"
            " (SELECT count(*) FROM nugget),"
            " (SELECT count(*) FROM link)",
        )
        return Counts._make(columns or (0,) * 6)

    def usage(self, rows: Sequence[int]) -> dict[int, Usage]:
        found = self._all(
            f"SELECT note, {USAGE_COLUMNS} FROM usage WHERE note {_AMONG}",  # noqa: S608
            (encode_integers(rows),),
        )
        return {columns[0]: Usage._make(columns[1:]) for columns in found}

    def was_hit(self, rows: Sequence[int], session_id: str) -> set[int]:
        found = self._all(
            f"SELECT note FROM hit_session WHERE note {_AMONG} AND session_id = ?",  # noqa: S608
            (encode_integers(rows), session_id),
        )
        return {columns[0] for columns in found}

    def hit_sessions(self, rows: Sequence[int]) -> dict[int, frozenset[str]]:
        found = self._all(
            f"SELECT note, session_id FROM hit_session WHERE note {_AMONG}",  # noqa: S608
            (encode_integers(rows),),
        )
        sessions: dict[int, set[str]] = {}
        for row, session_id in found:
            sessions.setdefault(row, set()).add(session_id)
        return {row: frozenset(kept) for row, kept in sessions.items()}

    def log(self, *, since_seq: int, limit: int) -> list[LogRow]:
        found = self._all(f"{_LOG} WHERE seq > ? ORDER BY seq LIMIT ?", (since_seq, max(limit, 0)))
        return [log_from_columns(columns) for columns in found]

    def note_log(self, row: int, *, since_seq: int = 0, limit: int | None = None) -> list[LogRow]:
        found = self._all(
            f"{_LOG} WHERE note = ? AND seq > ? ORDER BY seq LIMIT ?",
            (row, since_seq, _ALL if limit is None else max(limit, 0)),
        )
        return [log_from_columns(columns) for columns in found]

    def link_log(self, source: str, target: str) -> list[LogRow]:
        found = self._all(
            f"{_LOG} WHERE kind IN ('link.added', 'link.removed') AND json_extract(ids, '$[0]') = ? AND ids = ?"
            " ORDER BY seq",
            (source, encode_strings([source, target])),
        )
        return [log_from_columns(columns) for columns in found]

    def run_log(self, run_id: str, *, since_seq: int = 0, limit: int | None = None) -> list[LogRow]:
        found = self._all(
            f"{_LOG} WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?",
            (run_id, since_seq, _ALL if limit is None else max(limit, 0)),
        )
        return [log_from_columns(columns) for columns in found]

    def completed_log(self, kind: str, *, before: int | None, limit: int) -> list[LogRow]:
        # The kinds in so many words let SQLite use the index of what ends a run.
        found = self._all(
            f"{_LOG} WHERE kind IN ('reflection.completed', 'reflection.undone', 'promotion.completed')"
            " AND kind = ?1 AND (?2 IS NULL OR seq < ?2) ORDER BY seq DESC LIMIT ?3",
            (kind, before, max(limit, 0)),
        )
        return [log_from_columns(columns) for columns in found]

    def recorded(self, principal: str, method: str, key: str) -> Recorded | None:
        columns = self._one(
            "SELECT payload, outcome, at FROM idempotency WHERE principal = ? AND method = ? AND key = ?",
            (principal, method, key),
        )
        return None if columns is None else Recorded(columns[0], decode(columns[1]), columns[2])

    def recorded_naming(
        self, ids: Collection[str], *, after: RecordedKey | None, limit: int
    ) -> tuple[list[RecordedKey], RecordedKey | None]:
        found = self._all(
            "SELECT principal, method, key, outcome FROM idempotency WHERE (principal, method, key) > (?, ?, ?)"
            " ORDER BY principal, method, key LIMIT ?",
            (*(after or ("", "", "")), max(limit, 0)),
        )
        naming = [columns[:3] for columns in found if not strings_in(columns[3]).isdisjoint(ids)]
        return naming, found[-1][:3] if len(found) == limit else None

    def turn_number(self, nugget: str, session_id: str, turn: int) -> int | None:
        columns = self._one(
            "SELECT number FROM turn WHERE nugget = ? AND session_id = ? AND turn = ?",
            (nugget, session_id, turn),
        )
        return None if columns is None else columns[0]

    def meta(self, name: str) -> str | None:
        columns = self._one("SELECT value FROM meta WHERE name = ?", (name,))
        return None if columns is None else columns[0]

    def sink(self, name: str) -> int | None:
        columns = self._one("SELECT delivered_seq FROM sink WHERE name = ?", (name,))
        return None if columns is None else columns[0]

    def notes_with_hits(self, minimum: int) -> list[Note]:
        # "hits >= 3" in so many words lets SQLite use the index of what may be promoted.
        return self._notes(
            "WHERE row IN (SELECT note FROM usage WHERE hits >= 3 AND hits >= ?)"
            " AND archived_at IS NULL AND superseded_by IS NULL ORDER BY row",
            (minimum,),
        )

    def merged_rows(self, note_id: str, *, limit: int) -> list[int]:
        return [columns[0] for columns in self._all(_MERGED, (note_id, max(limit, 0)))]

    def merge_targets(self, *, after: str, limit: int) -> list[str]:
        # The relation in so many words lets SQLite use the index of such links.
        found = self._all(
            "SELECT DISTINCT target FROM link WHERE relation = 'merged_into' AND target > ? ORDER BY target LIMIT ?",
            (after, max(limit, 0)),
        )
        return [columns[0] for columns in found]

    def _count_visible(self, nugget: str | None) -> int:
        # The usual total of a listing, from two indexes; the condition as a whole would read every note.
        condition, params = ("1", ()) if nugget is None else ("nugget = ?", (nugget,))
        return int(
            self._value(
                f"SELECT (SELECT count(*) FROM note WHERE {condition})"  # noqa: S608
                f" - (SELECT count(*) FROM note WHERE {condition} AND archived_at IS NOT NULL)",
                (*params, *params),
            )
        )

    def _listed(
        self,
        source: str,
        wanted: NoteFilter,
        order: str,
        bounds: tuple[tuple[int, int] | None, tuple[int, int] | None],
        limit: int,
        *,
        descending: bool,
    ) -> list[Note]:
        """Return the notes of *source* behind the first of *bounds*, up to the second."""
        condition, params = where(wanted)
        by = direction(order, descending=descending)
        found: list[Note] = []
        for place, place_params in between(order, *bounds, descending=descending):
            if len(found) < limit:
                sql = f"SELECT {NOTE_COLUMNS} FROM {source} WHERE {condition} AND {place} ORDER BY {by} LIMIT ?"  # noqa: S608
                rows = self._all(sql, (*params, *place_params, limit - len(found)))
                found += [note_from_columns(columns) for columns in rows]
        return found

    def _notes(self, clauses: str, params: Columns) -> list[Note]:
        return [note_from_columns(columns) for columns in self._all(f"{_NOTE} {clauses}", params)]
