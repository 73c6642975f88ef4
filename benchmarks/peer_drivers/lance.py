"""LanceDB, hybrid search: its full-text index and a scan of the vectors, fused by its own default."""

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from peer_drivers.driving import Corpus, K, Note, Vector, drive

lancedb = import_module("lancedb")  # of another environment
pyarrow = import_module("pyarrow")


class Lance:
    """One table."""

    batch = 10_000

    def __init__(self, directory: Path, corpus: Corpus) -> None:
        self.process_id = os.getpid()
        vector = pyarrow.list_(pyarrow.float32(), corpus.dimensions)
        schema = pyarrow.schema([("id", pyarrow.string()), ("text", pyarrow.string()), ("vector", vector)])
        self._notes = lancedb.connect(str(directory)).create_table("notes", schema=schema, exist_ok=True)

    def load(self, notes: Sequence[Note]) -> None:
        self._notes.add([{"id": note.id, "text": note.text, "vector": note.vector.tolist()} for note in notes])

    def settle(self) -> None:
        self._notes.create_fts_index("text")
        self._notes.optimize()

    def add(self, note: Note) -> None:
        self.load([note])

    def ask(self, text: str, vector: Vector) -> list[str]:
        asked = self._notes.search(query_type="hybrid").vector(vector.tolist()).text(text).limit(K)
        return [row["id"] for row in asked.to_list()]

    def close(self) -> None:
        pass


if __name__ == "__main__":
    drive(Lance)
