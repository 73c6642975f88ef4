"""Plain SQLite with FTS5: porter stemming, stop and question words dropped, ``ORDER BY bm25 LIMIT 10``, in a file."""

import os
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from peer_drivers.driving import Corpus, K, Note, Vector, drive
from shelfd.memory.notes.wordlists import word_lists

_WORD = re.compile(r"\w+")


class FullText:
    """One table of texts; every change is durable when it returns."""

    batch = 10_000

    def __init__(self, directory: Path, corpus: Corpus) -> None:
        del corpus
        self.process_id = os.getpid()
        self._connection = sqlite3.connect(directory / "notes.db")
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS n USING fts5(id UNINDEXED, text, tokenize='porter unicode61')"
        )
        lists = word_lists("english")
        self._dropped = lists.stop | lists.question

    def load(self, notes: Sequence[Note]) -> None:
        with self._connection:
            self._connection.executemany("INSERT INTO n VALUES (?, ?)", ((note.id, note.text) for note in notes))

    def settle(self) -> None:
        with self._connection:
            self._connection.execute("INSERT INTO n (n) VALUES ('optimize')")

    def add(self, note: Note) -> None:
        with self._connection:
            self._connection.execute("INSERT INTO n VALUES (?, ?)", (note.id, note.text))

    def ask(self, text: str, vector: Vector) -> list[str]:
        del vector
        words = _WORD.findall(text.lower())
        kept = dict.fromkeys(word for word in words if word not in self._dropped) or dict.fromkeys(words)
        match = " OR ".join(f'"{word}"' for word in kept)
        asked = "SELECT id, text FROM n WHERE n MATCH ? ORDER BY bm25(n) LIMIT ?"
        return [name for name, _ in self._connection.execute(asked, (match, K))]

    def close(self) -> None:
        self._connection.close()


if __name__ == "__main__":
    drive(FullText)
