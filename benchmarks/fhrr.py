"""The holographic memory of facts against the original's figures: accuracy, speed, size, capacity.

Everything runs in this process, on one thread. Keys are of three words ("amber-basket-budget") out of lists of made-up
words, so that every word is in many keys; questions are asked of keys drawn at random. Times are CPU times of this
process. What the answer adds to a recall, and ``note.search``, are measured through the service, over files. The
original's figures were taken once, with the same kinds of keys and questions, on a machine of the same sort; it is not
run here.

Fails if a figure misses what is wanted of it.

Run: ``python benchmarks/fhrr.py [--quick] [--dir DIR]``
"""

import argparse
import asyncio
import gc
import logging
import random
import sys
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import structlog

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))


from fakes import Api, memory
from memory.facts.one_nugget import FactMemory
from served import median, percentile, table, working_directory
from shelfd.memory.facts import Broadcast, Options
from shelfd.memory.facts.algebra import clean_up, phasor
from shelfd.memory.facts.banks import Banks
from shelfd.memory.facts.fact_memory import ShelfFacts
from shelfd.storage import SqliteStores

SIZES = (50, 512, 5_000, 50_000)
ASKED = 500  #: questions of each kind

#: Nuggets 714cab8 at its defaults (D 16384, 4 banks): found, CPU ms of an exact recall, ms of the first after a write.
ORIGINAL_ACCURACY = {
    ("exact key", 50): 1.0, ("exact key", 512): 1.0, ("exact key", 5_000): 0.10,
    ("one typo", 50): 0.83, ("one typo", 512): 0.58,
    ("all key words", 50): 1.0, ("all key words", 512): 1.0,
    ("one key word", 50): 0.42, ("one key word", 512): 0.05,
    ("unrelated", 50): 1.0, ("unrelated", 512): 1.0,
}  # fmt: skip
ORIGINAL_RECALL_MS = {50: 10.0, 512: 78.8, 5_000: 766.0}
ORIGINAL_WRITE_MS = {50: 470.0, 512: 17_700.0}

UNRELATED = """how tall is mount everest in meters
who won the football championship last year
what is the capital of france
how do I cook pasta
weather forecast tomorrow
when was the french revolution
which planet is the largest
how many people live in tokyo
what does a violin cost
who painted the mona lisa
is it going to rain on sunday
how far away is the moon
what time does the museum open
recommend a good science fiction novel
how do vaccines work
why is the sky blue
translate good morning to spanish
what is the square root of two
who invented the telephone
how long should I boil an egg
convert ten miles to kilometers
what are the symptoms of a cold
best route from london to paris
how do I tie a bow tie
which team plays at home tonight
what is photosynthesis
tell me a joke about cats
how old is the universe
who wrote war and peace
what is the boiling point of water""".splitlines()

_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zy".split()
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

Question = Callable[[str], str]
Result = TypeVar("Result")
Memory = TypeVar("Memory", FactMemory, Broadcast)

UNANSWERABLE = ("another trait", "unrelated")
KINDS = ("exact key", "one typo", "all key words", "two key words", "one key word", *UNANSWERABLE)


