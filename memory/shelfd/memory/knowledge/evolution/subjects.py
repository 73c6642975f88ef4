"""Whether two statements speak of the same thing, though they name it in other words."""

from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import ME, STATUS, lexicon
from shelfd.memory.knowledge.evolution.statement import Statement, Value


def speak_of_the_same(new: Statement, old: Statement) -> bool:
    """Return whether two statements have the same subject."""
    return new.subject == old.subject or _is_whose(new.subject, old.subject) or _is_from_there(new, old)


def _is_whose(subject: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two subjects are the same but that one says that it is the speaker's, or its status."""
    difference = subject ^ other
    if len(difference) != 1 or not subject or not other:
        return False
    return difference <= STATUS or (difference == _MINE and len(subject) + len(other) > _LONG_AND_MINE)


_MINE: Final = frozenset((ME,))
_LONG_AND_MINE: Final = 4  #: words: two of each, and whose it is in one


def _is_from_there(new: Statement, old: Statement) -> bool:
    """Return whether what is somewhere else now is called by the place where it was: the speaker of the kitchen."""
    if not new.now or not new.link or not old.link or new.language in ("zh", "ja"):
        return False
    if not old.subject or new.subject != old.subject | {*old.core} or old.event or old.rest:
        return False
    lists = lexicon(new.language).lists
    if not lists["abstract"].isdisjoint(old.core) or not new.rest.isdisjoint(old.core):
        return False  # who is on leave, or in another house of the same town
    spots = lists["spots"]
    are_places = all(each.value is Value.NAME and not spots.isdisjoint(each.link.split()) for each in (new, old))
    return are_places and new.positive and old.positive
