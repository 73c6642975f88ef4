"""Writes how rare English words are in general, by which the scores of recall compare: ``lexicon/en-rarities.json``.

Counted are the texts of ``data/`` that were written for this project and that no question is asked about: what is in
``evolution.jsonl``, ``extraction.jsonl``, ``injections.jsonl`` and ``entities.jsonl``. With another table all scores
are others, so it is written with a new version, and only when the version is given.

Run: ``python benchmarks/rarities.py VERSION``
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from asking import lines
from shelfd.memory.recall import Analyzer, rarity

_COUNTED = ("evolution", "extraction", "injections", "entities")
_FEWEST_WORDS = 3  #: a shorter text is a name or a label
_LEAST = 3  #: texts that a word is in; what is in fewer is as rare as a word nobody ever used


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def main() -> None:
    """Count and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", type=int, help="of the table: one more than the last, if it was released")
    version = parser.parse_args().version
    analyzer = Analyzer()
    every = [text for name in _COUNTED for line in lines(f"{name}.jsonl") for text in _texts(line)]
    texts = [text for text in dict.fromkeys(every) if len(text.split()) >= _FEWEST_WORDS]
    counts = Counter(term for text in texts for term in {*analyzer.terms(text)})
    kept = {term: count for term, count in sorted(counts.items()) if count >= _LEAST}
    path = Path(rarity.__file__).parent / "lexicon" / "en-rarities.json"
    table = {"version": version, "texts": len(texts), "counts": kept}
    path.write_text(json.dumps(table, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"written: {path}, {len(kept)} words of {len(texts)} texts")


if __name__ == "__main__":
    main()