def words(drawn: random.Random, count: int) -> list[str]:
    """Return *count* made-up words of three or four syllables: none of them is a word of English."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(drawn.choices(_SYLLABLES, k=drawn.randint(3, 4)))] = None
    return list(found)


def keys(count: int, drawn: random.Random) -> list[str]:
    """Return *count* distinct keys of three words; the lists grow with the cube root of *count*."""
    each = max(round(2 * count ** (1 / 3)), 10)
    lists = words(drawn, 3 * each)
    owners, things, traits = lists[:each], lists[each : 2 * each], lists[2 * each :]
    found: dict[str, None] = {}
    while len(found) < count:
        found["-".join((drawn.choice(owners), drawn.choice(things), drawn.choice(traits)))] = None
    return list(found)


def misspelt(key: str, drawn: random.Random) -> str:
    """Return *key* with one character inserted, left out, replaced or swapped with the next."""
    while True:
        at = drawn.randrange(len(key))
        head, rest = key[:at], key[at:]
        letter = drawn.choice(_LETTERS)
        wrong = drawn.choice(
            [head + letter + rest, head + rest[1:], head + letter + rest[1:]]
            + ([head + rest[1] + rest[0] + rest[2:]] if len(rest) > 1 else [])
        )
        if wrong != key:
            return wrong


def questions(names: Sequence[str], drawn: random.Random) -> dict[str, Question]:
    """Return the kinds of question, each a function of a key."""
    held, traits = set(names), sorted({name.split("-")[2] for name in names})

    def absent(name: str) -> str:
        owner, thing, _ = name.split("-")
        others = [trait for trait in traits if f"{owner}-{thing}-{trait}" not in held]
        return f"what is the {drawn.choice(others)} of the {owner} {thing}?"

    return {
        "exact key": lambda name: name,
        "one typo": lambda name: misspelt(name, drawn),
        "all key words": lambda name: "what is the {2} of the {0} {1}?".format(*name.split("-")),
        "two key words": lambda name: "what about the {} {}?".format(*name.split("-")[:2]),
        "one key word": lambda name: "tell me the " + name.split("-")[2],
        "another trait": absent,
        "unrelated": lambda _: drawn.choice(UNRELATED),
    }


def timed(work: Callable[..., Result], *given: Any) -> tuple[Result, float]:
    """Return what *work* returns, and the CPU time it took in ms."""
    started = time.process_time_ns()
    result = work(*given)
    return result, (time.process_time_ns() - started) / 1e6


class Verdicts:
    """What is wanted, and what was measured."""

    def __init__(self) -> None:
        self.rows = [["wanted", "measured", ""]]

    def at_least(self, what: str, wanted: float, measured: float) -> None:
        """Note that *measured* should be *wanted* or more."""
        self._add(f"{what} >= {wanted:g}", measured, good=measured >= wanted)

    def at_most(self, what: str, wanted: float, measured: float) -> None:
        """Note that *measured* should be *wanted* or less."""
        self._add(f"{what} <= {wanted:g}", measured, good=measured <= wanted)

    def below(self, what: str, wanted: float, measured: float) -> None:
        """Note that *measured* should be less than *wanted*."""
        self._add(f"{what} < {wanted:g}", measured, good=measured < wanted)

    def _add(self, wanted: str, measured: float, *, good: bool) -> None:
        self.rows.append([wanted, f"{measured:.3f}".rstrip("0").rstrip("."), "yes" if good else "NO"])

    @property
    def are_good(self) -> bool:
        """Whether everything is as it should be."""
        return all(row[2] != "NO" for row in self.rows)


class Tally:
    """What became of the questions of one kind."""

    def __init__(self) -> None:
        self.asked = 0
        self.times: list[float] = []
        self.answers: list[tuple[float, bool]] = []  #: confidence, and whether it was right

    def ask(self, memory: FactMemory, query: str, wanted: str | None) -> None:
        """Ask *query*, to which the key *wanted* is right, or nothing is."""
        answer, taken = timed(memory.recall, query)
        self.asked += 1
        self.times.append(taken)
        if answer is not None:
            self.answers.append((answer.confidence, answer.key == wanted))

    @property
    def right(self) -> float:
        """Share of right answers."""
        return sum(correct for _, correct in self.answers) / self.asked

    @property
    def answered(self) -> float:
        """Share of questions that were answered."""
        return len(self.answers) / self.asked

    def row(self, size: int, kind: str) -> list[str]:
        """Return the line of the table."""
        original = ORIGINAL_ACCURACY.get((kind, size))
        return [
            f"{size:,}",
            kind,
            f"{self.right:.3f}",
            f"{self.answered:.3f}",
            "-" if original is None else f"{original:.2f}",
            f"{median([sure for sure, _ in self.answers]):.2f}" if self.answers else "-",
            f"{median(self.times):.3f}",
            f"{percentile(self.times, 0.95):.3f}",
        ]


def filled(names: Sequence[str]) -> tuple[FactMemory, list[float], float]:
    """Return a memory of *names*, the CPU time of each write, and its bytes per fact beside the text.

    What the whole process has once, the phasors of pairs of letters, is not counted: four MiB at most.
    """
    rows = [(f"fact-{number}", name, f"value of {name}") for number, name in enumerate(names)]
    fast = FactMemory()
    gc.disable()  # its full passes fall into any write that happens to allocate, 50 ms at 50,000 facts
    times = [timed(fast.put, *row)[1] for row in rows]
    gc.enable()
    del fast
    memory, taken = measured(FactMemory, rows)
    return memory, times, taken


def measured(make: Callable[[], Memory], facts: Sequence[tuple[Any, ...]]) -> tuple[Memory, float]:
    """A memory with *facts* put into it, and the bytes that each of them took."""
    gc.collect()
    tracemalloc.start()
    memory = make()
    for fact in facts:
        memory.put(*fact)
    taken = tracemalloc.get_traced_memory()[0] / len(facts)
    tracemalloc.stop()
    return memory, taken


def accuracy(sizes: Iterable[int], asked: int, verdicts: Verdicts) -> None:
    """Print accuracy, confidence, speed and size, and the original's figures."""
    found = [["facts", "question", "right", "answered", "original", "confidence p50", "p50 ms", "p95 ms"]]
    costs = [
        ["facts", "exact p50 ms", "others p50 ms", "original", "write p50 ms", "p99", "max", "original", "bytes a fact"]
    ]
    like: list[tuple[float, bool]] = []
    for size in sizes:
        drawn = random.Random(size)
        names = keys(size, drawn)
        memory, writes, taken = filled(names)
        tallies = {kind: Tally() for kind in KINDS}
        for kind, question in questions(names, drawn).items():
            for name in drawn.choices(names, k=asked):
                tallies[kind].ask(memory, question(name), None if kind in UNANSWERABLE else name)
        found.extend(tally.row(size, kind) for kind, tally in tallies.items())
        others = [tally for kind, tally in tallies.items() if kind != "exact key"]
        costs.append(
            [
                f"{size:,}",
                f"{median(tallies['exact key'].times):.4f}",
                f"{median([taken for tally in others for taken in tally.times]):.2f}",
                str(ORIGINAL_RECALL_MS.get(size, "-")),
                f"{median(writes):.3f}",
                f"{percentile(writes, 0.99):.3f}",
                f"{max(writes):.1f}",
                str(ORIGINAL_WRITE_MS.get(size, "-")),
                f"{taken:.0f}",
            ]
        )
        like.extend(answer for tally in others for answer in tally.answers)
        judge(f"{size:,} facts", tallies, writes, taken, verdicts)
    print(table(found))
    print("\noriginal: share of right answers; of unrelated questions, the share it answered\n")
    print(table(costs))
    print(
        "\noriginal: ms of an exact recall; ms of the rebuild that follows a write. Bytes: beside key, value and id\n"
    )
    print(table([["confidence", "answers", "right"], *calibration(like)]))
    wrong = [sure for sure, correct in like if not correct]
    too_sure = sum(sure > 0.5 for sure in wrong)
    print(f"\nexact keys left out; {too_sure} of {len(wrong)} wrong answers are above 0.5")
    verdicts.at_most("share of wrong answers above 0.5", 0.02, too_sure / max(len(wrong), 1))


