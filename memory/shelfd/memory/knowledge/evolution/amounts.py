"""Amounts in statements, and what they are of."""

from typing import Final

from shelfd.memory.knowledge.evolution.statement import Statement


def differ(new: Statement, old: Statement) -> bool:
    """Return whether two amounts are others, or of other things: 5 mg of one drug, 5 mg of another."""
    named, before = ({word for word in each.core if word[0] != "#"} for each in (new, old))
    return new.amounts[-1:] != old.amounts[-1:] or (bool(named and before) and named.isdisjoint(before))


def families(statement: Statement) -> list[str]:
    """Return what its value is measured in."""
    return [word for word in statement.core if word.startswith("#")]


_PLURALS: Final = ("ciones", "siones", "idades")  #: of Spanish nouns that lose two letters


def singular(word: str) -> str:
    """Return a counted word without the ending of a plural."""
    if word.endswith(_PLURALS):
        return word[:-2]
    return word[:-1] if word[-1] == "s" and word[-2:] != "ss" else word
