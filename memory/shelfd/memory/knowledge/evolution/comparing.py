"""What one statement does to an older one. In doubt: nothing."""

from enum import StrEnum
from typing import Final, NamedTuple

from shelfd.memory.knowledge.evolution.amounts import differ, families, singular
from shelfd.memory.knowledge.evolution.circumstances import ended_by, only_begins, works_there
from shelfd.memory.knowledge.evolution.lexicon import YOU, countries, lexicon, places, spaceless
from shelfd.memory.knowledge.evolution.statement import Arity, Effect, Statement, Value


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
    if old.past or (new.past and not new.corrects):
        return _EARLIER
    if new.effect is not Effect.SAYS and new.effect is not Effect.INSTEAD:
        return _by_effect(new, old) if old.positive and old.effect is Effect.SAYS else _moved_on(new, old)
    if old.effect is not Effect.SAYS:
        return ADDS
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
        return _updated(new, "does not take place") if planned or "progress" in old.core else ADDS
    if effect is Effect.REMOVED:
        words = lexicon(new.language)
        in_use = old.verb == "be" and not words["in_use"].isdisjoint(old.link.split()[:1] or old.core[:1])
        return _updated(new, "removed") if in_use or old.verb in words["serving"] else ADDS
    if effect is Effect.MOVED and new.value not in (Value.TIME, Value.AMOUNT):
        at_home = _alike(new.language, old.verb, _home(new.language))
        placed = old.verb == "be" and old.slot is Arity.ONE and old.value is Value.NAME and old.link != ""
        return _changed(new, old, "moved") if (at_home or placed) else ADDS
    if effect is Effect.LEFT:
        words = lexicon(new.language)
        inside = old.link in words["inside"] and old.verb in words["staying"]
        inside = inside or (old.verb == "be" and old.slot is Arity.ONE and old.link != "")
        return _updated(new, "left") if inside and new.core == old.core else ADDS
    if effect is Effect.RENEWED and new.value is Value.NAME:
        return _renewed(new, old)
    if new.value is Value.NAME and old.slot is not Arity.ONE:
        return ADDS
    return _changed(new, old, "changed") if old.value is new.value and old.slot is not Arity.FIXED else ADDS


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
    if old.several or not old.rest <= {*new.words, *new.rest}:
        return ADDS
    if old.value is not Value.AMOUNT and _contains(new.core, old.core):
        return ADDS
    return _updated(new, reason)


def _ended(new: Statement, old: Statement) -> Judgement:
    """Something named, or the whole predicate, no longer holds."""
    if old.slot is Arity.FIXED:  # who moves away was born there all the same
        return ADDS
    if old.event and (_times(old) or not (old.verb and _alike(old.language, old.verb, USE.get(old.language, "")))):
        return ADDS
    if new.verb and not _alike(new.language, new.verb, old.verb):
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
    return old.verb in words["now_functional"] | words["possessing"] or any(old.verb in each for each in words.classes)


#: The verb that says of something that it is used.
USE: Final = {"en": "use", "de": "verwenden", "es": "usar", "fr": "utiliser"}


def _renewed(new: Statement, old: Statement) -> Judgement:
    """Another of the same kind, or the same in another version, is used now."""
    words = lexicon(new.language)
    if old.several or not (old.verb == "be" or words.alike(old.verb, USE[new.language])):
        return ADDS
    kinds = [{words.categories[word] for word in each.core if word in words.categories} for each in (new, old)]
    other_version = len(new.core) > 1 and new.core[:-1] == old.core[:-1] and new.core != old.core
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
            and _alike(new.language, new.verb, old.verb)
            and new.link == old.link
            and _is_one_role(old.core, new.core)
        ):
            return Judgement(Verdict.UPDATED, "another took its place")
        fits = new.subject == old.subject and _alike(new.language, new.verb, old.verb) and not old.several
        if fits and new.denied <= set(old.core) and old.rest <= {*new.core, *new.rest}:
            return _updated(new, "replaced")
        return None
    if new.subject != old.subject or new.verb != old.verb or old.several:
        return None
    if new.denied <= {*old.core, *old.rest} and not new.denied <= {*new.core, *new.rest}:
        return Judgement(Verdict.CORRECTED, "said not to be so")
    return None


