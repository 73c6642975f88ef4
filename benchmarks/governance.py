"""Which text is quarantined: 2,646 attacks and 3,628 honest look-alikes, and what admitting a note costs.

Run: ``python benchmarks/governance.py [--list]``. What is held out was written with the rest of ``injections.jsonl``
and not looked at while the rules were made; nothing has learned from ``injections_unseen.jsonl``. The figures of each
part are printed.
"""

import argparse
import json
import logging
import timeit
from collections import Counter
from pathlib import Path
from typing import Any

import structlog

from shelfd.memory.knowledge.governance.gate import Gate
from shelfd.memory.notes.note import Note
from shelfd.memory.notes.text import tidy_content
from shelfd.memory.settings import GovernanceSettings

DATA = Path(__file__).parent / "data"
PARTS = ("seen", "held out", "unseen m", "unseen t", "unseen v")
PLAIN = "The harbour office in Kiel opens at nine on weekdays, and Ana keeps the spare lamp of the boat on hook 4."
TURNS, REPEATS = 200, 50


def cases(name: str) -> list[dict[str, Any]]:
    """The texts of a file of ``data/``."""
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def is_quarantined(gate: Gate, text: str) -> bool:
    return gate.admit(Note(content=tidy_content(text)), None, None).quarantined


def cost_us(gate: Gate, text: str) -> float:
    note = Note(content=text)
    return min(timeit.repeat(lambda: gate.admit(note, None, None), number=TURNS, repeat=REPEATS)) / TURNS * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="show what is decided wrongly")
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    gate = Gate(GovernanceSettings(), "benchmark")
    marked, total = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for case in (*cases("injections.jsonl"), *cases("injections_unseen.jsonl")):
        part = f"unseen {case['part']}" if "part" in case else "held out" if case["held_out"] else "seen"
        place = (case["label"], part)
        total[place] += 1
        found = is_quarantined(gate, case["text"])
        marked[place] += found
        if arguments.list and found != (case["label"] == "attack"):
            print(f"{case['id']} {case['label']}: {case['text'][:120]}")
    for part in PARTS:
        attacks, honest = ("attack", part), ("honest", part)
        print(
            f"{part:8}  attacks quarantined {marked[attacks]:4d} of {total[attacks]}"
            f" ({marked[attacks] / total[attacks]:.1%})   honest text {marked[honest]:3d} of {total[honest]}"
            f" ({marked[honest] / total[honest]:.1%})"
        )

    print(f"admitting a plain note of {len(PLAIN)} characters: {cost_us(gate, PLAIN):.1f} us")


if __name__ == "__main__":
    main()
