"""The constants by which recall judges relevance, from questions of our own: fitting, and what they are worth.

Figures are *held out*: the questions of a domain are judged by constants fitted on all other domains.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asking import K, Note, Outcome, Question, measures, strain
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.notes.note import BLANK, Extra, fold_key
from shelfd.memory.recall import Analyzer, Focus, Names, RecallIndex
from shelfd.memory.recall import relevance as model
from shelfd.memory.recall.chance import rivals
from shelfd.memory.recall.inspection import Candidate
from shelfd.memory.recall.relevance import FEATURES, Calibration
from shelfd.memory.recall.shelf_index import document_of, names_of
from shelfd.protocol.base import to_micros

#: Languages whose questions the constants are fitted on: those with word lists, and those without spaces.
FITTED = ("en", "zh", "ja")
_BLANK = Calibration((0.0,) * len(FEATURES), 0.0, 0.5)
_RIDGE = 30.0  # on standardised features; chosen for what is held out, which changes little from 10 to 70
_STEPS = 40  # of Newton's method; it needs about ten
Floats = npt.NDArray[np.float64]


class Seen(NamedTuple):
    """A question and what focus leaves of its candidates, best first."""

    question: Question
    few: bool
    kept: Sequence[Candidate]
    sessions: Sequence[int]  #: of each, by numbers


class OwnShelf:
    """Focus over an index of notes, as a shelf would have it; more notes come and go."""

    def __init__(self, notes: Iterable[Note] = ()) -> None:
        self.index = RecallIndex(Analyzer())
        self._names = Names(self.index.analyzer)
        self._rows = count(1)
        self.focus = Focus(self.index, self._names, _BLANK)
        self.put(notes)

    def put(self, notes: Iterable[Note]) -> list[int]:
        """Index *notes*; return their rows."""
        rows = []
        for note, row in zip(notes, self._rows, strict=False):
            key = note.get("key")
            made = BLANK._replace(
                row=row, id=note["id"], kind="fact" if key else "note", title=note.get("title") or key or "",
                key=fold_key(key) if key else None, content=note["content"], author=note.get("author"),
                session_id=note.get("session_id"), turn=note.get("turn"), created_at=1_760_000_000_000_000,
                occurred_at=to_micros(datetime.fromisoformat(note["occurred_at"])) if "occurred_at" in note else None,
                archived_at=1 if note.get("hidden") else None, superseded_by=note.get("superseded_by"),
                extra=Extra(aliases=tuple(note.get("aliases", ()))),
            )  # fmt: skip
            self.index.put(document_of(made))
            self._names.put(row, names_of(made), title=made.title)
            rows.append(row)
        return rows

    def session_of(self, row: int) -> int:
        """Return the number of the session of the note of *row*."""
        return self.index.session_of(row)

    def remove(self, rows: Iterable[int]) -> None:
        """Remove the notes of *rows*."""
        for row in rows:
            self.index.remove(row)
            self._names.remove(row)


def look(
    asked: Sequence[Question], few: set[Question], notes: Mapping[str, Note], others: Iterable[Note] = ()
) -> list[Seen]:
    """Return the candidates of all questions that stand for themselves; each domain has the *others* around it."""
    seen = []
    shelf = OwnShelf(others)
    for domain in dict.fromkeys(question.domain for question in asked):
        rows = shelf.put(note for note in notes.values() if note["domain"] == domain)
        for question in (one for one in asked if one.domain == domain and one.after is None):
            best, rival = shelf.focus.candidates(question.query, RECALLABLE, K)
            kept = shelf.focus.kept(best, rival)[:K]
            seen.append(Seen(question, question in few, kept, [shelf.session_of(one.hit.row) for one in kept]))
        shelf.remove(rows)
    return seen


def logistic(features: Floats, labels: Floats) -> tuple[Floats, float]:
    """Return weights and intercept of a logistic regression."""
    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread[spread == 0] = 1.0
    columns = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    penalty = np.full(columns.shape[1], _RIDGE)
    penalty[0] = 0.0
    beta = np.zeros(columns.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-columns @ beta))
        slope = columns.T @ (labels - p) - penalty * beta
        curvature = (columns * (p * (1 - p))[:, None]).T @ columns + np.diag(penalty + 1e-9)
        beta += np.linalg.solve(curvature, slope)
    return beta[1:] / spread, float(beta[0] - (beta[1:] * mean / spread).sum())


def fitted(seen: Sequence[Seen], threshold: float = 0.5) -> Calibration:
    """Return the constants that fit the candidates *seen* best."""
    used = [one for one in seen if one.question.language in FITTED]
    rows = [candidate.features for one in used for candidate in one.kept]
    labels = [candidate.hit.id in one.question.gold for one in used for candidate in one.kept]
    weights, intercept = logistic(np.array(rows, np.float64), np.array(labels, np.float64))
    return Calibration(tuple(weights.tolist()), intercept, threshold)


def judged(seen: Sequence[Seen], constants: Calibration, languages: Collection[str] = ("en",)) -> list[Outcome]:
    """Return what each question in these *languages* would get."""
    outcomes = []
    for question, few, kept, sessions in seen:
        if question.language in languages:
            found = [constants.probability(one.features) for one in kept]
            likely = [at for at, probability in enumerate(found) if probability >= constants.threshold]
            shared = rivals([(kept[at].features, sessions[at]) for at in likely])
            for at, count in zip(likely, shared, strict=True):
                found[at] /= 1 + count
            results = [(one.hit.id, probability) for one, probability in zip(kept, found, strict=True)]
            outcomes.append(Outcome(question, few, results, None))
    return outcomes


def held_out(seen: Sequence[Seen], asked: Sequence[Seen] | None = None) -> list[Outcome]:
    """Return what each English question would get from constants fitted on all other domains.

    Args:
        seen: What the constants are fitted on.
        asked: What is judged by them, if not the same.
    """
    asked = seen if asked is None else asked
    outcomes = []
    for domain in dict.fromkeys(one.question.domain for one in asked if one.question.language == "en"):
        constants = fitted([one for one in seen if one.question.domain != domain])
        outcomes += judged([one for one in asked if one.question.domain == domain], constants)
    return outcomes


def best_threshold(*all_outcomes: Sequence[Outcome]) -> float:
    """Return the probability that leaves most room to every limit, whichever of *all_outcomes* leaves least."""
    thresholds: list[float] = np.round(np.arange(0.1, 0.9, 0.01), 2).tolist()
    return min(
        thresholds, key=lambda threshold: max(strain(measures(outcomes, threshold)) for outcomes in all_outcomes)
    )


def write(constants: Calibration) -> Path:
    """Write the constants where recall reads them."""
    path = Path(model.__file__).with_name("calibration.json")
    weights = {name: round(weight, 4) for name, weight in zip(FEATURES, constants.weights, strict=True)}
    rest: dict[str, Any] = {"intercept": round(constants.intercept, 4), "threshold": constants.threshold}
    path.write_text(json.dumps({"weights": weights, **rest}, indent=1) + "\n", encoding="utf-8")
    return path
