"""What a statement that tells of a change does to an older one of the same subject. In doubt: nothing."""

from collections.abc import Collection
from itertools import pairwise
from typing import Final

from shelfd.memory.knowledge.evolution.amounts import differ, families, singular
from shelfd.memory.knowledge.evolution.bygone import is_for_a_while
from shelfd.memory.knowledge.evolution.circumstances import (
    both_enjoy,
    is_clock,
    is_of_a_day,
    is_version,
    left_home,
    only_begins,
    said_besides,
    wants_none,
    works_there,
)
from shelfd.memory.knowledge.evolution.lexicon import lexicon, places, spaceless
from shelfd.memory.knowledge.evolution.statement import Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.states import ceasing
from shelfd.memory.knowledge.evolution.values import HAVE, has_digit, is_one_form, may_contain, means_of, times
from shelfd.memory.knowledge.evolution.verdicts import ADDS, USE, Judgement, says_alike, updated


def by_effect(new: Statement, old: Statement) -> Judgement:
    """Return what a new statement with a cue does to an old one of the same subject."""
    effect = new.effect
    if effect is Effect.ENDED:
        return _ended(_without_day(new), old)
    if old.event:
        return ADDS
    if effect is Effect.GONE:
        planned = old.value is Value.TIME or old.link.split()[:1] in (["planned"], ["scheduled"], ["geplant"])
        planned = planned and times(new) <= {*old.core, *old.rest}
        planned = planned or (old.value is Value.AMOUNT and _is_dated(old))
        planned = planned or not _GOING_ON.isdisjoint(old.core) or _may_be(_CANCELLED, old)
        return updated(new, "does not take place") if planned else ADDS
    if effect is Effect.REMOVED:
        words = lexicon(new.language)
        in_use = old.verb == "be" and not words["in_use"].isdisjoint(old.link.split()[:1] or old.core[:1])
        in_use = (in_use and not is_of_a_day(old)) or _may_be(_REMOVED, old)  # when it was installed stays so
        does = old.verb in words["operating"] | ceasing(new)
        return updated(new, "removed") if in_use or (does and old.slot is not Arity.FIXED) else ADDS
    if effect is Effect.MOVED and new.value not in (Value.TIME, Value.AMOUNT):
        at_home = says_alike(new.language, old.verb, _home(new.language))
        placed = old.slot is Arity.ONE and old.value is Value.NAME and (_is_at(old) or is_one_form(new.core, old.core))
        placed = placed and (old.verb == "be" or old.verb in lexicon(new.language)["placing"])
        if _is_relabelled(new, old):
            return updated(new, "moved")
        if at_home and left_home(new, old):
            return updated(new, "moved")
        return _changed(new, old, "moved") if (at_home or placed) else ADDS
    if effect is Effect.LEFT:
        words = lexicon(new.language)
        inside = old.link in words["inside"] and old.verb in words["staying"]
        is_at = old.slot is Arity.ONE or old.link in ("in a", "on a")
        inside = inside or (old.verb == "be" and old.link != "" and is_at)
        is_for_good = not is_for_a_while(new.words, words)
        return updated(new, "left") if inside and is_for_good and new.core == old.core else ADDS
    if effect is Effect.RENEWED and new.value is Value.NAME:
        is_attribute = old.verb == "be" and old.slot is Arity.ONE and old.value is Value.NAME and not old.link
        return _changed(new, old, "changed") if is_attribute else renewed(new, old)
    if (new.value is Value.NAME and old.slot is not Arity.ONE) or _goes_on_longer(new, old):
        return ADDS
    return _changed(new, old, "changed") if old.value is new.value and old.slot is not Arity.FIXED else ADDS


def _goes_on_longer(new: Statement, old: Statement) -> bool:
    """Return whether something only ends later than it did: it begins when it did."""
    if new.language in ("zh", "ja"):
        return False
    words = lexicon(new.language)
    return old.verb in words["beginning"] and not words["ending_at"].isdisjoint(new.words)


def _is_relabelled(new: Statement, old: Statement) -> bool:
    """Return whether a thing moved to another of what is told by its number, as a port."""
    if new.language in ("zh", "ja") or old.slot is not Arity.ONE or old.rest or len(new.core) != len(old.core):
        return False
    (*label, number), (*before, other) = new.core, old.core
    is_label = bool(label) and label == before and label[-1] in lexicon(new.language)["nouns"]
    return is_label and number != other and has_digit(number) and has_digit(other)


def _is_dated(old: Statement) -> bool:
    """Return whether something is from one day to another: from 20 to 29 September."""
    words = lexicon(old.language)
    return old.verb in ("be", *words["occurring"]) and any(word[0] == "~" for word in old.rest)


_GOING_ON: Final = frozenset(("progress", "in-progress"))


def _is_at(statement: Statement) -> bool:
    """Return whether a statement says where something is, and not what it is called."""
    if statement.language in ("zh", "ja"):
        return statement.link != ""
    return not lexicon(statement.language)["spots"].isdisjoint(statement.link.split())


