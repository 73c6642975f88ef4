"""What a session's reads of a large graph cost, through the socket.

Two shelves are written through the store, each with as many notes and three times as many links. In one, events are
rolled up twice, so that some 500 notes represent all the others; the events lead to each other and to 25 people, who
are met by thousands of links. In the other one nothing is rolled up: everything is in the frontier. A daemon of its own
then serves them. A read is compared with a round trip that reads nothing (``system.version``), and with a row fetched
from a SQLite file of the same content in this process.

Run: ``python benchmarks/graph.py [--notes N] [--dir DIR]``
"""

import argparse
import asyncio
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from locomo import progress
from served import Served, median, percentile, served, table, working_directory
from shelfd.client import Client, connect
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import BLANK, Link, Note
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.sessions import Session
from shelfd.memory.ports.store import Change, Clock
from shelfd.memory.ports.view import Writer
from shelfd.memory.shelf.nuggets import ensure_nugget
from shelfd.storage import SqliteStores

ROLLED_UP, FLAT = "default", "flat"
BATCH: Final = 500  #: notes of one transaction
REPEATED: Final = 300  #: requests of each kind
PEOPLE: Final = 25
FAN_IN: Final = 14  #: notes of one rollup: 14 * 14 of them make a frontier of some 500 out of 100,000
WORDS: Final = ("harbour", "crane", "ferry", "lighthouse", "tide", "anchor", "pier", "fog", "signal", "rope", "sail")


class Now(Clock):
    """The machine's clock."""

    def now(self) -> int:
        """Microseconds since 1970 UTC."""
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        """Seconds."""
        return time.monotonic()

    async def sleep(self, delay: timedelta) -> None:
        """Wait."""
        await asyncio.sleep(delay.total_seconds())


class Piece(NamedTuple):
    """A note and the links that leave it."""

    note: Note
    links: list[Link]


