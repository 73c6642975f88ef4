"""Where what a note states is found by notes that may change it.

A slot is a subject together with what is said of it: a verb, a word of the value, or the kind of the value. Each
statement stands in a few of them, and each new one looks into those in which something could stand that it ends,
excludes, denies or repeats. So the older notes that a decision is made on are a few looks into an index.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from shelfd.memory.knowledge.evolution.attributes import as_if_so, attribute_of, may_be_told_otherwise, owned
from shelfd.memory.knowledge.evolution.circumstances import is_exchangeable
from shelfd.memory.knowledge.evolution.ending import Ending
from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, ME, STATUS, lexicon, spaceless, words_of
from shelfd.memory.knowledge.evolution.measures import measure_of
from shelfd.memory.knowledge.evolution.numbering import Ended, Places, Slot
from shelfd.memory.knowledge.evolution.offices import office_of
from shelfd.memory.knowledge.evolution.renaming import former_names, name_of
from shelfd.memory.knowledge.evolution.several_measures import each_measure
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.states import ceasing, ended_verbs
from shelfd.memory.knowledge.evolution.values import as_planned, means_of
from shelfd.memory.knowledge.evolution.verb_classes import said_by, said_by_any
from shelfd.memory.knowledge.evolution.verdicts import USE
from shelfd.memory.knowledge.evolution.withdrawing import Withdrawal, looked_for

#: Words of a value by which it is found.
_WORDS: Final = 4
#: Words of a subject from which on it does not matter whether it is the speaker's.
_LONG: Final = 3
_SILENT: Final = STATUS.union(*(words_of(language, "once") for language in ALPHABETIC))
_UNSAID: Final = _SILENT | {ME}
_NAMED: Final = 4  #: words that may say who is named as gone
_SHORT: Final = 5  #: words of a statement that has one measure at most
_FEW: Final = 64  #: sets of kinds of what may be said whose names are kept
_SPACELESS: Final = ("zh", "ja")
_VALUES: Final = frozenset((Value.TIME, Value.AMOUNT, Value.STATE))
_KINDS: Final[Mapping[str, str]] = {value: f"k {value}" for value in Value}
# By a name of this module they are found in a tenth of the time that Python 3.11 takes to find an enumeration's member.
_SAYS: Final = Effect.SAYS
_INSTEAD: Final = Effect.INSTEAD
_ONE: Final = Arity.ONE
_STATE: Final = Value.STATE
_TIME: Final = Value.TIME
_NAME: Final = Value.NAME
_AMOUNT: Final = Value.AMOUNT
_ENDED: Final = Effect.ENDED
_CHANGED: Final = Effect.CHANGED
_MOVED: Final = Effect.MOVED
_STATING: Final = (_SAYS, _INSTEAD)
_PLANNED: Final = ("planned", "scheduled", "geplant")


def _places(  # noqa: C901, PLR0912 - every statement of every note comes by here
    statements: Iterable[Statement],
) -> tuple[list[Slot], list[Slot], list[Slot]]:
    """Return the slots of *statements*, as the first of :data:`Places` are."""
    shared: list[Slot] = []
    standing: list[Slot] = []
    sought: list[Slot] = []
    for statement in statements:
        (
            language, subject, verb, link, core, rest, words, _, value, slot, effect, positive, event, past, real, now,
            _, _, _, denied, _, _, claim,
        ) = statement  # fmt: skip
        if (measured := _measured(statement)) is not None:
            shared.append(measured)
        if value in _VALUES and len(words) > _SHORT:
            sought += filter(None, map(_measured, each_measure(statement)))
        if (told := _attribute(statement)) is not None:
            shared.append(told)
        if claim is not None:
            shared.append((f"{language} s {' '.join(sorted(claim.about))}", ""))
        if value is _NAME:
            _add_names(statement, standing, sought)
        if not subject or not real or past or effect is not _SAYS:
            shared.append(_repeated(statement))
            _add_of_no_fact(statement, standing, sought)
            continue
        whom = _subject(language, subject)
        for said in said_by(language, verb):
            shared.append((whom, said))  # noqa: PERF401 - there is mostly one
        if core:
            first, *others = core[:_WORDS]
            if first[0] not in "#~":
                shared.append((whom, f"c {first}"))
            if others:
                standing += [(whom, f"c {word}") for word in others if word[0] not in "#~"]
            if positive and not event and language not in _SPACELESS and is_exchangeable(statement):
                standing.append(_exchanged(statement))
        if verb == "be" and not link and value is _NAME and len(subject) > 1 and language not in _SPACELESS:
            standing += _owned(statement)
        if verb == "be" and not link and (office := office_of(statement)) is not None:
            shared.append((f"{language} o {' '.join(sorted(office.what))}", ""))
        if value is _NAME and verb != "be" and (attribute := owned(statement)):
            shared.append((_subject(language, attribute), _KINDS[_NAME]))
        if rest and (beside := means_of(statement) or _with_whom(statement)):
            standing += [(whom, f"c {word}") for word in sorted(beside)[:_WORDS]]
        if value in _VALUES or slot is _ONE:
            shared.append((whom, _KINDS[value]))
        if link and link.split()[0] in _PLANNED:
            standing.append((whom, _KINDS[_TIME]))
        if not positive:
            standing.append((whom, _denied(statement)))
        if denied:
            sought += _instead(statement, whom)
        if now:
            sought += _now(statement, whom)
        if now or value is _STATE or (link and slot is _ONE and value is _NAME):
            sought += _by_being(statement, whom)
    return shared, standing, sought


def _add_names(statement: Statement, standing: list[Slot], sought: list[Slot]) -> None:
    """Add the slots of a name that a statement gives, and of those that what has it now may have had."""
    if name := name_of(statement):
        standing.append(_named(statement.language, name))
        sought += [_named(statement.language, former) for former in former_names(statement)]


def _add_of_no_fact(statement: Statement, standing: list[Slot], sought: list[Slot]) -> None:
    """Add the slots of what is no plain statement of fact: a change, or what somebody wants or plans."""
    if not statement.subject:
        return
    if statement.real:
        whom = _subject(statement.language, statement.subject)
        standing += _changing(statement, whom)
        sought += _by_value(statement, whom) if statement.effect in _STATING else _by_effect(statement, whom)
    elif not statement.past and statement.language not in _SPACELESS:
        standing += _intended(statement)
        sought += _otherwise_intended(statement)
        if (planned := as_planned(statement)) is not None:
            whom = _subject(statement.language, planned.subject)
            standing += [(whom, said) for said in said_by(statement.language, statement.verb)]
            standing += [(whom, f"c {word}") for word in statement.core[:_WORDS] if word[0] not in "#~"]


def places_of(statements: Sequence[Statement], found: Sequence[Withdrawal]) -> Places:
    """Return the slots of a note that states *statements* and names what was *found* as ended."""
    ended: list[Ended] = list(withdrawing(found)) if found else []
    if found and len(statements) > 1:
        ended += _succeeding(statements, found)
    return *_places(statements), ended


def _succeeding(statements: Iterable[Statement], found: Iterable[Withdrawal]) -> Iterator[Ended]:
    """Yield where that may stand which others do now, of who is named as gone: "Odo left; Ida leads the choir"."""
    kinds = {said: None for each in statements for said in _done(each)}
    if not kinds:
        return
    for each in found:
        if each.kind in _GONE and not each.is_kept:
            gone = {word for word, form in each.phrase if form} | each.before
            named = [word for word in each.said if word in gone and word[0] not in "#~"][:_NAMED]
            subjects = dict.fromkeys(named + [" ".join(sorted({*pair})) for pair in pairwise(named)])
            yield [f"{each.language} {subject}" for subject in subjects], [*kinds][:_WORDS]


_GONE: Final = (Ending.ENDS, Ending.ENDED, Ending.LEAVES)


def _done(statement: Statement) -> Iterator[str]:
    is_so = statement.effect is _SAYS and statement.positive and statement.real and not statement.event
    if is_so and statement.core and statement.verb != "be":
        yield from said_by(statement.language, statement.verb)


def slots_of(statements: Iterable[Statement]) -> list[Slot]:
    """Return the slots in which *statements* stand."""
    shared, standing, _ = _places(statements)
    return shared + standing


def wanted(statements: Iterable[Statement]) -> list[Slot]:
    """Return the slots in which something may stand that *statements* change or repeat."""
    shared, _, sought = _places(statements)
    return shared + sought


def _intended(statement: Statement) -> list[Slot]:
    """Return where that stands which somebody wants, or which is to be."""
    if statement.effect is not _SAYS:
        return []
    whom = _subject(statement.language, statement.subject)
    return [(whom, said) for said in said_by(statement.language, statement.verb)]


def _otherwise_intended(statement: Statement) -> Iterator[Slot]:
    """Yield where that may stand which was wanted, or planned, before something else was."""
    if not statement.denied and statement.effect is not _ENDED:
        return
    whom = _subject(statement.language, statement.subject)
    yield from _by_value(statement, whom) if statement.effect in _STATING else _by_effect(statement, whom)


def _changing(statement: Statement, subject: str) -> Iterator[Slot]:
    """Yield the slots of a statement that tells of a change: where what is so since then may change again."""
    if _is_place(statement):
        yield subject, _KINDS[_NAME]
    elif statement.effect is _CHANGED and statement.value in _VALUES:
        yield subject, _KINDS[statement.value]
    elif statement.effect is _ENDED:
        yield subject, _ended(statement)


def contradicted(statements: Iterable[Statement]) -> Iterator[Slot]:
    """Yield the slots in which something may stand that *statements* contradict: what they deny, or that denies them.

    Of what can change, another value is no contradiction, but a change.
    """
    for statement in statements:
        if not _can_change(statement):
            continue
        subject = _subject(statement.language, statement.subject)
        if statement.positive:
            yield subject, _denied(statement)
        if not statement.positive or statement.slot is Arity.FIXED:
            yield subject, said_by(statement.language, statement.verb)[0]


def withdrawing(found: Iterable[Withdrawal]) -> Iterator[Ended]:
    """Yield the subjects of which something may stand that is named as ended, with what may be said of each."""
    for language, subjects, kinds in looked_for(found):
        yield [_subject(language, subject) for subject in subjects], _all_kinds(language, kinds)


@lru_cache(_FEW)
def _all_kinds(language: str, kinds: tuple[str, ...]) -> Sequence[str]:
    """Return *kinds* of what may be said, a verb as all that say nearly the same: those of one note are the same."""
    return [one for said in kinds for one in (said_by(language, said[2:]) if said[:2] == "v " else (said,))]


def _denied(statement: Statement) -> str:
    return "d" + said_by(statement.language, statement.verb)[0].removeprefix("v")


def _ended(statement: Statement) -> str:
    """What is said of somebody who has given something up, and may take it up again."""
    if not statement.verb:
        return f"e {statement.core[-1] if statement.core else ''}"
    return "e" + said_by(statement.language, statement.verb)[0].removeprefix("v")


def _can_change(statement: Statement) -> bool:
    """Return whether anything can become of a statement but that it is repeated."""
    return bool(statement.subject) and statement.real and not statement.past and statement.effect is _SAYS


def _is_place(statement: Statement) -> bool:
    """Return whether a statement says where something has moved to, which ends when it moves on."""
    is_so = statement.real and statement.positive and not statement.past
    return bool(statement.subject) and is_so and statement.effect is _MOVED and statement.value is _NAME


def _owned(statement: Statement) -> list[Slot]:
    """Return where that stands which somebody has of a kind, for whoever gives it away: Tom's phone is a Pixel."""
    lists, subject = lexicon(statement.language).lists, statement.subject
    owners = {subject - lists["concrete_nouns"], subject - lists["concrete_nouns"] - lists["nouns"]} - {NOBODY, subject}
    words = [word for word in statement.core[:_WORDS] if word[0] not in "#~"]
    return [(_subject(statement.language, owner), f"c {word}") for owner in owners for word in words]


