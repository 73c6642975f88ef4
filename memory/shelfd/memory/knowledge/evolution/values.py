"""What the values of two statements have in common."""

import re
from collections.abc import Set as AbstractSet
from typing import Final

from shelfd.memory.knowledge.evolution.amounts import singular
from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, US, AlphabeticLexicon, countries, lexicon, places
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Statement, Value


def same_but_amounts(new: Statement, old: Statement) -> bool:
    """Return whether two statements say the same but for their numbers."""
    if new.language in ("zh", "ja"):
        same = new.core == old.core and new.value is Value.AMOUNT
    else:
        said = _without_occasion(new, old)
        named = sum(word[0] == "#" for word in new.subject)  # amounts that tell of what: book two, and book one
        if new.amounts[:named] != old.amounts[:named]:
            return False
        same = said == old.words or [*map(singular, said)] == [*map(singular, old.words)]
    return same and new.amounts != old.amounts and len(new.amounts) == len(old.amounts)


def _without_occasion(new: Statement, old: Statement) -> tuple[str, ...]:
    """Return the words of *new* without what led to it: nine nodes, after the expansion."""
    said = len(old.words)
    if len(new.words) > said and new.verb in ("be", *HAVE) and new.words[said] in lexicon(new.language)["occasions"]:
        return new.words[:said]
    return new.words


#: Verbs of having.
HAVE: Final = ("have", "haben", "tener", "avoir")


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


def means_of(statement: Statement) -> AbstractSet[str]:
    """Return with what something is done: "tabs" of files that are indented with tabs; nothing if that is not said."""
    if not statement.rest or statement.language in ("zh", "ja") or statement.event or not statement.positive:
        return NOBODY
    lists = lexicon(statement.language).lists
    at = next((at for at, word in enumerate(statement.words) if word in lists["means"] and at > 1), None)
    if at is None:
        return NOBODY
    if statement.words[at] == "on" and statement.verb in lists["minding"]:
        return NOBODY  # who switched from Python may have written a book on it
    found = {word for word in statement.words[at + 1 :] if word not in lists["prepositions"]}
    return NOBODY if any(word[0] in "#~" for word in found) else found


def is_chosen(statement: Statement) -> bool:
    """Return whether a statement says what somebody's favourite or usual thing is: a value, however it is described."""
    if statement.language in ("zh", "ja") or statement.slot is not Arity.ONE:
        return False
    return not lexicon(statement.language)["modifiers"].isdisjoint(statement.subject)


def tell_which(new: Statement, old: Statement) -> bool:
    """Return whether what is said besides two values of what has only one tells which these are.

    Of "the café by the river" and "the one at number nine" only one is somebody's favourite; "for guests" and "on
    Mondays" tell when that is so, and "in Rome" may.
    """
    if new.language in ("zh", "ja") or new.verb != old.verb or new.link != old.link:
        return False
    is_home = new.verb == lexicon(new.language).home
    if new.slot is not Arity.ONE or old.slot is not Arity.ONE or not (new.verb == "be" or is_home):
        return False
    if not all(each.value is Value.NAME or is_chosen(each) for each in (new, old)):
        return False
    said, before = {*new.core} - _TITLES, {*old.core} - _TITLES
    if not new.link and said - before and before - said:
        said, before = said - before, before - said
    if not (said | new.rest).isdisjoint(before) or not (before | old.rest).isdisjoint(said):
        return False
    if any(word[0] in "#~" for word in new.rest | old.rest):
        return False
    words = lexicon(new.language)
    if not words["limiting"].isdisjoint((*new.words, *old.words)):
        return False
    if new.link:
        return old.rest.isdisjoint(places())  # who lives at her sister's in Rome lives in a tent in Oslo
    joined, joined_before = joining(new), joining(old)
    if not is_chosen(old):  # "in the hall the TV is a Sony" speaks of another one than "in the garage"
        is_each_somewhere = bool(new.rest) and bool(old.rest) and new.rest.isdisjoint(old.rest)
        is_owned = len(new.subject) > 1
        return is_owned or not (is_each_somewhere and joined == joined_before and joined in words["places"])
    return joined_before not in words["places"] or joined not in ("", joined_before) or joined in _WITH


#: What stands in no town, but in a dessert: "la mousse au chocolat", "la tarte aux pommes".
_WITH: Final = ("au", "aux")
#: What stands before many a name.
_TITLES: Final = frozenset("dr prof mr mrs ms frau herr sr sra don m mme mlle doctor doctora docteur doktor".split())


def is_for_some(new: Statement, old: Statement) -> bool:
    """Return whether a value is said to be one for some, or on an occasion, of which the older one says nothing.

    A limit that is "20 MB for admins" may be 10 MB for all others.
    """
    if not new.rest or new.now or new.corrects or new.language in ("zh", "ja") or not new.core:
        return False
    joined = joining(new)
    limits = joined in lexicon(new.language)["limiting"] and joined not in old.words
    return limits and all(word[0] not in "#~" for word in new.rest) and new.rest.isdisjoint(old.words)


