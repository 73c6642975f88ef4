"""What one statement does to an older one. In doubt: nothing."""

from enum import StrEnum
from typing import Final, NamedTuple

from shelfd.memory.knowledge.evolution.amounts import differ, families, singular
from shelfd.memory.knowledge.evolution.circumstances import (
    became,
    both_enjoy,
    ended_by,
    has_digit,
    is_clock,
    is_exchangeable,
    is_one_role,
    is_version,
    left_home,
    only_begins,
    resumed,
    said_besides,
    works_there,
)
from shelfd.memory.knowledge.evolution.lexicon import YOU, lexicon, places, spaceless
from shelfd.memory.knowledge.evolution.statement import Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.values import category_of, may_contain, same_but_amounts


class Verdict(StrEnum):
    """What becomes of an older note."""

    STAYS = "stays"
    UPDATED = "updated"  #: superseded: it was so, and is no longer
    CORRECTED = "corrected"  #: superseded: it was never so
    DUPLICATE = "duplicate"  #: it says already what the new one says
    CONFLICT = "conflict"  #: both cannot be true, and which is cannot be told


class Judgement(NamedTuple):
    """A verdict, and by which rule."""

    verdict: Verdict
    reason: str


NOTHING: Final = Judgement(Verdict.STAYS, "nothing in common")
#: Nothing excludes either, and nothing says that they have nothing to do with each other.
ADDS: Final = Judgement(Verdict.STAYS, "may both be so")
_EARLIER: Final = Judgement(Verdict.STAYS, "speaks of an earlier time")
_UNREAL: Final = Judgement(Verdict.STAYS, "is no statement of fact")
_SAME: Final = Judgement(Verdict.DUPLICATE, "says the same")


def compare(new: Statement, old: Statement) -> Judgement:
    """Return what *new* does to *old*."""
    if new.language != old.language:
        return NOTHING
    if new.words == old.words and _same(new, old):
        return _SAME
    if not new.subject or not old.subject:
        return NOTHING
    same_subject = new.subject == old.subject
    if not same_subject and not _may_exchange(new, old):
        return NOTHING
    if not new.real or not old.real:
        return _UNREAL
    if (old.past and old.effect is not Effect.ENDED) or (new.past and not new.corrects):
        return _EARLIER
    old = became(old)
    if new.effect is not Effect.SAYS and new.effect is not Effect.INSTEAD:
        return _by_effect(new, old) if old.positive and old.effect is Effect.SAYS else _moved_on(new, old)
    if old.effect is not Effect.SAYS:
        return _updated(new, "is so again") if same_subject and resumed(new, old) else ADDS
    if new.denied and (found := _denied(new, old)) is not None:
        return found
    if not same_subject:
        return _exchanged(new, old)
    if new.positive != old.positive:
        return _negated(new, old)
    return _other_value(new, old)


def _same(new: Statement, old: Statement) -> bool:
    return (
        bool(new.words)
        and new.amounts == old.amounts
        and (new.positive, new.past, new.real, new.effect) == (old.positive, old.past, old.real, old.effect)
        and new.event == old.event
        and (new.denied == old.denied or new.effect is not Effect.INSTEAD)
    )


def _alike(language: str, verb: str, other: str) -> bool:
    return verb == other or (language not in ("zh", "ja") and lexicon(language).alike(verb, other))


def _home(language: str) -> str:
    return spaceless(language).home if language in ("zh", "ja") else lexicon(language).home


def _updated(new: Statement, reason: str) -> Judgement:
    return Judgement(Verdict.CORRECTED if new.corrects else Verdict.UPDATED, reason)


