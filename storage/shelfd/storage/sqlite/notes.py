"""Notes as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

import sqlite3
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Final

from pydantic_core import from_json

from shelfd.memory.errors import DuplicateId, DuplicateKey, NoteNotFound
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.names import names_of
from shelfd.memory.notes.note import MEMORY_TYPES, Note, fold_key
from shelfd.memory.ports.log import REDACTED
from shelfd.memory.ports.notes import NotesView, NotesWriter
from shelfd.storage.encoding import (
    decode_extra,
    decode_strings,
    encode,
    encode_extra,
    encode_integers,
    encode_strings,
)
from shelfd.storage.sqlite.conditions import between, direction, where
from shelfd.storage.sqlite.conflicts import forget_conflicts
from shelfd.storage.sqlite.database import AMONG, Columns, Database, SqliteRows, placeholders
from shelfd.storage.sqlite.entities import forget_edges, forget_entities, forget_read
from shelfd.storage.sqlite.vectors import forget_vectors

#: In the order of the record's fields, which is not the order in the file.
NOTE_COLUMNS: Final = ", ".join(Note._fields)
_TAGS: Final = Note._fields.index("tags")
_PINNED: Final = Note._fields.index("pinned")
_EXTRA: Final = Note._fields.index("extra")

_NOTE: Final = f"SELECT {NOTE_COLUMNS} FROM note"  # noqa: S608 (column names of ours)
_INSERT: Final = f"INSERT INTO note ({NOTE_COLUMNS}) VALUES ({placeholders(NOTE_COLUMNS)})"  # noqa: S608
# Not the row: SQLite would then take every index entry out and put it back.
_UPDATED_COLUMNS: Final = NOTE_COLUMNS.removeprefix("row, ")
_UPDATE: Final = f"UPDATE note SET ({_UPDATED_COLUMNS}) = ({placeholders(_UPDATED_COLUMNS)}) WHERE row = ?"  # noqa: S608
#: Under these it stands in indexes. As long as they stay, and they mostly do, they are not set again: SQLite would take
#: those entries out and put them back, a third of what an update costs.
_PLACES: Final = [
    Note._fields.index(name)
    for name in ("id", "nugget", "kind", "key", "type", "archived_at", "superseded_by", "parent_id")
]
_places: Final = itemgetter(*_PLACES)
_SAID: Final = [at for at in range(1, len(Note._fields)) if at not in _PLACES]
_said: Final = itemgetter(*_SAID, 0)
_SAID_COLUMNS: Final = ", ".join(Note._fields[at] for at in _SAID)
_UPDATE_SAID: Final = f"UPDATE note SET ({_SAID_COLUMNS}) = ({placeholders(_SAID_COLUMNS)}) WHERE row = ?"  # noqa: S608
#: The ids of notes in the order in which they are asked for, null for those that are not wanted. As one list: to take
#: over a row for each takes half as long again. The list has no name but one, so that all names of the condition are a
#: note's.
_IDS: Final = (
    "SELECT json_group_array(iif({condition}, id, NULL))"
    " FROM (SELECT value AS asked FROM json_each(?)) LEFT JOIN note ON row = asked"
)
_LAST_ROW: Final = "SELECT max(last_row, coalesce((SELECT max(row) FROM note), 0)) FROM floor"

_NAMED: Final = f"SELECT note FROM note_name WHERE name {AMONG} AND nugget = ?"  # noqa: S608
_ADD_NAME: Final = "INSERT OR IGNORE INTO note_name VALUES (?, ?, ?, ?)"
_REMOVE_NAME: Final = "DELETE FROM note_name WHERE name = ? AND nugget = ? AND type = ? AND note = ?"
#: In the words of the index of those notes.
_TYPED: Final = " AND ".join(f"type <> '{name}'" for name in MEMORY_TYPES)

_EXPIRED: Final = "SELECT note FROM expiring WHERE expires_at <= ? ORDER BY expires_at, note LIMIT ?"

_REDACTED: Final = encode(REDACTED)
#: The log rows of a note, by its row, and of its links, by their ends: three indexes, merged in order.
_LINKS: Final = "kind IN ('link.added', 'link.removed')"
_ABOUT: Final = (
    "SELECT seq FROM change WHERE note = ?1 AND seq > ?3"  # noqa: S608 (words of ours)
    f" UNION ALL SELECT seq FROM change WHERE {_LINKS} AND json_extract(ids, '$[0]') = ?2 AND seq > ?3"
    f" UNION ALL SELECT seq FROM change WHERE {_LINKS} AND json_extract(ids, '$[1]') = ?2 AND seq > ?3"
    " ORDER BY seq LIMIT ?4"
)
_UNLINK: Final = "DELETE FROM link WHERE row IN (SELECT row FROM link WHERE source = ?1 OR target = ?1 LIMIT ?2)"


class SqliteNotes(SqliteRows, NotesView):
    """Reads of notes. Each is one statement, so that it sees one state."""

    def get(self, note_id: str) -> Note | None:
        columns = self._database.one(f"{_NOTE} WHERE id = ?", (note_id,))
        return None if columns is None else note_from_columns(columns)

    def existing(self, ids: Sequence[str]) -> set[str]:
        found = self._database.all(f"SELECT id FROM note WHERE id {AMONG}", (encode_strings(ids),))  # noqa: S608
        return {columns[0] for columns in found}

    def by_ids(self, ids: Sequence[str]) -> dict[str, Note]:
        found = {note.id: note for note in self._read(f"WHERE id {AMONG}", (encode_strings(ids),))}
        return {note_id: found[note_id] for note_id in ids if note_id in found}

    def by_rows(self, rows: Sequence[int]) -> dict[int, Note]:
        return {note.row: note for note in self._read(f"WHERE row {AMONG}", (encode_integers(rows),))}

    def ids(self, rows: Sequence[int], wanted: NoteFilter) -> dict[int, str | None]:
        condition, params = where(wanted)
        found = self._database.value(_IDS.format(condition=condition), (*params, encode_integers(rows)))
        return dict(zip(rows, from_json(found), strict=True))

    def fact(self, nugget: str, key: str) -> Note | None:
        columns = self._database.one(f"{_NOTE} WHERE key = ? AND nugget = ?", (key, nugget))
        return None if columns is None else note_from_columns(columns)

    def facts(self, key: str) -> list[Note]:
        return self._read("WHERE key = ? ORDER BY row", (key,))

    def named(self, nugget: str, type_: str | None, names: Sequence[str]) -> list[Note]:
        typed, params = ("", ()) if type_ is None else (" AND type = ?", (type_,))
        return self._read(f"WHERE row IN ({_NAMED}{typed}) ORDER BY row", (encode_strings(names), nugget, *params))

    def count_typed(self, type_: str, nugget: str | None, *, limit: int) -> int:
        place, params = ("", ()) if nugget is None else (" AND nugget = ?", (nugget,))
        typed = "" if type_ in MEMORY_TYPES else f" AND {_TYPED}"
        query = f"SELECT 1 FROM note WHERE type = ?{place}{typed} AND archived_at IS NULL LIMIT ?"  # noqa: S608
        return int(self._database.value(f"SELECT count(*) FROM ({query})", (type_, *params, limit)))  # noqa: S608

    def page(
        self, wanted: NoteFilter, *, order: str, descending: bool, after: tuple[int, int] | None, limit: int
    ) -> list[Note]:
        return self.listed("note", wanted, order, (after, None), limit, descending=descending)

    def listed(
        self,
        source: str,
        wanted: NoteFilter,
        order: str,
        bounds: tuple[tuple[int, int] | None, tuple[int, int] | None],
        limit: int,
        *,
        descending: bool,
    ) -> list[Note]:
        """Return the notes of *source* after the first of *bounds*, up to the second."""
        condition, params = where(wanted)
        by = direction(order, descending=descending)
        found: list[Note] = []
        for place, place_params in between(order, *bounds, descending=descending):
            if len(found) < limit:
                sql = f"SELECT {NOTE_COLUMNS} FROM {source} WHERE {condition} AND {place} ORDER BY {by} LIMIT ?"  # noqa: S608
                rows = self._database.all(sql, (*params, *place_params, limit - len(found)))
                found += [note_from_columns(columns) for columns in rows]
        return found

    def count(self, wanted: NoteFilter) -> int:
        if wanted == NoteFilter(nugget=wanted.nugget):
            return self._count_visible(wanted.nugget)
        condition, params = where(wanted)
        return int(self._database.value(f"SELECT count(*) FROM note WHERE {condition}", tuple(params)))  # noqa: S608

    def changed_positions(self, nugget: str | None, *, after: tuple[int, int], limit: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        of_nugget, named = ("", ()) if nugget is None else ("nugget = ? AND ", (nugget,))
        for condition, params in between("updated_at", after, None, descending=False):
            query = f"SELECT updated_at, row FROM note WHERE {of_nugget}{condition} ORDER BY updated_at, row LIMIT ?"  # noqa: S608
            found += self._database.all(query, (*named, *params, limit - len(found)))
        return found

    def scan(self, *, before_row: int | None, limit: int) -> list[Note]:
        if before_row is None:
            return self._read("ORDER BY row DESC LIMIT ?", (max(limit, 0),))
        return self._read("WHERE row < ? ORDER BY row DESC LIMIT ?", (before_row, max(limit, 0)))

    def superseded_by(self, note_id: str) -> list[str]:
        found = self._database.all("SELECT id FROM note WHERE superseded_by = ? ORDER BY row", (note_id,))
        return [columns[0] for columns in found]

    def children(self, ids: Sequence[str], *, after: int = 0, limit: int | None = None) -> list[Note]:
        clauses = f"WHERE parent_id {AMONG} AND row > ? ORDER BY row LIMIT ?"
        return self._read(clauses, (encode_strings(ids), after, -1 if limit is None else max(limit, 0)))

    def expired(self, now: int, *, limit: int) -> list[Note]:
        return self._read(f"WHERE row IN ({_EXPIRED}) ORDER BY expires_at, row", (now, max(limit, 0)))

    def with_hits(self, *, after: tuple[int, int], limit: int) -> list[tuple[int, int]]:
        # "hits >= 3" in so many words lets SQLite use the index of what may be promoted.
        sql = "SELECT hits, note FROM usage WHERE hits >= 3 AND (hits, note) > (?, ?) ORDER BY hits, note LIMIT ?"
        return [(hits, row) for hits, row in self._database.all(sql, (*after, max(limit, 0)))]

    def _count_visible(self, nugget: str | None) -> int:
        # The usual total of a listing, from two indexes; the full condition would read every note.
        condition, params = ("1", ()) if nugget is None else ("nugget = ?", (nugget,))
        return int(
            self._database.value(
                f"SELECT (SELECT count(*) FROM note WHERE {condition})"  # noqa: S608
                f" - (SELECT count(*) FROM note WHERE {condition} AND archived_at IS NOT NULL)",
                (*params, *params),
            )
        )

    def _read(self, clauses: str, params: Columns) -> list[Note]:
        return [note_from_columns(columns) for columns in self._database.all(f"{_NOTE} {clauses}", params)]


class SqliteNotesWriter(SqliteNotes, NotesWriter):
    """Reads and writes of notes.

    Args:
        database: The connection.
        drop_statements: Deletes what a note states, by its row.

    Attributes:
        row: The last row number given away, this transaction's included.
    """

    def __init__(self, database: Database, drop_statements: Callable[[int], None]) -> None:
        super().__init__(database)
        self._drop_statements = drop_statements
        self.row = int(database.value(_LAST_ROW))

    def next_row(self) -> int:
        self.row += 1
        return self.row

    def insert(self, note: Note) -> None:
        try:
            self._database.run(_INSERT, note_to_columns(note))
        except sqlite3.IntegrityError as error:
            self._raise_duplicate(note, error)
            raise
        self._add_beside(note)

    def insert_many(self, notes: Sequence[Note]) -> None:
        self._database.add_many(_INSERT, list(map(note_to_columns, notes)))
        named = [note for note in notes if note.key is None and (note.title or note.extra.aliases)]
        if named:
            self._database.run_many(_ADD_NAME, sorted(set().union(*map(_name_rows, named))))
        for note in notes:
            if note.expires_at is not None:
                self._change_expiry(None, note)

    def _add_beside(self, note: Note) -> None:
        """Add what stands beside a new note's row; not asked of most notes."""
        if note.key is None and (note.title or note.extra.aliases):
            self._change_names(set(), _name_rows(note))
        if note.expires_at is not None:
            self._change_expiry(None, note)

    def update(self, old: Note, note: Note) -> None:
        columns = note_to_columns(note)
        stays = _places(old) == _places(note)
        try:
            if stays:
                changed = self._database.run(_UPDATE_SAID, _said(columns))
            else:
                changed = self._database.run(_UPDATE, (*columns[1:], columns[0]))
        except sqlite3.IntegrityError as error:
            self._raise_duplicate(note, error)
            raise
        if not changed:
            raise NoteNotFound(note.id)
        if not stays or _named_by(old) != _named_by(note):
            self._change_names(_name_rows(old), _name_rows(note))
        if old.expires_at != note.expires_at:
            self._change_expiry(old, note)

    def forget_expiry(self, notes: Sequence[Note]) -> None:
        for note in notes:
            self._change_expiry(note, None)

    # The log's rows stay, for their numbers must have no gap; what they replaced is redacted. SQLite overwrites what
    # it deletes (``secure_delete``), and the WAL, which still holds it, is emptied afterwards: see Store.scrub.

    def redact(self, note: Note, *, after: int, limit: int) -> int | None:
        database = self._database
        seqs = [columns[0] for columns in database.all(_ABOUT, (note.row, note.id, after, limit))]
        database.run_many("UPDATE change SET before = ? WHERE seq = ?", [(_REDACTED, seq) for seq in seqs])
        unlinked = database.run(_UNLINK, (note.id, limit))
        if max(len(seqs), unlinked) < limit:
            return None
        return int(seqs[-1]) if seqs else after

    def delete(self, note: Note) -> None:
        run = self._database.run
        run("UPDATE floor SET last_row = max(last_row, ?)", (note.row,))  # its number is never given away again
        for stored in self._read("WHERE row = ?", (note.row,)):  # its names as they are, whatever *note* says
            self._change_names(_name_rows(stored), set())
            self._change_expiry(stored, None)
        run("DELETE FROM note WHERE row = ?", (note.row,))
        run("DELETE FROM usage WHERE note = ?", (note.row,))
        run("DELETE FROM hit_session WHERE note = ?", (note.row,))
        forget_edges(self._database, note.row)
        forget_read(self._database, note.row)
        forget_entities(self._database, note.row)
        self._drop_statements(note.row)
        forget_conflicts(self._database, note.row)
        run("DELETE FROM feedback WHERE note = ?", (note.row,))
        forget_vectors(self._database, note.row)

    def _change_names(self, before: set[Columns], after: set[Columns]) -> None:
        if gone := before - after:
            self._database.run_many(_REMOVE_NAME, sorted(gone))
        if new := after - before:
            self._database.run_many(_ADD_NAME, sorted(new))

    def _change_expiry(self, old: Note | None, new: Note | None) -> None:
        if old is not None and old.expires_at is not None:
            self._database.run("DELETE FROM expiring WHERE expires_at = ? AND note = ?", (old.expires_at, old.row))
        if new is not None and new.expires_at is not None:
            self._database.run("INSERT OR IGNORE INTO expiring VALUES (?, ?)", (new.expires_at, new.row))

    def _raise_duplicate(self, note: Note, error: sqlite3.IntegrityError) -> None:
        # Asked, not read from the message: where two constraints fail, SQLite names any one.
        taken = self.get(note.id)
        if taken is not None and taken.row != note.row:
            raise DuplicateId(note.id) from error
        other = None if note.key is None else self.fact(note.nugget, note.key)
        if other is not None and other.row != note.row:
            raise DuplicateKey(note.nugget, other.id) from error


def _named_by(note: Note) -> tuple[str, tuple[str, ...], str | None]:
    """Return what a note's names follow from, beside its place."""
    return note.title, note.extra.aliases, note.extra.trust


def _name_rows(note: Note) -> set[Columns]:
    return {(name, note.nugget, fold_key(note.type), note.row) for name in names_of(note)}


def note_to_columns(note: Note) -> Columns:
    """Return a note as NOTE_COLUMNS."""
    return (
        *note[:_TAGS],
        encode_strings(note.tags) if note.tags else None,
        *note[_TAGS + 1 : _PINNED],
        1 if note.pinned else 0,  # sqlite3 binds an int at once and asks its adapters about a bool
        *note[_PINNED + 1 : _EXTRA],
        encode_extra(note.extra),
    )


def note_from_columns(columns: Columns) -> Note:
    """Return the note in NOTE_COLUMNS."""
    values = list(columns)
    tags = values[_TAGS]
    values[_TAGS] = () if tags is None else decode_strings(tags)
    values[_PINNED] = values[_PINNED] == 1
    values[_EXTRA] = decode_extra(values[_EXTRA])
    return Note._make(values)
