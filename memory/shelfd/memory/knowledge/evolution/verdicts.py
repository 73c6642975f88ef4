"""What becomes of an older statement, and by which rule."""

from enum import StrEnum
from typing import Final, NamedTuple

from shelfd.memory.knowledge.evolution.lexicon import lexicon
from shelfd.memory.knowledge.evolution.statement import Statement


class Verdict(StrEnum):
    """What becomes of an older note."""

    STAYS = "stays"
    UPDATED = "updated"  #: superseded: it was so, and is no longer
    CORRECTED = "corrected"  #: superseded: it was never so
    DUPLICATE = "duplicate"  #: it says already what the new one says
    CONFLICT = "conflict"  #: both cannot be true, and which is cannot be told


class Judgement(NamedTuple):
    """A verdict, and by which rule."""

    verdict: Verdict
    reason: str


NOTHING: Final = Judgement(Verdict.STAYS, "nothing in common")
#: Nothing excludes either, and nothing says that they have nothing to do with each other.
ADDS: Final = Judgement(Verdict.STAYS, "may both be so")
EARLIER: Final = Judgement(Verdict.STAYS, "speaks of an earlier time")
UNREAL: Final = Judgement(Verdict.STAYS, "is no statement of fact")
SAME: Final = Judgement(Verdict.DUPLICATE, "says the same")

#: The verb that says of something that it is used.
USE: Final = {"en": "use", "de": "verwenden", "es": "usar", "fr": "utiliser"}


def updated(new: Statement, reason: str) -> Judgement:
    """Return that an older statement is superseded by *new*."""
    return Judgement(Verdict.CORRECTED if new.corrects else Verdict.UPDATED, reason)


def says_alike(language: str, verb: str, other: str) -> bool:
    """Return whether two verbs say nearly the same."""
    return verb == other or (language not in ("zh", "ja") and lexicon(language).alike(verb, other))