def judge(facts: str, tallies: dict[str, Tally], writes: Sequence[float], taken: float, verdicts: Verdicts) -> None:
    """Compare one size's figures with what is wanted."""
    verdicts.at_least(f"{facts}: exact key right", 1.0, tallies["exact key"].right)
    verdicts.at_least(f"{facts}: its confidence", 0.9, min(sure for sure, _ in tallies["exact key"].answers))
    verdicts.at_least(f"{facts}: one typo right", 0.95, tallies["one typo"].right)
    verdicts.at_least(f"{facts}: all key words right", 1.0, tallies["all key words"].right)
    verdicts.at_most(f"{facts}: unrelated answered", 0.02, tallies["unrelated"].answered)
    slowest = max(median(tally.times) for tally in tallies.values())
    verdicts.below(f"{facts}: slowest question p50, ms", 5.0 if facts.startswith("50,000") else 1.0, slowest)
    verdicts.below(f"{facts}: write p99, ms", 1.0, percentile(writes, 0.99))
    verdicts.below(f"{facts}: bytes a fact", 1024, taken)


def calibration(answers: Sequence[tuple[float, bool]]) -> Iterable[list[str]]:
    """How often answers of each confidence are right."""
    for low, high in pairwise((0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)):
        inside = [correct for sure, correct in answers if low <= sure < high]
        yield [f"{low} to {high}", str(len(inside)), f"{sum(inside) / len(inside):.2f}" if inside else "-"]


def capacity_curve(dimensions: Iterable[int], trials: int) -> None:
    """Print how many values come back right from one bank alone, without a row."""
    loads = (0.025, 0.05, 0.075, 0.1, 0.15, 0.2)
    rows = [["dimension", *(f"{load} d" for load in loads)]]
    for dimension in dimensions:
        counts = [int(load * dimension) for load in loads]
        rows.append([f"{dimension:,}", *(f"{count}: {decoded(dimension, count, trials):.3f}" for count in counts)])
    print(table(rows))