def _by_effect(new: Statement, old: Statement) -> Judgement:
    """What a new statement with a cue does to an old one of the same subject."""
    effect = new.effect
    if effect is Effect.ENDED:
        return _ended(new, old)
    if old.event:
        return ADDS
    if effect is Effect.GONE:
        planned = old.value is Value.TIME or old.link.split()[:1] in (["planned"], ["scheduled"], ["geplant"])
        return _updated(new, "does not take place") if planned or not _GOING_ON.isdisjoint(old.core) else ADDS
    if effect is Effect.REMOVED:
        words = lexicon(new.language)
        in_use = old.verb == "be" and not words["in_use"].isdisjoint(old.link.split()[:1] or old.core[:1])
        return _updated(new, "removed") if in_use or old.verb in words["serving"] else ADDS
    if effect is Effect.MOVED and new.value not in (Value.TIME, Value.AMOUNT):
        at_home = _alike(new.language, old.verb, _home(new.language))
        placed = old.verb == "be" and old.slot is Arity.ONE and old.value is Value.NAME and old.link != ""
        if at_home and left_home(new, old):
            return _updated(new, "moved")
        return _changed(new, old, "moved") if (at_home or placed) else ADDS
    if effect is Effect.LEFT:
        words = lexicon(new.language)
        inside = old.link in words["inside"] and old.verb in words["staying"]
        inside = inside or (old.verb == "be" and old.link != "" and (old.slot is Arity.ONE or old.link == "in a"))
        return _updated(new, "left") if inside and new.core == old.core else ADDS
    if effect is Effect.RENEWED and new.value is Value.NAME:
        is_attribute = old.verb == "be" and old.slot is Arity.ONE and old.value is Value.NAME and not old.link
        return _changed(new, old, "changed") if is_attribute else _renewed(new, old)
    if new.value is Value.NAME and old.slot is not Arity.ONE:
        return ADDS
    return _changed(new, old, "changed") if old.value is new.value and old.slot is not Arity.FIXED else ADDS


_GOING_ON: Final = frozenset(("progress", "in-progress"))


def _moved_on(new: Statement, old: Statement) -> Judgement:
    """Who moves from place to place has left the one before; one moves to tools and jobs, too, and may do both."""
    are_so = new.positive and old.positive and new.effect is old.effect is Effect.MOVED and new.verb == old.verb
    are_places = places().issuperset((" ".join(new.core), " ".join(old.core)))
    return _changed(new, old, "moved") if are_so and are_places else ADDS


def _changed(new: Statement, old: Statement, reason: str) -> Judgement:
    """A new value in place of one of the same kind."""
    if old.value is Value.AMOUNT and (not differ(new, old) or families(new) != families(old)):
        return ADDS
    if set(new.core) == set(old.core) and old.value is not Value.AMOUNT:
        return ADDS
    if old.value is Value.TIME and is_clock(new.core[0]) is not is_clock(old.core[0]):
        return ADDS  # at two, and on Friday
    if old.several or not said_besides(new, old) <= {*new.words, *new.rest}:
        return ADDS
    if old.value is not Value.AMOUNT and may_contain(new.core, old.core):
        return ADDS
    return _updated(new, reason)


def _ended(new: Statement, old: Statement) -> Judgement:
    """Something named, or the whole predicate, no longer holds."""
    if old.slot is Arity.FIXED:  # who moves away was born there all the same
        return ADDS
    if old.event and (_times(old) or not (old.verb and _alike(old.language, old.verb, USE.get(old.language, "")))):
        return ADDS
    if new.verb and not _alike(new.language, new.verb, old.verb) and not both_enjoy(new, old):
        return ADDS
    if not new.verb and (not new.core or works_there(old) or not _can_end(old)):
        return ADDS
    ended = {*new.core, *new.rest}
    if new.language in ("zh", "ja"):
        fits = bool(old.core) and new.core == old.core
    else:
        ended = {word for word in ended if word[0] != "~"}
        core, said, every = {*old.core}, {*old.core, *old.rest}, {*new.core}
        if old.value is Value.AMOUNT:  # three coffees are coffee, and 5 mg of it are it
            core, said, ended, every = ({*map(singular, words)} for words in (said, said, ended, every))
        fits = every <= core and ended <= said and not only_begins(every, old)
        fits = fits and (not new.link or not old.link or new.link in (old.link, "out of"))
        fits = fits and (
            bool(new.core)
            or not old.core
            or bool(new.verb != "be" and old.link)
            or new.verb in ("smoke", "rauchen", "fumar", "fumer", "work")
        )
    if not fits or old.several:
        return ADDS
    return _updated(new, "no longer holds")


def _can_end(old: Statement) -> bool:
    """Return whether the use of a thing ends with it, as knowing of it does not."""
    if old.language in ("zh", "ja") or old.verb == "be":
        return True
    words = lexicon(old.language)
    if old.verb in words["now_functional"] | words["possessing"] | words["pursuing"]:
        return True
    return any(old.verb in each for each in words.classes)


#: The verb that says of something that it is used.
USE: Final = {"en": "use", "de": "verwenden", "es": "usar", "fr": "utiliser"}