def joining(statement: Statement) -> str:
    """Return the word that joins a value to what is said besides; "" if none does."""
    ends = len(statement.words) - statement.words[::-1].index(statement.core[-1])
    return statement.words[ends] if ends < len(statement.words) else ""


def is_another_day(new: Statement, old: Statement) -> bool:
    """Return whether what is done at an hour is done then on other days only: nine on Mondays, ten on Sundays."""
    if new.verb == "be" or ":" not in new.core[0]:
        return False
    days, before = (
        {word for word in (*each.core, *each.rest) if word[0] == "~" and ":" not in word} for each in (new, old)
    )
    return bool(days - before)


def times(statement: Statement) -> set[str]:
    """Return the times that are said besides the value."""
    return {word for word in statement.rest if word[0] == "~"}


def exclude_each_other(word: str, other: str, words: AlphabeticLexicon) -> bool:
    """Return whether nothing can be both: high and low, trusted and untrusted."""
    if word in words.states.get(other, ()) or word in words.opposites.get(other, ()):
        return True
    shorter, longer = sorted((word, other), key=len)
    if len(shorter) < _ADJECTIVE or not longer.endswith(shorter) or not word.isalpha():
        return False
    return longer.removesuffix(shorter) in words["reversing"]


#: Letters of a word at least that one of its kind may be the opposite of.
_ADJECTIVE: Final = 4


def another_time(new: Statement, old: Statement) -> bool | None:
    """Return whether all is said alike but its times, and they exclude each other; None if more or nothing differs.

    What is so until Monday is not so until Friday, and a meeting has one time; but what is open on Monday may be open
    on Friday, too.
    """
    differing = _differing_times(new, old)
    if not differing:
        return None
    if new.verb == "be" and new.value is Value.TIME:
        return True
    if all(_is_bounded(new, at) for at in differing):
        return True
    if len(differing) == 1 and (_is_so_now(new, differing[0]) or _is_of_one_time(new, differing[0])):
        return True
    clocks = [":" in new.words[at] for at in differing]
    if clocks == [True] and not new.event and _is_done_on_a_weekday(new):
        return True  # the choir rehearses on Mondays at another hour
    if len(clocks) == 1 and not new.event and _happens_once(new, is_hour=clocks[0]):
        return True  # the weekly market is on another day, the daily meeting at another hour
    if sorted(clocks) == [False, True] and _goes_once(new) and _are_dated(new, old, differing):
        return True  # the flight leaves on another day, at another hour
    return False if any(clocks) and not all(clocks) else None


def _differing_times(new: Statement, old: Statement) -> list[int]:
    """Return the places of the times in which two statements differ; none if they differ in anything else."""
    if len(new.words) != len(old.words) or new.amounts != old.amounts or new.words == old.words:
        return []
    differing = []
    for at, (word, other) in enumerate(zip(new.words, old.words, strict=True)):
        if word == other or (_is_part_of_day(new, at) and _is_part_of_day(old, at)):
            continue  # on Friday afternoon, on Sunday evening
        if word[0] != "~" or other[0] != "~":
            return []
        differing.append(at)
    return differing


def _is_part_of_day(statement: Statement, at: int) -> bool:
    """Return whether a part of the day stands at *at*, behind a day."""
    if statement.language in ("zh", "ja") or not at or statement.words[at - 1][0] != "~":
        return False
    return statement.words[at].lstrip("~") in lexicon(statement.language)["day_parts"]


def _is_so_now(new: Statement, at: int) -> bool:
    """Return whether a note says that something is now at the time at place *at*, and not that it was done then."""
    return new.now and new.value is not Value.STATE and not _is_open_then(new, at)


def _is_done_on_a_weekday(statement: Statement) -> bool:
    """Return whether something is done on a day of each week, which is seldom done twice then, as taking pills is."""
    if statement.language in ("zh", "ja"):
        return False
    words = lexicon(statement.language)
    if statement.verb in words["many"] or statement.verb in words["departing"]:
        return False
    return any(word[0] == "~" and word[1:] in words["weekdays"] for word in statement.words)


def _happens_once(statement: Statement, *, is_hour: bool) -> bool:
    """Return whether something is said to happen once a day, a week, or a month; pills may be taken at two hours."""
    if statement.language in ("zh", "ja"):
        return False
    words = lexicon(statement.language)
    is_done_often = is_hour and statement.verb in words["many"] and statement.verb not in words["wanting"]
    return not is_done_often and not words["once"].isdisjoint(statement.words)


def _goes_once(statement: Statement) -> bool:
    """Return whether what is said is so at one time, as when a flight leaves."""
    functional = lexicon(statement.language)["functional"]
    return statement.slot is Arity.ONE or any(f"{statement.verb}_{by}" in functional for by in ("at", "um", "a"))


def _are_dated(new: Statement, old: Statement, at: list[int]) -> bool:
    """Return whether of the times at *at* one is a date in both, and the other an hour in both."""
    pairs = [(new.words[each], old.words[each]) for each in at]
    return all((":" in word) is (":" in other) and word[1].isdigit() and other[1].isdigit() for word, other in pairs)


