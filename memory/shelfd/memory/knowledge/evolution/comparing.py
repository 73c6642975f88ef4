"""What one statement does to an older one. In doubt: nothing."""

from typing import Final

from shelfd.memory.knowledge.evolution.attributes import other_attribute
from shelfd.memory.knowledge.evolution.circumstances import (
    became,
    ended_by,
    goes_without,
    is_another_version,
    is_clock,
    is_exchangeable,
    is_numbered_otherwise,
    is_of_a_day,
    resumed,
    works_otherwise,
)
from shelfd.memory.knowledge.evolution.claims import contradict
from shelfd.memory.knowledge.evolution.denying import by_denial
from shelfd.memory.knowledge.evolution.effects import by_effect, moved_on, renewed
from shelfd.memory.knowledge.evolution.lexicon import NOUN_FIRST, YOU, lexicon
from shelfd.memory.knowledge.evolution.manner import are_told_alike
from shelfd.memory.knowledge.evolution.measures import measured
from shelfd.memory.knowledge.evolution.offices import is_held_by_another
from shelfd.memory.knowledge.evolution.otherwise import (
    felt_otherwise,
    goes_on_elsewhere,
    happens_elsewhere,
    is_done_otherwise,
    lodges_elsewhere,
    turned,
    wants_other_ones,
)
from shelfd.memory.knowledge.evolution.questions import answer_two_questions
from shelfd.memory.knowledge.evolution.renaming import RENAMED, has_another_name
from shelfd.memory.knowledge.evolution.several_measures import one_measured
from shelfd.memory.knowledge.evolution.statement import Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.states import is_colour, left_state, other_state, tells_whether_it_works
from shelfd.memory.knowledge.evolution.subjects import speak_of_the_same
from shelfd.memory.knowledge.evolution.values import (
    HAVE,
    another_time,
    are_both_numbers,
    are_both_things,
    category_of,
    has_digit,
    is_another_day,
    is_chosen,
    is_for_some,
    is_intended,
    is_status,
    is_when_otherwise,
    may_contain,
    same_but_amounts,
    says_other,
    tell_which,
    times,
)
from shelfd.memory.knowledge.evolution.verdicts import (
    ADDS,
    EARLIER,
    NOTHING,
    SAME,
    UNREAL,
    USE,
    Judgement,
    Verdict,
    says_alike,
    updated,
)


def compare(new: Statement, old: Statement) -> Judgement:
    """Return what *new* does to *old*."""
    if new.claim is not None and old.claim is not None and contradict(new.claim, old.claim, new.language):
        return _CONTESTED
    judged = _compared(new, old)
    if judged.verdict is Verdict.UPDATED and judged.reason in _VALUES and is_for_some(new, old):
        return ADDS
    is_open = judged is not UNREAL and judged is not _ANOTHER_NUMBER and new.language == old.language
    if judged.verdict is Verdict.STAYS and is_open:
        if has_another_name(new, old):
            return updated(new, RENAMED)
        return measured(new, old) or one_measured(new, old) or other_attribute(new, old) or judged
    return judged


#: Reasons for which a value takes the place of another.
_VALUES: Final = ("another value", "another amount", "another time", "changed")


def _compared(new: Statement, old: Statement) -> Judgement:
    if new.language != old.language:
        return NOTHING
    if new.words == old.words and (repeated := _repeated(new, old)) is not None:
        return repeated
    same_subject = speak_of_the_same(new, old)
    if not new.subject or not old.subject or not (same_subject or _may_exchange(new, old)):
        return updated(new, "another is it") if is_held_by_another(new, old) else NOTHING
    if same_subject and is_numbered_otherwise(new, old):
        return _ANOTHER_NUMBER
    if not new.real or not old.real:
        return _otherwise_intended(new, old)
    if _is_of_earlier_time(new, old):
        return EARLIER
    old = became(old)
    if new.effect is not Effect.SAYS and new.effect is not Effect.INSTEAD:
        return by_effect(new, old) if old.positive and old.effect is Effect.SAYS else moved_on(new, old)
    if old.effect is not Effect.SAYS:
        return updated(new, "is so again") if same_subject and resumed(new, old) else ADDS
    if new.denied and (found := by_denial(new, old)) is not None:
        return found
    if not same_subject:
        return _exchanged(new, old)
    if new.positive != old.positive:
        return _negated(new, old)
    return _other_value(new, old)


