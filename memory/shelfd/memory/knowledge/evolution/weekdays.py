"""Days of the week, in each form in which a language tells them."""

from functools import cache
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import lexicon, load


def weekday_of(words: tuple[str, ...], subject: frozenset[str], language: str) -> str:
    """Return the one day of the week among *words*, "" if there is none: a shop may open on other days as well."""
    days = [word for word in words if word in week(language)]
    if len(days) != 1 or days[0] in subject:
        return ""
    known = lexicon(language)
    return "" if any(word in known["habitual"] or word in known.states for word in words) else days[0]


@cache
def week(language: str) -> dict[str, str]:
    """Return the seven days of the week, in each form, with the form that stands for all of a day."""
    words = load(f"{language}.json")["weekdays"].split()
    return {f"~{word}": day for day in words[:_DAYS] for word in words if word.startswith(day)}


_DAYS: Final = 7


@cache
def days_of(language: str) -> frozenset[str]:
    """Return the days of the week, in each form."""
    return frozenset(week(language))
