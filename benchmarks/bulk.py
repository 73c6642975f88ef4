"""How fast many notes are taken in: by remember_many, by an import of JSON lines, and by plain SQLite beside it.

One daemon on a real disk; everything goes through its socket, from this process or, for the import, from the
``shelfd`` command. Each turn takes the notes in four times, each time into an empty shelf: in requests of 1,000 notes
and of 10,000, in requests of 1,000 while a subscriber reads every event, and from a snapshot of the first of these
shelves. Then come two tables of plain SQLite: the note with its text and three indexes, and an FTS5 index of the text,
1,000 notes a transaction, as durable as the daemon's.

*CPU* is the daemon's processor time from the first byte until everything that recall reads knows every note, and every
event was sent. What finds entities and statements works in the background, when nobody changes anything: it is
reported apart (``--background``), and nothing of it is in the other rows. The figures are medians of the turns.

Run: ``python benchmarks/bulk.py [--notes N] [--turns N] [--background] [--dir DIR]``
"""

import argparse
import json
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from served import Served, clean_environment, median, served, table, working_directory
from shelfd.client import Client, connect

SMALL, LARGE = 1_000, 10_000  #: notes in one request
WORDS = 25  #: of a text, at least
NAMES = 20_000
VARIED = 1 / 6  #: share of words that are drawn
DATA = Path(__file__).with_name("data") / "notes.jsonl"
WANTED = 10_000  #: notes a second


class Load(NamedTuple):
    """One way of taking notes in: wall and processor seconds a note."""

    wall: float
    cpu: float


def sentences(count: int) -> list[str]:
    """Texts of some thirty words: sentences of the notes that were written for this project, varied.

    A sixth of their words are others of these notes, and each has a name that few others have, so that the number of
    different words grows with that of the notes, as it does in a language.
    """
    written = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    pool = [
        sentence.split()
        for note in written
        if note["language"] == "en"
        for sentence in re.split(r"(?<=[.!?]) ", note["content"])
    ]
    words = [word for sentence in pool for word in sentence]
    draw = random.Random(14)
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    names = ["".join(draw.choices(syllables, k=3)).capitalize() for _ in range(NAMES)]
    texts = []
    for number in range(count):
        said = [names[int(NAMES * draw.random() ** 3)], str(number * 7919 % 9973)]
        while len(said) < WORDS:
            said += [draw.choice(words) if draw.random() < VARIED else word for word in draw.choice(pool)]
        texts.append(" ".join(said))
    return texts


def notes(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Notes as an agent gives them: text, who said it, where, every fourth with tags."""
    return [
        {
            "content": text,
            "session_id": f"session-{number // 40}",
            "author": f"Writer {number % 7}",
            **({"tags": ["observed", f"berth-{number % 50}"]} if number % 4 == 0 else {}),
        }
        for number, text in enumerate(texts)
    ]


def requests(all_notes: Sequence[dict[str, Any]], shelf: str, size: int) -> list[bytes]:
    """The requests, made before the clock starts."""
    parts = [all_notes[begin : begin + size] for begin in range(0, len(all_notes), size)]
    return [
        json.dumps(
            {"jsonrpc": "2.0", "id": number, "method": "remember_many", "params": {"shelf": shelf, "notes": part}}
        ).encode()
        + b"\n"
        for number, part in enumerate(parts, 1)
    ]


def measured(daemon: Served, count: int, load: Callable[[], None], settle: Callable[[], None]) -> Load:
    """Take *count* notes in by *load*; what is derived from them is complete after *settle*."""
    cpu, began = daemon.exact_cpu_s(), time.perf_counter()
    load()
    wall = time.perf_counter() - began
    settle()
    return Load(wall / count, (daemon.exact_cpu_s() - cpu) / count)


def remember_many(daemon: Served, client: Client, shelf: str, all_notes: Sequence[dict[str, Any]], size: int) -> Load:
    """Send one request after the other; each waits for the answer to the one before."""
    lines = requests(all_notes, shelf, size)
    with socket.socket(socket.AF_UNIX) as sender:
        sender.connect(daemon.socket)
        reader = sender.makefile("rb")

        def load() -> None:
            for line in lines:
                sender.sendall(line)
                reply = reader.readline()
                assert b'"rejected":[]' in reply, reply[:500]

        return measured(daemon, len(all_notes), load, lambda: settle(client, shelf))


def settle(client: Client, shelf: str) -> None:
    """Wait until recall knows every note."""
    client.call("recall", {"shelf": shelf, "query": "nothing", "count_hits": False})


@contextmanager
def followed(daemon: Served, shelf: str, count: int) -> Iterator[threading.Thread]:
    """A subscriber that reads every event in a thread of its own, which ends after *count* of them."""
    with connect(daemon.socket, timeout_s=60) as client:
        client.call("events.subscribe", {"shelf": shelf})

        def follow() -> None:
            events = client.notifications()
            seen = 0
            while seen < count:
                message = next(events)
                assert message["method"] == "event", message
                seen += message["params"]["type"] == "shelfd.note.created.v1"

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        yield thread
        thread.join(60)


def with_events(daemon: Served, shelf: str, all_notes: Sequence[dict[str, Any]]) -> Load:
    """The same while a subscriber reads every event; done when it has the last one."""
    lines = requests(all_notes, shelf, SMALL)
    with followed(daemon, shelf, len(all_notes)) as follower, socket.socket(socket.AF_UNIX) as sender:
        sender.connect(daemon.socket)
        reader = sender.makefile("rb")

        def load() -> None:
            for line in lines:
                sender.sendall(line)
                reader.readline()

        def until_all() -> None:
            follower.join(60)
            assert not follower.is_alive()

        return measured(daemon, len(all_notes), load, until_all)


def import_lines(daemon: Served, client: Client, shelf: str, path: Path, count: int) -> Load:
    """Have the command import a snapshot, as anybody would."""
    command = [sys.executable, "-m", "shelfd.client", "import", str(path), "--shelf", shelf, "--json"]

    def load() -> None:
        done = subprocess.run(
            [*command, "--socket", daemon.socket], check=True, capture_output=True, env=clean_environment()
        )
        assert b'"rejected": []' in done.stdout or b'"rejected":[]' in done.stdout, done.stdout[:500]

    return measured(daemon, count, load, lambda: settle(client, shelf))


def plain(path: Path, all_notes: Sequence[dict[str, Any]]) -> Load:
    """The same notes in plain SQLite: a row, three indexes and FTS5."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in (
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        "CREATE TABLE note (row INTEGER PRIMARY KEY, id TEXT UNIQUE, author, session_id, tags, created_at, content)",
        "CREATE INDEX note_session ON note (session_id)",
        "CREATE INDEX note_created ON note (created_at)",
        "CREATE VIRTUAL TABLE text USING fts5(content, content = 'note', content_rowid = 'row')",
    ):
        connection.execute(statement)
    began, cpu = time.perf_counter(), time.process_time()
    for begin in range(0, len(all_notes), SMALL):
        rows = [
            (row, f"note-{row:08x}", one["author"], one["session_id"], str(one.get("tags")), begin, one["content"])
            for row, one in enumerate(all_notes[begin : begin + SMALL], begin + 1)
        ]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO note VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        connection.executemany("INSERT INTO text (rowid, content) VALUES (?, ?)", [(row[0], row[6]) for row in rows])
        connection.execute("COMMIT")
    count = len(all_notes)
    load = Load((time.perf_counter() - began) / count, (time.process_time() - cpu) / count)
    connection.close()
    return load