def _otherwise_intended(new: Statement, old: Statement) -> Judgement:
    """Return what becomes of a wish or a plan that another takes the place of: a van instead of the small car."""
    if new.real or old.real or not (new.denied or new.effect is Effect.ENDED) or new.language in ("zh", "ja"):
        return UNREAL
    if not is_intended(new) or not is_intended(old):
        return UNREAL
    judged = _compared(new._replace(real=True, event=False), old._replace(real=True, event=False))
    return judged if judged.verdict in (Verdict.UPDATED, Verdict.CORRECTED) else UNREAL


def _is_of_earlier_time(new: Statement, old: Statement) -> bool:
    """Return whether either tells of what was before, or the older one of what happened on a day: it did happen."""
    if (old.past and old.effect is not Effect.ENDED) or (new.past and not new.corrects):
        return True
    happened = old.event or old.value is Value.STATE
    return happened and new.effect is Effect.ENDED and not new.corrects and is_of_a_day(old)


_SEVERAL: Final = (Arity.MANY, Arity.OF_ONE)
_CONTESTED: Final = Judgement(Verdict.CONFLICT, "two sources contradict each other")
_ANOTHER_NUMBER: Final = Judgement(Verdict.STAYS, "speaks of another number")


def _repeated(new: Statement, old: Statement) -> Judgement | None:
    """Return what becomes of what is said in the same words, whatever their subject and verb; None if that is open."""
    if _same(new, old):
        return SAME
    return updated(new, "no longer holds") if _is_all_ended(new, old) else None


def _same(new: Statement, old: Statement) -> bool:
    return (
        bool(new.words)
        and new.amounts == old.amounts
        and (new.positive, new.past, new.real, new.effect) == (old.positive, old.past, old.real, old.effect)
        and new.event == old.event
        and new.left_out == old.left_out
        and (new.denied == old.denied or new.effect is not Effect.INSTEAD)
    )


def _is_all_ended(new: Statement, old: Statement) -> bool:
    """Return whether *new* says that no longer holds what *old* says in the same words."""
    if new.effect is not Effect.ENDED or new.positive or new.real != old.real or new.past:
        return False
    holds = old.positive and not old.past and not old.event and old.effect is Effect.SAYS
    return holds and new.amounts == old.amounts and len(new.words) > 1


def _may_exchange(new: Statement, old: Statement) -> bool:
    if new.effect is Effect.INSTEAD or (new.corrects and new.denied):
        return new.denied == old.subject
    return (
        bool(new.now) and new.effect is Effect.SAYS and new.verb == old.verb and bool(new.core) and new.core == old.core
    )


def _exchanged(new: Statement, old: Statement) -> Judgement:
    """Another now does what only one can do."""
    if new.language in ("zh", "ja") or new.adds or not is_exchangeable(new):
        return NOTHING
    if new.now and new.positive and old.positive and new.core == old.core and new.rest == old.rest and not old.event:
        return updated(new, "another does it now")
    return NOTHING


