"""The holographic memory of facts against the original's figures: accuracy, speed, size, capacity.

Everything runs in this process, on one thread. Keys are of three words ("amber-basket-budget") out of lists of made-up
words, so that every word is in many keys; questions are asked of keys drawn at random. Times are CPU times of this
process. The original's figures were taken once, with the same kinds of keys and questions, on a machine of the same
sort; it is not run here.

Run: ``python benchmarks/fhrr.py [--quick]``
"""

import argparse
import gc
import random
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from served import median, percentile, table
from shelfd.memory.fhrr import Broadcast, FactMemory, NoteVectors, Options, note_vector
from shelfd.memory.fhrr.algebra import clean_up, phasor
from shelfd.memory.fhrr.banks import Banks

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

    def row(self, size: int, kind: str) -> list[str]:
        """Return the line of the table."""
        original = ORIGINAL_ACCURACY.get((kind, size))
        right = sum(correct for _, correct in self.answers) / self.asked
        return [
            f"{size:,}",
            kind,
            f"{right:.3f}",
            f"{len(self.answers) / self.asked:.3f}",
            "-" if original is None else f"{original:.2f}",
            f"{median([sure for sure, _ in self.answers]):.2f}" if self.answers else "-",
            f"{median(self.times):.3f}",
            f"{percentile(self.times, 0.95):.3f}",
        ]


def filled(names: Sequence[str]) -> tuple[FactMemory, list[float], float]:
    """Return a memory of *names*, the CPU time of each write, and its bytes per fact beside the text."""
    rows = [(f"fact-{number}", name, f"value of {name}") for number, name in enumerate(names)]
    fast = FactMemory()
    gc.disable()  # its full passes fall into any write that happens to allocate, 50 ms at 50,000 facts
    times = [timed(fast.put, *row)[1] for row in rows]
    gc.enable()
    del fast
    gc.collect()
    tracemalloc.start()
    memory = FactMemory()
    for row in rows:
        memory.put(*row)
    taken = tracemalloc.get_traced_memory()[0] / len(rows)
    tracemalloc.stop()
    return memory, times, taken


def accuracy(sizes: Iterable[int], asked: int) -> None:
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
        exact = tallies.pop("exact key")
        costs.append(
            [
                f"{size:,}",
                f"{median(exact.times):.4f}",
                f"{median([taken for tally in tallies.values() for taken in tally.times]):.2f}",
                str(ORIGINAL_RECALL_MS.get(size, "-")),
                f"{median(writes):.3f}",
                f"{percentile(writes, 0.99):.3f}",
                f"{max(writes):.1f}",
                str(ORIGINAL_WRITE_MS.get(size, "-")),
                f"{taken:.0f}",
            ]
        )
        like.extend(answer for tally in tallies.values() for answer in tally.answers)
    print(table(found))
    print("\noriginal: share of right answers; of unrelated questions, the share it answered\n")
    print(table(costs))
    print(
        "\noriginal: ms of an exact recall; ms of the rebuild that follows a write. Bytes: beside key, value and id\n"
    )
    print(table([["confidence", "answers", "right"], *calibration(like)]))
    wrong = [sure for sure, correct in like if not correct]
    print(f"\nexact keys left out; {sum(sure > 0.5 for sure in wrong)} of {len(wrong)} wrong answers are above 0.5")


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


def broadcast(nuggets: int, asked: int) -> None:
    """Print how well the sketches pick the nuggets to ask, and what it costs."""
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
    renewed = timed(shelf.renew)[1]
    rows = [["question", "owner picked", "same as all", "p50 ms", "asking all, p50 ms"]]
    names = list(held)
    for kind, question in questions(names[:1000], drawn).items():
        if kind not in ("exact key", "one typo", "all key words", "two key words"):
            continue
        picked = same = 0
        quick: list[float] = []
        slow: list[float] = []
        for name in drawn.choices(names, k=asked):
            query = question(name)
            answer, taken = timed(shelf.recall, query)
            quick.append(taken)
            picked += held[name] in shelf.likely(query)
            if len(slow) < max(asked // 10, 5):
                best, taken = timed(shelf.recall, query, list(shelf))
                slow.append(taken)
                same += answer == best
        rows.append(
            [kind, f"{picked / asked:.3f}", f"{same / len(slow):.3f}", f"{median(quick):.1f}", f"{median(slow):.1f}"]
        )
    print(f"{nuggets:,} nuggets, {len(held):,} facts; all sketches computed in {renewed / 1000:.1f} s\n")
    print(table(rows))


def notes(counts: Iterable[int]) -> None:
    """Print what scoring many notes' vectors costs."""
    rows = [["notes", "add, us", "score all, p50 ms"]]
    for count in counts:
        drawn = random.Random(count)
        vocabulary = words(drawn, 5000)
        made = [
            note_vector(" ".join(drawn.choices(vocabulary, k=4)), " ".join(drawn.choices(vocabulary, k=30)), [])
            for _ in range(min(count, 20_000))
        ]
        held = NoteVectors()
        added = [timed(held.add, f"note-{at}", made[at % len(made)])[1] for at in range(count)]
        scored = [timed(held.cosines, " ".join(drawn.choices(vocabulary, k=5)))[1] for _ in range(20)]
        rows.append([f"{count:,}", f"{1000 * sum(added) / count:.0f}", f"{median(scored):.2f}"])
    print(table(rows))


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes only, a minute at most")
    quick = parser.parse_args().quick
    print("## Facts\n")
    accuracy(SIZES[:2] if quick else SIZES, 100 if quick else ASKED)
    print("\n## Capacity of one bank, without rows\n")
    capacity_curve((1024,) if quick else (1024, 2048, 4096), 2 if quick else 10)
    print("\n## A question to all nuggets\n")
    broadcast(200 if quick else 10_000, 20 if quick else 200)
    print("\n## Note vectors\n")
    notes((1_000,) if quick else (1_000, 100_000))


if __name__ == "__main__":
    main()
