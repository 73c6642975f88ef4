"""shelfd with its default settings, through its socket; it is not given the vectors."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from peer_drivers.driving import Corpus, K, Note, Vector, drive
from shelfd.client import connect


class Shelf:
    """A daemon of its own and a client of it."""

    batch = 5_000

    def __init__(self, directory: Path, corpus: Corpus) -> None:
        del corpus
        socket = str(directory / "s")
        flags = ("--data-dir", str(directory / "data"), "--socket", socket)
        with (directory / "log").open("ab") as log:
            self._daemon = subprocess.Popen(
                [sys.executable, "-m", "shelfd.daemon", *flags], stdout=subprocess.PIPE, stderr=log, text=True
            )
        self.process_id = self._daemon.pid
        assert self._daemon.stdout is not None
        while "READY" not in (line := self._daemon.stdout.readline()):
            if not line:
                raise SystemExit((directory / "log").read_text())
        self._client = connect(socket, timeout_s=600)
        self.settle()

    def load(self, notes: Sequence[Note]) -> None:
        reply = self._client.call("remember_many", {"notes": [note.given for note in notes]})
        assert not reply["rejected"], reply["rejected"][:3]

    def settle(self) -> None:
        while self._client.call("recall", {"query": "ready", "count_hits": False})["index"]["state"] != "ready":
            time.sleep(0.01)

    def add(self, note: Note) -> None:
        self._client.call("remember", note.given)

    def ask(self, text: str, vector: Vector) -> list[str]:
        del vector
        return [hit["note"]["source_ref"] for hit in self._client.call("recall", {"query": text, "k": K})["results"]]

    def close(self) -> None:
        self._client.close()
        self._daemon.terminate()
        self._daemon.communicate(timeout=60)


if __name__ == "__main__":
    drive(Shelf)
