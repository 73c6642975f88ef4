"""What ends with somebody's death, or with a thing's move to another place."""

from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import lexicon
from shelfd.memory.knowledge.evolution.statement import Statement, Value

#: Who moves from one town to another may work where they worked.
_WORKING: Final = {"en": ("work", "in"), "de": ("arbeiten", "in"), "es": ("trabajar", "en"), "fr": ("travailler", "a")}
DEAD: Final = (("dead",), ("tot",), ("muerto",), ("muerta",), ("mort",), ("morte",))


def ended_by(new: Statement, old: Statement) -> str | None:
    """Return how what *old* says has ended, None if it has not."""
    if new.value is Value.STATE and _died(new, old):
        return "no longer lives"
    return "another place now" if new.now and _is_elsewhere(new, old) else None


def _died(new: Statement, old: Statement) -> bool:
    """Return whether somebody is dead who did what only the living do: lived somewhere, led something."""
    if new.core not in DEAD or not new.positive or new.event:
        return False
    return old.positive and not old.event and old.verb in lexicon(new.language)["living"]


def _is_elsewhere(new: Statement, old: Statement) -> bool:
    """Return whether a thing lies or hangs at another place now."""
    if not new.positive or new.event or old.event or new.adds or new.language in ("zh", "ja"):
        return False
    words = lexicon(new.language)
    for each in (new, old):
        is_placed = each.verb in words["placing"] and not words["spots"].isdisjoint(each.link.split())
        if not is_placed or each.value is not Value.NAME or each.several or not words["abstract"].isdisjoint(each.core):
            return False
    return not {*new.core} <= {*old.core} and not {*old.core} <= {*new.core}


def works_there(old: Statement) -> bool:
    """Return whether somebody works at a place, which a move from there does not end."""
    return (old.verb, old.link) == _WORKING.get(old.language)


def only_begins(ended: set[str], old: Statement) -> bool:
    """Return whether what has ended only begins a longer noun: who sold the boat has its trailer, the boat trailer."""
    owned = old.verb in lexicon(old.language)["possessing"] | lexicon(old.language)["have"]
    return owned and len(old.core) > 1 and old.core[-1].isalpha() and old.core[-1] not in ended and old.core[0] in ended