def _renewed(new: Statement, old: Statement) -> Judgement:
    """Another of the same kind, or the same in another version, is used now."""
    words = lexicon(new.language)
    if old.several or not (old.verb == "be" or words.alike(old.verb, USE[new.language])):
        return ADDS
    kinds = [{words.categories[word] for word in each.core if word in words.categories} for each in (new, old)]
    other_version = new.core[-1:] != old.core[-1:] and (
        (len(new.core) > 1 and new.core[:-1] == old.core[:-1] and has_digit(new.core[-1]) and has_digit(old.core[-1]))
        or (is_version(new.core) and is_version(old.core))
    )
    if other_version or (kinds[0] and kinds[0] == kinds[1] and new.core != old.core):
        return _updated(new, "replaced by another of its kind")
    return ADDS


def _denied(new: Statement, old: Statement) -> Judgement | None:
    """What "not X", "instead of X" says of an old statement; None if it says nothing of it."""
    if not old.positive:
        return None
    if new.effect is Effect.INSTEAD:
        if (
            new.denied == old.subject
            and (_alike(new.language, new.verb, old.verb) or (is_exchangeable(new) and is_exchangeable(old)))
            and new.link == old.link
            and is_one_role(old.core, new.core)
        ):
            return Judgement(Verdict.UPDATED, "another took its place")
        fits = new.subject == old.subject and _alike(new.language, new.verb, old.verb) and not old.several
        fits = fits and new.denied <= {*old.core} and old.rest <= {*new.core, *new.rest}
        # "invoices quarterly instead of monthly" says nothing of a monthly report
        if fits and (new.link or {*old.core} <= {*new.core} | new.denied or len(new.core) <= len(new.denied)):
            return _updated(new, "replaced")
        return None
    if new.subject != old.subject or new.verb != old.verb or old.several:
        return None
    if new.denied <= {*old.core, *old.rest} and not new.denied <= {*new.core, *new.rest}:
        return Judgement(Verdict.CORRECTED, "said not to be so")
    return None


def _may_exchange(new: Statement, old: Statement) -> bool:
    if new.effect is Effect.INSTEAD:
        return new.denied == old.subject
    return (
        bool(new.now) and new.effect is Effect.SAYS and new.verb == old.verb and bool(new.core) and new.core == old.core
    )


def _exchanged(new: Statement, old: Statement) -> Judgement:
    """Another now does what only one can do."""
    if new.language in ("zh", "ja") or not is_exchangeable(new):
        return NOTHING
    if new.now and new.positive and old.positive and new.core == old.core and new.rest == old.rest and not old.event:
        return _updated(new, "another does it now")
    return NOTHING


def _negated(new: Statement, old: Statement) -> Judgement:
    """The same with and without a negation."""
    if (new.verb, new.link, new.event) != (old.verb, old.link, old.event) or new.amounts != old.amounts:
        return ADDS
    if {*new.core, *new.rest} != {*old.core, *old.rest} or (not new.core and not new.verb):
        return ADDS
    if new.adds and old.positive:
        return ADDS
    if new.corrects:
        return Judgement(Verdict.CORRECTED, "said not to be so")
    if new.now or new.adds:
        return Judgement(Verdict.UPDATED, "no longer holds")
    if new.subject == {YOU}:
        return Judgement(Verdict.UPDATED, "told to do otherwise")
    return Judgement(Verdict.CONFLICT, "one denies what the other says")


def _other_value(new: Statement, old: Statement) -> Judgement:
    """The same of the same subject with another value."""
    if _left_state(new, old):
        return _updated(new, "another state")
    if (ended := ended_by(new, old)) is not None:
        return _updated(new, ended)
    if not new.positive or new.adds or new.verb != old.verb or new.link != old.link or new.several or old.several:
        return ADDS
    if new.event != old.event or (new.event and not new.corrects and old.slot is not Arity.FIXED):
        return ADDS
    if new.amounts and not new.event and same_but_amounts(new, old):
        return _other_amount(new, old)
    if not _comparable(new, old):
        return ADDS
    if (turned := _turned(new, old)) is not None:
        return _updated(new, turned)
    if set(new.core) == set(old.core):
        return ADDS
    if new.value is Value.STATE and old.value is Value.STATE:
        state = _other_state(new, old) if _times(new) == _times(old) else ADDS
        is_attribute = new.slot is old.slot is Arity.ONE and not new.rest and not old.rest
        return _updated(new, "another value") if state is ADDS and is_attribute else state
    if not old.rest <= {*new.core, *new.rest}:
        return ADDS
    if new.value is Value.TIME and old.slot is not Arity.FIXED:
        one = new.slot is not Arity.MANY or new.verb == "be" or new.corrects or new.now
        return _updated(new, "another time") if one else ADDS
    return ADDS if may_contain(new.core, old.core) else _other_name(new, old)