def _negated(new: Statement, old: Statement) -> Judgement:
    """The same with and without a negation."""
    if goes_without(new, old):
        is_wrong = new.corrects and not new.now
        return Judgement(Verdict.CORRECTED, "said not to be so") if is_wrong else updated(new, "another state")
    is_pending = old.now and not old.positive  # what is not so yet will be
    is_denied = new.corrects and not new.positive  # what never was is not
    if new.verb != old.verb or not (new.event == old.event or is_pending or is_denied):
        return ADDS
    if new.link != old.link or new.amounts != old.amounts:
        return ADDS
    if {*new.core, *new.rest} != {*old.core, *old.rest} or (not new.core and not new.verb):
        return ADDS
    if new.adds and old.positive:
        return ADDS
    if new.corrects:
        return Judgement(Verdict.CORRECTED, "said not to be so")
    if new.now or new.adds or is_pending:
        return Judgement(Verdict.UPDATED, "no longer holds")
    if new.subject == {YOU}:
        return Judgement(Verdict.UPDATED, "told to do otherwise")
    return Judgement(Verdict.CONFLICT, "one denies what the other says")


def _other_value(new: Statement, old: Statement) -> Judgement:
    """The same of the same subject with another value."""
    if left_state(new, old) or goes_without(new, old):
        return updated(new, "another state")
    if (ended := ended_by(new, old)) is not None:
        return updated(new, ended)
    if is_status(new) and is_status(old) and says_other(new, old):
        return updated(new, "another status")
    if not new.positive or new.adds or new.verb != old.verb or new.link != old.link:
        return updated(new, "another time") if is_when_otherwise(new, old) else felt_otherwise(new, old)
    if new.several or old.several:
        return updated(new, "other amounts") if _has_other_amounts(new, old) else ADDS
    if new.event != old.event or (new.event and not new.corrects and old.slot is not Arity.FIXED):
        return ADDS
    if is_another_version(new, old):
        return updated(new, "another version")
    if new.amounts and (new.corrects or not new.event) and same_but_amounts(new, old):
        return _other_amount(new, old)
    if not new.event and old.slot is not Arity.FIXED and (when := another_time(new, old)) is not None:
        return updated(new, "another time") if when else ADDS
    return _other_of_kind(new, old) if _comparable(new, old) else ADDS


def _other_of_kind(new: Statement, old: Statement) -> Judgement:
    """Another value of the same kind."""
    if not are_told_alike(new, old):
        return ADDS
    if is_done_otherwise(new, old):
        return updated(new, "done otherwise now")
    if (lodges := lodges_elsewhere(new, old)) is not None:
        return updated(new, "another place") if lodges and new.rest != old.rest else ADDS
    if (how := turned(new, old)) is not None:
        return updated(new, how)
    if set(new.core) == set(old.core) or _is_so_at_times(new, old):
        return ADDS
    if new.value is Value.STATE and old.value is Value.STATE:
        is_same_time = times(new) == times(old) or (new.now and not times(old))
        state = other_state(new, old) if is_same_time else ADDS
        is_attribute = new.slot is old.slot is Arity.ONE and not new.rest and not old.rest
        return updated(new, "another value") if state is ADDS and is_attribute else state
    if not old.rest <= {*new.core, *new.rest} and not tell_which(new, old) and not goes_on_elsewhere(new, old):
        return ADDS
    if new.value is Value.TIME and old.slot is not Arity.FIXED:
        return updated(new, "another time") if _has_one_time(new, old) else ADDS
    if may_contain(new.core, old.core) or happens_elsewhere(new, old):
        return ADDS
    if new.link and not new.now and {*new.core} <= old.rest:
        return ADDS  # what is in the drawer in the hall is in the hall
    return _other_name(new, old)


def is_another_of_the_kind(new: Statement, old: Statement) -> bool:
    """Return whether two statements say the same of one subject with another value, which may both be so."""
    if new.language != old.language or new.subject != old.subject or not new.subject or not new.core or not old.core:
        return False
    if (new.verb, new.link, new.value, new.event) != (old.verb, old.link, old.value, old.event):
        return False
    is_fact = all(each.positive and each.real and not each.several and not each.adds for each in (new, old))
    is_fact = is_fact and not old.past and new.effect is old.effect is Effect.SAYS
    if (new.verb != "be" and not new.link) or new.value in (Value.AMOUNT, Value.TIME):
        return False  # who owns the beagle may own a rabbit; what is 12 metres wide may be 300 metres long
    return is_fact and old.rest <= {*new.core, *new.rest} and new.core != old.core and are_told_alike(new, old)


