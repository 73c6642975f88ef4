"""Whether what a note names as ended is something else than an older statement tells of, in spite of the same words."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Final

from shelfd.memory.knowledge.evolution.bygone import is_for_a_while
from shelfd.memory.knowledge.evolution.ending import Cues, Ending
from shelfd.memory.knowledge.evolution.lexicon import NOUN_FIRST, AlphabeticLexicon
from shelfd.memory.knowledge.evolution.repeated import Repeated
from shelfd.memory.knowledge.evolution.statement import NOBODY, Statement, Value
from shelfd.memory.knowledge.evolution.withdrawing import SPEAKING, Withdrawal, Word

#: In what German nouns end that tell that something was booked.
_BOOKINGS: Final = ("buchung", "reservierung")
#: How a note may say that one of many has ended, or that something was not so for once.
_FOR_ONCE: Final = (Ending.ENDED, Ending.NEVER, Ending.DENIES)
_NO_LONGER: Final = ("ya", "plus", "mehr")  #: words that begin what is no longer so, beside those of denial
_BESIDE: Final = frozenset(("above", "beside", "near", "behind", "below", "opposite", "over", "beneath"))
_DAY: Final = 4  #: letters by which a day of the week is known, with its mark
_BEGIN: Final = 4  #: letters that the forms of a verb have in common


def is_another_thing(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon, known: Cues) -> bool:
    """Return whether what *found* names as ended is none of what *old* says.

    Args:
        found: What has ended.
        old: An older statement in its language.
        said: What it says, in the forms in which the note repeats it.
        words: Those of that language.
        known: What tells in it that something has ended.
    """
    if (
        _is_for_a_time(found, words)
        or _is_one_of_many(found, old, words, known)
        or _is_of_other_days(found, old, words)
    ):
        return True
    if found.by not in known.first and _goes_another_way(found, old, known):
        return True
    if found.kind in (Ending.ENDS, Ending.LEAVES):
        is_said = _is_of_what_is_said(found, old, said, words, known)
        return (
            not is_said
            or _is_the_other_way(found, old, said, words)
            or _is_more_than_said(found, said)
            or _is_narrower(found, old, said, words, known)
        )
    if found.kind is not Ending.ENDED:
        return False
    if old.verb == "be" and not known.people.isdisjoint(old.core) and old.core[0] not in found.before:
        return True  # who was the king's daughter still is when he is dead
    return not _is_named(found, old, said, words, known)


def _is_named(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon, known: Cues) -> bool:
    """Return whether the noun that names what has ended is said: of the dinner after a talk the talk says nothing."""
    if found.is_correction or not known.active.isdisjoint(word for word, _ in found.phrase[1:]):
        return True  # "they have taken the licence from Ida" begins with them
    told = found.phrase[::-1]
    head, _ = _head(told, words, known)
    if head is not None and head[0] in known.deeds.get(old.verb, ()):
        of = next((word for word in told[told.index(head) + 1 :] if word[1]), None)
        return of is None or _is_in(of, old, said)  # the lease for the house next to the garage
    if head is not None and not _BESIDE.isdisjoint(old.link.split()):
        return not {*head}.isdisjoint(said.of_whom)  # what is above the bakery is there without it
    if head is None or _is_in(head, old, said):
        return True
    if not head[0].endswith(_BOOKINGS) or words.lists.get("arranged", NOBODY).isdisjoint(old.words):
        return False
    what = told[told.index(head) - 1] if told[0] != head else ("", "")
    return not what[1] or _is_in(what, old, said)  # what was booked, and not a place to park there


def _is_of_what_is_said(
    found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon, known: Cues
) -> bool:
    """Return whether it is what is said of which a note tells that something has ended, and not of its backup, say."""
    first = found.ahead[0][0] if found.ahead else ""
    is_preposed = first in known.placing and first not in words["determiners"]
    is_stopped = found.by in known.stopping and any(word in words.verbs for word, _ in found.phrase[:2])
    if found.is_correction or is_preposed or not (is_stopped or _is_no_longer(found, words)):
        return True  # who ends a thing need not be said: "the town revoked Ida's licence"
    if any(form in SPEAKING for _, form in found.ahead):
        return True
    head, is_joined = _head(found.ahead, words, known)
    if head is None or head[0] in words.verbs:
        return True
    if is_joined and words.language in NOUN_FIRST and _is_in(head, old, said):
        after = (word for word in found.ahead[found.ahead.index(head) + 1 :] if word[1])
        name = next(after, None)
        return name is None or name[1][0] == "*" or _is_in(name, old, said)  # "the car park of the station"
    may_be_name = words.language == "de" or words.language in NOUN_FIRST or head[1][0] != "*"
    return (may_be_name and not is_joined) or _is_in(head, old, said)


def _is_in(head: Word, old: Statement, said: Repeated) -> bool:
    told = {*head, head[1].removeprefix("*")}  # whose membership has ended was a member
    return not told.isdisjoint(said.forms | said.of_whom | old.subject | {*old.words})


def _head(told: Sequence[Word], words: AlphabeticLexicon, known: Cues) -> tuple[Word | None, bool]:
    """Return the noun that names of what a clause tells: of a noun phrase the last word, or the first.

    Returns:
        The noun, and whether more is said of it with a preposition; None if there is none.
    """
    head: Word | None = None
    for (word, form), (following, _) in pairwise((*told, ("", ""))):
        is_told = bool(form) and word[0] not in "#~@"
        if is_told and words.language in NOUN_FIRST:
            return (word, form), following in known.placing
        if head is not None and (word in known.placing or word in words["be"] or word in words["relatives"]):
            return head, word in known.placing
        if is_told:
            if head is not None and _is_participle(word, following, words, known):
                break
            head = word, form
    return head, False


def _is_participle(word: str, following: str, words: AlphabeticLexicon, known: Cues) -> bool:
    """Return whether a word tells more of the noun before it: "the window planned for May"."""
    is_verb = word in words.verbs and words.verbs[word][0] != word
    is_verb = is_verb or (words.language == "en" and word.endswith("ed") and following in known.placing)
    return is_verb and word not in words["nouns"]


def _is_the_other_way(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon) -> bool:
    """Return whether it is the other who no longer does it: Ida no longer owes Bob what Bob owes her."""
    whom, what = said.named - said.value, said.value - said.named
    if not whom or not what:
        return False
    phrase = {form for word in found.phrase for form in word}
    first, by = found.phrase[0][0], words["agent_links"].difference(old.words)
    is_same = _is_done(found.phrase, old, said, words)
    if words.verbs.get(first, ("", False))[1] or (words.language == "en" and first.endswith("ed")):  # in the passive
        return is_same and not by.isdisjoint(phrase) and whom <= found.before and what <= phrase
    if words.language == "de":
        return by.isdisjoint(phrase) and _comes_after(found, old, said, words)
    if not by.isdisjoint(phrase) or not is_same:
        return False
    whom -= found.before & (words["kinds"] | words["groups"])  # both are teams
    is_done_to = bool(whom) and whom <= phrase and whom.isdisjoint(found.before)
    return is_done_to and not what.isdisjoint(found.before) and not what <= phrase


def _is_done(told: Sequence[Word], old: Statement, said: Repeated, words: AlphabeticLexicon) -> bool:
    """Return whether words hold a form of the verb of an older statement."""
    if old.verb in ("", "be"):
        return False
    begin, known = old.verb[:_BEGIN], words.verbs
    forms = ((word, form, known.get(word, ("",))[0]) for word, form in told)
    return any(word.startswith(begin) or form in said.verb or verb == old.verb for word, form, verb in forms)


def _comes_after(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon) -> bool:
    """Return whether who does something stands after the verb, and whom it is done to before it.

    Whom it is done to may stand first in German; not so with that article, nor if both are of one kind, as two teams.
    """
    told = found.ahead or (("", ""),)
    at = next((place for place, word in enumerate(told) if place and _is_done([word], old, said, words)), 0)
    is_doer = told[0][0] == "der" or not said.named.isdisjoint(said.value)
    is_doer = is_doer or any(way[0] == "von" and not said.named.isdisjoint(word) for way, word in pairwise(told[at:]))
    if not at or not is_doer or not words["be"].isdisjoint(word for word, _ in told):
        return False
    first, after = ({one for word in part for one in word} for part in (told[:at], told[at:]))
    whom, what = said.named - said.value, said.value - said.named
    return not what.isdisjoint(first) and whom.isdisjoint(first) and whom <= after


def _is_more_than_said(found: Withdrawal, said: Repeated) -> bool:
    """Return whether what is said is in both, and only something more has ended: oak logs instead of birch logs."""
    phrase = {form for word in found.phrase for form in word}
    more = {word for word, form in found.phrase if form} - found.before - said.forms
    return said.value <= found.before and not said.value.isdisjoint(phrase) and bool(more)


def _is_narrower(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon, known: Cues) -> bool:
    """Return whether something has only ended in part: who no longer drinks coffee after four still drinks coffee."""
    if found.kind is not Ending.ENDS or not _is_no_longer(found, words):
        return False
    told = found.phrase
    at = max((place for place, word in enumerate(told) if not {*word}.isdisjoint(said.forms)), default=len(told))
    parts = [told[at + 1 :]]
    if words.language == "de":
        verb = next((place for place, word in enumerate(found.ahead) if place and word[0] in words.verbs), 0)
        parts.append(found.ahead[verb + 1 :] if verb else ())
    said_before = {*old.words} | said.of_whom | words["kinds"] | words["class_nouns"] | words["exclusive"]
    return any(_restricts(part, said_before, words, known) for part in parts)


def _restricts(told: Sequence[Word], said: AbstractSet[str], words: AlphabeticLexicon, known: Cues) -> bool:
    """Return whether words say where, when, with what or how, which was not *said*, but not why or since when."""
    if not known.causes.isdisjoint(word for word, _ in told):
        return False
    times = words["day_parts"] | words["weekdays"]
    way, is_narrower = "", True
    for word, form in told:
        if not form:
            is_way = word in words["prepositions"] or word in words["reasons"] or word in known.restricting
            way, is_narrower = (word, word in known.restricting) if is_way else (way, is_narrower)
        elif word[0] == "~" or word[0] == "#":
            is_part = word.lstrip("~") in times and said.isdisjoint((word, form))
            is_part = is_part and way not in words["reasons"]
            if is_part or (word[0] == "#" and (way in words["reasons"] or way in words["bounds"])):
                return True  # "after four", "on Saturdays"
        elif said.isdisjoint((word, form)):
            return form[0] == "*" and (is_narrower or word in words["day_parts"])
    return False


def _is_no_longer(found: Withdrawal, words: AlphabeticLexicon) -> bool:
    return found.by in words["negation"] or found.by in _NO_LONGER


def _goes_another_way(found: Withdrawal, old: Statement, known: Cues) -> bool:
    """Return whether it leads elsewhere: the ferry from Kiel to Oslo is not that from Oslo to Kiel."""
    ways = {place: way for way, place in pairwise(found.said) if way in known.contrasting}
    return any(way in known.contrasting and ways.get(place, way) != way for way, place in pairwise(old.words))


def _is_for_a_time(found: Withdrawal, words: AlphabeticLexicon) -> bool:
    """Return whether something has ended for a while only: who left for lunch, what skips the square until Sunday."""
    if found.kind is Ending.LEAVES and is_for_a_while([word for word, _ in found.phrase], words):
        return True
    return not found.is_correction and found.kind is not Ending.NEVER and not words["ending_at"].isdisjoint(found.said)


def _is_of_other_days(found: Withdrawal, old: Statement, words: AlphabeticLexicon) -> bool:
    """Return whether something has another hour on other days: half past ten on weekdays, two on Saturdays."""
    days, said = (
        {word[:_DAY] for word in each if word[0] == "~" and word[1:] in words["weekdays"]}
        for each in (old.words, found.said)
    )
    said |= {word for word in found.said if word in words["at_times"]}
    return bool(days) and bool(said) and days.isdisjoint(said)


def _is_one_of_many(found: Withdrawal, old: Statement, words: AlphabeticLexicon, known: Cues) -> bool:
    """Return whether only one has ended of what comes again, or it was not so once: "this week's was cancelled"."""
    if found.kind not in _FOR_ONCE or not words["correction_heads"].difference(words.verbs).isdisjoint(found.said):
        return False
    days = words["weekdays"] | words["once"] | words["rhythms"]
    comes_again = any(word.lstrip("~") in days for word in (*old.words, *old.subject))
    if not comes_again and found.kind is Ending.ENDED and not (old.value is Value.TIME and ":" in old.core[0]):
        return False
    return known.occasion.search(" ".join(found.said)) is not None
