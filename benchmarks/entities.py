"""How well entities are found (--quality), and how fast they are derived and recalled.

python benchmarks/entities.py --quality            the labelled sentences that the rules were written with
python benchmarks/entities.py --quality --held-out those that they were not
python benchmarks/entities.py --notes 10000        cost of reading a note, and of recall_entity in process
python benchmarks/entities.py --evolve --notes N   what `evolve` adds to a remember, on the store's thread
"""

import argparse
import asyncio
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
from shelfd.memory.knowledge.entities.extract import extract
from shelfd.memory.knowledge.entities.kinds import IDENTIFIER_TYPES, key_of
from shelfd.protocol import METHODS, Limits
from shelfd.storage import SqliteStores

DATA = Path(__file__).parent / "data" / "entities.jsonl"
CASES = DATA.with_name("evolution.jsonl")
#: Requests under way at once while the cost of evolve is measured.
_AT_ONCE = 50
FREE_TYPES = ("person", "organization", "location", "event", "temporal")


def sentences(part: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    return [one for one in found if part in {"all", one["part"]}]


def measured(part: str, *, verbose: bool = False) -> dict[str, tuple[int, int, int]]:
    """Return right ones, found ones and labelled ones by type; ``identifiers`` sums those up."""
    right, found, labelled = Counter[str](), Counter[str](), Counter[str]()
    for one in sentences(part):
        wanted = Counter((type_, key_of(type_, value)) for type_, value in one["entities"])
        got = Counter((mention.type, mention.key) for mention in extract(one["text"]))
        for counts, counter in ((wanted & got, right), (got, found), (wanted, labelled)):
            for (type_, _), count in counts.items():
                counter[type_] += count
                if type_ in IDENTIFIER_TYPES:
                    counter["identifiers"] += count
        if verbose and wanted != got:
            missed, wrong = sorted((wanted - got).elements()), sorted((got - wanted).elements())
            print(f"{one['text']}\n    missed {missed}  wrong {wrong}")
    return {type_: (right[type_], found[type_], labelled[type_]) for type_ in sorted({*found, *labelled})}


def print_quality(part: str, *, verbose: bool) -> None:
    print(f"{len(sentences(part))} sentences ({part})")
    print(f"{'type':16} {'precision':>9} {'recall':>7} {'found':>6} {'labelled':>9}")
    for type_, (right, found, labelled) in measured(part, verbose=verbose).items():
        precision = right / found if found else 1.0
        recall = right / labelled if labelled else 1.0
        print(f"{type_:16} {precision:9.3f} {recall:7.3f} {found:6} {labelled:9}")


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


async def cost(count: int) -> None:
    texts = [one["text"] for one in sentences("all")]
    rng = random.Random(7)
    began = time.process_time()
    for text in texts * 20:
        extract(text)
    print(f"extract: {(time.process_time() - began) / len(texts) / 20 * 1e6:.0f} us CPU a labelled sentence")
    with tempfile.TemporaryDirectory() as directory:
        memory = Memory(directory)
        call = memory.call
        await memory.shelves.start()
        await memory.fill([f"{rng.choice(texts)} Host web-{at}." for at in range(count)])
        began, cpu = time.perf_counter(), time.process_time()
        await call("recall_entity", entity_type="tool", entity_value="mimikatz")
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
        print(f"derive: {cpu / count * 1e6:.0f} us CPU a note, {count} notes in {took:.1f} s")
        for type_, value in (("tool", "Mimikatz"), ("actor", "Pawn Storm"), ("location", "Berlin"), ("asset", "web-7")):
            times = []
            for _ in range(200):
                began = time.perf_counter()
                found = await call("recall_entity", entity_type=type_, entity_value=value)
                times.append(time.perf_counter() - began)
            print(f"recall_entity {type_} {value}: {median(times) * 1e3:.2f} ms p50, {len(found['notes'])} notes")
        await memory.shelves.close()


def about_many(texts: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """Return texts in which names in capitals are those of one of many: some ten notes are about each."""
    end = re.compile(r"(?<=\w\w)(?=[ ']|$)")
    return [end.sub(str(rng.randrange(count // 400 + 2)), rng.choice(texts), count=1) for _ in range(count)]


async def evolving(count: int) -> None:
    """What a note with ``evolve`` costs more, on the store's thread, one request at a time."""
    cases = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    rng = random.Random(7)
    with tempfile.TemporaryDirectory() as directory:
        memory = Memory(directory)
        await memory.shelves.start()
        await memory.fill(about_many([note["text"] for case in cases for note in case["older"]], count, rng))
        await memory.call("recall_entity", entity_type="tool", entity_value="mimikatz")
        thread = next(each for each in threading.enumerate() if "_connection_worker_thread" in each.name)
        assert thread.ident is not None
        clock = time.pthread_getcpuclockid(thread.ident)
        took: dict[bool, list[float]] = {False: [], True: []}
        outcomes = Counter[str]()
        texts = about_many([case["new"]["text"] for case in cases], 40 * _AT_ONCE, random.Random(8))
        for begin in range(0, len(texts), _AT_ONCE):
            evolve = begin >= len(texts) // 2
            begun = time.clock_gettime_ns(clock)
            requests = [
                memory.call("remember", content=text, evolve=evolve) for text in texts[begin : begin + _AT_ONCE]
            ]
            results = await asyncio.gather(*requests)
            took[evolve].append((time.clock_gettime_ns(clock) - begun) / 1e3 / _AT_ONCE)
            outcomes.update(result["status"] for result in results if evolve)
        plain, inline = median(took[False]), median(took[True])
        print(f"evolve inline at {count} notes: {inline:.0f} us CPU p50 with evolve, {plain:.0f} without,"
              f" {inline - plain:.0f} more; {dict(outcomes)}")  # fmt: skip
        await memory.shelves.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="each sentence that was not understood")
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--evolve", action="store_true", help="what evolve adds to a remember")
    options = parser.parse_args()
    if options.evolve:
        asyncio.run(evolving(options.notes))
    elif options.quality:
        print_quality("held_out" if options.held_out else "develop", verbose=options.verbose)
    else:
        asyncio.run(cost(options.notes))


if __name__ == "__main__":
    main()
