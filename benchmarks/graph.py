"""What a session's reads, batches and rewinds cost in a large graph, through the socket.

Two shelves are written through the store, each with as many notes and three times as many links. In one, events are
rolled up twice, so that some 500 notes represent all the others; the events lead to each other and to 25 people, who
are met by thousands of links. In the other one nothing is rolled up: everything is in the frontier. A daemon of its own
then serves them. A read is compared with a round trip that reads nothing (``system.version``), and with a row fetched
from a SQLite file of the same content in this process. A batch writes five notes, merges five more by their titles,
edits five and links five; a rewind takes back a turn that touched twenty. Both are compared with a change of one note
(``session.edit_node``), which is made durable as they are.

It fails if a median is above its limit, but for ``--no-limits``: on a machine that others use the time is theirs, too,
and what the daemon took of its processors says more.

Run: ``python benchmarks/graph.py [--notes N] [--dir DIR] [--no-limits]``
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
REPEATED: Final = 300  #: reads of each kind
WRITES: Final = 60  #: changes of each kind
SESSION: Final = {"session_id": "s"}
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


class Measured(NamedTuple):
    """A kind of request that is measured.

    Attributes:
        name: The method, without the prefix, and behind a comma what is special.
        params: By the number of the request.
        limit_ms: What the median must be below; None for anything.
        before: The params of a batch that comes before each, and is not counted.
        repeated: How many of them.
    """

    name: str
    params: Callable[[int], dict[str, Any]]
    limit_ms: float | None = None
    before: Callable[[int], dict[str, Any]] | None = None
    repeated: int = REPEATED


class Took(NamedTuple):
    """Milliseconds of each of some requests, and of the daemon's processor time for one of them."""

    wall: list[float]
    cpu: float


def timed(daemon: Served, client: Client, method: str, one: Measured) -> Took:
    """Make the requests."""
    wall, cpu = [], 0.0
    for number in range(one.repeated):
        if one.before is not None:
            client.call("session.apply_extraction_batch", one.before(number))
            # What is left to do for that is not this request's.
            client.call(
                "session.list_visible_candidates", {**SESSION, "shelf": one.before(number)["shelf"], "limit": 1}
            )
        asked = one.params(number)
        cpu -= daemon.exact_cpu_s()
        began = time.perf_counter()
        client.call(method, asked)
        wall.append((time.perf_counter() - began) * 1000)
        cpu += daemon.exact_cpu_s()
    return Took(wall, cpu / one.repeated * 1000)


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


def reads(shelf: str, frontier: Sequence[dict[str, Any]], draw: random.Random) -> list[Measured]:
    """What is asked of a shelf."""
    ids = [node["id"] for node in draw.sample(frontier, min(len(frontier), 100))]
    listed: dict[str, Any] = {"shelf": shelf, **SESSION}
    explicit = {**listed, "visible_node_ids": [node["id"] for node in frontier[:500]]}

    def of(number: int) -> dict[str, Any]:
        return {**listed, "id": ids[number % len(ids)]}

    return [
        Measured("get_node_brief", of, 1),
        Measured("get_edge_summary", of, 1),
        Measured("get_neighbors", of, 1),
        Measured("list_visible_candidates", lambda _: listed, 5),
        Measured("project_edges", lambda _: listed, 20),
        Measured("project_edges, 500 ids", lambda _: explicit, 20),
        Measured(
            "expand_from_seeds, 2 hops", lambda number: {**listed, "seed_ids": [ids[number % len(ids)]], "hops": 2}
        ),
        Measured("keyword_search", lambda number: {**listed, "query": f"{WORDS[number % 11]} signal"}),
        Measured("find_by_name", lambda number: {**listed, "query": f"harbour {number}"}),
    ]


def writes(shelf: str, frontier: Sequence[dict[str, Any]], draw: random.Random, commit_ms: float) -> list[Measured]:
    """What is changed in a shelf; durable in *commit_ms*."""

    def batch(number: int, turn: int, new: int) -> dict[str, Any]:
        return {"shelf": shelf, **SESSION, "turn": turn, "ops": _operations(f"{shelf} {number}", frontier, draw, new)}

    def rewind(number: int) -> dict[str, Any]:
        return {"shelf": shelf, **SESSION, "from_turn": WRITES + 1 + number}

    return [
        Measured("apply_extraction_batch, 20", lambda n: batch(n, 1 + n, 5), 5 + commit_ms, repeated=WRITES),
        Measured(
            "retract_turns, 20 notes",
            rewind,
            10 + commit_ms,
            before=lambda n: batch(WRITES + n, WRITES + 1 + n, 10),
            repeated=WRITES,
        ),
    ]


def edited(shelf: str, frontier: Sequence[dict[str, Any]]) -> Measured:
    """The change of one note that others are compared with."""

    def params(number: int) -> dict[str, Any]:
        node = frontier[number % len(frontier)]
        return {"shelf": shelf, **SESSION, "id": node["id"], "set_fields": {"seen": f"{number} times"}}

    return Measured("edit_node", params, repeated=WRITES)


