"""qdrant's local mode: in the process that asks, kept in a directory."""

import os
from collections.abc import Sequence
from importlib import import_module
from itertools import count
from pathlib import Path

from peer_drivers.driving import Corpus, K, Note, Vector, drive

qdrant_client = import_module("qdrant_client")  # of another environment
models = import_module("qdrant_client.models")


class Qdrant:
    """One collection; its points have numbers, so the note's id is kept with each."""

    batch = 1_000

    def __init__(self, directory: Path, corpus: Corpus) -> None:
        self.process_id = os.getpid()
        self._client = qdrant_client.QdrantClient(path=str(directory))
        if not self._client.collection_exists("notes"):
            vectors = models.VectorParams(size=corpus.dimensions, distance=models.Distance.COSINE)
            self._client.create_collection("notes", vectors_config=vectors)
        self._numbers = count(self._client.count("notes").count)

    def load(self, notes: Sequence[Note]) -> None:
        points = [
            models.PointStruct(
                id=next(self._numbers), vector=note.vector.tolist(), payload={"id": note.id, "text": note.text}
            )
            for note in notes
        ]
        self._client.upload_points("notes", points, wait=True)

    def settle(self) -> None:
        pass

    def add(self, note: Note) -> None:
        point = models.PointStruct(
            id=next(self._numbers), vector=note.vector.tolist(), payload={"id": note.id, "text": note.text}
        )
        self._client.upsert("notes", [point], wait=True)

    def ask(self, text: str, vector: Vector) -> list[str]:
        del text
        found = self._client.query_points("notes", query=vector.tolist(), limit=K)
        return [point.payload["id"] for point in found.points]

    def close(self) -> None:
        self._client.close()


if __name__ == "__main__":
    drive(Qdrant)
