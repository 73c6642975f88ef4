"""Events and activities that have no name of their own: "the book launch", "piano lessons", "went bowling".

Nouns of occasions mean one each only with a word before them ("budget meeting"), but for some ("funeral"). What is
done counts if it is known, or if the verb before it says so. Neither counts where it only begins a longer noun:
"wedding dress", "climbing rope".
"""

from collections.abc import Iterator
from typing import Final

from shelfd.memory.knowledge.entities.kinds import EntityMention, mention
from shelfd.memory.knowledge.entities.segment import Segment, word_lists

#: Words before the noun of an occasion that are looked at.
_MOST_BEFORE: Final = 3
#: Of which so many belong to it.
_MOST_PARTS: Final = 2
_GOES: Final = frozenset("go goes going went gone".split())
_LIKES: Final = frozenset(
    "enjoy enjoys enjoyed love loves loved like likes liked hate hates hated prefer prefers preferred into".split()
)
_TAKES_UP: Final = frozenset("take takes took taken taking".split())
#: Words in -ing that are no pastime, or are followed by what is done.
_NOT_DONE: Final = frozenset(
    "being having doing going getting making using taking giving working trying looking waiting saying seeing hearing "
    "thinking talking writing reading living staying leaving coming keeping putting missing nothing something anything "
    "everything during morning evening spring string thing king ring wing meeting wedding building ceiling feeling "
    "spending paying buying selling bringing sending finding knowing telling asking calling helping needing wanting "
    "learning driving starting stopping losing winning eating drinking sleeping smoking".split()
)
#: Words that begin sentences as verbs, and stand before nouns as others.
_NOUNS: Final = frozenset("book garden office house tea coffee dinner lunch car bike flower email phone".split())
#: Occasions whose nouns mean things after other words than these: a fire drill, but a cordless drill.
_ALSO_THINGS: Final = {
    "ball": "charity masked masquerade debutante school summer winter",
    "bowl": "super rose cotton",
    "drill": "fire safety evacuation emergency lockdown flood",
    "jam": "game code",
    "shower": "baby bridal",
}
#: Words before one in -ing that is said of programs more often than of people.
_OF_PEOPLE: Final = _GOES | _LIKES | {"while", "some", "over"}


def find_occasions(segment: Segment) -> Iterator[EntityMention]:
    """Yield events and activities, said in common words, that are part of nothing yet."""
    lists = word_lists()
    telling = lists["occasion_words"]
    for at in [at for at, word in enumerate(segment.low) if word in telling or word[-3:] == "ing"]:
        word = segment.low[at]
        if segment.taken[at]:
            continue
        if word in lists["occasions"] or word in lists["occasion_heads"]:
            begin = _event(segment, at, needs_part=word not in lists["occasions"])
            kind = "event"
        elif word in lists["lesson_heads"]:
            begin, kind = _lessons(segment, at), "activity"
        else:
            begin, kind = _done(segment, at), "activity"
        if begin is not None and ends_noun(segment, at + 1):
            segment.take(begin, at + 1)
            start, end = segment.starts[begin], segment.ends[at]
            yield mention(kind, segment.text[start:end], start, end, 0.7)


def ends_noun(segment: Segment, end: int) -> bool:
    """Return whether a noun ends there, for what follows is no noun that it would belong to."""
    if end >= len(segment.low) or segment.between(end - 1) != " " or segment.taken[end]:
        return True
    word, lists = segment.low[end], word_lists()
    if not segment.words[end].islower() or word.endswith(("ed", "ly")):
        return True
    return any(word in lists[name] for name in ("followers", "starters", "human_verbs", "soft_verbs", "time_words"))


def is_rather_a_verb(segment: Segment, at: int) -> bool:
    """Return whether a pastime's word is what somebody or something is doing: "running out of memory"."""
    return segment.low[at] == "running" and (at == 0 or segment.low[at - 1] not in _OF_PEOPLE)


def _event(segment: Segment, at: int, *, needs_part: bool) -> int | None:
    """Where the event begins whose noun stands *at*; None if it is none."""
    if not segment.words[at].islower() and not (at == 0 or segment.begins_sentence(at)):
        return None
    lists = word_lists()
    begin = at
    while begin and at - begin < _MOST_BEFORE and _is_part(segment, begin - 1):
        begin -= 1
    if not _begins_noun(segment, begin):
        return None if needs_part else at
    while begin < at and segment.low[begin] in lists["plain_adjectives"]:
        begin += 1
    if at - begin > _MOST_PARTS:
        return None if needs_part else at
    if segment.low[at] in _ALSO_THINGS and segment.low[at - 1] not in _ALSO_THINGS[segment.low[at]].split():
        return None
    return None if needs_part and begin == at else begin


def _is_part(segment: Segment, at: int) -> bool:
    """Whether a word can be one of those before the noun that it follows."""
    low, lists = segment.low[at], word_lists()
    if segment.taken[at] or segment.between(at) not in {" ", "-"}:
        return False
    if segment.words[at].islower() and "-" in (segment.between(at), at and segment.between(at - 1)):
        return True
    if (
        len(low) < 3
        or low in _LIKES
        or (low in lists["starters"] and low not in _NOUNS)
        or low in lists["before_nouns"]
        or low.endswith("ed")
        or not low.isalpha()
    ):
        return False
    return segment.words[at].islower() or (segment.begins_sentence(at) and low not in lists["first_names"])


def _begins_noun(segment: Segment, begin: int) -> bool:
    """Whether a noun with its parts begins there, by what stands before it."""
    if segment.begins_sentence(begin) or segment.between(begin - 1) != " ":
        return True
    lists, previous = word_lists(), segment.low[begin - 1]
    return previous in lists["before_nouns"] or previous in lists["starters"]


def _lessons(segment: Segment, at: int) -> int | None:
    """Where "piano lessons" begin whose last word stands *at*."""
    if at == 0 or segment.between(at - 1) != " " or segment.taken[at - 1]:
        return None
    return at - 1 if segment.low[at - 1] in word_lists()["lesson_words"] else None


def _done(segment: Segment, at: int) -> int | None:
    """The place of a word in -ing, if the verb before it says that it is a pastime."""
    low = segment.low
    if at == 0 or low[at] in _NOT_DONE or len(low[at]) < 6 or segment.between(at - 1) != " ":
        return None
    previous = low[at - 1]
    if previous in _GOES or previous in _LIKES:
        return at
    if previous == "some" and at > 1 and low[at - 2] in {"do", "does", "did", "doing"}:
        return at
    return at if previous == "up" and at > 1 and low[at - 2] in _TAKES_UP else None