def decoded(dimension: int, count: int, trials: int) -> float:
    """Return the share of *count* values decoded right from one bank, among 1,000 values."""
    right = asked = 0
    for trial in range(trials):
        banks = Banks(Options(dimension=dimension, banks=1))
        for number in range(count):
            banks.add(f"key {trial} {number}", f"value {trial} {number}")
        values = phasor(np.stack([banks.value_phases(f"value {trial} {number}") for number in range(1000)]))
        for number in random.Random(trial).sample(range(count), min(count, 40)):
            right += clean_up(banks.unbound(f"key {trial} {number}", 0), values)[0] == number
            asked += 1
    return right / asked


def broadcast(nuggets: int, asked: int, verdicts: Verdicts) -> None:
    """Print how well a question to all nuggets picks those that know, and what it costs."""
    drawn = random.Random(nuggets)
    vocabulary = words(drawn, 4000)
    held: dict[str, str] = {}
    shelf = Broadcast()
    for number in range(nuggets):
        for _ in range(300 if number % 100 == 0 else drawn.choice([1, 3, 5, 10, 20, 40])):
            name = "-".join(drawn.sample(vocabulary, 3))
            if name not in held:
                held[name] = f"n{number}"
                shelf.put(held[name], name, name, f"value of {name}")
    rows = [["question", "owner first", "right", "wrong above 0.5", "p50 ms", "p99 ms", "each by itself, ms"]]
    names = list(held)
    for kind, question in questions(names[:1000], drawn).items():
        if kind not in ("exact key", "one typo", "all key words", "two key words"):
            continue
        first = right = too_sure = 0
        quick: list[float] = []
        slow: list[float] = []
        for name in drawn.choices(names, k=asked):
            query = question(name)
            found, taken = timed(shelf.recall, query)
            quick.append(taken)
            is_right = found is not None and found.key == name
            right += is_right
            too_sure += found is not None and not is_right and found.confidence > 0.5
            first += shelf.likely(query)[:1] == [held[name]]
            if len(slow) < 5:
                slow.append(timed(lambda query: [shelf.recall(query, nugget) for nugget in shelf.nuggets], query)[1])
        rows.append(
            [
                kind,
                f"{first / asked:.3f}",
                f"{right / asked:.3f}",
                f"{too_sure / asked:.3f}",
                f"{median(quick):.2f}",
                f"{percentile(quick, 0.99):.2f}",
                f"{median(slow):.0f}",
            ]
        )
        if kind != "two key words":
            verdicts.at_least(f"{nuggets:,} nuggets, {kind}: owner first", 0.99, first / asked)
        verdicts.at_most(f"{nuggets:,} nuggets, {kind}: wrong above 0.5", 0.02, too_sure / asked)
    print(f"{nuggets:,} nuggets, {len(held):,} facts\n")
    print(table(rows))


def bytes_in_small_nuggets(nuggets: int, verdicts: Verdicts) -> None:
    """Print what facts take when every nugget has a few."""
    rows = [["nuggets", "facts in each", "bytes a fact"]]
    for each in (1, 5, 20):
        names = keys(nuggets * each, random.Random(each))
        given = [(f"n{at % nuggets}", f"fact-{at}", name, f"value of {name}") for at, name in enumerate(names)]
        _, taken = measured(Broadcast, given)
        rows.append([f"{nuggets:,}", str(each), f"{taken:.0f}"])
        if each > 1 or nuggets >= 10_000:  # of fewer facts the words, which their keys share, are too large a part
            verdicts.at_most(f"{nuggets:,} nuggets of {each} facts: bytes a fact", 400 if each == 1 else 512, taken)
    print(table(rows))


@asynccontextmanager
async def shelved(directory: Path, notes: Sequence[dict[str, Any]]) -> AsyncIterator[Api]:
    """A memory over files that holds *notes*, and whose index knows them."""
    async with memory(lambda clock: SqliteStores(directory, clock)) as api:
        for start in range(0, len(notes), 500):
            await api.call("remember_many", notes=notes[start : start + 500])
        await api.shelf().reach(None)
        await api.warmed()
        yield api


