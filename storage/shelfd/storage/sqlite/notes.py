"""Notes as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

import sqlite3
from collections.abc import Sequence
from typing import Final

from shelfd.memory.errors import DuplicateId, DuplicateKey, NoteNotFound
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import REDACTED
from shelfd.memory.ports.notes import NotesView, NotesWriter
from shelfd.storage.encoding import decode_extra, decode_strings, encode, encode_extra, encode_integers, encode_strings
from shelfd.storage.sqlite.database import AMONG, Columns, Database, SqliteRows, placeholders
from shelfd.storage.sqlite.listing import between, direction, where

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
_LAST_ROW: Final = "SELECT max(last_row, coalesce((SELECT max(row) FROM note), 0)) FROM floor"

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

    def by_ids(self, ids: Sequence[str]) -> dict[str, Note]:
        found = {note.id: note for note in self._read(f"WHERE id {AMONG}", (encode_strings(ids),))}
        return {note_id: found[note_id] for note_id in ids if note_id in found}

    def by_rows(self, rows: Sequence[int]) -> dict[int, Note]:
        return {note.row: note for note in self._read(f"WHERE row {AMONG}", (encode_integers(rows),))}

    def fact(self, nugget: str, key: str) -> Note | None:
        columns = self._database.one(f"{_NOTE} WHERE key = ? AND nugget = ?", (key, nugget))
        return None if columns is None else note_from_columns(columns)

    def facts(self, key: str) -> list[Note]:
        return self._read("WHERE key = ? ORDER BY row", (key,))

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

    def changed_positions(self, nugget: str, *, after: tuple[int, int], limit: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for condition, params in between("updated_at", after, None, descending=False):
            query = (
                f"SELECT updated_at, row FROM note WHERE nugget = ? AND {condition} ORDER BY updated_at, row LIMIT ?"  # noqa: S608
            )
            found += self._database.all(query, (nugget, *params, limit - len(found)))
        return found

    def scan(self, *, before_row: int | None, limit: int) -> list[Note]:
        if before_row is None:
            return self._read("ORDER BY row DESC LIMIT ?", (max(limit, 0),))
        return self._read("WHERE row < ? ORDER BY row DESC LIMIT ?", (before_row, max(limit, 0)))

    def superseded_by(self, note_id: str) -> list[str]:
        found = self._database.all("SELECT id FROM note WHERE superseded_by = ? ORDER BY row", (note_id,))
        return [columns[0] for columns in found]

    def with_hits(self, minimum: int) -> list[Note]:
        # "hits >= 3" in so many words lets SQLite use the index of what may be promoted.
        return self._read(
            "WHERE row IN (SELECT note FROM usage WHERE hits >= 3 AND hits >= ?)"
            " AND archived_at IS NULL AND superseded_by IS NULL ORDER BY row",
            (minimum,),
        )

    def _count_visible(self, nugget: str | None) -> int:
        # The usual total of a listing, from two indexes; the condition as a whole would read every note.
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

    Attributes:
        row: The last row number given away, this transaction's included.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
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

    def update(self, note: Note) -> None:
        columns = note_to_columns(note)
        try:
            changed = self._database.run(_UPDATE, (*columns[1:], columns[0]))
        except sqlite3.IntegrityError as error:
            self._raise_duplicate(note, error)
            raise
        if not changed:
            raise NoteNotFound(note.id)

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

    def erase(self, note: Note) -> None:
        run = self._database.run
        run("UPDATE floor SET last_row = max(last_row, ?)", (note.row,))  # its number is never given away again
        run("DELETE FROM note WHERE row = ?", (note.row,))
        run("DELETE FROM usage WHERE note = ?", (note.row,))
        run("DELETE FROM hit_session WHERE note = ?", (note.row,))

    def _raise_duplicate(self, note: Note, error: sqlite3.IntegrityError) -> None:
        # Asked, not read from the message: where two constraints fail, SQLite names any one.
        taken = self.get(note.id)
        if taken is not None and taken.row != note.row:
            raise DuplicateId(note.id) from error
        other = None if note.key is None else self.fact(note.nugget, note.key)
        if other is not None and other.row != note.row:
            raise DuplicateKey(note.nugget, other.id) from error


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
