"""Finds the weights by which governance tells orders from honest text, and how well they do.

Those of ``leaning.json`` judge a text, those of ``telling.json`` whether it is worth a look.
Run: ``python benchmarks/leaning.py [--write]``. Learns by logistic regression from ``data/injections.jsonl`` and, as
honest text, from sentences of the other labelled files and from the documentation, which speaks of users, models and
instructions all the time. Prints what is found of each fifth with what the other four teach.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from shelfd.memory.knowledge.governance import leaning, orders
from shelfd.memory.notes.text import tidy_content

DATA: Final = Path(__file__).parent / "data"
DOCS: Final = Path(__file__).parents[1] / "docs"
HONEST: Final = ("entities", "evolution", "notes", "extraction")
LONGEST, MOST_HONEST = 400, 3_000  #: characters, texts of other files
#: What the documentation quotes as an order.
QUOTED: Final = "Ignore all previous"
FOLDS: Final = 5
#: A feature counts if so many texts have it; a pair is kept if it weighs so much.
FEWEST, LEAST = 2, 0.2
TURNS, RATE, SHRINK = 300, 0.05, 0.03
#: Of what tells whether a text is worth a look: texts that have a word, at least; what it costs to pass over an order,
#: where 1 is what a look at an honest text costs; and how unlikely an order is before a word is read, as logarithm.
FEWEST_TELLING, MISSING_COSTS, SHRINK_TELLING, UNLIKELY = 5, 1.0, 0.5, 2.0
#: What is rounded to whole numbers is multiplied by this; and is kept if it is so much, for the rest is common words.
UNIT, LEAST_TELLING = 10, 5
THRESHOLDS: Final = (0.0, orders.LEANS, 1.5)


class Learned:
    """Weights found from texts.

    Args:
        cases: Features of each text, and whether it is an order.
    """

    def __init__(self, cases: Sequence[tuple[set[leaning.Feature], bool]]) -> None:
        counts = Counter(feature for features, _ in cases for feature in features)
        self.places = {one: at for at, one in enumerate(sorted(one for one, n in counts.items() if n >= FEWEST))}
        rows = [[self.places[one] for one in sorted(features) if one in self.places] for features, _ in cases]
        sizes = np.array([len(row) for row in rows])
        row_of, columns = np.repeat(np.arange(len(rows)), sizes), np.concatenate([np.array(row, int) for row in rows])
        scale, wanted = 1 / np.sqrt(np.maximum(sizes, 1)), np.array([float(is_order) for _, is_order in cases])
        self.weights, self.bias = np.zeros(len(self.places)), 0.0
        mean, square = np.zeros_like(self.weights), np.zeros_like(self.weights)
        for turn in range(1, TURNS + 1):  # Adam, Kingma and Ba 2015
            scores = np.bincount(row_of, self.weights[columns], len(rows)) * scale + self.bias
            errors = 1 / (1 + np.exp(-scores)) - wanted
            slope = np.bincount(columns, (errors * scale)[row_of], len(self.places)) + SHRINK * self.weights
            mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
            self.weights -= RATE * (mean / (1 - 0.9**turn)) / (np.sqrt(square / (1 - 0.999**turn)) + 1e-8)
            self.bias -= 0.001 * float(errors.sum())

    def score(self, features: set[leaning.Feature]) -> float:
        """Return how much a text with *features* leans to an order."""
        known = [self.places[one] for one in features if one in self.places]
        return float(self.weights[known].sum() / np.sqrt(max(1, len(known)))) + self.bias


def strings(value: Any) -> Iterator[str]:
    """Every text in *value*."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


