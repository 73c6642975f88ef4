"""Vectors in a shelf's file."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Mapping, Sequence
from typing import Any, Final

from shelfd.memory.ports.vectors import NoteVectors, VectorsWriter
from shelfd.storage.encoding import decode, encode, encode_integers
from shelfd.storage.sqlite.database import AMONG, Database, SqliteRows

_COUNT: Final = (
    "INSERT INTO vector_count VALUES (?1, ?2) ON CONFLICT (model) DO UPDATE SET notes = notes + excluded.notes"
)


class SqliteVectors(SqliteRows, VectorsWriter):
    """Vectors of notes."""

    def of(self, notes: Sequence[int], model: str) -> list[NoteVectors]:
        found = self._database.all(
            f"SELECT note, model, text, width, data FROM vector WHERE note {AMONG} AND model = ? ORDER BY note",  # noqa: S608
            (encode_integers(notes), model),
        )
        return [NoteVectors._make(columns) for columns in found]

    def texts(self, notes: Sequence[int], model: str) -> dict[int, int]:
        sql = f"SELECT note, text FROM vector WHERE note {AMONG} AND model = ?"  # noqa: S608
        return dict(self._database.all(sql, (encode_integers(notes), model)))

    def page(self, model: str, *, after: int = 0, limit: int) -> list[NoteVectors]:
        found = self._database.all(
            "SELECT note, model, text, width, data FROM vector WHERE note > ? AND model = ? ORDER BY note LIMIT ?",
            (after, model, limit),
        )
        return [NoteVectors._make(columns) for columns in found]

    def count(self, model: str) -> int:
        columns = self._database.one("SELECT notes FROM vector_count WHERE model = ?", (model,))
        return 0 if columns is None else int(columns[0])

    def position(self) -> Mapping[str, Any] | None:
        columns = self._database.one("SELECT position FROM embedding")
        return None if columns is None else decode(columns[0])

    def put(self, vectors: Sequence[NoteVectors]) -> None:
        for one in vectors:
            forget_vectors(self._database, one.note)
            self._database.run("INSERT INTO vector (note, model, text, width, data) VALUES (?, ?, ?, ?, ?)", one)
            self._database.run(_COUNT, (one.model, 1))

    def put_position(self, position: Mapping[str, Any]) -> None:
        self._database.run("INSERT OR REPLACE INTO embedding VALUES (1, ?)", (encode(position),))


def forget_vectors(database: Database, note: int) -> None:
    """Delete the vectors of a note."""
    for (model,) in database.all("DELETE FROM vector WHERE note = ? RETURNING model", (note,)):
        database.run(_COUNT, (model, -1))
