"""German compounds: the words that one is made of, by a list of common ones."""

import json
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

_SHORTEST: Final = 8  #: letters of a compound
_REST: Final = 3  #: letters of what is left beside a known word
_LONG_REST: Final = 5  #: letters of what is left beside a compound
_LINKS: Final = ("es", "en", "er", "s", "n")  #: what German may put between


@cache
def _known() -> frozenset[str]:
    path = files("shelfd.memory.recall").joinpath("lexicon", "de-parts.json")
    return frozenset(word for line in json.loads(path.read_text(encoding="utf-8"))["words"] for word in line.split())


@lru_cache(maxsize=1 << 14)
def parts_of(word: str) -> tuple[str, ...]:
    """Return the words that a folded German *word* is made of, none if it is no compound of a known one.

    "haustürschlüssel", folded, gives "schlussel", "haustur", "tur" and "haus".
    """
    return tuple(dict.fromkeys(_parts(word)))


def _parts(word: str) -> Iterator[str]:
    known = _known()
    if len(word) < _SHORTEST - 1 or not word.isalpha():
        return
    is_known = word in known  # then it is one of two words only if both are known, too
    for at in range(_REST, len(word) - _REST + 1):  # the longest last word first
        if word[at:] in known and (not is_known or word[:at] in known):
            yield word[at:]
            yield from _named(word[:at], known)
            return
    for at in range(len(word) - _REST - 1, _REST - 1, -1):
        if not is_known and (word[:at] in known or (at <= len(word) - _LONG_REST and _ends_in(known, word[:at]))):
            yield word[:at]
            yield from _parts(word[:at])
            rest = word[at:]
            yield rest[1:] if rest[0] == "s" and len(rest) > _REST + 1 else rest
            return


def _ends_in(known: frozenset[str], word: str) -> bool:
    """Whether a word is a compound of one of the *known*, such as "kuhlschrank"."""
    return any(word[at:] in known for at in range(_REST, len(word) - _LONG_REST + 1))


def _named(first: str, known: frozenset[str]) -> Iterator[str]:
    """The first word of a compound, without what links it with the next one, and what that is made of."""
    without = next((first.removesuffix(link) for link in _LINKS if first.removesuffix(link) in known - {first}), None)
    name = first if first in known or without is None else without
    yield name
    if name == first and first not in known and first.endswith("s") and len(first) > _REST + 1:
        yield first[:-1]
    yield from _parts(name)
