"""How fast a note is made durable, as ratios to what the disk itself takes in the same run.

Three measurements:

* one client on the socket, one remember at a time, interleaved with an append and fdatasync of 600 bytes;
* 64 writers inside one process on the store, against one commit per note in one hop and against awaiting each
  statement, all with the same rows in the same tables;
* 64 writers on the socket, sent from a process of their own.

A machine's speed changes within seconds, so what is compared is measured in turns, several times over, and the ratios
are the median of the turns.

Run: ``python benchmarks/remember.py``
"""

import argparse
import asyncio
import gc
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from unittest.mock import patch

import aiosqlite
import uvloop

from served import Served, fdatasync_overwrites_per_s, median, percentile, served, table, working_directory
from shelfd.daemon.host import SystemClock
from shelfd.memory.call import Call
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Nugget
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.store import Change, Ticket
from shelfd.memory.ports.view import Writer
from shelfd.memory.shelf.storing import store_note
from shelfd.protocol import METHODS, Limits
from shelfd.storage import SqliteStores, commit_queue
from shelfd.storage.commit_queue import number_entries
from shelfd.storage.sqlite.log import SqliteLogWriter
from shelfd.storage.sqlite.notes import SqliteNotesWriter

WRITERS = 64
CONTENT = "The harbour crane lifted container {} at berth four while the tide turned and rain set in from the west"


