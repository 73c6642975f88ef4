"""What is called otherwise now: "Quillon was renamed to Inkstand" ends that an app is called Quillon.

The name is the value of the older statement and the subject of the newer one: the two have no subject in common.
"""

from collections.abc import Iterator
from typing import Final

from shelfd.memory.knowledge.evolution.attributes import names
from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, AlphabeticLexicon, lexicon
from shelfd.memory.knowledge.evolution.statement import NOBODY, Effect, Statement, Value

#: Why a note is superseded that gives the name from before.
RENAMED: Final = "has another name"
_LONGEST: Final = 4  #: words of a name, and of a subject that is one
# By a name of this module they are found in a tenth of the time that Python 3.11 takes to find an enumeration's member.
_SAYS: Final = Effect.SAYS
_NAME: Final = Value.NAME


def name_of(statement: Statement) -> frozenset[str]:
    """Return the words of the name that a statement says somebody or something has; none if it says none."""
    core = statement.core
    if statement.value is not _NAME or len(core) > _LONGEST or statement.language not in ALPHABETIC:
        return NOBODY
    is_so = statement.effect is _SAYS and statement.positive and statement.real
    is_so = is_so and not (statement.event or statement.past or statement.several)
    if not is_so or not names(statement):
        return NOBODY
    name = frozenset(core)
    return name - lexicon(statement.language)["class_nouns"] or name  # "Project Bramblewood" is Bramblewood


def has_another_name(new: Statement, old: Statement) -> bool:
    """Return whether who or what an older statement names has another name since."""
    if not new.now or not new.subject or new.subject.isdisjoint(old.core):
        return False  # as most
    before = name_of(old)
    words = lexicon(new.language)
    if not before or not before <= new.subject or not name_of(new) or before == name_of(new):
        return False
    return all(_says_what(word, old, words) for word in new.subject - before)


def _says_what(word: str, old: Statement, words: AlphabeticLexicon) -> bool:
    """Return whether a word beside a name says of what kind it is, and not whose: the library Quillon."""
    if any(known.endswith(word) for known in old.subject):
        return True
    return any(word in words[kinds] for kinds in ("kinds", "class_nouns", "works", "concrete_nouns"))


def former_names(statement: Statement) -> Iterator[frozenset[str]]:
    """Yield the names that what is called otherwise now may have had."""
    if not statement.now or not name_of(statement):
        return
    subject = statement.subject
    if len(subject) <= _LONGEST:
        yield subject
    if len(subject) > 1:
        words = lexicon(statement.language)
        kinds = words["kinds"] | words["class_nouns"] | words["works"] | words["concrete_nouns"]
        yield from (frozenset((word,)) for word in sorted(subject)[:_LONGEST])
        if rest := subject - kinds:
            yield rest