def _is_open_then(new: Statement, at: int) -> bool:
    """Return whether something is in a state on a day of the week, and may be on others: open on Saturdays again."""
    days = lexicon(new.language)["weekdays"]
    return new.value is Value.STATE and new.words[at][1:].removesuffix("s") in {day.removesuffix("s") for day in days}


def is_when_otherwise(new: Statement, old: Statement) -> bool:
    """Return whether both say when something is, in other words, and not at the same time: in April, and October."""
    if not (new.positive and old.positive) or new.adds or new.rest != old.rest or new.core == old.core:
        return False
    if not (_tells_when(new) and _tells_when(old)) or len(new.core) != 1 or len(old.core) != 1:
        return False
    days = lexicon(new.language)["weekdays"]
    kinds = [(":" in word, any(map(str.isdigit, word)), word[1:] in days) for word in (new.core[0], old.core[0])]
    return kinds[0] == kinds[1]


def _tells_when(statement: Statement) -> bool:
    if (
        statement.verb != "be"
        or statement.value is not Value.TIME
        or statement.event
        or statement.language in ("zh", "ja")
    ):
        return False
    lists = lexicon(statement.language).lists
    return all(word in lists["when"] or word in ("a", "the") for word in statement.link.split())


def _is_of_one_time(statement: Statement, at: int) -> bool:
    """Return whether what is said with a time at *at* has one: the backup runs daily at two."""
    functional = lexicon(statement.language)["functional"]
    if ":" not in statement.words[at] or at == 0:
        return False
    before = statement.words[at - 1]
    if statement.verb in functional or f"{statement.verb}_{before}" in functional:
        return True
    return at > 1 and f"{statement.words[at - 2]}_{before}" in functional  # "goes to bed at"


def _is_bounded(statement: Statement, at: int) -> bool:
    """Return whether the time at *at* is where something ends or begins: until the end of 2028."""
    words, before = lexicon(statement.language), at - 1
    passed = words["parts"] | words["definite"]
    while before > 0 and (statement.words[before] in passed or statement.words[before][0] == "~"):
        before -= 1
    return before >= 0 and statement.words[before] in words["bounds"]


def is_one_form(new: tuple[str, ...], old: tuple[str, ...]) -> bool:
    """Return whether two values are written alike, digits and letters in the same places: two addresses, two codes."""
    if len(new) != 1 or len(old) != 1:
        return False
    forms = {_DIGITS.sub("0", _LETTERS.sub("a", word)) for word in (*new, *old)}
    return len(forms) == 1 and "0" in forms.pop()


_DIGITS: Final = re.compile(r"\d+")
_LETTERS: Final = re.compile(r"[^\W\d_]+")


def has_digit(word: str) -> bool:
    """Return whether a word may be a version, a model or another number of its kind."""
    return word[0] == "#" or any(map(str.isdigit, word))


def is_status(statement: Statement) -> bool:
    """Return whether a statement says of something what its status is, which is one thing, in whatever words."""
    if statement.verb != "be" or statement.slot is not Arity.ONE or statement.language in ("zh", "ja"):
        return False
    return not statement.event and not lexicon(statement.language)["statuses"].isdisjoint(statement.subject)


def says_other(new: Statement, old: Statement) -> bool:
    """Return whether neither statement says what the other says and more."""
    said, before = ({*each.link.split(), *each.core, *each.rest} for each in (new, old))
    return not new.adds and not said <= before and not before <= said


def are_both_numbers(new: Statement, old: Statement) -> bool:
    """Return whether both are the number of something, one with a letter: terminal 3, and 2E."""
    if not new.slot is old.slot is Arity.ONE:
        return False
    return all(each.core == ("#",) or (len(each.core) == 1 and has_digit(each.core[0])) for each in (new, old))


def are_both_things(new: Statement, old: Statement) -> bool:
    """Return whether both say what an attribute is by "a" and a noun, and not how it is: a cortado, a flat white."""
    if (
        new.language in ("zh", "ja")
        or not new.slot is old.slot is Arity.ONE
        or new.verb != "be"
        or new.link
        or old.link
    ):
        return False
    lists = lexicon(new.language).lists
    described = lists["qualities"] | lists["abstract"]
    return described.isdisjoint(new.core) and described.isdisjoint(old.core)


def is_intended(statement: Statement) -> bool:
    """Return whether a statement says what somebody wants, or what is to be: and not only that it may be so."""
    words = lexicon(statement.language)
    said = {*statement.words, *statement.subject}
    return said.isdisjoint(words["supposing"])


def as_planned(statement: Statement) -> Statement | None:
    """Return what a statement says is to be, as if it were so: "we will fly to Vienna"; None if it says no such."""
    if statement.real or not statement.positive or statement.event or statement.language not in ALPHABETIC:
        return None
    words = lexicon(statement.language)
    intending = words["intending"]
    is_going = any(words.verbs.get(word, ("",))[0] == statement.verb for word in intending)  # "is going to Iceland"
    if not is_intended(statement) or (intending.isdisjoint(statement.words) and not is_going):
        return None
    return statement._replace(real=True, subject=statement.subject - intending or frozenset((US,)))