def one_client(directory: Path, daemon: Served, rounds: int) -> dict[str, float]:
    """Latencies of a remember and of an append with fdatasync, one after the other."""
    descriptor = os.open(directory / "appended", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    remembers, floors = [], []
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(daemon.socket)
        for number in range(rounds + 50):
            params = {"content": CONTENT.format(number), "session_id": "bench"}
            line = json.dumps({"jsonrpc": "2.0", "id": number, "method": "remember", "params": params}).encode() + b"\n"
            began = time.perf_counter()
            client.sendall(line)
            reply = client.recv(65536)
            while not reply.endswith(b"\n"):
                reply += client.recv(65536)
            middle = time.perf_counter()
            os.write(descriptor, b"x" * 600)
            os.fdatasync(descriptor)
            ended = time.perf_counter()
            assert b'"status":"created"' in reply, reply
            if number >= 50:  # the first ones warm caches
                remembers.append(middle - began)
                floors.append(ended - middle)
    os.close(descriptor)
    return {
        "p50_ms": median(remembers) * 1000,
        "p99_ms": percentile(remembers, 0.99) * 1000,
        "floor_ms": median(floors) * 1000,
        "ratio": median(remembers) / median(floors),
    }


def remember_change(clock: SystemClock, number: int) -> Change[str]:
    """The change a remember makes, as the use case makes it."""
    method = METHODS["remember"]
    params = method.params.model_validate({"content": CONTENT.format(number), "session_id": "bench"})
    call = Call(method, params, "uid:0", "bench", Ticket(clock))

    def apply(writer: Writer, now: int) -> tuple[str, Transaction]:
        transaction = Transaction(writer, now)
        return store_note(transaction, params, Limits()).note.id, transaction  # type: ignore[arg-type]

    return Change(Origin("uid:0", "remember", call.request_id), apply, call.ticket)


async def rate(work: Callable[[int], Awaitable[object]], seconds: float) -> float:
    """Completed calls of *work* a second, by WRITERS tasks that each wait for one before the next."""
    stop = time.perf_counter() + seconds
    done = 0

    async def writer(first: int) -> None:
        nonlocal done
        number = first
        while time.perf_counter() < stop:
            await work(number)
            number += WRITERS
            done += 1

    began = time.perf_counter()
    await asyncio.gather(*(writer(first) for first in range(WRITERS)))
    return done / (time.perf_counter() - began)


async def store_rate(directory: Path, seconds: float, *, group: int) -> float:
    """Notes a second through a new store, at most *group* of them in one commit."""
    clock = SystemClock()
    store = await SqliteStores(directory, clock).create(f"group-{group}", owner="uid:0")
    with patch.object(commit_queue, "GROUP_LIMIT", group):
        try:
            return await rate(lambda number: store.commit(remember_change(clock, number)), seconds)
        finally:
            await store.close()


class Statements:
    """A database that takes down the statements of one remember instead of running them, and the writer on it."""

    def __init__(self, number: int) -> None:
        self.number = number  # of notes and changes before it
        self.taken: list[tuple[str, tuple[object, ...]]] = []
        self.notes = SqliteNotesWriter(self, lambda _row: None)  # type: ignore[arg-type]
        self.log = SqliteLogWriter(self)  # type: ignore[arg-type]
        self.nuggets = self

    def value(self, _sql: str, _params: tuple[object, ...] = ()) -> int:
        return self.number

    def run(self, sql: str, params: tuple[object, ...]) -> int:
        self.taken.append((sql, params))
        return 1

    def get(self, name: str) -> Nugget:
        return Nugget(name, dimension=1024, banks=4, ensembles=1, max_facts=0, ttl_days=None, created_at=0)


async def statement_rate(directory: Path, seconds: float) -> float:
    """Notes a second with aiosqlite as most use it: each statement awaited, one commit a note, same rows."""
    clock = SystemClock()
    await (await SqliteStores(directory, clock).create("statements", owner="uid:0")).close()
    lock = asyncio.Lock()
    async with aiosqlite.connect(directory / "statements" / "shelf.db", isolation_level=None) as connection:
        await connection.execute("PRAGMA synchronous=FULL")

        async def remember(number: int) -> None:
            change = remember_change(clock, number)
            statements = Statements(number)
            _, outbox = change.apply(statements, clock.now())  # type: ignore[arg-type]
            statements.log.append(number_entries(outbox, change.origin, last_seq=number, at=clock.now()))
            async with lock:
                await connection.execute("BEGIN IMMEDIATE")
                # Every remember reads its nugget; the store keeps it, which this way of working cannot.
                await (await connection.execute("SELECT * FROM nugget WHERE name = ?", ("memory",))).fetchone()
                for sql, values in statements.taken:
                    await connection.execute(sql, values)
                await connection.execute("COMMIT")

        return await rate(remember, seconds)


def in_process(directory: Path, seconds: float) -> dict[str, float]:
    """Notes a second of 64 writers in this process, by groups and in the two other ways."""
    directory.mkdir()
    grouped = uvloop.run(store_rate(directory, seconds, group=commit_queue.GROUP_LIMIT))
    hop = uvloop.run(store_rate(directory, seconds, group=1))
    each = uvloop.run(statement_rate(directory, seconds))
    return {"rate": grouped, "hop": hop, "each": each, "by_hop": grouped / hop, "by_each": grouped / each}


def sixty_four(directory: Path, daemon: Served, each: int, window: int) -> dict[str, float]:
    """Notes a second through the socket, and what the disk does alone before and after."""
    before = fdatasync_overwrites_per_s(directory / "overwritten")
    cpu = daemon.cpu_s()
    command = [sys.executable, str(Path(__file__).with_name("load.py")), "--socket", daemon.socket]
    command += ["--each", str(each), "--window", str(window), "--writers", str(WRITERS)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    daemon_cpu = daemon.cpu_s() - cpu
    figures: dict[str, float] = json.loads(output)
    assert not figures["failed"], "some requests were refused"
    after = fdatasync_overwrites_per_s(directory / "overwritten")
    floor = (before + after) / 2
    rate_ = figures["acknowledged"] / figures["seconds"]
    return {
        "rate": rate_,
        "floor": floor,
        "ratio": rate_ / floor,
        "p50_ms": figures["p50_ms"],
        "p99_ms": figures["p99_ms"],
        "generator_cores": figures["cpu_s"] / figures["seconds"],
        "daemon_cores": daemon_cpu / figures["seconds"],
        "daemon_us": daemon_cpu / figures["acknowledged"] * 1e6,
    }


def medians(turns: Sequence[dict[str, float]]) -> dict[str, float]:
    """The middle of each figure over the turns."""
    return {name: median([turn[name] for turn in turns]) for name in turns[0]}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", help="directory on the disk to measure; default: .run in the checkout")
    parser.add_argument("--turns", type=int, default=5, help="how often everything is measured")
    parser.add_argument("--rounds", type=int, default=500, help="remembers of the one client in a turn")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of each window in process")
    parser.add_argument("--each", type=int, default=200, help="notes of each of the 64 socket writers in a turn")
    parser.add_argument("--window", type=int, default=8, help="requests of one connection on the way")
    arguments = parser.parse_args()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # as in the daemon; it holds for every measurement in this process
    with working_directory(arguments.dir) as directory:
        (directory / "one").mkdir()
        (directory / "many").mkdir()
        turns = range(arguments.turns)
        with served(directory / "one") as daemon:
            single = medians([one_client(directory, daemon, arguments.rounds) for _ in turns])
        process = medians([in_process(directory / f"process-{turn}", arguments.seconds) for turn in turns])
        with served(directory / "many") as daemon:
            many = medians([sixty_four(directory, daemon, arguments.each, arguments.window) for _ in turns])
    rows = [
        ["measurement", "measured", "baseline of the same run", "ratio", "must be"],
        [
            "one client, socket, p50",
            f"{single['p50_ms']:.3f} ms (p99 {single['p99_ms']:.2f})",
            f"append + fdatasync {single['floor_ms']:.3f} ms",
            f"{single['ratio']:.2f}",
            "<= 3",
        ],
        [
            "64 writers, in process",
            f"{process['rate']:,.0f}/s",
            f"one commit a note, one hop: {process['hop']:,.0f}/s",
            f"{process['by_hop']:.1f}",
            ">= 2.5",
        ],
        [
            "64 writers, in process",
            f"{process['rate']:,.0f}/s",
            f"awaiting each statement: {process['each']:,.0f}/s",
            f"{process['by_each']:.1f}",
            ">= 4.5",
        ],
        [
            "64 writers, socket",
            f"{many['rate']:,.0f}/s (p50 {many['p50_ms']:.1f} ms, p99 {many['p99_ms']:.1f})",
            f"fdatasync overwrites {many['floor']:,.0f}/s",
            f"{many['ratio']:.2f}",
            ">= 0.6",
        ],
    ]
    print(table(rows))
    print(
        f"\n64 writers, socket: daemon {many['daemon_us']:.0f} us CPU a note ({many['daemon_cores']:.2f} cores),"
        f" load generator {many['generator_cores']:.2f} cores, {arguments.window} requests of each writer on the way"
    )


if __name__ == "__main__":
    main()
