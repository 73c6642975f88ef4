"""What the values of two statements have in common."""

from shelfd.memory.knowledge.evolution.amounts import singular
from shelfd.memory.knowledge.evolution.lexicon import countries, lexicon
from shelfd.memory.knowledge.evolution.statement import Statement, Value


def same_but_amounts(new: Statement, old: Statement) -> bool:
    """Return whether two statements say the same but for their numbers."""
    if new.language in ("zh", "ja"):
        same = new.core == old.core and new.value is Value.AMOUNT
    else:
        same = new.words == old.words or [*map(singular, new.words)] == [*map(singular, old.words)]
    return same and new.amounts != old.amounts and len(new.amounts) == len(old.amounts)


def category_of(statement: Statement) -> set[int]:
    """Return the categories of what is named, as drinks or languages."""
    if statement.language in ("zh", "ja"):
        return set()
    words, core = lexicon(statement.language), statement.core
    if len(core) > 2 and core[-1].isalpha() and core[-1] not in words.categories:
        return set()  # coffee ice cream is no coffee
    return {words.categories[word] for word in core if word in words.categories}


def may_contain(new: tuple[str, ...], old: tuple[str, ...]) -> bool:
    """Return whether one value may lie in the other, so that both can be true."""
    if set(new) <= set(old) or set(old) <= set(new):
        return True
    if len(new) == len(old) == 1 and not new[0].isascii() and (new[0] in old[0] or old[0] in new[0]):
        return True
    known = countries()
    return known.isdisjoint(new) != known.isdisjoint(old)


def times(statement: Statement) -> set[str]:
    """Return the times that are said besides the value."""
    return {word for word in statement.rest if word[0] == "~"}
