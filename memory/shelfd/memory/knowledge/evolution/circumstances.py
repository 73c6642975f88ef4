"""What ends with somebody's death, or with a thing's move to another place."""

from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import lexicon
from shelfd.memory.knowledge.evolution.statement import Statement, Value

DEAD: Final = (("dead",), ("tot",), ("muerto",), ("muerta",), ("mort",), ("morte",))


def died(new: Statement, old: Statement) -> bool:
    """Return whether somebody is dead who did what only the living do: lived somewhere, led something."""
    if new.value is not Value.STATE or new.core not in DEAD or not new.positive or new.event:
        return False
    return old.positive and not old.event and old.verb in lexicon(new.language)["living"]


def is_elsewhere(new: Statement, old: Statement) -> bool:
    """Return whether a thing lies or hangs at another place now."""
    if not new.now or not new.positive or new.event or old.event or new.adds or new.language in ("zh", "ja"):
        return False
    words = lexicon(new.language)
    for each in (new, old):
        is_placed = each.verb in words["placing"] and not words["spots"].isdisjoint(each.link.split())
        if not is_placed or each.value is not Value.NAME or each.several or not words["abstract"].isdisjoint(each.core):
            return False
    return not {*new.core} <= {*old.core} and not {*old.core} <= {*new.core}
