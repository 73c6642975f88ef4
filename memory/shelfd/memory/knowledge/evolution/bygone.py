"""Changes that are no longer news to an older note: of a year before it, or undone since."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, AlphabeticLexicon, lexicon
from shelfd.memory.knowledge.evolution.statement import NOBODY, Effect, Statement

_MICROSECONDS: Final = 1_000_000
_YEAR: Final = 4  #: digits
_GONE: Final = (Effect.LEFT, Effect.MOVED, Effect.ENDED, Effect.GONE)


def is_bygone(new: Sequence[Statement], old: Sequence[Statement], when: int) -> bool:
    """Return whether what a note tells was so before an older one was told, or is so no longer.

    Args:
        new: What it states.
        old: What the older one states.
        when: Of what time that is, in microseconds since 1970 UTC.
    """
    if any(statement.corrects for statement in new):
        return False
    return _is_of_former_year(new, when) or _came_back(new, old)


def _is_of_former_year(new: Sequence[Statement], when: int) -> bool:
    """Return whether a change was in a year before the older note's: who moved in 1999 lives where they do now."""
    language = new[0].language
    until = lexicon(language)["ending_at"] if language in ALPHABETIC else NOBODY
    told = [each for each in new if _tells_a_change(each) or not until.isdisjoint(each.words)]
    years = [year for each in told for word in each.words if (year := _year_of(word))]
    return bool(years) and max(years) < datetime.fromtimestamp(when / _MICROSECONDS, UTC).year


def _tells_a_change(statement: Statement) -> bool:
    return statement.effect is not Effect.SAYS or statement.now or statement.event


def _year_of(word: str) -> int:
    """Return the year of a time: of "~1999", "~2021march"; 0 if it has none."""
    digits = word[1 : 1 + _YEAR]
    is_year = word[0] == "~" and len(digits) == _YEAR and digits.isdecimal() and not word[1 + _YEAR :][:1].isdecimal()
    return int(digits) if is_year and ":" not in word else 0


def is_for_a_while(said: Collection[str], words: AlphabeticLexicon) -> bool:
    """Return whether somebody left to come back, for lunch or the weekend, or at an hour, as one does each day."""
    if not words["away"].isdisjoint(said) and not _FOR.isdisjoint(said):
        return True
    return any(word[0] == "~" and (":" in word or word[1:] in words["day_parts"]) for word in said)


_FOR: Final = frozenset(("for", "zum", "zur", "furs", "fur", "para", "pour"))


def _came_back(new: Sequence[Statement], old: Sequence[Statement]) -> bool:
    """Return whether somebody left and came back to where they were: not "left hospital and returned home"."""
    left = [each for each in new if each.effect in _GONE]
    if not left or len(left) == len(new) or new[0].language not in ALPHABETIC:
        return False
    words = lexicon(new[0].language)
    known = {word for each in old for word in each.words}.union(*(each.subject for each in old))
    for each in new:
        said = {part for word in each.words for part in word.split()}
        if each.effect is Effect.SAYS and not words["returning"].isdisjoint(said) and _FROM.isdisjoint(said):
            where = said - words["returning"] - words["turning"] - words["prepositions"] - words["dull"] - known
            return all(word[0] == "~" for word in where - each.subject - _BUT - {each.verb})
    return False


_BUT: Final = frozenset(("but", "aber", "pero", "mais"))
_FROM: Final = frozenset(("from", "von", "aus", "de", "du", "del"))