def _measured(statement: Statement) -> Slot | None:
    """Return where that stands which measures the same, in whatever words; None if nothing is measured."""
    measure = measure_of(statement)
    return None if measure is None else (f"{statement.language} m {measure.kind} {' '.join(sorted(measure.about))}", "")


def _attribute(statement: Statement) -> Slot | None:
    """Return where that stands which tells of the same attribute, in whatever words; None if none is told of."""
    told = attribute_of(as_if_so(statement)) if may_be_told_otherwise(statement) else None
    return None if told is None else (f"{statement.language} a {' '.join(sorted(told.about))}", "")


def _with_whom(statement: Statement) -> frozenset[str]:
    """Return with whom, or where, something is done that ends when somebody leaves there: plays in a quartet."""
    if statement.language in _SPACELESS or statement.link:
        return NOBODY
    words = lexicon(statement.language)
    return statement.rest if statement.verb == "be" or statement.verb in words["practising"] else NOBODY


def _named(language: str, name: frozenset[str]) -> Slot:
    return f"{language} n {' '.join(sorted(name))}", ""


def _repeated(statement: Statement) -> Slot:
    return f"{statement.language} w {' '.join(statement.words)}", ""


def _subject(language: str, words: frozenset[str]) -> str:
    if len(words) == 1:
        return f"{language} {' '.join(words)}"
    # "My target weight" is looked for as "target weight", the status of a ticket is what that is, and the weekly class
    # is the class.
    unsaid = _SILENT if len(words) < _LONG else _UNSAID
    return f"{language} {' '.join(sorted(words - unsaid))}"