def _operations(name: str, frontier: Sequence[dict[str, Any]], draw: random.Random, new: int) -> list[dict[str, Any]]:
    """Operations: *new* notes, and five each of merges, edits and links."""
    some = draw.sample(frontier, 20)
    created = [
        {
            "op": "create",
            "type": "note",
            "title": f"{name} {at}",
            "content": f"the harbour of {name}",
            "on_match": "new",
        }
        for at in range(new)
    ]
    merged = [
        {"op": "create", "type": n["type"], "title": n["title"], "fields": {"met": name}, "on_match": "merge"}
        for n in some[:5]
    ]
    changed = [{"op": "edit", "node_id": n["id"], "set_fields": {"mood": name}} for n in some[5:10]]
    linked = [
        {
            "op": "link_upsert",
            "source_node_id": one["id"],
            "links": [{"target_node_id": other["id"], "relation": "knows", "direction": "outgoing"}],
        }
        for one, other in zip(some[10:15], some[15:], strict=True)
    ]
    return [*created, *merged, *changed, *linked]


def row(shelf: str, one: Measured, took: Took, base: float, bare: float) -> list[str]:
    """A row of the table."""
    p50 = median(took.wall)
    return [
        shelf,
        one.name,
        f"{took.wall[0]:.2f}",
        f"{min(took.wall):.2f}",
        f"{p50:.2f}",
        f"{percentile(took.wall, 0.95):.2f}",
        f"{took.cpu:.2f}",
        f"{p50 / base:.1f}",
        f"{p50 / bare:.0f}",
        "" if one.limit_ms is None else f"< {one.limit_ms:.3g} ms",
    ]


def measure(daemon: Served, client: Client, shelf: str, base: float, bare: float) -> tuple[list[list[str]], list[str]]:
    """One row for each kind of request to a shelf, and what is above its limit."""
    draw = random.Random(2)
    frontier = _frontier(client, {"shelf": shelf, **SESSION})
    rows, missed = [], []

    def run(one: Measured) -> float:
        took = timed(daemon, client, f"session.{one.name.split(',')[0]}", one)
        rows.append(row(shelf, one, took, base, bare))
        p50 = median(took.wall)
        if one.limit_ms is not None and p50 >= one.limit_ms:
            missed.append(f"{shelf}: {one.name} took {p50:.2f} ms, not less than {one.limit_ms:.3g}")
        return p50

    for one in reads(shelf, frontier, draw):
        run(one)
    commit_ms = run(edited(shelf, frontier))
    for one in writes(shelf, frontier, draw, commit_ms):
        run(one)
    return rows, missed


def _frontier(client: Client, asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Notes of the frontier, 2,000 at most."""
    nodes: list[dict[str, Any]] = []
    following: dict[str, Any] = {}
    while len(nodes) < 2_000:
        page = client.call("session.list_visible_candidates", {**asked, "limit": 1000, **following})
        nodes += page["nodes"]
        if "next_cursor" not in page:
            break
        following = {"cursor": page["next_cursor"]}
    return nodes


def main() -> None:
    """Measure and print.

    Raises:
        SystemExit: If something took longer than its limit.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", help="where the daemon may keep its data; default: .run in the checkout")
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--no-limits", action="store_true", help="measure, and do not fail")
    arguments = parser.parse_args()
    count, draw = arguments.notes, random.Random(1)
    bare = bare_sqlite(count, draw)
    columns = "shelf, request, first, least, p50, p95, CPU, of a round trip, of a row of SQLite, must be"
    rows, notes, missed = [columns.split(", ")], [], []
    with working_directory(arguments.dir) as directory:
        for shelf, pieces in ((ROLLED_UP, rolled_up(count, draw)), (FLAT, flat(count, draw))):
            asyncio.run(write(directory / "data" / "shelves", shelf, pieces, count))
        with served(directory) as daemon, connect(daemon.socket, timeout_s=600) as client:
            for shelf in (ROLLED_UP, FLAT):
                while client.call("recall", {"query": "x", "shelf": shelf})["index"]["state"] != "ready":
                    time.sleep(0.05)
                asked = {"entity_type": "person", "entity_value": "x", "shelf": shelf}
                while client.call("recall_entity", asked)["index"]["state"] != "ready":
                    time.sleep(0.05)  # until all notes are read
            base = median(timed(daemon, client, "system.version", Measured("", lambda _: {})).wall)
            for shelf in (ROLLED_UP, FLAT):
                memory, cpu, began = daemon.own_mib(), daemon.cpu_s(), time.perf_counter()
                client.call("session.list_visible_candidates", {"shelf": shelf, **SESSION, "limit": 1})
                took, cpu, more = time.perf_counter() - began, daemon.cpu_s() - cpu, daemon.own_mib() - memory
                rate = f"{count / cpu:,.0f} notes with their links in a second of CPU"
                notes.append(f"{shelf}: first read {took:.1f} s, {rate}, {more:.0f} MiB more")
                of_shelf, of_limits = measure(daemon, client, shelf, base, bare)
                rows += of_shelf
                missed += of_limits
    print(f"{count:,} notes and about {3 * count:,} links in each shelf; milliseconds")
    print(f"round trip (system.version) {base:.3f} ms, row of SQLite {bare:.4f} ms\n")
    print(table(rows), "\n")
    print("\n".join([*notes, *missed]))
    if missed and not arguments.no_limits:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
