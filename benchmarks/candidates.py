"""Would entities and their graph find what words do not? Questions of several hops, with and without them.

LoCoMo, one shelf per conversation, one turn one note, in process. Recall's ranking gets two more sources: notes that
mention an entity of the question, by how rare that is (*entities*), and notes that mention one that stands in one note
with it, at half of that (*graph*: one hop, 1 / (1 + hops)). Both add to the score as a share of the best one, also of
notes that have no word of the question. Their weights are chosen on the other conversations, once by all questions of
categories 1 to 4 and once by those of category 1, which need several turns. The data is not part of this project.

Run: ``python benchmarks/candidates.py PATH``
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import product
from math import log, sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import Any, Final, NamedTuple, TypeAlias

from locomo import evidence, turns
from served import table
from shelfd.memory.knowledge.entities.extract import extract
from shelfd.memory.knowledge.entities.kinds import EntityName
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.recall import Analyzer, Document, RecallIndex

WEIGHTS: Final = tuple(product((0.0, 0.03, 0.1, 0.2, 0.4), (0.0, 0.03, 0.1, 0.2)))  #: of entities and of graph
K: Final = 10
DEPTH: Final = 200  #: hits of ranking by words

Parts: TypeAlias = Mapping[str, tuple[float, float, float]]


class Asked(NamedTuple):
    """One question: what each source gives to notes, and the evidence among them."""

    conversation: str
    category: int
    evidence: Collection[str]
    parts: Parts

    def recall(self, weights: tuple[float, float]) -> float:
        """Return the share of the evidence among the first notes."""
        a, b = weights
        best = sorted(
            self.parts, key=lambda note: -(self.parts[note][0] + a * self.parts[note][1] + b * self.parts[note][2])
        )
        return len(set(best[:K]) & set(self.evidence)) / len(self.evidence)


def mentioned(text: str, author: str | None = None) -> set[EntityName]:
    """Return the entities of a text, its author among them."""
    found = {EntityName(mention.type, mention.key) for mention in extract(text)}
    return found | ({EntityName("person", author.lower())} if author else set())


class Shelf:
    """One conversation's notes by words and by entities."""

    def __init__(self, notes: Sequence[dict[str, Any]]) -> None:
        self._index = RecallIndex(Analyzer())
        self._notes: defaultdict[EntityName, set[str]] = defaultdict(set)
        self._near: defaultdict[EntityName, Counter[EntityName]] = defaultdict(Counter)
        self._count = len(notes)
        for row, note in enumerate(notes, 1):
            when = int(datetime.fromisoformat(note["occurred_at"]).timestamp() * 1e6)
            self._index.put(
                Document(
                    row, note["source_ref"], "memory", note["session_id"], note["turn"], note["author"], when,
                    note["content"], "note", "note", "user", "user", "general", (), hidden=False, superseded=False,
                    expires_at=None,
                )
            )  # fmt: skip
            names = mentioned(note["content"], note["author"])
            for name in names:
                self._notes[name].add(note["source_ref"])
                self._near[name].update(names - {name})

    def _rarity(self, name: EntityName) -> float:
        return log(self._count / len(self._notes[name])) / log(self._count) if name in self._notes else 0.0

    def parts(self, question: str) -> Parts:
        """Return what words, entities and graph give to each note that any of them finds; 0 to 1."""
        hits = self._index.search(question, RECALLABLE, DEPTH).hits
        best = hits[0].score if hits else 1.0
        words = {hit.id: hit.score / best for hit in hits}
        names = [name for name in mentioned(question) if name in self._notes]
        entities = self._given({name: self._rarity(name) for name in names})
        near = {other: self._rarity(other) / 2 for name in names for other in self._near[name] if other not in names}
        graph = self._given(near, at_most=True)
        return {
            note: (words.get(note, 0.0), entities.get(note, 0.0), graph.get(note, 0.0))
            for note in {*words, *entities, *graph}
        }

    def _given(self, names: Mapping[EntityName, float], *, at_most: bool = False) -> dict[str, float]:
        found: defaultdict[str, float] = defaultdict(float)
        for name, rarity in names.items():
            for note in self._notes[name]:
                found[note] = max(found[note], rarity) if at_most else found[note] + rarity
        total = 1.0 if at_most else sum(names.values()) or 1.0
        return {note: value / total for note, value in found.items()}


def questions(path: Path) -> list[Asked]:
    """Return all questions of categories 1 to 4, asked."""
    found = []
    for conversation in json.loads(path.read_text(encoding="utf-8")):
        notes = turns(conversation)
        known = {note["source_ref"] for note in notes}
        shelf = Shelf(notes)
        for one in conversation["qa"]:
            if one["category"] in (1, 2, 3, 4) and (wanted := evidence(one, known)):
                parts = shelf.parts(one["question"])
                found.append(Asked(conversation["sample_id"], one["category"], wanted, parts))
    return found


def _error(gains: Sequence[float]) -> float:
    """Two standard errors of the mean of *gains*, in points."""
    return 200 * stdev(gains) / sqrt(len(gains))


def main() -> None:
    """Print R@10 without the sources, with weights of the other conversations, and with the best of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    asked = questions(parser.parse_args().path)
    recalls = {weights: [one.recall(weights) for one in asked] for weights in WEIGHTS}

    def at(weights: tuple[float, float], chosen: Sequence[int]) -> float:
        return float(100 * mean(recalls[weights][number] for number in chosen))

    everything = list(range(len(asked)))
    several = [number for number in everything if asked[number].category == 1]
    rows = []
    for label, goal in (("all", everything), ("category 1", several)):
        held_out: dict[int, float] = {}
        for name in sorted({one.conversation for one in asked}):
            others = [number for number in goal if asked[number].conversation != name]
            weights = max(WEIGHTS, key=lambda weights: at(weights, others))
            held_out |= {
                number: recalls[weights][number] for number in everything if asked[number].conversation == name
            }
        best = max(WEIGHTS, key=lambda weights: at(weights, goal))
        for part, chosen in (("all", everything), ("category 1", several)):
            gains = [held_out[number] - recalls[0.0, 0.0][number] for number in chosen]
            rows.append(
                [
                    label, part, str(len(chosen)), f"{at((0.0, 0.0), chosen):.1f}",
                    f"{100 * mean(held_out[number] for number in chosen):.1f}",
                    f"{sum(gain > 0 for gain in gains)}", f"{sum(gain < 0 for gain in gains)}", f"{_error(gains):.1f}",
                    f"{at(best, chosen):.1f}", f"{best[0]:g} and {best[1]:g}",
                ]
            )  # fmt: skip
    head = [
        "weights chosen by",
        "questions",
        "n",
        "words alone",
        "held out",
        "better",
        "worse",
        "± of the gain",
        "best of all",
        "its weights",
    ]
    print(table([head, *rows]))


if __name__ == "__main__":
    main()
