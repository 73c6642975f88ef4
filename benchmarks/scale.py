"""Recall as the shelf grows, in turn with SQLite's FTS5: conversations repeated until there are so many notes.

For each size a daemon of its own takes the notes in and is asked through its socket, with its default settings: hits
are counted, links looked for, whole notes returned. FTS5 (porter, stop and question words dropped from the query,
ORDER BY bm25 LIMIT 10, optimised, in memory) holds authors and texts of the same notes in this process and returns row
numbers. Each question is put to both, one after the other. CPU is that of the daemon with all it does meanwhile, and
that of FTS5. The copies of a conversation say the same, or they are varied: each has other speakers, years and rare
words, and then the evidence that both find can be counted, too. The same questions are then asked in one nugget of
fifty, while 100 notes are written each second, and while others ask for next to nothing, which shows how long they
wait; last the daemon is killed and started again on what it left, then stopped and started: how long until it is READY,
and until it recalls from all notes. ``--keep DIR`` keeps what was
taken in there, and the next run with the same notes begins with a copy of it: a million notes are taken in once. LoCoMo
is not part of this project; give the path of a file with LoCoMo conversations.

Run: ``python benchmarks/scale.py PATH [--notes 700,10000,100000] [--questions 200] [--copies same,varied]``
``[--engine numpy|compiled] [--keep DIR] [--dir DIR]``
"""

import argparse
import json
import os
import re
import shutil
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from locomo import progress
from served import Served, median, percentile, served, table, working_directory
from shelfd.client import Client, connect
from shelfd.memory.notes.wordlists import word_lists
from tiled import Question, Tiled

BATCH = 5_000  #: notes in one request
WARM = 30  #: questions asked before the clocks start
NUGGETS = 50  #: of one size
WRITES = 100  #: a second
PAUSE_S = 0.003  #: between two requests of who only waits
IDLE = 0.05  #: CPU seconds a second of a daemon that does nothing
_WORD = re.compile(r"[a-z0-9]+")


class Measured(NamedTuple):
    """One question: how long both took, which CPU time FTS5, and which share of its evidence each found."""

    recall_s: float
    fts_s: float
    fts_cpu_s: float
    recalled: float
    matched: float


class FullText:
    """The same notes in SQLite's FTS5, in memory."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE n USING fts5(text, tokenize='porter unicode61')")
        lists = word_lists("english")
        self._dropped = lists.stop | lists.question
        self._references: list[str] = []

    def add(self, notes: list[dict[str, Any]]) -> None:
        """Take in notes."""
        rows = [(f"{note['author']} {note['content']}",) for note in notes]
        self._connection.executemany("INSERT INTO n (text) VALUES (?)", rows)
        self._references += [note["source_ref"] for note in notes]

    def optimize(self) -> None:
        """Merge what was written into one segment."""
        self._connection.execute("INSERT INTO n (n) VALUES ('optimize')")
        self._connection.commit()

    def keep(self, path: Path) -> None:
        """Write all of it to a file, whole or not at all."""
        self._connection.execute("CREATE TABLE kept (reference TEXT)")
        self._connection.executemany("INSERT INTO kept VALUES (?)", ((one,) for one in self._references))
        self._connection.commit()
        part = path.with_suffix(".part")
        part.unlink(missing_ok=True)
        with closing(sqlite3.connect(part)) as file:
            self._connection.backup(file)
        part.rename(path)

    def read(self, path: Path) -> None:
        """Begin with what was kept."""
        with closing(sqlite3.connect(path)) as file:
            file.backup(self._connection)
        rows = self._connection.execute("SELECT reference FROM kept ORDER BY rowid")
        self._references = [reference for (reference,) in rows]

    def ask(self, question: str) -> tuple[list[str], float]:
        """The references of the ten best notes, and how long that took in seconds."""
        began = time.perf_counter()
        words = _WORD.findall(question.lower())
        kept = dict.fromkeys(word for word in words if word not in self._dropped) or dict.fromkeys(words)
        match = " OR ".join(f'"{word}"' for word in kept)
        found = self._connection.execute(
            "SELECT rowid FROM n WHERE n MATCH ? ORDER BY bm25(n) LIMIT 10", (match,)
        ).fetchall()
        took = time.perf_counter() - began
        return [self._references[row - 1] for (row,) in found], took


def batches(notes: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The notes, as many at a time as one request takes."""
    while batch := list(islice(notes, BATCH)):
        yield batch


def ingest(client: Client, full_text: FullText, tiled: Tiled) -> None:
    """Give all notes to both."""
    done = 0
    for batch in batches(tiled.notes()):
        for number, note in enumerate(batch, done):
            note["nugget"] = f"part-{number * NUGGETS // tiled.count}"
        result = client.call("remember_many", {"notes": batch})
        assert not result["rejected"]
        full_text.add(batch)
        done += len(batch)
        progress(done, tiled.count, f"remember of {tiled.count:,}")
    full_text.optimize()