def _by_value(statement: Statement, subject: str) -> Iterator[Slot]:
    """Yield where something may stand that a statement changes which itself cannot change."""
    for verb in said_by(statement.language, statement.verb):
        yield subject, verb
    if statement.core and (word := statement.core[0])[0] not in "#~":
        yield subject, f"c {word}"
    if statement.value in _VALUES or statement.slot is _ONE:
        yield subject, _KINDS[statement.value]
    yield from _instead(statement, subject)
    if statement.now:
        yield from _now(statement, subject)
    if statement.now or statement.value is _STATE:
        yield from _by_being(statement, subject)


def _instead(statement: Statement, subject: str) -> Iterator[Slot]:
    """Yield where that may stand which is denied, or what was said of another whose place is taken."""
    yield from ((subject, f"c {word}") for word in sorted(statement.denied)[:_WORDS])
    if statement.effect is _INSTEAD or (statement.corrects and statement.denied):
        replaced = _subject(statement.language, statement.denied)
        yield from ((replaced, verb) for verb in said_by(statement.language, statement.verb))


def _now(statement: Statement, subject: str) -> list[Slot]:
    """Return where that may stand which another did, or which was given up, before what is so now."""
    core = statement.core
    found = [_exchanged(statement)] if core else []
    if statement.verb != "be":
        found += [(subject, _ended(statement)), (subject, f"e {core[-1] if core else ''}")]
    named = statement.subject
    if statement.link and len(named) > 1 and statement.effect is _SAYS:
        # The speaker of the kitchen, which was there, is somewhere else.
        found += [(_subject(statement.language, named - {word}), f"c {word}") for word in named]
    return found


