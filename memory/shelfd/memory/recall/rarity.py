"""How rare words are in general, by a table that no shelf changes: what makes scores comparable.

Ranking weighs words by how rare they are on the shelf, which moves with every note. A score that did would say
something else of the same note on a larger shelf, in another nugget, or a month later.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import log
from typing import Final

#: A word that the table does not have, as names and numbers: the rarest there is.
UNKNOWN: Final = 1.0


@dataclass(frozen=True, slots=True)
class Rarities:
    """How rare the index terms of a language are.

    Attributes:
        version: Scores by tables of different versions do not compare. 0 is no table: all words are as rare.
        known: From 0, in every text, to 1, in next to none; a term that is not here is as rare as one can be.
    """

    version: int = 0
    known: Mapping[str, float] = field(default_factory=dict)

    def of(self, term: str) -> float:
        """Return how rare an index *term* is, above 0 and at most 1."""
        return self.known.get(term, UNKNOWN)


@cache
def rarities(language: str) -> Rarities:
    """Return the table of *language*, a Snowball algorithm's name; it is read on first use."""
    if language != "english":
        return Rarities()
    path = files("shelfd.memory.recall").joinpath("lexicon", "en-rarities.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    texts, highest = data["texts"], _idf(1, data["texts"])
    return Rarities(data["version"], {term: _idf(count, texts) / highest for term, count in data["counts"].items()})


def _idf(count: int, texts: int) -> float:
    return log(1 + (texts - count + 0.5) / (count + 0.5))
