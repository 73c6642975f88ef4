"""What recall of an earlier state costs, through the socket.

A shelf of N notes, those of ``data/notes.jsonl`` again and again, each with a number of its own. Then every twentieth
is edited and every fiftieth hidden. Questions are asked of the shelf as it is now; as it was when half of its notes
were there (``known_at``, by number and by time); as of that time by what is known now (``as_of``); and by both. Notes
are read as they were, too. They take turns, so that what the machine does besides is the same for all. It fails if a
median of the past is above 200 ms, but for ``--no-limits``.

Run: ``python benchmarks/past.py [--notes N] [--dir DIR] [--no-limits]``
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import Any, Final

from served import median, percentile, served, table, working_directory
from shelfd.client import Client, connect

DATA: Final = Path(__file__).with_name("data")
BATCH: Final = 1_000
ASKED: Final = 60
LIMIT_MS: Final = 200.0

Params = dict[str, Any]


def lines(name: str) -> list[dict[str, Any]]:
    """The rows of a file of data."""
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def fill(client: Client, count: int) -> tuple[list[str], int, str]:
    """Write the shelf; return the ids of its notes, and the change and the time when half of them were there."""
    ids: list[str] = []
    half, then = 0, ""
    known = lines("notes.jsonl")
    said = [f"{known[number % len(known)]['content']} ({number})" for number in range(count)]
    for begin in range(0, count, BATCH):
        result = client.call("remember_many", {"notes": [{"content": text} for text in said[begin : begin + BATCH]]})
        ids += result["ids"]
        if not half and len(ids) >= count / 2:
            half = result["last_seq"]
            then = client.call("note.get", {"id": ids[-1]})["note"]["created_at"]
    for number in range(0, count, 20):
        client.call("note.edit", {"id": ids[number], "content": f"{said[number]}, as was learned later"})
    for number in range(7, count, 50):
        client.call("note.hide", {"id": ids[number]})
    return ids, half, then


def timed(client: Client, method: str, params: Params) -> float:
    """Milliseconds of a request."""
    began = time.perf_counter()
    client.call(method, params)
    return (time.perf_counter() - began) * 1e3


def measure(client: Client, count: int) -> dict[str, list[float]]:
    """Milliseconds of each kind of request."""
    ids, half, then = fill(client, count)
    draw = random.Random(7)
    questions = draw.sample([row["query"] for row in lines("questions.jsonl") if row["language"] == "en"], ASKED)
    past: dict[str, Params] = {
        "as it is now": {},
        "known_at, a change": {"known_at": half},
        "known_at, a time": {"known_at": then},
        "as_of": {"as_of": then},
        "both": {"as_of": then, "known_at": half},
    }
    while client.call("recall", {"query": questions[0]})["index"]["state"] != "ready":
        pass  # each waits some seconds for what is not read yet
    taken: dict[str, list[float]] = {f"recall, {name}": [] for name in past}
    taken |= {"note.get": [], "note.get, known_at": []}
    for question in questions:
        for name, params in past.items():
            taken[f"recall, {name}"].append(timed(client, "recall", {"query": question, "count_hits": False, **params}))
        note_id = ids[draw.randrange(count // 40) * 20]  # it was edited since
        taken["note.get"].append(timed(client, "note.get", {"id": note_id}))
        taken["note.get, known_at"].append(timed(client, "note.get", {"id": note_id, "known_at": half}))
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--dir", help="where to work")
    parser.add_argument("--no-limits", action="store_true", help="do not fail above a limit")
    given = parser.parse_args()
    with working_directory(given.dir) as directory, served(directory) as daemon, connect(daemon.socket) as client:
        taken = measure(client, given.notes)
    rows = [[f"{given.notes} notes", "p50, ms", "p99, ms"]]
    rows += [[name, f"{median(each):.2f}", f"{percentile(each, 0.99):.2f}"] for name, each in taken.items()]
    print(table(rows))
    slow = [name for name, each in taken.items() if median(each) > LIMIT_MS]
    if slow and not given.no_limits:
        sys.exit(f"above {LIMIT_MS:g} ms: {', '.join(slow)}")


if __name__ == "__main__":
    main()
