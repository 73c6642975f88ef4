"""LangGraph's SqliteStore with its index of vectors (sqlite-vec)."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from peer_drivers.driving import Corpus, K, Note, Vector, drive

# Pythons are built without SQLite's extensions, which it needs for its vectors.
sys.modules["sqlite3"] = import_module("pysqlite3")
PutOp = import_module("langgraph.store.base").PutOp  # of another environment
SqliteStore = import_module("langgraph.store.sqlite").SqliteStore
_PLACE = ("notes",)


class LangGraph:
    """One namespace. The store asks for vectors by text, so they are laid ready before."""

    batch = 1_000

    def __init__(self, directory: Path, corpus: Corpus) -> None:
        self.process_id = os.getpid()
        self._ready: dict[str, Vector] = {}
        index = {"dims": corpus.dimensions, "embed": self._embed, "text_fields": ["text"]}
        self._opened = SqliteStore.from_conn_string(str(directory / "store.db"), index=index)
        self._store = self._opened.__enter__()
        self._store.setup()

    def load(self, notes: Sequence[Note]) -> None:
        self._ready = {note.text: note.vector for note in notes}
        self._store.batch([PutOp(_PLACE, note.id, {"text": note.text}) for note in notes])

    def settle(self) -> None:
        pass

    def add(self, note: Note) -> None:
        self._ready = {note.text: note.vector}
        self._store.put(_PLACE, note.id, {"text": note.text})

    def ask(self, text: str, vector: Vector) -> list[str]:
        self._ready = {text: vector}
        return [item.key for item in self._store.search(_PLACE, query=text, limit=K)]

    def close(self) -> None:
        self._opened.__exit__(None, None, None)

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [list(self._ready[text]) for text in texts]


if __name__ == "__main__":
    drive(LangGraph)