def rolled_up(count: int, draw: random.Random) -> Iterator[Piece]:
    """Events under rollups of two levels, and people."""
    events = (count - PEOPLE) * FAN_IN**2 // (FAN_IN**2 + FAN_IN + 1)
    people = [f"person-{number}" for number in range(PEOPLE)]
    for number, note_id in enumerate(people):
        yield Piece(_note(note_id, "character_sheet", number, draw), [])
    for depth, size in ((2, FAN_IN**2), (1, FAN_IN)):
        for number in range(-(-events // size)):
            note = _note(f"rollup-{depth}-{number}", "event", (number + 1) * size, draw)
            extra = note.extra._replace(is_rollup=True, rollup_depth=depth)
            parent = f"rollup-2-{number // FAN_IN}" if depth == 1 else None
            yield Piece(note._replace(extra=extra, parent_id=parent), [])
    for number in range(events):
        note = _note(f"event-{number}", "event", number, draw)._replace(parent_id=f"rollup-1-{number // FAN_IN}")
        yield Piece(note, list(_links(note.id, number, events, "event", draw, people)))


def flat(count: int, draw: random.Random) -> Iterator[Piece]:
    """Notes that are all in the frontier."""
    for number in range(count):
        note = _note(f"note-{number}", "note", number, draw)
        yield Piece(note, list(_links(note.id, number, count, "note", draw, None)))


def _note(note_id: str, type_: str, seq_to: int, draw: random.Random) -> Note:
    words = " ".join(draw.choices(WORDS, k=12))
    return BLANK._replace(id=note_id, title=f"{words[:24]} {seq_to}", content=words, type=type_, seq_to=seq_to)


def _links(
    note_id: str, number: int, count: int, prefix: str, draw: random.Random, people: Sequence[str] | None
) -> Iterator[Link]:
    others = [draw.randrange(count) for _ in range(3 if people is None else 2)]
    for other in dict.fromkeys(others):
        if other != number:
            yield Link(note_id, f"{prefix}-{other}", "related", "", 0, seq_to=number)
    if people is not None:
        yield Link(note_id, draw.choice(people), "involved_in", "", 0, seq_to=number)


async def write(root: Path, shelf: str, pieces: Iterator[Piece], count: int) -> None:
    """Write a shelf through the store."""
    stores = SqliteStores(root, Now())
    store = await stores.create(shelf, owner="uid:0")
    later: list[Link] = []
    done = 0

    async def commit(work: Callable[[Transaction], None]) -> None:
        def apply(writer: Writer, now: int) -> tuple[None, Transaction]:
            transaction = Transaction(writer, now)
            work(transaction)
            return None, transaction

        await store.commit(Change(Origin("benchmark", "benchmark"), apply))

    def write_notes(some: Sequence[Piece]) -> Callable[[Transaction], None]:
        def work(tx: Transaction) -> None:
            ensure_nugget(tx, "memory")
            for piece in some:
                tx.create_note(piece.note)

        return work

    def write_links(some: Sequence[Link]) -> Callable[[Transaction], None]:
        def work(tx: Transaction) -> None:
            for link in some:
                tx.put_link(link, "memory")

        return work

    while some := list(islice(pieces, BATCH)):
        await commit(write_notes(some))
        later += [link for piece in some for link in piece.links]
        done += len(some)
        progress(done, count, f"notes of {shelf}")
    for begin in range(0, len(later), BATCH):
        await commit(write_links(later[begin : begin + BATCH]))
        progress(begin + BATCH, len(later), f"links of {shelf}")
    await commit(lambda tx: tx.rows.sessions.put(Session("s", "memory", opened_at=tx.now, last_used_at=tx.now)))
    await store.close()


class Read(NamedTuple):
    """A read that is measured: its method, its params by the number of the request, and what it must take."""

    name: str
    params: Callable[[int], dict[str, Any]]
    must: str


def timed(client: Client, method: str, params: Callable[[int], dict[str, Any]], count: int) -> list[float]:
    """Milliseconds of each of some requests."""
    took = []
    for number in range(count):
        asked = params(number)
        began = time.perf_counter()
        client.call(method, asked)
        took.append((time.perf_counter() - began) * 1000)
    return took


def bare_sqlite(count: int, draw: random.Random) -> float:
    """Milliseconds that a row of a table like that of notes takes by its id."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE note (row INTEGER PRIMARY KEY, id TEXT UNIQUE, title TEXT, content TEXT)")
    rows = ((f"note-{number}", f"title {number}", "x" * 80) for number in range(count))
    connection.executemany("INSERT INTO note (id, title, content) VALUES (?, ?, ?)", rows)
    took = []
    for _ in range(5_000):
        note_id = f"note-{draw.randrange(count)}"
        began = time.perf_counter()
        connection.execute("SELECT * FROM note WHERE id = ?", (note_id,)).fetchone()
        took.append((time.perf_counter() - began) * 1000)
    return median(took)


def reads(shelf: str, ids: Sequence[str], frontier: Sequence[str]) -> list[Read]:
    """What is asked of a shelf."""

    def of(number: int) -> dict[str, Any]:
        return {"shelf": shelf, "session_id": "s", "id": ids[number % len(ids)]}

    listed: dict[str, Any] = {"shelf": shelf, "session_id": "s"}
    explicit = {**listed, "visible_node_ids": list(frontier[:500])}
    return [
        Read("get_node_brief", of, "< 1 ms"),
        Read("get_edge_summary", of, "< 1 ms"),
        Read("get_neighbors", of, "< 1 ms"),
        Read("list_visible_candidates", lambda _: listed, "< 5 ms"),
        Read("project_edges", lambda _: listed, "< 20 ms"),
        Read("project_edges, 500 ids", lambda _: explicit, "< 20 ms"),
        Read("expand_from_seeds, 2 hops", lambda number: _seeded(of(number)), ""),
        Read("keyword_search", lambda number: {**listed, "query": f"{WORDS[number % 11]} signal"}, ""),
        Read("find_by_name", lambda number: {**listed, "query": f"harbour {number}"}, ""),
    ]


def _seeded(params: dict[str, Any]) -> dict[str, Any]:
    return {**{name: value for name, value in params.items() if name != "id"}, "seed_ids": [params["id"]], "hops": 2}


def measure(
    daemon: Served, client: Client, shelf: str, base: float, bare: float, draw: random.Random
) -> list[list[str]]:
    """One row for each read of a shelf."""
    asked = {"shelf": shelf, "session_id": "s"}
    frontier = _all_ids(client, asked)
    ids = draw.sample(frontier, min(len(frontier), 100))
    rows = []
    for name, params, must in reads(shelf, ids, frontier):
        method = f"session.{name.split(',')[0]}"
        cpu = daemon.cpu_s()
        took = timed(client, method, params, REPEATED)
        cpu = (daemon.cpu_s() - cpu) / REPEATED * 1000
        p50 = median(took)
        rows.append(
            [
                shelf,
                name,
                f"{took[0]:.2f}",
                f"{p50:.2f}",
                f"{percentile(took, 0.95):.2f}",
                f"{cpu:.2f}",
                f"{p50 / base:.1f}",
                f"{p50 / bare:.0f}",
                must,
            ]
        )
    return rows


def _all_ids(client: Client, asked: dict[str, Any]) -> list[str]:
    """Ids of the frontier, 2,000 at most."""
    ids: list[str] = []
    following: dict[str, Any] = {}
    while len(ids) < 2_000:
        page = client.call("session.list_visible_candidates", {**asked, "limit": 1000, **following})
        ids += [node["id"] for node in page["nodes"]]
        if "next_cursor" not in page:
            break
        following = {"cursor": page["next_cursor"]}
    return ids


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", help="where the daemon may keep its data; default: .run in the checkout")
    parser.add_argument("--notes", type=int, default=100_000)
    arguments = parser.parse_args()
    count, draw = arguments.notes, random.Random(1)
    bare = bare_sqlite(count, draw)
    head = [
        "shelf",
        "read",
        "first, ms",
        "p50, ms",
        "p95, ms",
        "CPU, ms",
        "of a round trip",
        "of a row of SQLite",
        "must be",
    ]
    rows, notes = [head], []
    with working_directory(arguments.dir) as directory:
        for shelf, pieces in ((ROLLED_UP, rolled_up(count, draw)), (FLAT, flat(count, draw))):
            asyncio.run(write(directory / "data" / "shelves", shelf, pieces, count))
        with served(directory) as daemon, connect(daemon.socket, timeout_s=600) as client:
            for shelf in (ROLLED_UP, FLAT):
                while client.call("recall", {"query": "x", "shelf": shelf})["index"]["state"] != "ready":
                    time.sleep(0.05)
            base = median(timed(client, "system.version", lambda _: {}, REPEATED))
            for shelf in (ROLLED_UP, FLAT):
                memory, cpu, began = daemon.rss_mib(), daemon.cpu_s(), time.perf_counter()
                client.call("session.list_visible_candidates", {"shelf": shelf, "session_id": "s", "limit": 1})
                took, cpu, more = time.perf_counter() - began, daemon.cpu_s() - cpu, daemon.rss_mib() - memory
                rate = f"{count / cpu:,.0f} notes with their links in a second of CPU"
                notes.append(f"{shelf}: first read {took:.1f} s, {rate}, {more:.0f} MiB more")
                rows += measure(daemon, client, shelf, base, bare, draw)
    print(f"{count:,} notes and about {3 * count:,} links in each shelf")
    print(f"round trip (system.version) {base:.3f} ms, row of SQLite {bare:.4f} ms\n")
    print(table(rows), "\n")
    print("\n".join(notes))


if __name__ == "__main__":
    main()
