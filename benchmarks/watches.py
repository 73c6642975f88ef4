"""What standing queries cost a commit, and how soon a match is pushed.

Two daemons, each with the same notes: one with no standing queries, one with many. One client follows matches, another
writes one note after the other, in turns to either daemon. Notes are those of ``benchmarks/data``, in copies whose rare
words differ, and queries have three to five words of a note. What standing queries cost is the CPU of the daemon that
has them, less that of the other.

Run: ``python benchmarks/watches.py``
"""

import argparse
import json
import random
import re
import socket
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Final

from served import Served, median, percentile, served, table, working_directory

DATA: Final = Path(__file__).resolve().parent / "data"
#: Notes written to each daemon in one turn.
TURN: Final = 25
BATCH: Final = 500
_WORD: Final = re.compile(r"[a-zA-Z]{4,}")
#: Words in no more notes than this differ from copy to copy.
_RARE: Final = 3


class Client:
    """A connection that waits for each reply."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self.lines: BinaryIO = self._socket.makefile("rb")
        self._sent = 0

    def call(self, method: str, **params: Any) -> Any:
        """Call and return the result; events that come before it are passed over."""
        self._sent += 1
        self._socket.sendall(
            json.dumps({"jsonrpc": "2.0", "id": self._sent, "method": method, "params": params}).encode() + b"\n"
        )
        while (message := json.loads(self.lines.readline())).get("id") != self._sent:
            pass
        return message["result"]


def texts() -> list[str]:
    """The contents of the English notes."""
    with (DATA / "notes.jsonl").open(encoding="utf-8") as lines:
        notes = [json.loads(line) for line in lines]
    return [note["content"] for note in notes if note.get("language", "en") == "en"]


class Copies:
    """Notes without end: each copy of the contents has rare words of its own."""

    def __init__(self, contents: Sequence[str], copies: int) -> None:
        self._contents = contents
        self._copies = copies
        counts = Counter(word for content in contents for word in set(_WORD.findall(content.lower())))
        self._common = {word for word, count in counts.items() if count > _RARE}

    def note(self, chance: random.Random) -> str:
        """One of them: the first half of a note, and the second half of another of the same copy."""
        copy = chance.randrange(self._copies)
        a, b = (chance.choice(self._contents).split() for _ in range(2))
        text = " ".join([*a[: max(4, len(a) // 2)], *b[len(b) // 2 :]])
        return _WORD.sub(lambda word: self._of(copy, word[0]), text) + f" {chance.randrange(10**6)}"

    def query(self, chance: random.Random) -> str:
        """Some words of a note."""
        copy = chance.randrange(self._copies)
        words = _WORD.findall(chance.choice(self._contents)) or ["nothing"]
        some = chance.sample(words, min(len(words), chance.randint(3, 5)))
        return " ".join(self._of(copy, word) for word in some)

    def _of(self, copy: int, word: str) -> str:
        return word if word.lower() in self._common else f"{word}{_letters(copy)}"


def _letters(number: int) -> str:
    return "".join("bcdfghklmn"[int(digit)] for digit in str(number))


def prepare(daemon: Served, copies: Copies, notes: int, asked: Sequence[str]) -> None:
    """Fill the shelf, and make the standing queries."""
    client, chance = Client(daemon.socket), random.Random(7)
    for begin in range(0, notes, BATCH):
        some = [{"content": copies.note(chance)} for _ in range(min(BATCH, notes - begin))]
        client.call("remember_many", notes=some)
    for query in asked:
        client.call("watch.create", query=query)
    client.call("recall", query="settled", count_hits=False)


def pushed_within(daemon: Served, follower: Client, copies: Copies, rounds: int) -> tuple[list[float], int]:
    """Milliseconds from a remember's reply to the match of a standing query made for it."""
    client, chance = Client(daemon.socket), random.Random(11)
    waits, matches = [], 0
    for number in range(rounds):
        name = f"zanzibar{number}"
        watch = follower.call("watch.create", query=f"{name} harbour")["watch"]["id"]
        client.call("remember", content=f"{name} is the name of the harbour. {copies.note(chance)}")
        began = time.perf_counter()
        while True:
            event = json.loads(follower.lines.readline())["params"]
            matches += 1
            if event["subject"] == watch:
                break
        waits.append((time.perf_counter() - began) * 1000)
    return waits, matches


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--watches", type=int, default=10_000)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--dir", help="where to put the data")
    options = parser.parse_args()
    contents, chance = texts(), random.Random(3)
    copies = Copies(contents, max(1, options.notes // len(contents)))
    asked = [copies.query(chance) for _ in range(options.watches - 200)]
    with ExitStack() as stack:
        daemons = []
        for name, some in (("none", []), ("many", asked)):
            directory = stack.enter_context(working_directory(options.dir)) / name
            directory.mkdir()
            daemon = stack.enter_context(served(directory))
            prepare(daemon, copies, options.notes, some)
            daemons.append(daemon)
        followers = [Client(daemon.socket) for daemon in daemons]
        for follower in followers:
            follower.call("events.subscribe", types=["watch.matched"])
        writers = [Client(daemon.socket) for daemon in daemons]
        costs: list[list[float]] = [[], []]
        for _ in range(options.turns):
            for at, (daemon, writer) in enumerate(zip(daemons, writers, strict=True)):
                writer.call("recall", query="settled", count_hits=False)
                time.sleep(0.6)  # enrichment of the turn before ends
                before = daemon.exact_cpu_s()
                for _ in range(TURN):
                    writer.call("remember", content=copies.note(chance))
                writer.call("recall", query="settled", count_hits=False)
                time.sleep(0.05)
                costs[at].append((daemon.exact_cpu_s() - before) / TURN * 1e6)
        waits, matches = pushed_within(daemons[1], Client(daemons[1].socket), copies, 100)
    rows = [["measurement", "measured", "must be"]]
    plain, many = median(costs[0]), median(costs[1])
    rows.append([f"CPU of a remember, no standing queries, {options.notes:,} notes", f"{plain:,.0f} us", "-"])
    rows.append([f"the same with {options.watches - 200:,}", f"{many:,.0f} us", "-"])
    rows.append(["what they cost a committed note", f"{many - plain:,.0f} us", "< 1,000 us"])
    pushed = f"{median(waits):.1f} ms (p99 {percentile(waits, 0.99):.1f}; {matches} matches)"
    rows.append(["from a remember's reply to its match, p50", pushed, "< 100 ms"])
    print(table(rows))


if __name__ == "__main__":
    main()