def _may_be(ended: Collection[str], old: Statement) -> bool:
    """Return whether a state is one that is over when what it is said of has *ended*: confirmed, and in operation."""
    if old.value is not Value.STATE or old.verb != "be" or old.language in ("zh", "ja"):
        return False
    return not lexicon(old.language).states.get(old.core[0], frozenset()).isdisjoint(ended)


_CANCELLED: Final = ("cancelled", "storniert", "cancelado", "annule")
_REMOVED: Final = ("decommissioned", "stillgelegt", "retirado", "retire")


def moved_on(new: Statement, old: Statement) -> Judgement:
    """Return what becomes of a place that somebody had moved to before; of tools and jobs one may have both."""
    are_so = new.positive and old.positive and new.effect is old.effect is Effect.MOVED and new.verb == old.verb
    are_places = places().issuperset((" ".join(new.core), " ".join(old.core)))
    return _changed(new, old, "moved") if are_so and are_places else ADDS


def _home(language: str) -> str:
    return spaceless(language).home if language in ("zh", "ja") else lexicon(language).home


def _changed(new: Statement, old: Statement, reason: str) -> Judgement:
    """A new value in place of one of the same kind."""
    if old.value is Value.AMOUNT and (not differ(new, old) or families(new) != families(old)):
        return ADDS
    if set(new.core) == set(old.core) and old.value is not Value.AMOUNT:
        return ADDS
    if old.value is Value.TIME and not _which(new) <= {*old.core, *old.rest}:
        return ADDS  # what is on Monday was not moved from Tuesday
    if old.value is Value.TIME and is_clock(new.core[0]) is not is_clock(old.core[0]):
        return ADDS  # at two, and on Friday
    if old.several or not said_besides(new, old) <= {*new.words, *new.rest}:
        return ADDS
    if old.value is not Value.AMOUNT and may_contain(new.core, old.core):
        return ADDS
    return updated(new, reason)


def _which(new: Statement) -> set[str]:
    """Times by which a statement says what was moved: not the hour behind the day to which it was."""
    if is_clock(new.core[0]) or new.core[0] not in new.words:
        return times(new)
    behind = new.words[new.words.index(new.core[0]) :]
    return {word for word in times(new) if not (is_clock(word) and word in behind)}


def _ended(new: Statement, old: Statement) -> Judgement:
    """Something named, or the whole predicate, no longer holds."""
    if old.slot is Arity.FIXED or _is_of_a_part(new, old):  # who moves away was born there all the same
        return ADDS
    is_use = bool(old.verb) and old.verb not in HAVE and says_alike(old.language, old.verb, USE.get(old.language, ""))
    if old.event and (times(old) or not is_use):  # what somebody had was over before
        return ADDS
    if _is_no_longer_there(new, old) or _is_no_longer_done(new, old):
        return updated(new, "no longer holds")
    if _is_done_by_another_verb(new, old):
        return updated(new, "no longer used") if is_done_with(new, {*new.core, *new.rest}, old) else ADDS
    if old.value is Value.AMOUNT and new.value is Value.AMOUNT and new.amounts[:1] != old.amounts[-1:]:
        return ADDS  # of another amount
    if new.language not in ("zh", "ja"):
        words = lexicon(new.language)
        if len(new.core) > 1 and new.core[0] in words["aged"] and new.core[0] not in old.core:
            if not words["new"].isdisjoint(old.core):
                return ADDS  # who sold the old one has the new one
            new = new._replace(core=new.core[1:])
    ended = {*new.core, *new.rest}
    if new.language in ("zh", "ja"):
        fits = bool(old.core) and new.core == old.core
    else:
        ended = {*new.core, *_without_why(new)}
        ended = {word for word in ended if word[0] != "~"}
        core, said, every = {*old.core}, {*old.core, *old.rest}, {*new.core}
        if old.value is Value.AMOUNT:  # three coffees are coffee, and 5 mg of it are it
            core, said, ended, every = ({*map(singular, words)} for words in (said, said, ended, every))
        fits = _are_among(every, core | _objects(old), old) and _are_among(ended, said, old)
        fits = fits and not only_begins(every, old)
        fits = fits and (not new.link or not old.link or new.link in (old.link, "out of"))
        fits = fits and (bool(new.core) or not old.core or bool(new.verb != "be" and old.link) or new.verb in _GIVEN_UP)
    if not fits or old.several:
        return updated(new, "no longer used") if is_done_with(new, ended, old) else ADDS
    return updated(new, "no longer holds")


def _are_among(words: Collection[str], others: set[str], old: Statement) -> bool:
    """Return whether all *words* are *others*, as one or as several of them: pills, a pill; but olives no olive oil."""
    nouns = others if old.language != "en" else others.difference(old.core[:-1])
    ends = _PLURALS.get(old.language, ())
    return all(
        word in others or any(word + end in nouns or word.removesuffix(end) in nouns for end in ends) for word in words
    )


#: What several of something end in, where one does not.
_PLURALS: Final = {"en": ("s",), "de": ("n", "en", "e"), "es": ("s", "es"), "fr": ("s",)}


