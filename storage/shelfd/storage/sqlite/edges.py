"""Edges between entities as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Iterable, Sequence
from typing import Any, Final

from pydantic_core import from_json

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.edges import Edge, EdgesWriter, LeadRow, NeighbourRow, NoteEdges, StoredEdge
from shelfd.memory.ports.entities import StoredEntity
from shelfd.storage.encoding import encode_integers
from shelfd.storage.sqlite.conditions import where
from shelfd.storage.sqlite.database import AMONG, Columns, Database, SqliteRows
from shelfd.storage.sqlite.entities import drop_unused, numbers_of, remove_edges

# Table and column names are ours. A filter's condition stands in a query of its own, where all names are a note's.
_NOTE_ID: Final = "(SELECT id FROM note WHERE row = edge.note AND {condition})"
_END: Final = (
    f"SELECT edge.note, {_NOTE_ID}, number, relation, type, key, value, edge_type, confidence, engine"  # noqa: S608
    " FROM edge CROSS JOIN entity"
)
# Each in the order of an index, so that no more is read than is asked for.
_FROM: Final = (
    " WHERE edge.source = ? AND edge.note < ?"
    " ORDER BY edge.note DESC, edge.target DESC, relation DESC, engine DESC LIMIT ?"
)
_TO: Final = (
    " WHERE edge.target = ? AND edge.note < ?"
    " ORDER BY edge.note DESC, edge.source DESC, relation DESC, engine DESC LIMIT ?"
)
_LEAVING: Final = f"{_END} ON number = edge.target{_FROM}"
_REACHING: Final = f"{_END} ON number = edge.source{_TO}"
_LED: Final = (
    "(SELECT json_group_array(json_array(note, {there}, relation)) FROM (SELECT note, {there}, relation FROM edge"
    " WHERE {here} = asked.value AND note < ?1 ORDER BY note DESC, {there} DESC, relation DESC, engine DESC LIMIT ?2))"
)
#: One list of all: a statement for each direction of each entity, and a row for each edge, take half as long again.
_LEADS: Final = (
    f"SELECT '[' || group_concat({_LED.format(here='source', there='target')} || ',' ||"  # noqa: S608
    f" {_LED.format(here='target', there='source')}) || ']' FROM json_each(?3) AS asked"
)
_EDGE: Final = (
    "SELECT s.number, s.type, s.key, s.value, t.number, t.type, t.key, t.value,"  # noqa: S608
    f" relation, edge_type, confidence, engine, edge.note, {_NOTE_ID}"
    " FROM edge CROSS JOIN entity s ON s.number = edge.source CROSS JOIN entity t ON t.number = edge.target"
)
_OF_NOTE: Final = f"{_EDGE} WHERE edge.note = ? ORDER BY s.type, s.key, t.type, t.key, relation, engine DESC"
_PAGE: Final = (
    f"{_EDGE} WHERE edge.note < ?"
    " ORDER BY edge.note DESC, edge.source DESC, edge.target DESC, relation DESC, engine DESC LIMIT ?"
)
_ADD: Final = "INSERT OR REPLACE INTO edge VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_SAYING: Final = f"SELECT DISTINCT note FROM edge WHERE note {AMONG}"  # noqa: S608
_NEWEST: Final = 2**62


class SqliteEdges(SqliteRows, EdgesWriter):
    """Edges."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        # The notes that were wanted last, and how that is asked: a walk asks some fifty times in a row.
        self._wanted: NoteFilter | None = None
        self._condition, self._params = "", list[Any]()
        self._asked: dict[str, str] = {}

    def of_note(self, row: int) -> list[StoredEdge]:
        return self._read(_OF_NOTE.format(condition="1"), (row,))

    def leaving(self, number: int, wanted: NoteFilter, *, before: int | None, limit: int) -> list[NeighbourRow]:
        return self._around(_LEAVING, number, wanted, before, limit)

    def reaching(self, number: int, wanted: NoteFilter, *, before: int | None, limit: int) -> list[NeighbourRow]:
        return self._around(_REACHING, number, wanted, before, limit)

    def leads(self, numbers: Sequence[int], *, before: int | None, limit: int) -> list[list[LeadRow]]:
        params = (_NEWEST if before is None else before, max(limit, 0), encode_integers(numbers))
        found: list[list[LeadRow]] = from_json(self._database.value(_LEADS, params) or "[]")  # null of no entity
        return found

    def page(self, wanted: NoteFilter, *, before: int | None, limit: int) -> list[StoredEdge]:
        condition, params = where(wanted)
        below = _NEWEST if before is None else before
        return self._read(_PAGE.format(condition=condition), (*params, below, max(limit, 0)))

    def put(self, found: Sequence[NoteEdges]) -> None:
        removed = set[int]()
        said = self._database.all(_SAYING, (encode_integers(one.row for one in found),))
        if said:  # of most notes it is the first time
            rows = {columns[0] for columns in said}
            for row, _, text in found:
                if row in rows:
                    removed |= remove_edges(self._database, "note = ? AND (engine = 'rules' OR text <> ?)", (row, text))
        self._add((row, 0, edge) for row, edges, _ in found for edge in edges)
        drop_unused(self._database, removed)

    def put_read(self, row: int, edges: Sequence[Edge], *, text: int) -> None:
        removed = remove_edges(self._database, "note = ? AND engine <> 'rules'", (row,))
        self._add((row, text, edge) for edge in edges)
        drop_unused(self._database, removed)

    def _add(self, said: Iterable[tuple[int, int, Edge]]) -> None:
        said = list(said)
        ends = {end[:2]: end.value for _, _, edge in said for end in edge[:2]}
        numbers = numbers_of(self._database, ends)
        self._database.run_many(
            _ADD,
            [
                (
                    numbers[edge.source[:2]],
                    row,
                    numbers[edge.target[:2]],
                    edge.relation,
                    edge.edge_type,
                    edge.confidence,
                    edge.engine,
                    text,
                )
                for row, text, edge in said
            ],
        )

    def _around(self, sql: str, number: int, wanted: NoteFilter, before: int | None, limit: int) -> list[Any]:
        """What *sql* says of an entity's edges."""
        if wanted is not self._wanted:
            self._condition, self._params = where(wanted)
            self._wanted, self._asked = wanted, {}
        asked = self._asked.get(sql)
        if asked is None:
            asked = self._asked[sql] = sql.format(condition=self._condition)
        return self._database.all(asked, (*self._params, number, _NEWEST if before is None else before, max(limit, 0)))

    def _read(self, sql: str, params: Columns) -> list[StoredEdge]:
        return [
            StoredEdge(StoredEntity._make(columns[:4]), StoredEntity._make(columns[4:8]), *columns[8:])
            for columns in self._database.all(sql, params)
        ]
