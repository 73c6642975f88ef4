"""The same, done, wanted or felt in another way: links in place of attachments, answers in French, disliked now."""

from collections.abc import Set as AbstractSet
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import NOUN_FIRST, YOU, AlphabeticLexicon, countries, lexicon, places
from shelfd.memory.knowledge.evolution.statement import Arity, Statement
from shelfd.memory.knowledge.evolution.values import has_digit, joining
from shelfd.memory.knowledge.evolution.verdicts import ADDS, Judgement, Verdict, updated


def felt_otherwise(new: Statement, old: Statement) -> Judgement:
    """Return what becomes of what was liked and is disliked, or the other way round."""
    if new.language in ("zh", "ja") or new.event or old.event or not new.positive:
        return ADDS
    opposed = lexicon(new.language).opposed
    same = (new.link, new.core, new.rest) == (old.link, old.core, old.rest) and bool(new.core)
    if not same or old.verb not in opposed.get(new.verb, ()):
        return ADDS
    return updated(new, "another state") if new.now else Judgement(Verdict.CONFLICT, "one denies what the other says")


def is_done_otherwise(new: Statement, old: Statement) -> bool:
    """Return whether the same is done to the same in another way now: through attachments, and through links."""
    if new.core != old.core or not new.core or not new.rest or not old.rest or new.event or old.event:
        return False
    if new.language in ("zh", "ja") or new.verb == "be" or any(word[0] in "#~" for word in new.rest | old.rest):
        return False
    if not new.now and _is_known_place(new.rest) is not _is_known_place(old.rest):
        return False  # data is kept in MySQL, and in Frankfurt
    words = lexicon(new.language)
    is_only_way = not any(words["exclusive"].isdisjoint(each.words) for each in (new, old))
    is_way = is_only_way or new.slot is Arity.SAME_KIND or new.verb in words["ways"]  # a code is indented in one way
    is_way = is_way or (new.now and new.verb not in words["many"]) or _is_of_form(new, words)
    if new.verb in words.lists.get("dosing", ()) and _at_another_part_of_day(new, old, words["day_parts"]):
        return True  # the pill is taken in the evening now
    before, after = old.rest - new.rest, new.rest - old.rest
    differ = new.rest.isdisjoint(old.rest) or (is_only_way and len(before) == len(after) == 1)
    return is_way and differ and joining(new) == joining(old)


def _is_known_place(said: AbstractSet[str]) -> bool:
    return not places().isdisjoint(said) or not countries().isdisjoint(said)


def _is_of_form(statement: Statement, words: AlphabeticLexicon) -> bool:
    """Return whether a statement says in what form several things are wanted or written: invoices as paper copies."""
    if statement.language != "en" or joining(statement) != "as" or not statement.core[-1].endswith("s"):
        return False
    return any(statement.verb in words[name] for name in ("wanting", "instructions", "ways"))


def _at_another_part_of_day(new: Statement, old: Statement, parts: AbstractSet[str]) -> bool:
    before, after = old.rest - new.rest, new.rest - old.rest
    return bool(before) and bool(after) and before <= parts and after <= parts


def lodges_elsewhere(new: Statement, old: Statement) -> bool | None:
    """Return whether somebody sleeps in another house of the same place: of another place, that is another stay.

    Returns:
        None if they do not say in which house of a place they sleep.
    """
    if new.language in ("zh", "ja") or new.verb not in lexicon(new.language)["lodging"]:
        return None
    houses = lexicon(new.language)["lodgings"]
    if (
        houses.isdisjoint(new.rest)
        or houses.isdisjoint(old.rest)
        or any(word[0] in "#~" for word in new.rest | old.rest)
    ):
        return None
    return new.core == old.core


def turned(new: Statement, old: Statement) -> str | None:
    """Return how what is wanted or told to be done was turned into something else; None if it was not."""
    if _is_the_opposite(new, old):
        return "another state"
    if set(new.core) == set(old.core):
        if _wants_otherwise(new, old):
            return "wanted otherwise"
        return "another value" if _has_other_attribute(new, old) else None
    if wants_other_ones(new, old):
        return "wanted otherwise"
    if new.subject == {YOU} and (new.core[-1:], new.rest, len(new.core)) == (old.core[-1:], old.rest, len(old.core)):
        return "told to do otherwise"
    is_swapped = new.slot is Arity.SAME_KIND and old.rest and old.rest == {*new.core} and new.rest == {*old.core}
    return "the other way round" if is_swapped else None


