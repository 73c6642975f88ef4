"""Would fitted weights rank better than those that were set by hand, on text they were not fitted on?

Ranking adds up parts with fixed weights (docs/design.md). Here a linear ranker gets every part as a feature, and with
them all that relevance is judged by (``shelfd.memory.recall.relevance``). It is fitted by listwise softmax on the
questions of ``data/``, which were written for this project, each domain among other notes; what it changes is held down
by a penalty. It then ranks the first 100 notes anew

- for the questions of a domain of our own, fitted on those of all others,
- for LoCoMo, fitted on all of our own: text that it has not seen, one shelf per conversation, one turn one note,
- and, as a bound of what could be had, for each LoCoMo conversation, fitted on the others. That is kept nowhere.

The LoCoMo data is not part of this project.

Run: ``python benchmarks/ranker.py PATH``; ``--dense`` ranks by meaning, too, with the model of the extra ``dense``
"""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from statistics import mean
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from asking import all_notes, all_questions
from calibrating import OwnShelf
from crowd import crowd
from locomo import evidence, progress, turns
from served import table
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.ports.dense import Likeness
from shelfd.memory.ports.embedder import Vectors
from shelfd.memory.recall import Analyzer, Document, Focus, Names, RecallIndex
from shelfd.memory.recall.ahead import Ahead
from shelfd.memory.recall.held_vectors import HeldVectors, compared, stored
from shelfd.memory.recall.inspection import Candidate
from shelfd.memory.recall.relevance import FEATURES

#: What adds up to a score.
PARTS: Final = (
    *"own previous earlier question_before next session author when kind telling question date dense name".split(),
)
DEPTH: Final = 100  #: hits that are ranked anew
OTHERS: Final = 2_000  #: notes around those of a domain of our own
PENALTIES: Final = (3.0, 10.0, 30.0, 100.0)
_STEPS: Final = 200
_RATE: Final = 0.05

Floats = npt.NDArray[np.float64]
Embed = Callable[[str], Vectors]


class Asked(NamedTuple):
    """A question: the first hits by fixed weights, their features, and which of them answer it."""

    group: str  #: domain or conversation
    fixed: Floats  #: scores, best first, relative to the best
    features: Floats  #: shape (hits, features)
    gold: npt.NDArray[np.bool_]
    wanted: int  #: how many notes answer it, found or not

    def recall(self, order: npt.NDArray[np.int64], k: int) -> float:
        """Return which share of the answers is among the first *k*."""
        return float(self.gold[order[:k]].sum() / self.wanted)


class Fitted(NamedTuple):
    """Weights that are added to the fixed ones."""

    mean: Floats
    spread: Floats
    weights: Floats

    def order(self, asked: Asked) -> npt.NDArray[np.int64]:
        """Return the hits of a question, best first."""
        scores = asked.fixed * self.weights[-1] + (asked.features - self.mean) / self.spread @ self.weights[:-1]
        return np.argsort(-scores, kind="stable")


def fit(some: Sequence[Asked], penalty: float) -> Fitted:
    """Return the weights by which the notes that answer *some* questions are most probably the first ones."""
    used = [one for one in some if one.gold.any()]
    stacked = np.concatenate([one.features for one in used])
    middle, spread = stacked.mean(axis=0), stacked.std(axis=0)
    spread[spread == 0] = 1.0
    most = max(len(one.fixed) for one in used)
    inputs = np.zeros((len(used), most, stacked.shape[1] + 1))
    absent, share = np.zeros((len(used), most)), np.zeros((len(used), most))
    for at, one in enumerate(used):
        count = len(one.fixed)
        inputs[at, :count, :-1] = (one.features - middle) / spread
        inputs[at, :count, -1] = one.fixed
        absent[at, count:] = -np.inf
        share[at, :count] = one.gold / one.gold.sum()
    weights, first, second = (np.zeros(inputs.shape[2]) for _ in range(3))
    weights[-1] = 5.0
    held = np.ones(len(weights))
    held[-1] = 0.0
    for step in range(1, _STEPS + 1):  # Adam
        scores = inputs @ weights + absent
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        slope = (np.einsum("ij,ijk->k", chances - share, inputs) + penalty * held * weights) / len(used)
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        weights = weights - _RATE * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return Fitted(middle, spread, weights)


def asked_of(group: str, found: Sequence[Candidate], gold: Iterable[str]) -> Asked | None:
    """Return a question with what ranking *found*; None if that is nothing."""
    if not found:
        return None
    best = found[0].hit.score or 1.0
    none = (0.0,) * len(FEATURES)
    rows = [[*(one.hit.signals.get(name, 0.0) / best for name in PARTS), *(one.features or none)] for one in found]
    wanted = set(gold)
    return Asked(
        group, np.array([one.hit.score / best for one in found]), np.array(rows, np.float64),
        np.array([one.hit.id in wanted for one in found]), len(wanted),
    )  # fmt: skip


class Meaning:
    """Likeness of meaning, in process; without a model there is none."""

    def __init__(self, embed: Embed | None, weight: float, index: RecallIndex) -> None:
        self._embed, self._weight, self._index = embed, weight, index
        self._held = HeldVectors()

    def put(self, row: int, text: str) -> None:
        """Hold the vectors of a note."""
        if self._embed is not None:
            self._held.put(stored(row, "", 0, self._embed(text)))

    def remove(self, rows: Iterable[int]) -> None:
        """Hold them no longer."""
        self._held.remove(rows)

    def likeness(self, query: str) -> Likeness | None:
        """Return how like a query all notes are."""
        picture = self._held.picture()
        if self._embed is None or picture is None:
            return None
        found = compared(picture, self._embed(query), *self._index.neighbours(picture.rows))
        return Likeness(*found, is_whole=True, weight=self._weight)