def recall(client: Client, question: str, **filters: str) -> tuple[list[str], float]:
    """The references of ten notes, and how long that took in seconds."""
    began = time.perf_counter()
    reply = client.call("recall", {"query": question, "k": 10, **filters})
    took = time.perf_counter() - began
    return [hit["note"]["source_ref"] for hit in reply["results"]], took


def ask(client: Client, full_text: FullText, questions: list[Question]) -> list[Measured]:
    """Put each question to both."""
    found = []
    for question in questions:
        recalled, recall_s = recall(client, question.text)
        cpu = time.thread_time()
        matched, fts_s = full_text.ask(question.text)
        cpu = time.thread_time() - cpu
        shares = (len(question.wanted.intersection(refs)) / len(question.wanted) for refs in (recalled, matched))
        found.append(Measured(recall_s, fts_s, cpu, *shares))
    return found


class Other(threading.Thread):
    """Another client, at work until it is stopped."""

    def __init__(self, socket: str) -> None:
        super().__init__()
        self._socket = socket
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


class Writing(Other):
    """Writes notes at an even pace."""

    def __init__(self, socket: str, tiled: Tiled) -> None:
        super().__init__(socket)
        self._tiled = tiled

    def run(self) -> None:
        """Write."""
        with connect(self._socket, timeout_s=60) as client:
            began = time.perf_counter()
            for count, note in enumerate(self._tiled.notes()):
                if self._over.wait(max(0.0, began + count / WRITES - time.perf_counter())):
                    return
                client.call("remember", {**note, "nugget": "written"})


class Waiting(Other):
    """Asks for next to nothing, again and again: milliseconds of each."""

    def __init__(self, socket: str) -> None:
        super().__init__(socket)
        self.took: list[float] = []

    def run(self) -> None:
        """Ask."""
        with connect(self._socket, timeout_s=60) as client:
            while not self._over.wait(PAUSE_S):
                began = time.perf_counter()
                client.call("system.version")
                self.took.append((time.perf_counter() - began) * 1000)


def ask_filtered(client: Client, questions: list[Question]) -> list[float]:
    """Milliseconds of each question, asked in one nugget of fifty."""
    return [recall(client, one.text, nugget=f"part-{at % NUGGETS}")[1] * 1000 for at, one in enumerate(questions)]


def ask_while_writing(daemon: Served, client: Client, tiled: Tiled, questions: list[Question]) -> list[float]:
    """Milliseconds of each question, asked while others write."""
    with Writing(daemon.socket, tiled):
        return [recall(client, one.text)[1] * 1000 for one in questions * 2]


def waited_for(daemon: Served, client: Client, questions: list[Question]) -> list[float]:
    """Milliseconds that others wait for next to nothing while each question is asked."""
    with Waiting(daemon.socket) as other:
        for one in questions * 2:
            recall(client, one.text)
    return other.took


def restart(directory: Path, flags: list[str], questions: list[Question]) -> list[str]:
    """Start a daemon on what one that is no more left: seconds to READY and to full speed, then p50 and memory."""
    began = time.perf_counter()
    with served(directory, *flags) as daemon, connect(daemon.socket, timeout_s=600) as client:
        until_ready(client)
        full_s = time.perf_counter() - began
        took = [recall(client, one.text)[1] * 1000 for one in questions]
        figures = [f"{daemon.ready_s:.2f}", f"{full_s:.2f}", f"{median(took):.2f}"]
        return [*figures, f"{daemon.rss_mib():.0f}", f"{daemon.own_mib():.0f}"]


def until_ready(client: Client) -> None:
    """Wait until recall knows all notes."""
    while client.call("recall", {"query": "anything", "session_id": None})["index"]["state"] != "ready":
        time.sleep(0.01)


def until_idle(daemon: Served) -> None:
    """Wait until the daemon has done what it does after a start, two minutes at most."""
    for _ in range(120):
        cpu = daemon.cpu_s()
        time.sleep(1)
        if daemon.cpu_s() - cpu < IDLE:
            return