def _objects(old: Statement) -> set[str]:
    """Return what stands behind a place in German without a preposition: "hört im Bus Musik"."""
    if old.language != "de" or not old.link:
        return set()
    prepositions = lexicon("de")["prepositions"]
    return {word for before, word in pairwise(old.words) if word in old.rest and before not in prepositions}


def _without_why(new: Statement) -> frozenset[str]:
    """Return what is said beside what has ended, but not why, or since when."""
    words, why = new.words, lexicon(new.language)["why"]
    if not new.rest or why.isdisjoint(words):
        return new.rest
    return new.rest.difference(words[next(at for at, word in enumerate(words) if word in why) :])


#: What somebody gives up altogether, however often they did it.
_GIVEN_UP: Final = frozenset(
    "smoke work rauchen joggen rudern reiten klettern angeln stricken fechten kegeln boxen jagen fumar fumer".split()
)
#: Before the day since when something is no longer so.
_SINCE: Final = ("since", "seit", "desde", "depuis")
#: When something ended.
_RECENT: Final = frozenset(("yesterday", "gestern", "ayer", "anoche", "hier"))


def _without_day(new: Statement) -> Statement:
    """Return a statement without the day on which something ended, which is no part of what did."""
    if new.link in _SINCE and new.core and all(word[0] == "~" for word in new.core):
        return new._replace(link="", core=())
    if _RECENT.isdisjoint(new.core):
        return new
    return new._replace(core=tuple(word for word in new.core if word not in _RECENT))


def _is_done_by_another_verb(new: Statement, old: Statement) -> bool:
    """Return whether what is no longer done, or no longer there, does not end what *old* says by itself."""
    if not new.verb:
        return not new.core or works_there(old) or not can_end(old) or _is_pursued_without(new, old)
    if says_alike(new.language, new.verb, old.verb):
        return False
    return not both_enjoy(new, old) and not wants_none(new, old)


def _is_pursued_without(new: Statement, old: Statement) -> bool:
    """Return whether something goes on though a thing was sold: who sells a guitar may go on learning to play it."""
    if new.language in ("zh", "ja"):
        return False
    words = lexicon(new.language)
    return old.verb in words["pursuing"] and not words["selling"].isdisjoint(new.words)


def _is_no_longer_there(new: Statement, old: Statement) -> bool:
    """Return whether somebody is no longer where they work, or live: "no longer in sales"."""
    if new.language in ("zh", "ja") or new.verb != "be" or old.verb not in lexicon(new.language)["staying"]:
        return False
    return bool(old.link) and new.link.split()[:1] == old.link.split()[:1] and new.core == old.core and not new.rest


def _is_no_longer_done(new: Statement, old: Statement) -> bool:
    """Return whether what was done, by whom- or wherever, is not done any more: "no longer guarded"."""
    is_it = new.verb == old.verb == "be" and not new.link and len(new.core) == 1 and not new.rest
    return is_it and old.link.split()[:1] == [*new.core]


def _is_of_a_part(new: Statement, old: Statement) -> bool:
    """Return whether something no longer holds only at a time of the day or week: no coffee after noon."""
    said = times(new) - {*old.core, *old.rest}
    if not said or new.language in ("zh", "ja"):
        return False
    days = lexicon(new.language)["weekdays"]
    return any(is_clock(word) or word[1:] in days for word in said)


def can_end(old: Statement) -> bool:
    """Return whether the use of a thing ends with it, as knowing of it does not."""
    if old.language in ("zh", "ja") or old.verb == "be":
        return True
    words = lexicon(old.language)
    if old.slot is Arity.ONE and (old.value is Value.TIME or (old.link and old.verb in words["abiding"])):
        return True
    if any(old.verb in words[name] for name in ("now_functional", "possessing", "pursuing")):
        return True
    return any(old.verb in each for each in words.classes)


def is_done_with(new: Statement, gone: Collection[str], old: Statement) -> bool:
    """Return whether what *old* says is done with what *new* says is no longer used: files indented with tabs."""
    if new.language in ("zh", "ja") or old.event or old.several or not old.positive or works_there(old):
        return False
    if old.verb in ("be", *HAVE):
        return False
    if new.verb and not says_alike(new.language, new.verb, USE[new.language]):
        return False
    if old.core[-1:] and old.core[-1] in new.words and not {*old.core} <= {*new.words}:
        return False  # in Lua files, and not in Go files
    return bool(gone) and means_of(old) == {*gone} and places().isdisjoint(gone)


def renewed(new: Statement, old: Statement) -> Judgement:
    """Return what becomes of what was used, where another of its kind, or the same in another version, is used now."""
    words = lexicon(new.language)
    if old.several or not (old.verb == "be" or words.alike(old.verb, USE[new.language])):
        return ADDS
    kinds = [{words.categories[word] for word in each.core if word in words.categories} for each in (new, old)]
    other_version = new.core[-1:] != old.core[-1:] and (
        (len(new.core) > 1 and new.core[:-1] == old.core[:-1] and has_digit(new.core[-1]) and has_digit(old.core[-1]))
        or (is_version(new.core) and is_version(old.core))
    )
    if other_version or (kinds[0] and kinds[0] == kinds[1] and new.core != old.core):
        return updated(new, "replaced by another of its kind")
    return ADDS
