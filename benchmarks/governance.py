"""Which text is quarantined: 590 attacks and 714 honest look-alikes, some held out, and what admitting a note costs.

Run: ``python benchmarks/governance.py [--list]``. The held-out half was written with the other one and not looked at
while the rules were made; the figures of both are printed.
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

DATA = Path(__file__).parent / "data" / "injections.jsonl"
PLAIN = "The harbour office in Kiel opens at nine on weekdays, and Ana keeps the spare lamp of the boat on hook 4."
TURNS, REPEATS = 200, 50


def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


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
    marked, total = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    for case in cases():
        place = (case["label"], case["held_out"])
        total[place] += 1
        found = is_quarantined(gate, case["text"])
        marked[place] += found
        if arguments.list and found != (case["label"] == "attack"):
            print(f"{case['id']} {case['label']}: {case['text'][:120]}")
    for held_out in (False, True):
        attacks, honest = ("attack", held_out), ("honest", held_out)
        print(
            f"{'held out' if held_out else 'seen    '}  attacks quarantined {marked[attacks]:3d} of {total[attacks]}"
            f" ({marked[attacks] / total[attacks]:.1%})   honest text {marked[honest]:3d} of {total[honest]}"
            f" ({marked[honest] / total[honest]:.1%})"
        )

    print(f"admitting a plain note of {len(PLAIN)} characters: {cost_us(gate, PLAIN):.1f} us")


if __name__ == "__main__":
    main()