def _is_the_opposite(new: Statement, old: Statement) -> bool:
    """Return whether the same is said but for one word, and its opposite: on the left wrist, and on the right one."""
    if new.language in ("zh", "ja") or new.event or old.event or len(new.words) != len(old.words):
        return False
    words = lexicon(new.language)
    if new.verb == "be" or (new.verb in words["many"] and not (new.now and new.verb in words["running"])):
        return False  # what is liked may be both
    differing = [(one, other) for one, other in zip(new.words, old.words, strict=True) if one != other]
    return len(differing) == 1 and differing[0][1] in words.opposites.get(differing[0][0], ())


def _wants_otherwise(new: Statement, old: Statement) -> bool:
    """Return whether what is wanted is the same but for one word of a kind: answers in French, and in English."""
    if new.language in ("zh", "ja") or new.event:
        return False
    words = lexicon(new.language)
    if new.verb not in words["wanting"] and new.verb not in words.lists.get("going", ()):
        return False  # who goes there by train goes by no bus
    before, after = (rest - {"#"} for rest in (old.rest - new.rest, new.rest - old.rest))  # how many are no matter
    if len(before) != 1 or len(after) != 1:
        return False
    if _at_another_part_of_day(new, old, words["day_parts"]):
        return True
    if new.rest & old.rest & words["nouns"]:
        return True  # in American spelling, and in British spelling
    (kind,), (other,) = map(words.categories.get, before), map(words.categories.get, after)
    return kind == other is not None


def _has_other_attribute(new: Statement, old: Statement) -> bool:
    """Return whether the same is done to the same in another size or format: all else is alike."""
    if new.language in ("zh", "ja") or new.event or old.event or len(new.words) != len(old.words):
        return False
    after, before = new.rest - old.rest, old.rest - new.rest
    if len(after) != 1 or len(before) != 1 or any(word[0] in "#~" for word in after | before):
        return False
    (word,), (other,) = after, before
    at = new.words.index(word) if word in new.words else 0
    is_alike = at > 0 and (*new.words[:at], other, *new.words[at + 1 :]) == old.words
    return is_alike and new.words[at - 1] in lexicon(new.language)["nouns"]


def wants_other_ones(new: Statement, old: Statement) -> bool:
    """Return whether what is wanted of many is the same but for how they are: short answers, and long ones."""
    if new.language in ("zh", "ja") or new.event or len(new.core) != _ONE_AND_HOW or len(old.core) != _ONE_AND_HOW:
        return False
    if new.verb not in lexicon(new.language)["reversible"] or new.verb == "be" or new.rest != old.rest:
        return False
    head = 0 if new.language in NOUN_FIRST else 1
    return new.core[head] == old.core[head] and new.core[head].endswith(("s", "en"))


_ONE_AND_HOW: Final = 2  #: words: what is wanted, and how it is


def goes_on_elsewhere(new: Statement, old: Statement) -> bool:
    """Return whether the same is done now from, in or with another, each of which is described: from the old palace."""
    if not new.now or new.adds or new.link != old.link or not new.link or new.language in ("zh", "ja"):
        return False
    if any(word[0] in "#~" for word in new.rest | old.rest):
        return False
    lists = lexicon(new.language).lists
    if old.rest and not old.rest & new.rest and joining(old) in lists["directions"]:
        return False  # with Tess to Vilk says nothing of with Jos to Ham
    return lists["limiting"].isdisjoint((*new.words, *old.words))


def happens_elsewhere(new: Statement, old: Statement) -> bool:
    """Return whether something happens both in a place and in a part of a story: in a barn, and in chapter 14."""
    if new.language in ("zh", "ja") or new.verb == "be":
        return False
    lists = lexicon(new.language).lists
    if new.verb not in lists["occurring"] and new.verb not in lists["telling_where"]:
        return False
    return any(map(has_digit, (*new.core, *new.rest))) is not any(map(has_digit, (*old.core, *old.rest)))
