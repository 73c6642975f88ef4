"""Reflection: what a pass costs on a large shelf, what recall feels of it, and what years of nights lose.

The shelf is in this process, on a real disk. Work is CPU time of this process for one reflection, without the replays
of the recall gate; recall p99 is taken in five windows with a pass at work and five without, turn by turn, and the
medians are compared. ``--nights`` simulates nights instead: reflection on 2,000 notes with new ones each day, and
promotion within its budget.

Run: ``python benchmarks/reflection.py [--notes N] [--dir DIR]`` or ``python benchmarks/reflection.py --nights [N]``
"""

import argparse
import asyncio
import logging
import random
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import structlog

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from fakes import Api, memory
from locomo import progress
from memory.tending.reflection.nights import Daily, Page, promoting, words
from memory.tending.reflection.scenes import a_note, shelve
from served import median, percentile, table, working_directory
from shelfd.memory.notes.note import Note
from shelfd.memory.tending.promotion import Promoter
from shelfd.storage import SqliteStores

WINDOWS = 5
ASKED = 300  #: recalls in a window


def some_notes(dice: random.Random) -> Iterator[Note]:
    """Notes of twenty words in ten nuggets, one in ten nearly the same as one before."""
    known = words(dice, 30_000)
    number, last = 0, ""
    while True:
        text = " ".join(known[int(len(known) * dice.random() ** 3)] for _ in range(20))
        if dice.random() < 0.1 and last:
            text = f"{last}\n{last}"
        last = text.split("\n")[0]
        yield a_note(text, id=f"n{number}", nugget=f"nugget{number % 10}")
        number += 1


async def p99(api: Api, queries: list[str]) -> float:
    """Milliseconds of the slowest hundredth of recalls, each beginning when the one before has ended."""
    taken = []
    for query in queries:
        began = time.perf_counter()
        await api.call("recall", query=query, count_hits=False)
        taken.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(0)
    return percentile(taken, 0.99)


async def passing(api: Api, stop: asyncio.Event) -> None:
    """Reflect again and again."""
    while not stop.is_set():
        await api.call("reflect")


async def passes(count: int, directory: Path) -> None:
    dice = random.Random(7)
    async with memory(lambda clock: SqliteStores(directory, clock)) as api:
        notes = some_notes(dice)
        for start in range(0, count, 5000):
            await shelve(api, list(islice(notes, min(5000, count - start))))
            progress(min(start + 5000, count), count, "notes")
        await api.call("recall", query="anything")
        await api.shelf().reach(None)
        works = []
        for _ in range(WINDOWS):
            began = time.process_time()
            await api.call("reflect")
            works.append(time.process_time() - began)
        texts = [note.content.split() for note in islice(notes, ASKED)]
        queries = [" ".join(dice.sample(text, 3)) for text in texts]
        alone, beside = [], []
        for _ in range(WINDOWS):
            alone.append(await p99(api, queries))
            stop = asyncio.Event()
            work = asyncio.create_task(passing(api, stop))
            beside.append(await p99(api, queries))
            stop.set()
            await work
    rows = [
        ("", f"{count:,} notes"),
        ("work of a pass, s", f"{median(works):.2f}"),
        ("recall p99 without, ms", f"{median(alone):.2f}"),
        ("recall p99 during, ms", f"{median(beside):.2f}"),
        ("ratio", f"{median(beside) / median(alone):.2f}"),
    ]
    print(table(rows))


async def nights(count: int) -> None:
    async with memory() as api:
        daily = Daily(api)
        await daily.write(2000)
        began = time.perf_counter()
        for night in range(count):
            await daily.write(5)
            await daily.ask(4, f"day-{night}")
            await daily.night(night)
            progress(night + 1, count, "nights of reflection")
        took = time.perf_counter() - began
        lost, pinned = len(daily.lost), len(daily.pinned_lost())
    async with memory() as api:
        page = Page()
        api.service.promoter = Promoter(page)
        promoted = 3 * count
        results = await promoting(api, page, nights=promoted, per_night=1)
    longest = max(result["characters"] for result in results)
    rows = [
        ("", f"{count} nights"),
        ("changes made / left out", f"{daily.changes} / {daily.held_back}"),
        ("recalled notes lost", str(lost)),
        ("pinned notes lost", str(pinned)),
        ("seconds in all", f"{took:.0f}"),
        (f"longest MEMORY.md in {promoted} nights, tokens of 4000", f"{-(-longest // 4)}"),
        ("notes without room at the end", str(results[-1]["fell_out"])),
    ]
    print(table(rows))
    if lost or pinned or longest > 16_000:
        raise SystemExit(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=100_000, help="notes on the shelf (100000)")
    parser.add_argument("--nights", type=int, nargs="?", const=365, help="simulate so many nights instead (365)")
    parser.add_argument("--dir", help="where to keep the shelf meanwhile (.run of the checkout)")
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    if arguments.nights is not None:
        asyncio.run(nights(arguments.nights))
        return
    with working_directory(arguments.dir) as directory:
        asyncio.run(passes(arguments.notes, directory))


if __name__ == "__main__":
    main()