def disk_mib(directory: Path) -> list[str]:
    """MiB of the daemon's files, and of the image of the index among them."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    parts = [path for path in files if path.parent.name == "index"]
    return [f"{sum(path.stat().st_size for path in some) / 2**20:.0f}" for some in (files, parts)]


def load(directory: Path, flags: list[str], tiled: Tiled, kept: Path | None) -> tuple[FullText, float]:
    """Have a data directory with all notes, and FTS5 with them; return it, and how many seconds they took once."""
    full_text = FullText()
    if kept is not None and (kept / "took").exists():
        shutil.copytree(kept / "data", directory / "data")
        full_text.read(kept / "fts.db")
        return full_text, float((kept / "took").read_text())
    with served(directory, *flags) as daemon, connect(daemon.socket, timeout_s=600) as client:
        began = time.perf_counter()
        ingest(client, full_text, tiled)
        took = time.perf_counter() - began
        until_ready(client)
    if kept is not None:
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        full_text.keep(kept / "fts.db")
        shutil.copytree(directory / "data", kept / "data")
        (kept / "took").write_text(str(took))  # last: it says that the rest is whole
    return full_text, took


def measure(tiled: Tiled, questions: int, directory: Path, engine: str, kept: Path | None) -> tuple[list[str], ...]:
    """One row of each table: a daemon of its own, which is killed and started again."""
    copies = "varied" if tiled.is_varied else "same"
    settings = directory / "shelfd.toml"
    settings.write_text(f'[recall]\nengine = "{engine}"\n')
    flags = ["--config", str(settings)]
    full_text, took = load(directory, flags, tiled, kept)
    with served(directory, *flags) as daemon, connect(daemon.socket, timeout_s=600) as client:
        until_ready(client)
        asked = tiled.questions(questions)
        for question in asked[:WARM]:
            recall(client, question.text)
            full_text.ask(question.text)
        while client.call("system.health")["recall"]["engine"] != engine:
            time.sleep(0.05)
        until_idle(daemon)
        cpu = daemon.cpu_s()
        found = ask(client, full_text, asked)
        cpu = daemon.cpu_s() - cpu
        memory = daemon.rss_mib()
        waited = waited_for(daemon, client, asked)
        inside = ask_filtered(client, asked)
        written = ask_while_writing(daemon, client, tiled, asked)
        os.kill(daemon.process.pid, signal.SIGKILL)
    beside = [f"{of(some):.2f}" for some in (written, waited) for of in (median, p99)]
    disk, image = disk_mib(directory)
    restarted = [f"{tiled.count:,}", copies, f"{median(inside):.2f}", *beside, disk, image]
    restarted.append(f"{float(image) * 2**20 / tiled.count:.0f}")
    restarted += restart(directory, flags, asked)
    restarted += restart(directory, flags, asked)[:2]
    ours, theirs = [one.recall_s * 1000 for one in found], [one.fts_s * 1000 for one in found]
    asked_row = [
        f"{tiled.count:,}",
        copies,
        *(f"{of(ours):.2f}" for of in (median, p95, p99)),
        f"{cpu / len(found) * 1000:.2f}",
        *(f"{of(theirs):.2f}" for of in (median, p95, p99)),
        f"{sum(one.fts_cpu_s for one in found) / len(found) * 1000:.2f}",
        f"{median(theirs) / median(ours):.2f}",
        f"{p95(theirs) / p95(ours):.2f}",
        *(evidence(tiled, [getattr(one, name) for one in found]) for name in ("recalled", "matched")),
        f"{tiled.count / took:,.0f}",
        f"{memory:.0f}",
    ]
    return asked_row, restarted


HEAD = [
    "notes", "copies", "recall p50, ms", "p95", "p99", "CPU, mean", "FTS5 p50, ms", "p95", "p99", "CPU, mean",
    "ratio of p50", "of p95", "recall R@10", "FTS5 R@10", "taken in, notes/s", "daemon, MiB",
]  # fmt: skip
THEN = [
    "notes", "copies", "p50 in a nugget, ms", "p50 while writing", "p99", "others wait, p50", "p99",
    "disk, MiB", "image, MiB", "B/note",
    "killed: READY, s", "full speed, s", "p50 then, ms", "daemon, MiB", "of its own", "stopped: READY, s",
    "full speed, s",
]  # fmt: skip


def evidence(tiled: Tiled, shares: list[float]) -> str:
    """Percent found; of copies that say the same nobody can tell which was meant."""
    return f"{100 * sum(shares) / len(shares):.1f}" if tiled.is_varied else "-"


def p95(values: list[float]) -> float:
    return percentile(values, 0.95)


def p99(values: list[float]) -> float:
    return percentile(values, 0.99)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", help="a JSON file with LoCoMo conversations")
    parser.add_argument("--notes", default="700,10000,100000", help="sizes to measure (700,10000,100000)")
    parser.add_argument("--questions", type=int, default=200, help="questions at each size (200)")
    parser.add_argument("--copies", default="same,varied", help="kinds of copies (same,varied)")
    parser.add_argument("--engine", default="numpy", choices=("numpy", "compiled"), help="what ranks (numpy)")
    parser.add_argument("--keep", type=Path, help="where what was taken in is kept for further runs")
    parser.add_argument("--dir", help="where the daemons may keep their data; default: .run in the checkout")
    arguments = parser.parse_args()
    conversations = json.loads(Path(arguments.path).read_text())
    rows, restarts = [HEAD], [THEN]
    for count in map(int, arguments.notes.split(",")):
        for copies in arguments.copies.split(","):
            with working_directory(arguments.dir) as directory:
                tiled = Tiled(conversations, count, is_varied=copies == "varied")
                kept = arguments.keep and arguments.keep / f"{count}-{copies}"
                asked, restarted = measure(tiled, arguments.questions, directory, arguments.engine, kept)
                rows.append(asked)
                restarts.append(restarted)
    print(table(rows), table(restarts), sep="\n")


if __name__ == "__main__":
    main()