def own_questions(embed: Embed | None, weight: float) -> Iterator[Asked]:
    """Yield the questions of our own that have an answer, each domain among other notes."""
    others = list(crowd(OTHERS))
    shelf, notes, asked = OwnShelf(others), all_notes(), all_questions()
    meaning = Meaning(embed, weight, shelf.index)
    for row, note in enumerate(others, 1):
        meaning.put(row, note["content"])
    domains = list(dict.fromkeys(question.domain for question in asked))
    for at, domain in enumerate(domains, 1):
        mine = [note for note in notes.values() if note["domain"] == domain]
        rows = shelf.put(mine)
        for row, note in zip(rows, mine, strict=True):
            meaning.put(row, _text(note))
        for question in asked:
            if question.domain == domain and question.after is None and question.gold:
                like = meaning.likeness(question.query)
                found, _ = shelf.focus.candidates(question.query, RECALLABLE, DEPTH, explain=True, ahead=Ahead(like))
                if (one := asked_of(domain, found, question.gold)) is not None:
                    yield one
        shelf.remove(rows)
        meaning.remove(rows)
        progress(at, len(domains), "domains of our own")


def _text(note: dict[str, Any]) -> str:
    parts = [note.get("title") or note.get("key"), *note.get("aliases", ()), note["content"]]
    text = "\n".join(part for part in parts if part)
    return f"{note['author']}: {text}" if note.get("author") else text


def locomo_questions(path: Path, embed: Embed | None, weight: float) -> Iterator[Asked]:
    """Yield the questions of categories 1 to 4."""
    conversations = json.loads(path.read_text(encoding="utf-8"))
    for at, conversation in enumerate(conversations, 1):
        notes = turns(conversation)
        index = RecallIndex(Analyzer())
        focus, meaning = Focus(index, Names(index.analyzer)), Meaning(embed, weight, index)
        for row, note in enumerate(notes, 1):
            when = int(datetime.fromisoformat(note["occurred_at"]).timestamp() * 1e6)
            index.put(
                Document(
                    row, note["source_ref"], "memory", note["session_id"], note["turn"], note["author"], when,
                    note["content"], "note", "note", "user", "user", "general", (), hidden=False, superseded=False,
                    expires_at=None,
                )
            )  # fmt: skip
            meaning.put(row, f"{note['author']}: {note['content']}")
        known = {note["source_ref"] for note in notes}
        for one in conversation["qa"]:
            if one["category"] in (1, 2, 3, 4) and (wanted := evidence(one, known)):
                query = one["question"]
                like = meaning.likeness(query)
                found, _ = focus.candidates(query, RECALLABLE, DEPTH, explain=True, ahead=Ahead(like))
                if (question := asked_of(conversation["sample_id"], found, wanted)) is not None:
                    yield question
        progress(at, len(conversations), "conversations")


def figures(some: Sequence[Asked], order: Callable[[Asked], npt.NDArray[np.int64]]) -> tuple[float, ...]:
    """Return recall among the first 1, 5 and 10 of *some* questions, in percent."""
    return tuple(100 * mean(one.recall(order(one), k) for one in some) for k in (1, 5, 10))


def each_held_out(some: Sequence[Asked], penalty: float) -> tuple[float, ...]:
    """Return the figures of each group's questions, ranked by weights fitted on those of all others."""
    orders: dict[int, npt.NDArray[np.int64]] = {}
    for group in dict.fromkeys(one.group for one in some):
        weights = fit([one for one in some if one.group != group], penalty)
        orders |= {id(one): weights.order(one) for one in some if one.group == group}
    return figures(some, lambda one: orders[id(one)])


def as_it_is(asked: Asked) -> npt.NDArray[np.int64]:
    """The order by fixed weights."""
    return np.arange(len(asked.fixed))


def report(own: Sequence[Asked], unseen: Sequence[Asked]) -> str:
    """The table."""
    head = ["weights", "penalty"]
    rows = [[*head, *(f"{where} R@{k}" for where in ("our own", "LoCoMo") for k in (1, 5, 10))]]

    def add(name: str, penalty: str, *values: float) -> None:
        rows.append([name, penalty, *(f"{value:.1f}" for value in values)])

    add("fixed", "", *figures(own, as_it_is), *figures(unseen, as_it_is))
    for penalty in PENALTIES:
        weights = fit(own, penalty)
        add("fitted on our own", f"{penalty:g}", *each_held_out(own, penalty), *figures(unseen, weights.order))
    for penalty in PENALTIES:
        bound = each_held_out(unseen, penalty)
        rows.append(["a bound: fitted on LoCoMo", f"{penalty:g}", "", "", "", *(f"{value:.1f}" for value in bound)])
    return table(rows)


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="a JSON file with LoCoMo conversations")
    parser.add_argument("--dense", action="store_true", help="also by meaning, with all-MiniLM-L6-v2")
    arguments = parser.parse_args()
    embed, weight = None, 0.0
    if arguments.dense:
        from shelfd.memory.ports.embedder import CONTEXTUAL
        from shelfd.models.minilm.places import minilm_files
        from shelfd.models.minilm.runtime import Runtime

        embed, weight = Runtime(minilm_files()[0]).embed, CONTEXTUAL
    own = list(own_questions(embed, weight))
    unseen = list(locomo_questions(arguments.path, embed, weight))
    print(report(own, unseen))


if __name__ == "__main__":
    main()