def _is_so_at_times(new: Statement, old: Statement) -> bool:
    """Return whether the newer value is only so at some times, or in one of several places: in summer, in staging."""
    if not new.rest or new.now or new.corrects or new.language in ("zh", "ja") or new.value is Value.TIME:
        return False
    more = new.rest - old.rest - {*old.core}
    lists = lexicon(new.language).lists
    days = {word for word in more if word[0] == "~" and ":" not in word and not any(map(str.isdigit, word))}
    return bool(days) or not more.isdisjoint(lists["at_times"])


def _has_one_time(new: Statement, old: Statement) -> bool:
    """Return whether what is said to be at two times is only at one."""
    if new.rest == old.rest and is_clock(new.core[0]) and is_clock(old.core[0]):
        return True
    is_habit = new.language not in ("zh", "ja") and new.verb in lexicon(new.language)["habitual"] and not new.now
    if not new.now and not new.corrects and _is_done_weekly(new) and _is_done_weekly(old):
        return False  # who swims on Wednesdays may swim on Saturdays
    if is_habit and not any(map(str.isdigit, new.core[0])):
        return False  # what opens on Mondays may open on Fridays
    one = new.slot not in _SEVERAL or new.verb == "be" or new.corrects or new.now
    one = one or (new.language not in ("zh", "ja") and _is_told_once(new))
    return one and not is_another_day(new, old)


def _is_told_once(new: Statement) -> bool:
    """Return whether something happens at one time: somebody calls, or a story takes place in a year."""
    words = lexicon(new.language)
    return new.verb in words["calling"] or (new.verb in words["telling_where"] and new.core[0][1:].isdigit())


def _is_done_weekly(statement: Statement) -> bool:
    """Return whether a day is said as one of every week on which somebody does something: Wednesdays, mittwochs."""
    day = statement.core[0]
    if day[-1] != "s" or statement.language not in ("en", "de") or statement.verb == "be":
        return False
    words = lexicon(statement.language)
    return day[1:] in words["weekdays"] and statement.verb not in words["occurring"] | words["calling"]


def _has_other_amounts(new: Statement, old: Statement) -> bool:
    """Return whether each of several amounts is another, as both seats of a booking."""
    if new.verb != "be" or new.event or old.event or not same_but_amounts(new, old):
        return False
    return set(new.amounts).isdisjoint(old.amounts)


def _comparable(new: Statement, old: Statement) -> bool:
    """Return whether two values are of one kind; a colour may be a state's name, too."""
    if new.value is old.value is Value.QUALITY:
        is_one = new.slot is Arity.ONE and new.link != ""
        is_told = is_chosen(new) or (is_one and new.corrects) or _is_by_one(new, old) or works_otherwise(new, old)
        return is_told or are_both_things(new, old)
    if new.value is old.value:
        return new.value not in (Value.NONE, Value.AMOUNT)
    if {new.value, old.value} == {Value.QUALITY, Value.NAME}:
        return _is_by_one(new, old) or wants_other_ones(new, old) or (is_chosen(new) and is_chosen(old))
    if {new.value, old.value} == {Value.AMOUNT, Value.NAME}:
        counted = new if new.value is Value.AMOUNT else old  # "the four cheeses"
        return are_both_numbers(new, old) or (is_chosen(new) and is_chosen(old) and len(counted.core) > 1)
    if {new.value, old.value} != {Value.STATE, Value.NAME} or not new.slot is old.slot is Arity.ONE:
        return False
    named, other = (new, old) if new.value is Value.NAME else (old, new)
    is_phrase = new.language == "en" and "-" in other.core[0]  # a venue may be sold out
    if is_phrase or (named.manner == "name" and not is_colour(other) and not is_chosen(new)):
        return False  # who is Dr Weiss may be ill
    return not tells_whether_it_works(new) and not tells_whether_it_works(old)


