"""Whether a note tells all that an older statement says as ended, however its sentence is built."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Final

from shelfd.memory.knowledge.evolution.ending import Cues, Ending, plain
from shelfd.memory.knowledge.evolution.lexicon import NOUN_FIRST, AlphabeticLexicon
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Statement, Value
from shelfd.memory.knowledge.evolution.withdrawing import SPEAKING, Withdrawal

_IN_FULL: Final = 2  #: words, at least
_DIGIT: Final = re.compile(r"\d")


def is_named_in_full(found: Withdrawal, old: Statement, words: AlphabeticLexicon, known: Cues) -> bool:
    """Return whether what has ended is told in all words of an older statement, whatever the form of its sentence.

    So "the maintenance window planned for 24 October was cancelled" ends that one is planned for then. Who does
    something may not stand among what has ended, unless it stands at its end: whom Ida trains does not train her.
    """
    if (old.event or old.slot is Arity.FIXED) and not found.is_correction:
        return False
    is_end = found.kind in (Ending.ENDS, Ending.ENDED)
    is_cancelled = is_end and not words.lists.get("cancelling", NOBODY).isdisjoint(found.clause)
    phrase = {form for word in found.phrase for form in word} - {""}
    told = phrase | found.before
    wanted: list[frozenset[str]] = []
    is_undated = (is_cancelled or _is_over(found)) and not any(word[0] == "~" for word in found.clause)
    made = _made(found, old, words)
    for forms in _told_words(old, told, words, known, is_undated=is_undated, is_cancelled=is_cancelled):
        if not made.isdisjoint(forms):
            continue
        if told.isdisjoint(forms):  # as most
            return False
        wanted.append(forms)
    if len(wanted) < _IN_FULL:
        return False
    core = {form for word in old.core for form in (word, plain(word, words, known))} - {""}
    if found.is_correction and core and told.isdisjoint(core):
        return False  # "active since 2019" is not what was a mistake
    every = frozenset[str]().union(*wanted)
    if _is_of_others_thing(found, old, every, words, known) or not _begins_with(found, every, words, known):
        return False
    doer, value = old.subject, frozenset((*old.core, *old.rest))
    is_turned = _is_turned(found, old)
    if is_turned:
        doer, value = value, doer
    if _is_over(found) or (is_cancelled and doer <= phrase):
        return True
    if phrase.isdisjoint({plain(word, words, known) for word in value} - {""} | (value if is_turned else NOBODY)):
        return False
    return phrase.isdisjoint({plain(word, words, known) for word in doer - SPEAKING} | doer - SPEAKING - {""})


def _made(found: Withdrawal, old: Statement, words: AlphabeticLexicon) -> frozenset[str]:
    """Return the noun that need not be repeated of a thing whose make is: whoever sold Ida's Kangoo sold her van."""
    if old.language not in NOUN_FIRST or old.verb != "be" or old.manner != "a" or old.value is not Value.NAME:
        return NOBODY  # in others the owner stands before the noun, and so does another's: "Rita sold Tom's Lenovo"
    if len(old.subject) == 1:
        return NOBODY
    is_gone = any(found.by in words[name] for name in ("selling", "missing", "triggers"))  # and not only repaired
    return words["concrete_nouns"] & old.subject if is_gone or not _is_over(found) else NOBODY


def _is_turned(found: Withdrawal, old: Statement) -> bool:
    """Return whether only one is in the passive: "is guarded by trolls", and "the trolls no longer guard"."""
    if old.language != "en":
        return False
    is_passive = old.verb == "be" and old.link.endswith(" by")
    return is_passive is not any(word == "by" for word, _ in found.phrase)


def _begins_with(found: Withdrawal, said: frozenset[str], words: AlphabeticLexicon, known: Cues) -> bool:
    """Return whether what is named first as ended is *said*: who sold a plot beside her house did not sell that."""
    if _is_over(found):
        return True
    determiners = words["determiners"]
    told = (
        each
        for before, each in pairwise((("", ""), *found.phrase))
        if each[1]
        and each[0] not in known.minor
        and (each[0] not in words.verbs or each[0] in words["nouns"] or before[0] in determiners)
    )
    first = next(told, None)
    return first is None or not said.isdisjoint(first)


def _is_of_others_thing(
    found: Withdrawal, old: Statement, said: frozenset[str], words: AlphabeticLexicon, known: Cues
) -> bool:
    """Return whether what has ended is somebody else's, or comes at another rhythm: the weekly sync is no monthly one.

    Args:
        found: What has ended.
        old: An older statement.
        said: Its words, in all forms.
        words: Those of its language.
        known: What tells in it that something has ended.
    """
    told = found.before.union(*found.phrase)
    others = words["others"] | words["ordinals"] | known.people
    if any(word in others and word not in old.words and word not in old.subject for word in told):
        return True
    rhythms = words["once"] | words["rhythms"]
    if not rhythms.isdisjoint(told) and not rhythms.intersection(old.words) <= told:
        return True
    if old.subject.isdisjoint(SPEAKING) or not SPEAKING.isdisjoint(found.before):
        return False
    return any(word[0] not in "#~@" and word not in said for word in found.before)


def _is_over(found: Withdrawal) -> bool:
    """Return whether all of its clause names what has ended: "X was cancelled"."""
    return found.kind is Ending.ENDED


def _is_day(word: str) -> bool:
    """Return whether a time is a date, and no month or year of which something is told."""
    return _DIGIT.search(word) is not None and not word[1:].isdigit()


def _told_words(
    old: Statement,
    told: AbstractSet[str],
    words: AlphabeticLexicon,
    known: Cues,
    *,
    is_undated: bool,
    is_cancelled: bool,
) -> Iterator[frozenset[str]]:
    """Yield the words of a statement that tell something, each in its forms, but those by which it is only there.

    The hour of what is told with its day need not be repeated, nor the day of what has ended whenever it was to be, nor
    the month of what is cancelled; but what ends on a day need not have begun on another.
    """
    existing, is_dated = words["existing"], any(word[0] == "~" and _DIGIT.search(word) for word in told)
    amounts = iter(old.amounts)
    is_weekly = is_undated and not words["once"].isdisjoint(told)  # the weekly meeting is on a day
    unsaid = words["weekdays"] if is_weekly else NOBODY
    if is_cancelled and is_undated:
        unsaid = unsaid | words["months"]
    for word in dict.fromkeys((*old.words, *old.subject)):
        if word[0] == "#":
            yield frozenset((f"#{next(amounts, 0.0):g}",))
            continue
        if word in SPEAKING or word in existing or words.verbs.get(word, ("",))[0] in existing:
            continue
        if word[0] == "~" and word not in told and (":" in word if is_dated else is_undated and _is_day(word)):
            continue
        if word[0] == "~" and word[1:] in unsaid:
            continue
        if (form := plain(word, words, known)) and word not in known.minor:
            yield frozenset((word, form))