def _is_one_role(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Return whether two values are the same but for their gender: chef and cheffe, director and directora."""
    return len(old) == len(new) and all(
        one == other or (one[:4] == other[:4] and abs(len(one) - len(other)) in (1, 2))
        for one, other in zip(sorted(old), sorted(new), strict=True)
    )


def _may_exchange(new: Statement, old: Statement) -> bool:
    if new.effect is Effect.INSTEAD:
        return new.denied == old.subject
    return (
        bool(new.now) and new.effect is Effect.SAYS and new.verb == old.verb and bool(new.core) and new.core == old.core
    )


def _exchanged(new: Statement, old: Statement) -> Judgement:
    """Another now does what only one can do."""
    if new.language in ("zh", "ja") or new.verb not in lexicon(new.language)["exchangeable"]:
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
    if new.amounts and not new.event and _same_but_amounts(new, old):
        return _other_amount(new, old)
    if not _comparable(new, old):
        return ADDS
    if (turned := _turned(new, old)) is not None:
        return _updated(new, turned)
    if set(new.core) == set(old.core):
        return ADDS
    if new.value is Value.STATE and old.value is Value.STATE:
        return _other_state(new, old) if _times(new) == _times(old) else ADDS
    if not old.rest <= {*new.core, *new.rest}:
        return ADDS
    if new.value is Value.TIME and old.slot is not Arity.FIXED:
        one = new.slot is not Arity.MANY or new.verb == "be" or new.corrects or new.now
        return _updated(new, "another time") if one else ADDS
    return ADDS if _contains(new.core, old.core) else _other_name(new, old)


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
    return is_so and before != after and before in states and states[before] == states.get(after)


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


def _same_but_amounts(new: Statement, old: Statement) -> bool:
    if new.language in ("zh", "ja"):
        same = new.core == old.core and new.value is Value.AMOUNT
    else:
        same = new.words == old.words or [*map(singular, new.words)] == [*map(singular, old.words)]
    return same and new.amounts != old.amounts and len(new.amounts) == len(old.amounts)


def _other_amount(new: Statement, old: Statement) -> Judgement:
    """The same but for the numbers."""
    if old.slot is Arity.FIXED and not new.corrects:
        return Judgement(Verdict.CONFLICT, "two values of what never changes")
    return _updated(new, "another amount")


def _other_state(new: Statement, old: Statement) -> Judgement:
    states = spaceless(new.language).states if new.language in ("zh", "ja") else lexicon(new.language).states
    if states.get(new.core[0]) != states.get(old.core[0]) or states.get(new.core[0]) is None:
        return ADDS
    if new.rest and old.rest and new.rest.isdisjoint(old.rest):
        return ADDS  # on in one place, off in another
    if new.language in ("zh", "ja") and new.core[0][:1] == old.core[0][:1]:
        return ADDS
    return _updated(new, "another state")


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
        alike = new.core[-1] == old.core[-1] or _category(new) == _category(old) != set()
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


def _category(statement: Statement) -> set[int]:
    if statement.language in ("zh", "ja"):
        return set()
    words, core = lexicon(statement.language), statement.core
    if len(core) > 2 and core[-1].isalpha() and core[-1] not in words.categories:
        return set()  # coffee ice cream is no coffee
    return {words.categories[word] for word in core if word in words.categories}


def _contains(new: tuple[str, ...], old: tuple[str, ...]) -> bool:
    """Return whether one value may lie in the other, so that both can be true."""
    if set(new) <= set(old) or set(old) <= set(new):
        return True
    if len(new) == len(old) == 1 and not new[0].isascii() and (new[0] in old[0] or old[0] in new[0]):
        return True
    known = countries()
    return known.isdisjoint(new) != known.isdisjoint(old)
