"""How well entities are found, and how fast they are derived and recalled.

python benchmarks/entities.py --quality                  the labelled sentences that the rules were written with
python benchmarks/entities.py --quality --part held_out  those that they were not
python benchmarks/entities.py --quality --part fresh     of events and activities, for a second round of rules
python benchmarks/entities.py --quality --part mixed     written without a look at the rules; later: after mending
python benchmarks/entities.py [--notes N]                through the socket: reading notes, recall_entity, graph

The last one remembers labelled sentences, each with a device of its own, and among them a thousand notes of which each
says one edge: some flaws that one actor uses, and who else uses each. It waits until all are read. It fails if a median
is above its limit, but for ``--no-limits``.
"""

import argparse
import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

from locomo import progress
from served import median, percentile, served, table, working_directory
from shelfd.client import Client, connect
from shelfd.memory.knowledge.entities.extract import extract
from shelfd.memory.knowledge.entities.kinds import IDENTIFIER_TYPES, key_of

DATA = Path(__file__).parent / "data" / "entities.jsonl"
ASKED: Final = (
    ("tool", "Mimikatz"),
    ("actor", "Pawn Storm"),
    ("location", "Porto"),
    ("asset", "web-7"),
    ("cve", "CVE-2000-1"),
)
AT_ONCE: Final = 1_000  #: notes of one request
REPEATED: Final = 300  #: requests of each kind
LIMIT_MS: Final = 2.0
#: Two steps from the actor there are 1,000 edges: to the flaws, and from each to others.
FLAWS: Final = 25
OTHERS: Final = 39
WALK_LIMIT_MS: Final = 10.0


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


def print_reading() -> None:
    """What it costs to read a sentence."""
    texts = [one["text"] for one in sentences("all")]
    began = time.process_time()
    for text in texts * 20:
        extract(text)
    print(f"{(time.process_time() - began) / len(texts) / 20 * 1e6:.0f} us CPU to read a labelled sentence")


def fill(client: Client, count: int) -> None:
    """Remember *count* notes: those of the walk, and labelled sentences, each with a device of its own."""
    texts, draw = [one["text"] for one in sentences("all")], random.Random(7)
    said = [f"UNC{9000 + other} near CVE-2031-{1000 + flaw}." for flaw in range(FLAWS) for other in walkers(flaw)]
    said += [f"{draw.choice(texts)} Host web-{number}." for number in range(count - len(said))]
    draw.shuffle(said)
    for begin in range(0, count, AT_ONCE):
        notes = [{"content": content} for content in said[begin : begin + AT_ONCE]]
        client.call("remember_many", {"notes": notes})
        progress(begin + len(notes), count, "notes")


def walkers(flaw: int) -> list[int]:
    """The first actor and some others, for each flaw different ones."""
    return [0, *range(1 + flaw * OTHERS, 1 + (flaw + 1) * OTHERS)]


def timed(client: Client, method: str, params: dict[str, Any]) -> tuple[list[float], dict[str, Any]]:
    """Milliseconds of each of some requests, and what the last one answered."""
    took, answer = [], {}
    for _ in range(REPEATED):
        began = time.perf_counter()
        answer = client.call(method, params)
        took.append((time.perf_counter() - began) * 1000)
    return took, answer


def measure(count: int, parent: str | None) -> list[str]:
    """Print what deriving and recalling take through the socket; return what is above its limit."""
    missed = []
    with working_directory(parent) as directory, served(directory) as daemon:
        with connect(daemon.socket, timeout_s=3600) as client:
            fill(client, count)
            cpu, began = daemon.cpu_s(), time.perf_counter()
            asked = {"tool_name": "mimikatz", "min_seq": count}  # which waits until they are read, some seconds
            while client.call("recall_tool", asked)["index"]["state"] != "ready":
                pass
            took, cpu = time.perf_counter() - began, daemon.cpu_s() - cpu
            print(f"{count} notes were read in {took:.1f} s and {cpu:.1f} s CPU, {cpu / count * 1e6:.0f} us a note")
            base = median(timed(client, "system.version", {})[0])
            rows = [["recall_entity", "notes", "p50 ms", "p95 ms", "of a round trip"]]
            for type_, value in ASKED:
                wall, answer = timed(client, "recall_entity", {"entity_type": type_, "entity_value": value})
                p50, found = median(wall), str(len(answer["notes"]))
                rows.append(
                    [f"{type_} {value}", found, f"{p50:.2f}", f"{percentile(wall, 0.95):.2f}", f"{p50 / base:.1f}"]
                )
                if p50 > LIMIT_MS:
                    missed.append(f"recall_entity {type_} {value} took {p50:.2f} ms, more than {LIMIT_MS}")
            walks = [measured_walk(client, base, missed, *start) for start in (("actor", "UNC9000"), *ASKED[:2])]
        print(table(rows))
        print(table([["traverse_graph", "nodes", "truncated", "p50 ms", "p95 ms", "of a round trip"], *walks]))
        print(f"a round trip: {base:.2f} ms; the daemon's own memory: {daemon.own_mib():.0f} MiB")
    return missed


def measured_walk(client: Client, base: float, missed: list[str], type_: str, value: str) -> list[str]:
    """Walk two steps; a row of what that took. *missed* is told if it is above the limit of the thousand edges."""
    wall, answer = timed(client, "traverse_graph", {"start_type": type_, "start_value": value})
    p50, found = median(wall), answer["nodes"]
    if value == "UNC9000":
        if len(found) != FLAWS * (OTHERS + 1):
            missed.append(f"traverse_graph came to {len(found)} nodes, not {FLAWS * (OTHERS + 1)}")
        if p50 > WALK_LIMIT_MS:
            missed.append(f"traverse_graph took {p50:.2f} ms, more than {WALK_LIMIT_MS}")
    is_cut = "yes" if answer["truncated"] else "no"
    return [
        f"{type_} {value}", str(len(found)), is_cut,
        f"{p50:.2f}", f"{percentile(wall, 0.95):.2f}", f"{p50 / base:.1f}",
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--part", choices=("develop", "held_out", "fresh", "last", "mixed", "later"), default="develop")
    parser.add_argument("--verbose", action="store_true", help="each sentence that was not understood")
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--dir", help="where the shelf is written; default: below the checkout")
    parser.add_argument("--no-limits", action="store_true", help="print only")
    options = parser.parse_args()
    if options.quality:
        print_quality(options.part, verbose=options.verbose)
        return
    print_reading()
    missed = measure(options.notes, options.dir)
    if missed and not options.no_limits:
        raise SystemExit("\n".join(missed))


if __name__ == "__main__":
    main()
