"""Fits the projection of the dense tier's token vectors, on texts that were written for this project.

The tokens of all notes, questions and conversations in ``data/`` are embedded; the 96 directions in which they have
most of their length, by the eigenvectors of their second moments, become the columns of ``projection.npy``. With
another projection vectors are others: raise the version in the model's name (``minilm/embedder.py``) with it. Texts
that came to ``data/`` later change it a little; that is no reason to.

Run: ``python benchmarks/projection.py``; ``--check`` compares with the file instead of writing it.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from shelfd.models.minilm import minilm_files
from shelfd.models.minilm.runtime import WIDTH, Runtime, projection

_DATA = Path(__file__).parent / "data"
_FILE = Path(__file__).parents[1] / "models/shelfd/models/minilm/projection.npy"
_FILES = ("notes", "questions", "answers", "extraction", "entities", "evolution")
_SHORTEST = 20  # characters
_OF_ITEM = 8  # texts of one item at most, so that long lists do not outweigh the rest


def texts(value: Any) -> Iterator[str]:
    """Yield the strings in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)


def corpus() -> list[str]:
    """Return the texts, each once."""
    found = []
    for name in _FILES:
        for line in (_DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            found += [text for text in texts(json.loads(line)) if len(text) > _SHORTEST][:_OF_ITEM]
    return list(dict.fromkeys(found))


def main() -> None:
    """Fit, and write or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    arguments = parser.parse_args()
    files, missing = minilm_files()
    if missing:
        parser.error(f"not there: {', '.join(missing)}")
    runtime, moments, count = Runtime(files), np.zeros((384, 384)), 0
    for text in corpus():
        states = runtime.states(text).astype(np.float64)
        moments += states.T @ states
        count += len(states)
    values, vectors = np.linalg.eigh(moments / count)
    largest = np.argsort(-values)[:WIDTH]
    fitted = vectors[:, largest]
    fitted *= np.sign(fitted.sum(axis=0))  # of an eigenvector the sign is chance
    kept = values[largest].sum() / values.sum()
    print(f"{count} tokens; the {WIDTH} directions hold {100 * kept:.1f} % of the length of all 384")
    if arguments.check:
        print(f"largest difference from the file: {np.abs(fitted - projection()).max():.4f}")
    else:
        np.save(_FILE, fitted.astype(np.float16))


if __name__ == "__main__":
    main()
