"""The twin's edges between entities."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Callable, Sequence
from typing import Any

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.edges import Edge, EdgesWriter, LeadRow, Neighbour, NoteEdges, StoredEdge
from shelfd.storage.inmemory.entities import drop_unused, entity_of
from shelfd.storage.inmemory.tables import EdgeKey, InMemoryRows, Tables


class InMemoryEdges(InMemoryRows, EdgesWriter):
    """Edges."""

    def of_note(self, row: int) -> list[StoredEdge]:
        found = [edge for edge in self._all(NoteFilter(include_hidden=True)) if edge.note == row]
        found.sort(key=lambda edge: edge.engine, reverse=True)
        return sorted(found, key=lambda edge: (edge.source[1:3], edge.target[1:3], edge.relation))

    def leaving(self, number: int, wanted: NoteFilter, *, before: int | None, limit: int) -> Sequence[Neighbour]:
        found = [edge for edge in self._all(wanted) if edge.source.number == number]
        found = _newest(found, before, limit, lambda edge: (edge.note, edge.target.number, edge.relation, edge.engine))
        return [edge.to(edge.target) for edge in found]

    def reaching(self, number: int, wanted: NoteFilter, *, before: int | None, limit: int) -> Sequence[Neighbour]:
        found = [edge for edge in self._all(wanted) if edge.target.number == number]
        found = _newest(found, before, limit, lambda edge: (edge.note, edge.source.number, edge.relation, edge.engine))
        return [edge.to(edge.source) for edge in found]

    def leads(self, numbers: Sequence[int], *, before: int | None, limit: int) -> list[list[LeadRow]]:
        return [
            [[edge.note, edge.number, edge.relation] for edge in read(number, NoteFilter(), before=before, limit=limit)]
            for number in numbers
            for read in (self.leaving, self.reaching)
        ]

    def page(self, wanted: NoteFilter, *, before: int | None, limit: int) -> list[StoredEdge]:
        return _newest(
            self._all(wanted),
            before,
            limit,
            lambda edge: (edge.note, edge.source.number, edge.target.number, edge.relation, edge.engine),
        )

    def put(self, found: Sequence[NoteEdges]) -> None:
        for one in found:
            self._put(*one)

    def _put(self, row: int, edges: Sequence[Edge], text: int) -> None:
        tables = self._tables
        for key, (edge, read_in) in list(tables.edges.items()):
            if key[3] == row and (edge.engine == "rules" or read_in != text):
                tables.remove(tables.edges, key)
        for edge in edges:
            self._add(row, edge, 0)
        drop_unused(tables)

    def put_read(self, row: int, edges: Sequence[Edge], *, text: int) -> None:
        tables = self._tables
        for key, (edge, _) in list(tables.edges.items()):
            if key[3] == row and edge.engine != "rules":
                tables.remove(tables.edges, key)
        for edge in edges:
            self._add(row, edge, text)
        drop_unused(tables)

    def _add(self, row: int, edge: Edge, text: int) -> None:
        for end in (edge.source, edge.target):
            entity_of(self._tables, *end)
        self._tables.put(self._tables.edges, _key(edge, row), (edge, text))

    def _all(self, wanted: NoteFilter) -> list[StoredEdge]:
        entities, notes = self._tables.entities, self._tables.notes
        return [
            StoredEdge(
                entities[source],
                entities[target],
                *edge[2:],
                row,
                note.id if (note := notes.get(row)) is not None and wanted.admits(note) else None,
            )
            for (source, target, _, row, _), (edge, _) in self._tables.edges.items()
        ]


def _key(edge: Edge, row: int) -> EdgeKey:
    return edge.source[:2], edge.target[:2], edge.relation, row, edge.engine


def _newest(
    edges: list[StoredEdge], before: int | None, limit: int, place: Callable[[StoredEdge], Any]
) -> list[StoredEdge]:
    found = [edge for edge in edges if before is None or edge.note < before]
    return sorted(found, key=place, reverse=True)[: max(limit, 0)]


def forget_edges(tables: Tables, row: int) -> None:
    """Delete what a note says, whoever read it; entities that nothing else keeps go with it."""
    for key in [key for key in tables.edges if key[3] == row]:
        tables.remove(tables.edges, key)
    drop_unused(tables)
