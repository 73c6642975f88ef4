"""What `evolve` adds to a remember: CPU time of the store's thread, in this process.

A shelf of N notes, texts of ``data/evolution.jsonl`` about many names each, is read for entities and statements. Then
notes are remembered, 50 at a time or as many as are wanted, without evolve and with it: plain ones, as those of the
shelf are, and the new ones of the file's cases, most of which say that something has changed, which takes longer. Shown
are the median of what a note takes to be read, compared with older ones and written, in its transaction and before; and
the mean with its share of the commit.

Run: ``python benchmarks/evolving.py [--notes N] [--at-once N]``
"""

import argparse
import asyncio
import gc
import json
import random
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from shelfd.memory import PROJECTIONS, Access, Call, MemorySettings, Service, Shelves, Ticket
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import USE_CASES
from shelfd.memory.methods.registry import ChangeMethod
from shelfd.protocol import METHODS, Limits
from shelfd.protocol.methods.notes import RememberParams
from shelfd.storage import SqliteStores

CASES = Path(__file__).parent / "data" / "evolution.jsonl"


class _Clock:
    def now(self) -> int:
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, delay: Any) -> None:
        await asyncio.sleep(delay.total_seconds())


class Memory:
    """The memory in this process, over a file in a folder."""

    def __init__(self, directory: str) -> None:
        self._clock = _Clock()
        self.shelves = Shelves(SqliteStores(Path(directory), self._clock), self._clock, MemorySettings(), PROJECTIONS)
        self._service = Service(self.shelves, Access(self.shelves.owner, frozenset({"uid:0"}), {}))

    async def call(self, name: str, **params: Any) -> dict[str, Any]:
        method = METHODS[name]
        validated = method.params.model_validate(params)
        return await self._service.handle(Call(method, validated, "uid:0", "bench", Ticket(self._clock), Limits()))

    async def fill(self, texts: Sequence[str]) -> None:
        for begin in range(0, len(texts), 1000):
            await self.call("remember_many", notes=[{"content": text} for text in texts[begin : begin + 1000]])


def about_many(texts: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """Return texts that are about one of many: a number follows their first word."""
    end = re.compile(r"(?<=\w\w)(?=[ ']|[^\x00-\u2fff])")
    return [end.sub(str(rng.randrange(count // 100 + 2)), rng.choice(texts), count=1) for _ in range(count)]


def timed(taken: dict[bool, list[float]]) -> None:
    """Have every remember note down how many microseconds its transaction took, by whether it evolves."""
    known = USE_CASES["remember"]
    assert isinstance(known, ChangeMethod)
    assert known.ahead is not None
    read_ahead, before = known.ahead, Counter[int]()

    def ahead(params: RememberParams, call: Call) -> None:
        begun = time.thread_time_ns()
        read_ahead(params, call)
        before[id(call)] += time.thread_time_ns() - begun

    def apply(tx: Transaction, params: RememberParams, call: Call) -> Any:
        begun = time.thread_time_ns()
        try:
            return known.apply(tx, params, call)
        finally:
            took = time.thread_time_ns() - begun + before.pop(id(call), 0)
            taken[params.evolve].append(took / 1e3)

    USE_CASES["remember"] = known._replace(apply=apply, ahead=ahead)


async def evolving(count: int, at_once: int) -> None:
    """What a note with ``evolve`` costs more, on the store's thread, of so many that are under way at once."""
    cases = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    rng = random.Random(7)
    older = [note["text"] for case in cases for note in case["older"]]
    kinds = {"plain": older, "telling a change": [case["new"]["text"] for case in cases]}
    taken: dict[bool, list[float]] = {False: [], True: []}
    timed(taken)
    with tempfile.TemporaryDirectory() as directory:
        memory = Memory(directory)
        await memory.shelves.start()
        await memory.fill(about_many(older, count, rng))
        asked = {"entity_type": "tool", "entity_value": "mimikatz", "min_seq": count}
        while (await memory.call("recall_entity", **asked))["index"]["state"] != "ready":
            pass  # each waits some seconds for what is not read yet
        await memory.call("remember", content=about_many([cases[0]["new"]["text"]], 1, rng)[0], evolve=True)
        # What a store reads when it is first asked takes some tenths of a second.
        if reading := [task for task in asyncio.all_tasks() if "store.subjects" in task.get_name()]:
            await asyncio.wait(reading)
        thread = next(each for each in threading.enumerate() if "_connection_worker_thread" in each.name)
        assert thread.ident is not None
        clock = time.pthread_getcpuclockid(thread.ident)
        for kind, said in kinds.items():
            texts = about_many(said, max(count, 2_000), rng)[:2_000]
            outcomes = Counter[str]()
            for evolve in (False, True):
                taken[evolve].clear()
                begun = time.clock_gettime_ns(clock)
                part = texts[1_000:] if evolve else texts[:1_000]
                for begin in range(0, len(part), at_once):
                    some = part[begin : begin + at_once]
                    requests = [memory.call("remember", content=text, evolve=evolve) for text in some]
                    results = await asyncio.gather(*requests)
                    outcomes.update(result["status"] for result in results if evolve)
                whole = (time.clock_gettime_ns(clock) - begun) / 1e3 / len(part)
                figures = f"{median(taken[evolve]):.0f} us p50, {whole:.0f} us with the commit"
                print(f"{count} notes, {kind}, evolve {evolve}: {figures}")
            print(f"evolve adds {median(taken[True]) - median(taken[False]):.0f} us p50; {dict(outcomes)}")
        await memory.shelves.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--at-once", type=int, default=50, help="requests that are under way while it is measured")
    given = parser.parse_args()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # as in the daemon
    asyncio.run(evolving(given.notes, given.at_once))


if __name__ == "__main__":
    main()
