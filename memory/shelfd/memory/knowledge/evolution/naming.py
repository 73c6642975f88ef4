"""Statements about what has several names, told as of the one that stands for all of them."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Final

from shelfd.memory.knowledge.entities.aliases import built_in
from shelfd.memory.knowledge.evolution.statement import Statement
from shelfd.memory.ports.entities import EntitiesView

#: Words of a name, at most: in a value, and in a subject, whose two words have no order.
_LONGEST: Final = 3
_UNORDERED: Final = 2
#: From one name to the next, at most: a circle ends there.
_STEPS: Final = 4
#: What somebody who speaks begins with, an amount, and a time.
_NO_NAME: Final = "@#~"


def keys_of(statements: Iterable[Statement]) -> list[str]:
    """Return what the subjects and values of *statements* may be known by under another name."""
    keys: list[str] = []
    for statement in statements:
        keys += _keys(statement.subject)
        keys += _keys(statement.core)
    return keys


def renamed(
    statements: Sequence[Statement], entities: EntitiesView, keys: Sequence[str] | None = None
) -> Sequence[Statement]:
    """Return *statements* with the subjects and values that have another name under that which stands for them.

    Args:
        statements: What is said.
        entities: Whose aliases hold, beside those that everybody knows.
        keys: What :func:`keys_of` gives of the statements, if it was asked already.
    """
    if keys is None:
        keys = keys_of(statements)
    if not keys:
        return statements
    known = _known(keys, entities)
    return [_renamed(statement, known) for statement in statements] if known else statements


def _keys(words: Collection[str]) -> Iterable[str]:
    """Return what a name of these words may be known by; a subject's words have no order."""
    count = len(words)
    if count == 1:  # as most
        (word,) = words
        return () if word[0] in _NO_NAME else (word.replace("-", ""),)
    if not count or count > _LONGEST:
        return ()
    if not isinstance(words, frozenset):
        for word in words:
            if word[0] in _NO_NAME:
                return ()
        return ("".join(words).replace("-", ""),)
    if count > _UNORDERED:
        return ()
    one, other = words
    if one[0] in _NO_NAME or other[0] in _NO_NAME:
        return ()
    return (one + other).replace("-", ""), (other + one).replace("-", "")


@lru_cache(maxsize=1)
def _built_in() -> dict[str, str]:
    names = {name.key: step.key for name, step in built_in().items()}
    return {**names, **{key: key for key in names.values()}}


@lru_cache(maxsize=1)
def _built_in_keys() -> frozenset[str]:
    """Return the keys of these, which a set finds in a tenth of the time."""
    return frozenset(_built_in())


def _known(sought: Sequence[str], entities: EntitiesView) -> dict[str, str]:
    """Return the name that stands for each of the keys *sought* that is a name of something."""
    names = entities.named(sought)
    if not names and _built_in_keys().isdisjoint(sought):  # as nearly always
        return {}
    everybodys = _built_in()
    keys = {*sought}
    known = {key: everybodys[key] for key in everybodys.keys() & keys}
    asked = {key: key for key in keys}
    for _ in range(_STEPS):
        if not names:
            break
        found = {alias.alias: alias.canonical for alias in reversed(names)}
        for key, origin in asked.items():
            if key in found:
                known[origin] = everybodys.get(found[key], found[key]) or origin
        asked = {found[key]: origin for key, origin in asked.items() if found.get(key)}
        names = entities.named(sorted(asked))
    return known


def _renamed(statement: Statement, known: dict[str, str]) -> Statement:
    subject = next((known[key] for key in _keys(statement.subject) if key in known), None)
    core = next((known[key] for key in _keys(statement.core) if key in known), None)
    if subject is not None:
        statement = statement._replace(subject=frozenset((subject,)))
    return statement if core is None else statement._replace(core=(core,))
