"""How old somebody is: a number that stands alone is one of years."""

from shelfd.memory.knowledge.evolution.lexicon import NOUN_FIRST, lexicon, units
from shelfd.memory.knowledge.evolution.statement import Statement


def in_years(statement: Statement, words: tuple[str, ...], at: int, age: float) -> Statement:
    """Return a statement whose number at *at* of its *words* is an age, with its unit: "age: 61"."""
    family, factor = units()["years"]
    unit = f"#{family}"
    return statement._replace(words=(*words[:at], unit, *words[at + 1 :]), core=(unit,), amounts=(age * factor,))


def may_be_age(statement: Statement) -> bool:
    """Return whether a bare number is how old somebody is: "Isaura is 17"."""
    if statement.verb != "be" or statement.link or statement.core != ("#",) or statement.rest:
        return False
    if not all(map(str.isalpha, statement.subject)):
        return False  # "max_workers is 12"
    if statement.language in NOUN_FIRST and len(statement.subject) > 1:
        return False  # "Incidencias abiertas de Candil: 18"; an age is told with "tiene" and "a" there
    lists = lexicon(statement.language).lists
    return all(lists[name].isdisjoint(statement.subject) for name in ("nouns", "concrete_nouns", "modifiers", "kinds"))


def ages_of(language: str) -> frozenset[str]:
    """Return the words for how old somebody is."""
    return lexicon(language).lists["ages"]
