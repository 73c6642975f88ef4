"""How fast a note is made durable, as ratios to what the disk itself takes in the same run.

Three measurements:

* one client on the socket, one remember at a time, interleaved with an append and fdatasync of 600 bytes;
* 64 writers inside one process on the store, against one commit per note in one hop and against awaiting each
  statement, all with the same rows in the same tables;
* 64 writers on the socket, sent from a process of their own.

Run: ``python benchmarks/remember.py``
"""

import argparse
import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiosqlite

from served import fdatasync_overwrites_per_s, median, percentile, served, table, working_directory
from shelfd.client import connect
from shelfd.daemon.clock import SystemClock
from shelfd.memory.call import Call
from shelfd.memory.composing import keep
from shelfd.memory.log import Origin
from shelfd.memory.ports import Change, Ticket, Writer
from shelfd.memory.transaction import Transaction
from shelfd.protocol import METHODS, Limits
from shelfd.storage import SqliteStores

WRITERS = 64
CONTENT = "The harbour crane lifted container {} at berth four while the tide turned and rain set in from the west"


def one_client(directory: Path, rounds: int) -> dict[str, float]:
    """Latencies of a remember and of an append with fdatasync, taken in turns."""
    descriptor = os.open(directory / "floor", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    remembers, floors = [], []
    with served(directory) as daemon, connect(daemon.socket) as client:
        for number in range(rounds + 50):
            began = time.perf_counter()
            client.call("remember", {"content": CONTENT.format(number), "session_id": "bench", "turn": number + 1})
            middle = time.perf_counter()
            os.write(descriptor, b"x" * 600)
            os.fdatasync(descriptor)
            ended = time.perf_counter()
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
    params = method.params.model_validate(
        {"content": CONTENT.format(number), "session_id": "bench", "turn": number + 1}
    )
    call = Call(method, params, "uid:0", "bench", Ticket(clock))

    def apply(writer: Writer, now: int) -> tuple[str, Transaction]:
        transaction = Transaction(writer, now)
        return keep(transaction, params, Limits()).note.id, transaction  # type: ignore[arg-type]

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


async def group_commit(directory: Path, seconds: float) -> float:
    """Notes a second through the store's group commit."""
    clock = SystemClock()
    root = directory / "group"
    root.mkdir()
    store = await SqliteStores(root, clock).create("default", owner="uid:0")
    try:
        return await rate(lambda number: store.commit(remember_change(clock, number)), seconds)
    finally:
        await store.close()


def note_rows(database: Path) -> list[tuple[str, tuple[object, ...]]]:
    """The writes one remember comes to, with their values, read from a shelf that holds one.

    The reads a remember makes as well are left out, which favours the baselines.
    """
    with sqlite3.connect(database) as connection:
        statements: list[tuple[str, tuple[object, ...]]] = []
        for name, order in (("note", "row"), ("turn", "number"), ("change", "seq")):
            row = connection.execute(f"SELECT * FROM {name} ORDER BY {order} DESC LIMIT 1").fetchone()
            places = ",".join("?" * len(row))
            statements.append((f"INSERT INTO {name} VALUES ({places})", row))
    connection.close()
    return statements


async def baseline(directory: Path, seconds: float, *, hop_per_statement: bool) -> float:
    """Notes a second without group commit: the same rows, one commit a note."""
    clock = SystemClock()
    root = directory / ("each" if hop_per_statement else "hop")
    root.mkdir()
    store = await SqliteStores(root, clock).create("default", owner="uid:0")
    await store.commit(remember_change(clock, 0))
    await store.close()
    path = root / "default" / "shelf.db"
    statements = note_rows(path)
    # The columns that must differ from note to note, by position in each table.
    lock = asyncio.Lock()
    async with aiosqlite.connect(path, isolation_level=None) as connection:
        await connection.execute("PRAGMA synchronous=FULL")

        def values(row: tuple[object, ...], table: str, number: int) -> tuple[object, ...]:
            unique = number + 1000
            if table == "note":
                return (unique, f"note-memory-{unique:08x}", *row[2:])
            if table == "turn":
                return (*row[:2], unique, *row[3:])
            return (unique, unique, *row[2:])

        def whole(number: int) -> None:
            raw = connection._conn  # noqa: SLF001 - the baseline runs on aiosqlite's own thread too
            raw.execute("BEGIN IMMEDIATE")
            for sql, row in statements:
                raw.execute(sql, values(row, sql.split()[2], number))
            raw.execute("UPDATE nugget SET turn_count = ? WHERE name = 'memory'", (number,))
            raw.execute("COMMIT")

        async def one_hop(number: int) -> None:
            await connection._execute(whole, number)  # type: ignore[no-untyped-call] # noqa: SLF001

        async def hop_each(number: int) -> None:
            async with lock:
                await connection.execute("BEGIN IMMEDIATE")
                for sql, row in statements:
                    await connection.execute(sql, values(row, sql.split()[2], number))
                await connection.execute("UPDATE nugget SET turn_count = ? WHERE name = 'memory'", (number,))
                await connection.execute("COMMIT")

        return await rate(hop_each if hop_per_statement else one_hop, seconds)


def sixty_four(directory: Path, each: int, window: int) -> dict[str, float]:
    """Notes a second through the socket, and what the disk does alone before and after."""
    before = fdatasync_overwrites_per_s(directory / "floor")
    with served(directory) as daemon:
        cpu = daemon.cpu_s()
        command = [sys.executable, str(Path(__file__).with_name("load.py")), "--socket", daemon.socket]
        command += ["--each", str(each), "--window", str(window), "--writers", str(WRITERS)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        daemon_cpu = daemon.cpu_s() - cpu
    figures: dict[str, float] = json.loads(output)
    assert not figures["failed"], "some requests were refused"
    after = fdatasync_overwrites_per_s(directory / "floor")
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", help="directory on the disk to measure; default: .run in the checkout")
    parser.add_argument("--rounds", type=int, default=1500, help="remembers of the one client")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of each window in process")
    parser.add_argument("--each", type=int, default=400, help="notes of each of the 64 socket writers")
    parser.add_argument("--window", type=int, default=8, help="requests of one connection on the way")
    arguments = parser.parse_args()
    with working_directory(arguments.dir) as directory:
        for name in ("one", "process", "many"):
            (directory / name).mkdir()
        single = one_client(directory / "one", arguments.rounds)
        process = directory / "process"
        grouped = asyncio.run(group_commit(process, arguments.seconds))
        hop = asyncio.run(baseline(process, arguments.seconds, hop_per_statement=False))
        each = asyncio.run(baseline(process, arguments.seconds, hop_per_statement=True))
        many = sixty_four(directory / "many", arguments.each, arguments.window)
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
            f"{grouped:,.0f}/s",
            f"one commit a note, one hop: {hop:,.0f}/s",
            f"{grouped / hop:.1f}",
            ">= 4",
        ],
        [
            "64 writers, in process",
            f"{grouped:,.0f}/s",
            f"awaiting each statement: {each:,.0f}/s",
            f"{grouped / each:.1f}",
            ">= 8",
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