def _by_being(statement: Statement, subject: str) -> list[Slot]:
    """Return where something else may stand that cannot be so any more: it is elsewhere now, or who did it is dead."""
    if statement.language in _SPACELESS:
        return []
    language, verb = statement.language, statement.verb
    words, now = lexicon(language), statement.now
    is_place = now or (statement.link != "" and statement.value is _NAME)
    verbs = ended_verbs(statement) if statement.value is _STATE else NOBODY
    if is_place and verb in words.lists["placing"]:
        verbs = verbs | words.lists["placing"] if verbs else words.lists["placing"]
    elif now and verb in words.ruling_out:
        verbs = verbs | {"be"}
    return [(subject, said) for said in said_by_any(language, verbs)] if verbs else []


def _by_effect(statement: Statement, subject: str) -> Iterator[Slot]:
    """Yield where something may stand that a statement ends which tells of a change."""
    yield from ((subject, said) for said in _ending(statement))


def _ending(statement: Statement) -> Iterator[str]:
    effect, language = statement.effect, statement.language
    if effect is Effect.GONE:
        yield from (_KINDS[_TIME], _KINDS[_STATE])
        yield from ("c in-progress", "c progress")
    elif effect is Effect.REMOVED:
        yield from said_by(language, "be")
        verbs = NOBODY if language in _SPACELESS else lexicon(language)["operating"]
        yield from said_by_any(language, verbs | ceasing(statement) if verbs else verbs)
    elif effect is _MOVED and statement.value not in (_TIME, _AMOUNT):
        home = spaceless(language).home if language in _SPACELESS else lexicon(language).home
        yield from said_by(language, home)
        yield _KINDS[_NAME]
    elif effect is Effect.RENEWED and statement.value is _NAME:
        yield from ("v be", *said_by(language, USE.get(language, "")))
        yield from (f"c {word}" for word in statement.core[:_WORDS])
    elif effect in (_ENDED, Effect.LEFT):
        if statement.verb:
            yield from said_by(language, statement.verb)
        yield from (f"c {word}" for word in statement.core[:_WORDS])
        if statement.value in _VALUES:
            yield _KINDS[statement.value]
    else:
        yield _KINDS[statement.value]


def _exchanged(statement: Statement) -> Slot:
    return f"{statement.language} x {statement.verb} {' '.join(statement.core)}", ""
