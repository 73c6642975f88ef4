"""How long anybody is kept waiting while much is done to a shelf: imported, listed, cleared and purged.

A daemon of its own serves a shelf on a real disk; everything goes through its socket. Each work runs beside a loop of
recalls from another connection. A turn is what the daemon's event loop does without looking at its connections: its
longest one is how long everybody waits at least once. "99 of 100 moments" says how long a request that comes at any
moment waits for the turn at work to end. Turns in which the index compacts itself are reported apart.

Run: ``python benchmarks/stalls.py [--notes N] [--work import,list,clear,purge] [--dir DIR]``
"""

import argparse
import asyncio
import os
import runpy
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from locomo import progress
from served import median, percentile, served, table, working_directory
from shelfd.client import Client, connect

NUGGET = "much"
KEPT = 1_000  #: notes of another nugget, that stay
BATCH = 10_000  #: notes in one request, as many as one may hold
SUBJECTS = ("harbour", "crane", "tide", "rain", "berth", "container", "pilot", "wind", "fog", "signal")
WORKS = ("import", "list", "clear", "purge")
_NOTED_S = 0.0005  #: turns that last longer are written down


class Turn(NamedTuple):
    """One turn of the daemon's event loop; times in seconds of the machine's monotonic clock."""

    began: float
    took: float
    cpu: float  #: of that, at work: on a busy machine others take turns with the whole daemon
    compacts: bool
    what: str


class Phase(NamedTuple):
    """One work: when it began and ended, and how long the recalls beside it took."""

    name: str
    began: float
    ended: float
    recalls: list[float]  #: seconds


def serve_watched(file: Path, arguments: list[str]) -> None:
    """Be the daemon, and write each turn of its event loop down in *file*."""
    from shelfd.memory.recall import RecallIndex  # only here: the parent needs none of it

    turns = file.open("w", buffering=1, encoding="utf-8")
    compacted = False
    compact, run = RecallIndex.compact, asyncio.Handle._run  # noqa: SLF001 (there is no public way to look at turns)

    def noted(index: RecallIndex) -> None:
        nonlocal compacted
        compacted = True
        compact(index)

    def timed(handle: asyncio.Handle) -> None:
        nonlocal compacted
        compacted = False
        began, cpu = time.monotonic(), time.thread_time()
        run(handle)
        took = time.monotonic() - began
        if took > _NOTED_S:
            _write(turns, Turn(began, took, time.thread_time() - cpu, compacted, _name_of(handle)))

    RecallIndex.compact = noted  # type: ignore[method-assign, assignment]
    asyncio.Handle._run = timed  # type: ignore[method-assign, assignment]  # noqa: SLF001
    os.environ["SHELFD__DAEMON__LOOP"] = "asyncio"  # whose callbacks can be looked at; what they do is the same
    sys.argv = ["shelfd", *arguments]
    runpy.run_module("shelfd.daemon", run_name="__main__")


def _write(file: IO[str], turn: Turn) -> None:
    file.write(f"{turn.began:.6f} {turn.took:.6f} {turn.cpu:.6f} {int(turn.compacts)} {turn.what}\n")


def _name_of(handle: asyncio.Handle) -> str:
    callback = getattr(handle, "_callback", None)
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        return str(getattr(owner.get_coro(), "__qualname__", "task"))
    return str(getattr(callback, "__qualname__", type(callback).__name__))


def read_turns(file: Path) -> list[Turn]:
    """Every turn that was written down."""
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        began, took, cpu, compacts, what = line.split(" ", 4)
        found.append(Turn(float(began), float(took), float(cpu), compacts == "1", what))
    return found


class Recalls(threading.Thread):
    """Asks again and again, each time as soon as it was answered."""

    def __init__(self, socket: str) -> None:
        super().__init__(daemon=True)
        self.socket = socket
        self.times: list[tuple[float, float]] = []
        self.stopped = False

    def run(self) -> None:
        """Ask until stopped."""
        with connect(self.socket, timeout_s=3600) as client:
            number = 0
            while not self.stopped:
                query = f"{SUBJECTS[number % 10]} {SUBJECTS[number // 10 % 10]} number {number % 977}"
                began = time.monotonic()
                client.call("recall", {"query": query, "count_hits": False})
                self.times.append((began, time.monotonic() - began))
                number += 1

    def between(self, began: float, ended: float) -> list[float]:
        """How long the recalls took that were asked in that time."""
        return [took for at, took in self.times if began <= at <= ended]


