"""Edges between entities as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Sequence
from typing import Final

from shelfd.memory.ports.edges import Edge, EdgesWriter, StoredEdge
from shelfd.memory.ports.entities import StoredEntity
from shelfd.storage.sqlite.database import Columns, Database, SqliteRows
from shelfd.storage.sqlite.entities import drop_unused, number_of

# Table and column names are ours.
_EDGE: Final = (
    "SELECT edge.note, relation, edge_type, confidence, engine,"
    " s.number, s.type, s.key, s.value, t.number, t.type, t.key, t.value"
    " FROM edge CROSS JOIN entity s ON s.number = edge.source CROSS JOIN entity t ON t.number = edge.target"
)
_OF_NOTE: Final = f"{_EDGE} WHERE edge.note = ? ORDER BY s.type, s.key, t.type, t.key, relation, engine DESC"
# Each in the order of an index, so that no more is read than is asked for.
_LEAVING: Final = (
    f"{_EDGE} WHERE edge.source = ? AND edge.note < ?"
    " ORDER BY edge.note DESC, edge.target DESC, relation DESC, engine DESC LIMIT ?"
)
_REACHING: Final = (
    f"{_EDGE} WHERE edge.target = ? AND edge.note < ?"
    " ORDER BY edge.note DESC, edge.source DESC, relation DESC, engine DESC LIMIT ?"
)
_PAGE: Final = (
    f"{_EDGE} WHERE edge.note < ?"
    " ORDER BY edge.note DESC, edge.source DESC, edge.target DESC, relation DESC, engine DESC LIMIT ?"
)
_ADD: Final = "INSERT OR REPLACE INTO edge VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_NEWEST: Final = 2**62


class SqliteEdges(SqliteRows, EdgesWriter):
    """Edges."""

    def of_note(self, row: int) -> list[StoredEdge]:
        return self._read(_OF_NOTE, (row,))

    def leaving(self, number: int, *, before: int | None, limit: int) -> list[StoredEdge]:
        return self._read(_LEAVING, (number, _NEWEST if before is None else before, max(limit, 0)))

    def reaching(self, number: int, *, before: int | None, limit: int) -> list[StoredEdge]:
        return self._read(_REACHING, (number, _NEWEST if before is None else before, max(limit, 0)))

    def page(self, *, before: int | None, limit: int) -> list[StoredEdge]:
        return self._read(_PAGE, (_NEWEST if before is None else before, max(limit, 0)))

    def put(self, row: int, edges: Sequence[Edge], *, text: int) -> None:
        removed = _remove(self._database, "note = ? AND (engine = 'rules' OR text <> ?)", (row, text))
        self._add(row, edges, 0)
        drop_unused(self._database, removed)

    def put_read(self, row: int, edges: Sequence[Edge], *, text: int) -> None:
        removed = _remove(self._database, "note = ? AND engine <> 'rules'", (row,))
        self._add(row, edges, text)
        drop_unused(self._database, removed)

    def _add(self, row: int, edges: Sequence[Edge], text: int) -> None:
        if not edges:
            return
        database = self._database
        numbers = {end: number_of(database, *end) for edge in edges for end in edge[:2]}
        database.run_many(
            _ADD,
            [
                (numbers[source], row, numbers[target], relation, edge_type, confidence, engine, text)
                for source, target, relation, edge_type, confidence, engine in edges
            ],
        )

    def _read(self, sql: str, params: Columns) -> list[StoredEdge]:
        return [
            StoredEdge(StoredEntity(*source), StoredEntity(*target), relation, edge_type, confidence, engine, note)
            for note, relation, edge_type, confidence, engine, *ends in self._database.all(sql, params)
            for source, target in ((ends[:4], ends[4:]),)
        ]


def forget_edges(database: Database, row: int) -> None:
    """Delete what a note says, whoever read it; entities that nothing else keeps go with it."""
    drop_unused(database, _remove(database, "note = ?", (row,)))


def _remove(database: Database, condition: str, params: Columns) -> set[int]:
    """Delete edges; return the numbers of their ends."""
    found = database.all(f"DELETE FROM edge WHERE {condition} RETURNING source, target", params)  # noqa: S608
    return {number for columns in found for number in columns}