def _turned(new: Statement, old: Statement) -> str | None:
    """Return how what is wanted or told to be done was turned into something else; None if it was not."""
    if set(new.core) == set(old.core):
        return "wanted otherwise" if _wants_otherwise(new, old) else None
    if new.subject == {YOU} and (new.core[-1:], new.rest, len(new.core)) == (old.core[-1:], old.rest, len(old.core)):
        return "told to do otherwise"
    is_swapped = new.slot is Arity.SAME_KIND and old.rest and old.rest == {*new.core} and new.rest == {*old.core}
    return "the other way round" if is_swapped else None


def _left_state(new: Statement, old: Statement) -> bool:
    """Return whether who was married to somebody, or connected to something, no longer is."""
    if new.value is not Value.STATE or old.verb != "be" or not old.link or new.language in ("zh", "ja"):
        return False
    states, before, after = lexicon(new.language).states, old.link.split()[0], new.core[0]
    is_so = new.verb == "be" and new.positive and not new.link and not old.event and not _times(old) and not new.event
    return is_so and before != after and bool(states.get(before, 0) & states.get(after, 0))


def _wants_otherwise(new: Statement, old: Statement) -> bool:
    """Return whether what is wanted is the same but for one word of a kind: answers in French, and in English."""
    if new.language in ("zh", "ja") or new.verb not in lexicon(new.language)["wanting"] or new.event:
        return False
    kinds = lexicon(new.language).categories
    before, after = ([kinds.get(word) for word in each.rest] for each in (old, new))
    return len(before) == len(after) == 1 and before == after != [None] and new.rest != old.rest


def _times(statement: Statement) -> set[str]:
    return {word for word in statement.rest if word[0] == "~"}


def _comparable(new: Statement, old: Statement) -> bool:
    """Return whether two values are of one kind; a colour may be a state's name, too."""
    if new.value is old.value:
        return new.value not in (Value.NONE, Value.QUALITY, Value.AMOUNT)
    kinds = {new.value, old.value}
    return kinds == {Value.STATE, Value.NAME} and new.slot is old.slot is Arity.ONE


def _other_amount(new: Statement, old: Statement) -> Judgement:
    """The same but for the numbers."""
    if old.slot is Arity.FIXED and not new.corrects:
        return Judgement(Verdict.CONFLICT, "two values of what never changes")
    return _updated(new, "another amount")


def _other_state(new: Statement, old: Statement) -> Judgement:
    states = spaceless(new.language).states if new.language in ("zh", "ja") else lexicon(new.language).states
    if not states.get(new.core[0], 0) & states.get(old.core[0], 0):
        return ADDS
    if new.rest and old.rest and not (new.rest <= old.rest or old.rest <= new.rest or new.rest & _ALL):
        return ADDS  # on in one place, off in another
    if new.language in ("zh", "ja") and new.core[0][:1] == old.core[0][:1]:
        return ADDS
    return _updated(new, "another state")


#: What is so of all is so of each.
_ALL: Final = frozenset(("all", "every", "alle", "allen", "todos", "todas", "tous", "toutes"))


def _other_name(new: Statement, old: Statement) -> Judgement:
    if new.slot is Arity.FIXED or old.slot is Arity.FIXED:
        if new.corrects:
            return Judgement(Verdict.CORRECTED, "corrected")
        return Judgement(Verdict.CONFLICT, "two values of what never changes")
    if new.slot is Arity.ONE and old.slot is Arity.ONE:
        if new.verb in _HAVE and new.core[:-1] != old.core[:-1]:
            return ADDS
        return _updated(new, "another value")
    if new.slot is Arity.SAME_KIND and not new.corrects:
        alike = new.core[-1] == old.core[-1] or category_of(new) == category_of(old) != set()
        return _updated(new, "another of its kind") if alike else ADDS
    if new.corrects and len(new.core) == len(old.core) and new.core[:-1] == old.core[:-1] and new.core[-1][0].isdigit():
        return Judgement(Verdict.CORRECTED, "corrected")  # number 9, not 6
    if new.corrects and (new.verb != "be" or new.link or len(new.core) > 1):
        return Judgement(Verdict.CORRECTED, "corrected") if new.core[:1] != old.core[:1] or new.link else ADDS
    if new.now and new.link == old.link != "":
        return _updated(new, "another value now")
    if new.now and new.language not in ("zh", "ja") and _alike(new.language, new.verb, USE[new.language]):
        return _renewed(new, old)
    if new.now and new.language not in ("zh", "ja") and new.verb in lexicon(new.language)["now_functional"]:
        return _updated(new, "another value now")
    return ADDS


_HAVE: Final = ("have", "haben", "tener", "avoir")
