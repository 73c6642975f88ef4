"""The dialogues by which extraction is measured are what their benchmark says they are, and it passes."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from shelfd.memory.notes.words import fold

BENCHMARKS = Path(__file__).parents[4] / "benchmarks"
LINES = (BENCHMARKS / "data" / "extraction.jsonl").read_text(encoding="utf-8").splitlines()
DIALOGUES: list[dict[str, Any]] = [json.loads(line) for line in LINES]


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", fold(text)))


def test_there_are_enough_of_them_and_a_third_is_held_out_by_kind() -> None:
    held_out = {one["domain"] for one in DIALOGUES if one["held_out"]}
    assert len(DIALOGUES) >= 80
    assert len({one["id"] for one in DIALOGUES}) == len(DIALOGUES)
    assert held_out == {"travel", "operations", "story"}
    assert not any(one["domain"] in held_out and not one["held_out"] for one in DIALOGUES)
    assert 3 * sum(one["held_out"] for one in DIALOGUES) >= len(DIALOGUES) - 1


def test_what_is_labelled_is_said_in_its_turn() -> None:
    for one in DIALOGUES:
        for label in one["expected"]:
            said = words(" ".join(each["text"] for each in one["turns"] if each["turn"] == label["turn"]))
            alternatives = label["says"] if label["type"] == "event" else []
            for column in label.get("columns", {}).values():
                alternatives = [*alternatives, *column["has"]]
            assert all(said.issuperset(each) for each in alternatives), (one["id"], label)


def test_most_labels_are_binding() -> None:
    counts = Counter(bool(label.get("optional")) for one in DIALOGUES for label in one["expected"])
    assert counts[False] > 2 * counts[True]


def test_the_benchmark_reaches_what_is_wanted_of_the_kinds_that_are_held_out() -> None:
    command = [sys.executable, str(BENCHMARKS / "extraction.py")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "held out" in ended.stdout