async def asked_for(api: Api, name: str, params: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """Return a method's result, and the CPU time it took in ms; nothing else is at work."""
    call = api.request(name, params)
    started = time.process_time_ns()
    result = await api.service.handle(call)
    return result, (time.process_time_ns() - started) / 1e6


async def answers(directory: Path, nuggets: int, asked: int, verdicts: Verdicts) -> None:
    """Print what the answer adds to a recall: each question is asked with it and without, in turns.

    It is asked once before, so that neither reads the notes that it finds for the first time.
    """
    drawn = random.Random(nuggets)
    names = keys(5 * nuggets, drawn)
    facts = [
        {"content": f"value of {name}", "key": name, "nugget": f"n{at % nuggets}"} for at, name in enumerate(names)
    ]
    rows = [["question", "answered", "without, p50 ms", "with, p50 ms", "ratio", "added p50 ms", "p99"]]
    every: list[float] = []
    async with shelved(directory, facts) as api:
        await api.shelf().tracks.complete(ShelfFacts)
        gc.collect()
        for kind, question in questions(names, drawn).items():
            times: dict[str, list[float]] = {"lexical": [], "auto": []}
            answered = 0
            for at, name in enumerate(drawn.choices(names, k=asked)):
                query = question(name)
                await api.call("recall", query=query, count_hits=False)
                for mode in ("lexical", "auto") if at % 2 else ("auto", "lexical"):
                    result, taken = await asked_for(api, "recall", {"query": query, "mode": mode, "count_hits": False})
                    times[mode].append(taken)
                    answered += mode == "auto" and "answer" in result
            without, with_it = (median(times[mode]) for mode in ("lexical", "auto"))
            added = [one - other for one, other in zip(times["auto"], times["lexical"], strict=True)]
            every += added
            rows.append(
                [
                    kind,
                    f"{answered / asked:.3f}",
                    f"{without:.2f}",
                    f"{with_it:.2f}",
                    f"{with_it / without:.2f}",
                    f"{median(added):.2f}",
                    f"{percentile(added, 0.99):.2f}",
                ]
            )
    print(f"{nuggets:,} nuggets, {len(facts):,} facts\n")
    print(table(rows))
    verdicts.at_most("what the answer adds to recall, p50, ms", 0.3, median(every))
    verdicts.at_most("what the answer adds to recall, p99, ms", 1.0, percentile(every, 0.99))


async def searches(directory: Path, count: int, asked: int, verdicts: Verdicts) -> None:
    """Print what note.search costs. Words are as frequent as words are: the commonest is in one note of three."""
    drawn = random.Random(count)
    vocabulary = words(drawn, 5000)
    frequencies = [1 / (rank + 5) for rank in range(len(vocabulary))]

    def text(length: int) -> list[str]:
        return drawn.choices(vocabulary, frequencies, k=length)

    texts = [text(drawn.randint(10, 40)) for _ in range(count)]
    notes = [{"content": " ".join(said), "title": " ".join(text(3)), "tags": text(1)} for said in texts]
    kinds: dict[str, Callable[[list[str]], list[str]]] = {
        "one word": lambda said: said[:1],
        "two words": lambda said: drawn.sample(said, 2),
        "three words": lambda said: drawn.sample(said, 3),
        "four in a row": lambda said: said[3:7],
        "one typo": lambda said: [misspelt(said[0], drawn)],
    }
    rows = [["query", "p50 ms", "p95 ms"]]
    every: list[float] = []
    async with shelved(directory, notes) as api:
        await api.call("note.search", query="x")
        gc.collect()
        for kind, asks in kinds.items():
            queries = [" ".join(asks(drawn.choice(texts))) for _ in range(asked)]
            times = [(await asked_for(api, "note.search", {"query": query}))[1] for query in queries]
            every += times
            rows.append([kind, f"{median(times):.2f}", f"{percentile(times, 0.95):.2f}"])
    print(f"{count:,} notes\n")
    print(table(rows))
    verdicts.below(f"note.search in {count:,} notes, p50, ms", 5.0, median(every))


def main() -> None:
    """Print every table, and fail if a figure misses what is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes only, a minute at most")
    parser.add_argument("--dir", help="where to keep the shelves meanwhile (.run of the checkout)")
    arguments = parser.parse_args()
    quick = arguments.quick
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    verdicts = Verdicts()
    print("## Facts\n")
    accuracy(SIZES[:2] if quick else SIZES, 100 if quick else ASKED, verdicts)
    print("\n## Capacity of one bank, without rows\n")
    capacity_curve((1024,) if quick else (1024, 2048, 4096), 2 if quick else 10)
    print("\n## A question to all nuggets\n")
    broadcast(200 if quick else 10_000, 20 if quick else 200, verdicts)
    print("\n## Small nuggets\n")
    bytes_in_small_nuggets(200 if quick else 10_000, verdicts)
    print("\n## What the answer adds to a recall\n")
    with working_directory(arguments.dir) as directory:
        asyncio.run(answers(directory, 200 if quick else 10_000, 50 if quick else 300, verdicts))
    print("\n## Note search\n")
    with working_directory(arguments.dir) as directory:
        asyncio.run(searches(directory, 1_000 if quick else 20_000, 20 if quick else 100, verdicts))
    print("\n## Verdict\n")
    print(table(verdicts.rows))
    if not verdicts.are_good:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
