"""chromadb, a persistent client in the process that asks: its graph of neighbours (HNSW), cosine."""

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from peer_drivers.driving import Corpus, K, Note, Vector, drive

chromadb = import_module("chromadb")  # of another environment


class Chroma:
    """One collection."""

    def __init__(self, directory: Path, corpus: Corpus) -> None:
        del corpus
        self.process_id = os.getpid()
        settings = chromadb.Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(path=str(directory), settings=settings)
        self.batch = int(client.get_max_batch_size())
        self._notes = client.get_or_create_collection(
            "notes", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def load(self, notes: Sequence[Note]) -> None:
        self._notes.add(
            ids=[note.id for note in notes],
            documents=[note.text for note in notes],
            embeddings=[note.vector.tolist() for note in notes],
        )

    def settle(self) -> None:
        pass

    def add(self, note: Note) -> None:
        self.load([note])

    def ask(self, text: str, vector: Vector) -> list[str]:
        del text
        found: list[str] = self._notes.query(query_embeddings=[vector.tolist()], n_results=K)["ids"][0]
        return found

    def close(self) -> None:
        pass


if __name__ == "__main__":
    drive(Chroma)
