"""How well entities are found (--quality), and how fast they are derived and recalled.

python benchmarks/entities.py --quality            the labelled sentences that the rules were written with
python benchmarks/entities.py --quality --held-out those that they were not
python benchmarks/entities.py --notes 10000        cost of reading a note, and of recall_entity in process
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from shelfd.memory import PROJECTIONS, Access, Call, MemorySettings, Service, Shelves, Ticket
from shelfd.memory.knowledge.entities.extract import extract
from shelfd.memory.knowledge.entities.kinds import IDENTIFIER_TYPES, key_of
from shelfd.protocol import METHODS, Limits
from shelfd.storage import SqliteStores

DATA = Path(__file__).parent / "data" / "entities.jsonl"
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


async def cost(count: int) -> None:
    texts = [one["text"] for one in sentences("all")]
    rng = random.Random(7)
    began = time.process_time()
    for text in texts * 20:
        extract(text)
    print(f"extract: {(time.process_time() - began) / len(texts) / 20 * 1e6:.0f} us CPU a labelled sentence")
    with tempfile.TemporaryDirectory() as directory:
        clock = _Clock()
        shelves = Shelves(SqliteStores(Path(directory), clock), clock, MemorySettings(), PROJECTIONS)
        service = Service(shelves, Access(shelves.owner, frozenset({"uid:0"}), {}))
        await shelves.start()

        async def call(name: str, **params: Any) -> dict[str, Any]:
            method = METHODS[name]
            return await service.handle(
                Call(method, method.params.model_validate(params), "uid:0", "bench", Ticket(clock), Limits())
            )

        for begin in range(0, count, 1000):
            notes = [
                {"content": f"{rng.choice(texts)} Host web-{begin + at}."} for at in range(min(1000, count - begin))
            ]
            await call("remember_many", notes=notes)
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
        await shelves.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="each sentence that was not understood")
    parser.add_argument("--notes", type=int, default=10_000)
    options = parser.parse_args()
    if options.quality:
        print_quality("held_out" if options.held_out else "develop", verbose=options.verbose)
    else:
        asyncio.run(cost(options.notes))


if __name__ == "__main__":
    main()