def notes(count: int, nugget: str) -> Iterator[dict[str, Any]]:
    """Notes of some twenty words with tags, one in a hundred in doubt."""
    for number in range(count):
        one, other = SUBJECTS[number % 10], SUBJECTS[number // 7 % 10]
        yield {
            "content": f"The {one} at the {other} was noted under number {number}: {number * 7919 % 9973} of "
            f"{SUBJECTS[number // 3 % 10]} and {number * 31 % 577} of {SUBJECTS[number // 11 % 10]}, seen from afar",
            "nugget": nugget,
            "tags": [one, "seen"] if number % 4 else [other],
            "session_id": f"watch-{number // 40}",
            "confidence": 0.3 if number % 100 == 0 else 0.9,
        }


def import_notes(client: Client, count: int, nugget: str = NUGGET) -> None:
    """Remember *count* notes, as many in a request as it takes."""
    batch: list[dict[str, Any]] = []
    for number, note in enumerate(notes(count, nugget), start=1):
        batch.append(note)
        if len(batch) == BATCH or number == count:
            result = client.call("remember_many", {"notes": batch})
            assert not result["rejected"]
            batch = []
            progress(number, count, f"remember into {nugget}")


def list_notes(client: Client, _count: int) -> None:
    """List by a tag that every seventh note has, by one that none has, and what is in doubt, to the last page."""
    for wanted in ({"tags": ["harbour"]}, {"tags": ["nowhere"]}, {"needs_review": True}, {"nugget": NUGGET}):
        page: dict[str, Any] = {"next_cursor": None}
        listed = 0
        while "next_cursor" in page:
            page = client.call("note.list", {**wanted, "limit": 1000, "cursor": page["next_cursor"]})
            listed += len(page["notes"])
        assert listed == page["total"]


def clear(client: Client, count: int) -> None:
    """Hide all of them."""
    assert client.call("nugget.clear", {"name": NUGGET})["hidden"] == count


def purge(client: Client, _count: int) -> None:
    """Erase all of them."""
    client.call("nugget.remove", {"name": NUGGET, "purge": True})
    assert client.call("note.list", {"limit": 1, "include_hidden": True})["total"] == KEPT


DO: dict[str, Callable[[Client, int], None]] = {
    "import": import_notes,
    "list": list_notes,
    "clear": clear,
    "purge": purge,
}


@contextmanager
def asked(socket: str) -> Iterator[Recalls]:
    """Recalls beside what happens in the block."""
    recalls = Recalls(socket)
    recalls.start()
    try:
        yield recalls
    finally:
        recalls.stopped = True
        recalls.join(60)


def watch(socket: str, works: list[str], count: int) -> list[Phase]:
    """Do the *works*, each beside recalls; first nothing, to compare with."""
    phases = []
    with connect(socket, timeout_s=7200) as client:
        import_notes(client, KEPT, "memory")
        for name in ["nothing", *works]:
            with asked(socket) as recalls:
                began = time.monotonic()
                if name == "nothing":
                    time.sleep(3)
                else:
                    DO[name](client, count)
                ended = time.monotonic()
                time.sleep(0.5)  # what was still on its way is answered
            phases.append(Phase(name, began, ended, recalls.between(began, ended)))
            print(f"{name}: {ended - began:.1f} s", file=sys.stderr)
    return phases


def waited(turns: list[Turn], seconds: float, share: float) -> float:
    """How long at most that *share* of all moments waits for the turn at work to end, in seconds."""
    low, high = 0.0, max((turn.took for turn in turns), default=0.0)
    for _ in range(40):
        middle = (low + high) / 2
        is_longer = sum(max(0.0, turn.took - middle) for turn in turns) > (1 - share) * seconds
        low, high = (middle, high) if is_longer else (low, middle)
    return high


def report(phases: list[Phase], turns: list[Turn]) -> str:
    """A row for each work, in milliseconds."""
    heads = ("beside", "s", "longest turn", "most CPU in one", "in", "> 20 ms of CPU", "99 of 100 moments")
    rows = [[*heads, "compaction", "recall p50", "p99", "max"]]
    for phase in phases:
        inside = [turn for turn in turns if phase.began <= turn.began <= phase.ended]
        plain = [turn for turn in inside if not turn.compacts]
        busiest = max(plain, key=lambda turn: turn.cpu, default=Turn(0.0, 0.0, 0.0, False, "-"))
        compaction = max((turn.took for turn in inside if turn.compacts), default=0.0)
        recalls = phase.recalls or [0.0]
        rows.append(
            [
                phase.name,
                f"{phase.ended - phase.began:.1f}",
                f"{max((turn.took for turn in plain), default=0.0) * 1000:.1f}",
                f"{busiest.cpu * 1000:.1f}",
                busiest.what,
                str(sum(turn.cpu > 0.02 for turn in plain)),
                f"{waited(plain, phase.ended - phase.began, 0.99) * 1000:.1f}",
                f"{compaction * 1000:.1f}" if compaction else "-",
                f"{median(recalls) * 1000:.2f}",
                f"{percentile(recalls, 0.99) * 1000:.1f}",
                f"{max(recalls) * 1000:.1f}",
            ]
        )
    return table(rows)


def main() -> None:
    """Do it all and print, or be the daemon."""
    if sys.argv[1:2] == ["--serve"]:
        serve_watched(Path(sys.argv[2]), sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=100_000, help="notes that are worked on (100000)")
    parser.add_argument("--work", default=",".join(WORKS), help=f"what is done, in this order ({','.join(WORKS)})")
    parser.add_argument("--dir", help="where the daemon may keep its data; default: .run in the checkout")
    arguments = parser.parse_args()
    works = arguments.work.split(",")
    with working_directory(arguments.dir) as directory:
        turns = directory / "turns"
        command = [sys.executable, __file__, "--serve", str(turns)]
        with served(directory, command=command) as daemon:
            phases = watch(daemon.socket, works, arguments.notes)
        print(table([["", f"{arguments.notes:,} notes; milliseconds unless said"]]))
        print(report(phases, read_turns(turns)))


if __name__ == "__main__":
    main()