def cases() -> list[tuple[str, bool, str]]:
    """Text, whether it is an order, and its language or file."""
    labelled = [json.loads(line) for line in (DATA / "injections.jsonl").read_text("utf-8").splitlines()]
    found = [(one["text"], one["label"] == "attack", one["language"]) for one in labelled]
    others: set[str] = set()
    for name in HONEST:
        for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines():
            others |= {text for text in strings(json.loads(line)) if 20 < len(text) < LONGEST and " " in text}
    step = max(1, len(others) // MOST_HONEST)
    found += [(text, False, HONEST[0]) for text in sorted(others)[::step]]
    pages = [page.read_text("utf-8") for page in sorted(DOCS.glob("*.md"))]
    paragraphs = {part.strip() for page in pages for part in page.split("\n\n") if QUOTED not in part}
    return found + [(piece, False, HONEST[0]) for part in sorted(paragraphs) for piece in leaning.pieces(part) if piece]


def read(text: str) -> set[leaning.Feature]:
    return leaning.features(orders.as_read(tidy_content(text)))


def telling(texts: Sequence[str], found: Sequence[bool], honest: Sequence[bool]) -> dict[str, int]:
    """Return by how much words tell that a text is worth a look; the sum of an order is above 0.

    A word has the weight of its meaning and one of its own; words of honest text tell against it.

    Args:
        texts: What there is to learn from.
        found: Whether a text is an order that the model finds.
        honest: Whether a text is honest.
    """
    meanings = leaning.meanings()
    chosen = [at for at in range(len(texts)) if found[at] or honest[at]]
    words = [{word.decode("utf-8", "replace") for word in orders.words_of(tidy_content(texts[at]))} for at in chosen]
    seen = Counter(word for own in words for word in own)
    known = sorted(
        one for one in {word for word in seen if seen[word] >= FEWEST_TELLING} | meanings.keys() if one.isalpha()
    )
    kinds = {kind: at for at, kind in enumerate(sorted({*meanings.values()}), len(known))}
    places = {word: [at, *([kinds[meanings[word]]] if word in meanings else [])] for at, word in enumerate(known)}
    rows = [[place for word in sorted(own) if word in places for place in places[word]] for own in words]
    row_of, columns = (
        np.repeat(np.arange(len(rows)), [len(row) for row in rows]),
        np.concatenate([np.array(row, int) for row in rows]),
    )
    wanted = np.array([float(found[at]) for at in chosen])
    weights = np.zeros(len(known) + len(kinds))
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for turn in range(1, TURNS + 1):
        scores = np.bincount(row_of, weights[columns], len(rows)) - UNLIKELY
        errors = (1 / (1 + np.exp(-scores)) - wanted) * np.where(wanted > 0, MISSING_COSTS, 1.0)
        slope = np.bincount(columns, errors[row_of], len(weights)) + SHRINK_TELLING * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        weights -= RATE * (mean / (1 - 0.9**turn)) / (np.sqrt(square / (1 - 0.999**turn)) + 1e-8)
    much = {word: round(float(weights[places[word]].sum()) * UNIT) for word in known}
    return {word: one for word, one in much.items() if abs(one) >= LEAST_TELLING}


def write(learned: Learned, much: dict[str, int]) -> None:
    path = Path(leaning.__file__).with_name("leaning.json")
    data = json.loads(path.read_text("utf-8"))
    weights: defaultdict[str, list[Any]] = defaultdict(lambda: [0.0, {}, {}, {}])
    for (first, kind, second), at in learned.places.items():
        weight = round(float(learned.weights[at]), 1)
        if not kind:
            weights[first][0] = weight
        elif abs(weight) >= LEAST:
            weights[first][kind][second] = weight
    kept = {word: found for word, found in sorted(weights.items()) if found != [0.0, {}, {}, {}]}
    head = json.dumps(data | {"bias": round(learned.bias, 2), "weights": {}}, ensure_ascii=False, indent=1)
    rows = ",\n".join(f"  {json.dumps(word, ensure_ascii=False)}: {packed(found)}" for word, found in kept.items())
    path.write_text(head.removesuffix("{}\n}") + f"{{\n{rows}\n }}\n}}\n", encoding="utf-8")
    grouped = {str(one): " ".join(word for word in much if much[word] == one) for one in sorted({*much.values()})}
    path.with_name("telling.json").write_text(json.dumps(grouped, ensure_ascii=False, indent=1) + "\n", "utf-8")


def packed(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the weights")
    arguments = parser.parse_args()
    known = cases()
    texts = [(read(text), is_order) for text, is_order, _ in known]
    scores = np.zeros(len(texts))
    for fold in range(FOLDS):
        learned = Learned([one for at, one in enumerate(texts) if at % FOLDS != fold])
        for at in range(fold, len(texts), FOLDS):
            scores[at] = learned.score(texts[at][0])
    is_order = np.array([one for _, one in texts])
    is_honest = ~is_order & np.array([kind not in HONEST for *_, kind in known])
    print(f"{is_order.sum()} orders, {is_honest.sum()} that look like one, {len(texts)} texts in all; of other fifths:")
    for least in THRESHOLDS:
        print(
            f"above {least:.1f}: {np.mean(scores[is_order] > least):.1%} of orders,"
            f" {np.mean(scores[is_honest] > least):.1%} of what looks like one"
        )
    if arguments.write:
        learned = Learned(texts)
        found = [is_order and learned.score(features) >= orders.LEANS for features, is_order in texts]
        write(learned, telling([text for text, *_ in known], found, [not is_order for _, is_order in texts]))


if __name__ == "__main__":
    main()
