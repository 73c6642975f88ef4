"""What a backup costs those who write, and whether what comes back from it is one moment of the shelf.

Run: ``python benchmarks/backup.py [--notes N] [--rate N] [--seconds S]``
"""

import argparse
import json
import selectors
import socket
import threading
import time
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Self

from served import Served, fdatasync_overwrites_per_s, median, percentile, served, table, working_directory
from shelfd.client import connect

ROUNDS = 3
LIMIT = 0.8


class Window(NamedTuple):
    """What a stretch of writing came to."""

    per_s: float
    latencies: list[float]


def text(number: int) -> str:
    """A note as a person would write it."""
    return (
        f"Observation {number}: the harbour crane lifted container {number * 7919 % 9973} at berth {number % 40} while"
        " the tide turned and rain set in from the west"
    )


def write(path: str, rate: float, seconds: float, numbers: "count[int]", most: int = 256) -> Window:
    """Send ``remember`` at a rate, without waiting for answers unless *most* are on their way, for some seconds."""
    with ExitStack() as stack:
        connection = stack.enter_context(socket.socket(socket.AF_UNIX))
        selector = stack.enter_context(selectors.DefaultSelector())
        connection.connect(path)
        selector.register(connection, selectors.EVENT_READ)
        began, sent, rest = time.perf_counter(), 0, b""
        on_way: dict[int, float] = {}
        latencies: list[float] = []
        while (now := time.perf_counter()) - began < seconds or on_way:
            due = min(int((now - began) * rate) - sent, most - len(on_way)) if now - began < seconds else 0
            for _ in range(due):
                number = next(numbers)
                params = {"content": text(number)}
                line = json.dumps({"jsonrpc": "2.0", "id": number, "method": "remember", "params": params})
                on_way[number] = time.perf_counter()
                connection.sendall(line.encode() + b"\n")
            sent += max(due, 0)
            if selector.select(0.0005):
                *lines, rest = (rest + connection.recv(1 << 18)).split(b"\n")
                for reply in map(json.loads, lines):
                    assert "result" in reply, reply
                    latencies.append(time.perf_counter() - on_way.pop(reply["id"]))
        return Window(len(latencies) / (time.perf_counter() - began), latencies)


class BackingUp:
    """Backs the shelf up again and again on a thread of its own, for the length of a block."""

    def __init__(self, path: str, folder: Path) -> None:
        self._path, self._folder = path, folder
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.made: list[dict[str, Any]] = []
        self.seconds: list[float] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        with connect(self._path, timeout_s=None) as client:
            while not self._ended.is_set():
                began = time.perf_counter()
                self.made.append(client.call("shelf.backup", {"to": str(self._folder), "keep": 2})["backup"])
                self.seconds.append(time.perf_counter() - began)


def compared(daemon: Served, folder: Path, rate: float, seconds: float) -> tuple[list[list[str]], dict[str, Any]]:
    """Write without and with backups, in turn; return a table and the last backup."""
    numbers, made, took = count(), [], []
    write(daemon.socket, rate, 1.0, numbers)
    plain: list[Window] = []
    beside: list[Window] = []
    for _ in range(ROUNDS):
        plain.append(write(daemon.socket, rate, seconds, numbers))
        with BackingUp(daemon.socket, folder) as backing_up:
            beside.append(write(daemon.socket, rate, seconds, numbers))
        made += backing_up.made
        took += backing_up.seconds
    rows = [["", "without", "with backups", "ratio"]]
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        one, other = (percentile([x for window in of for x in window.latencies], share) for of in (plain, beside))
        rows.append([f"remember {name}", f"{one * 1000:.2f} ms", f"{other * 1000:.2f} ms", f"{other / one:.2f}"])
    one, other = (median([window.per_s for window in of]) for of in (plain, beside))
    rows.append([f"acknowledged a second, {rate:,.0f} asked for", f"{one:,.0f}", f"{other:,.0f}", f"{other / one:.2f}"])
    size = made[-1]["bytes"] / 2**20
    rows.append(["a backup", "", f"{size:.0f} MiB in {median(took):.1f} s, {len(made)} of them", ""])
    return rows, made[-1]


def comes_back(daemon: Served, backup: dict[str, Any]) -> str:
    """Restore a backup beside and look at it; return what was found."""
    with connect(daemon.socket, timeout_s=None) as client:
        began = time.perf_counter()
        restored = client.call("shelf.restore", {"backup": backup["path"], "as_shelf": "copy"})
        took = time.perf_counter() - began
        check = client.call("shelf.check", {"shelf": "copy"})
        again = client.call("shelf.backup", {"shelf": "copy"})["backup"]
    assert check["problems"] == [], check
    assert restored["seq"] == backup["seq"] == check["last_seq"]
    assert again["logical_hash"] == backup["logical_hash"]
    return f"restored in {took:.1f} s up to change {backup['seq']}: sound, of the same logical hash"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=50_000, help="on the shelf before")
    parser.add_argument("--rate", type=float, default=1000.0, help="writes a second")
    parser.add_argument("--seconds", type=float, default=8.0, help="of each window")
    parser.add_argument("--dir", help="a directory on the disk to measure")
    arguments = parser.parse_args()
    with working_directory(arguments.dir) as directory, served(directory) as daemon:
        floor = fdatasync_overwrites_per_s(directory / "floor")
        with connect(daemon.socket) as client:
            for start in range(0, arguments.notes, 1000):
                numbers = range(start, min(start + 1000, arguments.notes))
                client.call("remember_many", {"notes": [{"content": text(-number)} for number in numbers]})
        (directory / "backups").mkdir()
        paced, _ = compared(daemon, directory / "backups", arguments.rate, arguments.seconds)
        flat_out, last = compared(daemon, directory / "backups", 1e6, arguments.seconds)
        print(f"{arguments.notes:,} notes before; {floor:,.0f} fdatasync a second\n")
        print(table(paced), "\n")
        print(f"As fast as one connection with 256 on their way goes:\n\n{table(flat_out)}\n")
        print(comes_back(daemon, last))
        shares = [float(rows[3][3]) for rows in (paced, flat_out)]
    if shares[0] < LIMIT:
        raise SystemExit(f"a backup slows writers by more than {1 - LIMIT:.0%}")


if __name__ == "__main__":
    main()