def _is_by_one(new: Statement, old: Statement) -> bool:
    """Return whether both say by whom something is done that one does at a time, named or not: ruled by a council."""
    return new.slot is old.slot is Arity.ONE and new.link.endswith(_BY.get(new.language, ()))


_BY: Final = {"en": (" by",), "de": (" von",), "es": (" por",), "fr": (" par",)}


def _other_amount(new: Statement, old: Statement) -> Judgement:
    """The same but for the numbers."""
    if old.slot is Arity.FIXED and not new.corrects:
        return Judgement(Verdict.CONFLICT, "two values of what never changes")
    if not new.corrects and any(word[0] == "~" and has_digit(word) and ":" not in word for word in new.subject):
        return Judgement(Verdict.CONFLICT, "two values of what happened once")  # the backup of 12 May
    is_liked = new.language not in ("zh", "ja") and new.verb in lexicon(new.language)["enjoying"]
    if is_liked and not new.now and all(word[0] != "#" for word in new.core):
        return ADDS  # jazz from the 1950s, and from the 1960s
    return updated(new, "another amount")


def _is_of_one_kind(new: Statement, old: Statement) -> bool:
    if answer_two_questions(new, old):
        return False
    if new.link and new.core[0] != old.core[0] and new.core[-1] == old.core[-1]:
        return False  # "prefers in Python double quotes", and in another language single ones
    head = 0 if new.language in NOUN_FIRST and len(new.core) == len(old.core) else -1
    return new.core[head] == old.core[head] or category_of(new) == category_of(old) != set()


def _other_name(new: Statement, old: Statement) -> Judgement:
    if new.slot is Arity.FIXED or old.slot is Arity.FIXED:
        if new.corrects:
            return Judgement(Verdict.CORRECTED, "corrected")
        return Judgement(Verdict.CONFLICT, "two values of what never changes")
    if new.slot is Arity.ONE and old.slot is Arity.ONE:
        words = None if new.language in ("zh", "ja") else lexicon(new.language)
        has = new.verb in HAVE or (words is not None and new.verb in words["bearing"])
        is_other = not has or new.core[:-1] == old.core[:-1]
        return updated(new, "another value") if is_other and not answer_two_questions(new, old) else ADDS
    if new.slot is Arity.SAME_KIND and not new.corrects:
        return updated(new, "another of its kind") if _is_of_one_kind(new, old) else ADDS
    if new.denied and old.slot in _SEVERAL and new.denied.isdisjoint((*old.core, *old.rest)):
        return ADDS  # who owns a beagle, and not a poodle, may own a rabbit
    if new.corrects and len(new.core) == len(old.core) and new.core[:-1] == old.core[:-1] and new.core[-1][0].isdigit():
        return Judgement(Verdict.CORRECTED, "corrected")  # number 9, not 6
    if new.corrects and (new.verb != "be" or new.link or len(new.core) > 1):
        return Judgement(Verdict.CORRECTED, "corrected") if new.core[:1] != old.core[:1] or new.link else ADDS
    if new.now and new.link == old.link != "":
        return updated(new, "another value now")
    if not new.now or new.language in ("zh", "ja"):
        return ADDS
    words = lexicon(new.language)
    if new.verb not in words["now_functional"] and says_alike(new.language, new.verb, USE[new.language]):
        return renewed(new, old)
    one = new.verb in words["now_functional"] or (new.verb != "be" and new.verb not in words["many"])
    one = one or (new.verb == "be" and not new.link and not old.link and not old.rest)
    one = one or (new.verb in words["taking_turns"] and new.rest == old.rest)
    is_same_occasion = new.rest == old.rest and any(word[0] != "~" for word in new.rest) and new.verb != "be"
    return updated(new, "another value now") if one or is_same_occasion else ADDS
