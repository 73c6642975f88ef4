"""What the drivers of ``peers.py`` have in common: each runs in the environment of its peer and needs nothing else.

``python -m peer_drivers.DRIVER load|ask DIRECTORY CORPUS``: *load* puts the notes of CORPUS into an empty store in
DIRECTORY by the peer's own bulk import; *ask*, a new process, opens that store, asks every question and adds the
further notes one by one. Each line of output is an object: ``{"loaded": n}``, then ``{"load_s"}``; or ``{"opened"}``
at the first answer, ``{"query_ms", "hit"}`` for each question, ``{"add_ms"}`` for each note, and ``{"rss_mib"}``.
"""

import json
import mmap
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

K = 10  #: notes asked for
FIRST = 5  #: a hit is a note that answers, among so many
Vector: TypeAlias = "memoryview[float]"


class Note(NamedTuple):
    """A note of the corpus."""

    id: str
    text: str  #: all of it: title, aliases, author and content
    given: dict[str, Any]  #: the same as shelfd's ``remember`` takes it
    vector: Vector


class Peer(Protocol):
    """A store under test, open. ``process_id`` is that of the process that holds it."""

    process_id: int
    batch: int  #: notes that its bulk import takes at a time

    def load(self, notes: Sequence[Note]) -> None:
        """Take in notes by the bulk import."""

    def settle(self) -> None:
        """Return when everything loaded can be found."""

    def add(self, note: Note) -> None:
        """Take in one note; it can be found afterwards, and is on disk as far as the peer's defaults say so."""

    def ask(self, text: str, vector: Vector) -> list[str]:
        """The ids of the notes found, best first."""

    def close(self) -> None:
        """End it in an orderly way."""


class Corpus:
    """Notes, further notes and questions, and their vectors, as ``peer_corpus.py`` wrote them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.dimensions: int = json.loads((directory / "about.json").read_text())["dimensions"]
        with (directory / "vectors.f32").open("rb") as file:
            self._vectors = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)).cast("f")

    def notes(self, name: str = "notes") -> Iterator[Note]:
        """Those to load, or those to add (*name* ``added``)."""
        for line in self._lines(name):
            yield Note(line["id"], line["text"], line["given"], self.vector(line["vector"]))

    def questions(self) -> Iterator[tuple[str, Vector, set[str]]]:
        """Each question, its vector, and the ids of the notes that answer it."""
        for line in self._lines("questions"):
            yield line["text"], self.vector(line["vector"]), {*line["gold"]}

    def vector(self, row: int) -> Vector:
        """The vector of a row."""
        return self._vectors[row * self.dimensions : (row + 1) * self.dimensions]

    def _lines(self, name: str) -> Iterator[dict[str, Any]]:
        with (self._directory / f"{name}.jsonl").open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)


def drive(opened: Callable[[Path, Corpus], Peer]) -> None:
    """Do what the command line says with the store that *opened* gives."""
    phase, directory, corpus = sys.argv[1], Path(sys.argv[2]), Corpus(Path(sys.argv[3]))
    peer = opened(directory, corpus)
    try:
        (_load if phase == "load" else _ask)(peer, corpus)
    finally:
        peer.close()


def _load(peer: Peer, corpus: Corpus) -> None:
    began, done = time.perf_counter(), 0
    notes = corpus.notes()
    while batch := list(islice(notes, peer.batch)):
        peer.load(batch)
        done += len(batch)
        _say(loaded=done)
    peer.settle()
    _say(load_s=time.perf_counter() - began)


def _ask(peer: Peer, corpus: Corpus) -> None:
    questions = list(corpus.questions())
    peer.ask(*questions[0][:2])
    _say(opened=True)
    for text, vector, gold in questions:
        began = time.perf_counter()
        found = peer.ask(text, vector)
        _say(query_ms=(time.perf_counter() - began) * 1000, hit=bool(gold.intersection(found[:FIRST])))
    for note in corpus.notes("added"):
        began = time.perf_counter()
        peer.add(note)
        _say(add_ms=(time.perf_counter() - began) * 1000)
    pages = int(Path(f"/proc/{peer.process_id}/statm").read_text().split()[1])
    _say(rss_mib=pages * resource.getpagesize() / 2**20)


def _say(**values: object) -> None:
    print(json.dumps(values), flush=True)