def turn(daemon: Served, directory: Path, number: int, all_notes: Sequence[dict[str, Any]]) -> dict[str, Load]:
    """Take the notes in by each way once."""
    found: dict[str, Load] = {}
    lines = directory / "notes.jsonl"
    with connect(daemon.socket, timeout_s=600) as client:
        with new_shelf(client, f"small-{number}") as shelf:
            found[f"remember_many, {SMALL:,} a request"] = remember_many(daemon, client, shelf, all_notes, SMALL)
            if not lines.exists():
                shutil.copy(client.call("snapshot", {"shelf": shelf})["path"], lines)
        with new_shelf(client, f"large-{number}") as shelf:
            found[f"remember_many, {LARGE:,} a request"] = remember_many(daemon, client, shelf, all_notes, LARGE)
        with new_shelf(client, f"followed-{number}") as shelf:
            found["the first, with a subscriber"] = with_events(daemon, shelf, all_notes)
        with new_shelf(client, f"imported-{number}") as shelf:
            found["shelfd import of JSON lines"] = import_lines(daemon, client, shelf, lines, len(all_notes))
    found["plain SQLite with FTS5"] = plain(directory / "plain.db", all_notes)
    return found


@contextmanager
def new_shelf(client: Client, name: str) -> Iterator[str]:
    """An empty shelf, dropped at once afterwards: what works in the background is no part of the next load."""
    client.call("shelf.create", {"shelf": name})
    yield name
    client.call("shelf.drop", {"shelf": name, "confirm": name})


def background(daemon: Served, all_notes: Sequence[dict[str, Any]]) -> Load:
    """What finding entities and statements of the notes costs, which is done when nobody changes anything."""
    with connect(daemon.socket, timeout_s=600) as client, new_shelf(client, "background") as shelf:
        remember_many(daemon, client, shelf, all_notes, SMALL)

        def wait() -> None:
            asked = {"shelf": shelf, "entity_type": "person", "entity_value": "nobody", "min_seq": len(all_notes)}
            while client.call("recall_entity", asked)["index"]["state"] != "ready":
                pass  # each waits some seconds for what is not read yet

        return measured(daemon, len(all_notes), wait, lambda: None)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=10_000, help="notes of one load (10000)")
    parser.add_argument("--turns", type=int, default=5, help="how often everything is measured (5)")
    parser.add_argument("--background", action="store_true", help="measure what is found in the background, too")
    parser.add_argument("--dir", help="directory on the disk to measure; default: .run in the checkout")
    arguments = parser.parse_args()
    all_notes = notes(sentences(arguments.notes))
    with working_directory(arguments.dir) as directory:
        (directory / "served").mkdir()
        with served(directory / "served") as daemon:
            turns = [turn(daemon, directory, number, all_notes) for number in range(arguments.turns)]
            behind = background(daemon, all_notes) if arguments.background else None
    rows = [["taken in by", "notes/s", "daemon's CPU, us a note", "times plain SQLite's", "must be"]]
    base = median([one["plain SQLite with FTS5"].cpu for one in turns])
    for name in turns[0]:
        wall, cpu = (median([getattr(one[name], of) for one in turns]) for of in ("wall", "cpu"))
        limit = "-" if name.startswith(("plain", "the first")) else f">= {WANTED:,}/s"
        rows.append([name, f"{1 / wall:,.0f}", f"{cpu * 1e6:.1f}", f"{cpu / base:.2f}", limit])
    print(table(rows))
    if behind is not None:
        print(f"\nin the background, entities and statements: {behind.cpu * 1e6:.0f} us CPU a note")


if __name__ == "__main__":
    main()
