"""What only one can be of something at a time: its captain, its head, its owner."""

from typing import Final, NamedTuple

from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, lexicon
from shelfd.memory.knowledge.evolution.statement import Effect, Statement, Value


class Office(NamedTuple):
    """An office and who holds it; "Lusk is captain of the Heron" and "the Heron's captain is Lusk" say the same."""

    what: frozenset[str]  #: the office and of what, in words for men
    who: frozenset[str]


def office_of(statement: Statement) -> Office | None:
    """Return who is said to hold which office of something; None if that is not said."""
    language, subject, verb, link, core, rest, *_ = statement
    if verb != "be" or link or not core or not subject or language not in ALPHABETIC:
        return None
    words = lexicon(language)
    offices = words.lists["offices"]
    if (callings := words.lists.get("callings")) and not words.lists["places"].intersection(statement.words):
        offices = offices | callings  # who is dentist of Ida; in Ulm there are several
    if offices.isdisjoint(subject) and offices.isdisjoint(core) and not words.feminine:
        return None  # as most
    if statement.value is not Value.NAME or statement.effect is not Effect.SAYS or statement.event or statement.past:
        return None
    if not statement.positive or not statement.real or statement.several or statement.adds:
        return None
    if offices.isdisjoint(subject):
        what, who = (*core, *rest), subject
    elif rest:
        return None
    else:
        what, who = tuple(subject), frozenset(core)
    named = frozenset([words.of_role(word) for word in what])
    if language == "de" and not (ordinals := words.lists["ordinals"]).isdisjoint(named):
        named = frozenset([word[:_ORDINAL] if word in ordinals else word for word in named])  # "im zweiten Band"
    if offices.isdisjoint(named) or len(named) < _OFFICE_AND_WHOSE or any(word[0] in "#~" for word in (*named, *who)):
        return None
    return Office(named, who)


_ORDINAL: Final = 4  #: letters of an ordinal that are the same in all forms
_OFFICE_AND_WHOSE: Final = 2  #: words: the captain of what


def is_held_by_another(new: Statement, old: Statement) -> bool:
    """Return whether another holds an office now than *old* says."""
    held, before = office_of(new), office_of(old)
    if held is None or before is None or held.what != before.what:
        return False
    titles = lexicon(new.language).lists["titles"]
    return (held.who - titles or held.who).isdisjoint(before.who)
