"""The names in slots of what verbs say: those that say nearly the same have one in common."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import lexicon

#: Verbs whose names are kept.
_KNOWN: Final = 2_048
_FEW: Final = 64  #: sets of verbs whose names are kept
_SPACELESS: Final = ("zh", "ja")


@lru_cache(_KNOWN)
def said_by(language: str, verb: str) -> Sequence[str]:
    """Return what is said by a verb and all that say nearly the same."""
    return _classes(language).get(verb) or (f"v {verb}",)


@lru_cache(_FEW)
def said_by_any(language: str, verbs: frozenset[str]) -> Sequence[str]:
    """Return what is said by any of *verbs*, which are mostly the same: all by which something is in a place."""
    return [said for one in sorted(verbs) for said in said_by(language, one)]


@cache
def _classes(language: str) -> dict[str, list[str]]:
    """Return verb -> what is said by it: the numbers of the classes that it is in."""
    found: dict[str, list[str]] = {}
    for at, verbs in enumerate(() if language in _SPACELESS else lexicon(language).classes):
        for verb in verbs:
            found.setdefault(verb, []).append(f"v {at}")
    return found
