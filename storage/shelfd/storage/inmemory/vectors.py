"""The twin's vectors."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Mapping, Sequence
from typing import Any

from shelfd.memory.ports.vectors import NoteVectors, VectorsWriter
from shelfd.storage.inmemory.tables import InMemoryRows


class InMemoryVectors(InMemoryRows, VectorsWriter):
    """Vectors of notes."""

    def of(self, notes: Sequence[int], model: str) -> list[NoteVectors]:
        wanted = set(notes)
        return [one for one in self._all(model) if one.note in wanted]

    def texts(self, notes: Sequence[int], model: str) -> dict[int, int]:
        return {one.note: one.text for one in self.of(notes, model)}

    def page(self, model: str, *, after: int = 0, limit: int) -> list[NoteVectors]:
        return [one for one in self._all(model) if one.note > after][:limit]

    def count(self, model: str) -> int:
        return len(self._all(model))

    def position(self) -> Mapping[str, Any] | None:
        return self._tables.embedding.get("position")

    def put(self, vectors: Sequence[NoteVectors]) -> None:
        for one in vectors:
            self._tables.put(self._tables.vectors, one.note, one)

    def put_position(self, position: Mapping[str, Any]) -> None:
        self._tables.put(self._tables.embedding, "position", dict(position))

    def _all(self, model: str) -> list[NoteVectors]:
        return [one for _, one in sorted(self._tables.vectors.items()) if one.model == model]
