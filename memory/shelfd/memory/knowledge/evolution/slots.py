"""Where what a note states is found by notes that may change it.

A slot is a subject together with what is said of it: a verb, a word of the value, or the kind of the value. Each
statement stands in a few of them, and each new one looks into those in which something could stand that it ends,
excludes, denies or repeats. So the older notes that a decision is made on are a few looks into an index.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias
from zlib import crc32

from pydantic_core import from_json, to_json

from shelfd.memory.knowledge.evolution.circumstances import DEAD, is_exchangeable
from shelfd.memory.knowledge.evolution.lexicon import lexicon, spaceless
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.verdicts import USE
from shelfd.memory.knowledge.evolution.withdrawing import Withdrawal, looked_for

#: Words of a value by which it is found.
_WORDS: Final = 4
#: A subject, and what is said of it; "" if all stands in the first.
Slot: TypeAlias = tuple[str, str]
_SPACELESS: Final = ("zh", "ja")
_VALUES: Final = frozenset((Value.TIME, Value.AMOUNT, Value.STATE))
_KINDS: Final[Mapping[str, str]] = {value: f"k {value}" for value in Value}
# By a name of this module they are found in a tenth of the time that Python 3.11 takes to find an enumeration's member.
_SAYS: Final = Effect.SAYS
_INSTEAD: Final = Effect.INSTEAD
_ONE: Final = Arity.ONE
_STATE: Final = Value.STATE
_PLANNED: Final = ("planned", "scheduled", "geplant")


class Numbering:
    """Gives slots the numbers they are stored by, those of one subject beside each other.

    Two slots may have one number: then a note is looked at that has nothing to do with the other. What a note states
    stands in slots most of which it looks into, too: one numbering for both works them out once.

    Args:
        salt: Tells those of one nugget from those of others.
    """

    def __init__(self, salt: int) -> None:
        self._begun = crc32(b"%d " % salt)  # a subject's number goes on from there
        self._places: dict[str, int] = {}
        self._said: dict[str, int] = {}

    def of(self, slots: Iterable[Slot]) -> list[int]:
        """Return the numbers of *slots*, each once, in order."""
        places, known = self._places, self._said
        numbers: list[int] = []
        for subject, said in slots:
            if (place := places.get(subject)) is None:
                if "|" in subject:  # which parted the two once: slots of older notes are stored by that
                    first, _, rest = (f"{subject}|{said}" if said else subject).partition("|")
                    numbers.append(crc32(first.encode(), self._begun) << 16 | crc32(rest.encode()) & 0xFFFF)
                    continue
                place = places[subject] = crc32(subject.encode(), self._begun) << 16
            if (within := known.get(said)) is None:
                within = known[said] = crc32(said.encode()) & 0xFFFF
            numbers.append(place | within)
        return sorted(set(numbers))


def slots_of(statements: Iterable[Statement]) -> Iterator[Slot]:
    """Yield the slots in which *statements* stand."""
    for statement in statements:
        if not _can_change(statement):
            yield from _changing(statement)
            continue
        subject = _subject(statement.language, statement.subject)
        for verb in _verbs(statement.language, statement.verb):
            yield subject, verb
        for word in statement.core[:_WORDS]:
            if word[0] not in "#~":
                yield subject, f"c {word}"
        if statement.value in _VALUES or statement.slot is _ONE:
            yield subject, _KINDS[statement.value]
        if statement.link and statement.link.split()[0] in _PLANNED:
            yield subject, _KINDS[Value.TIME]
        if _is_exchangeable(statement):
            yield _exchanged(statement)
        if not statement.positive:
            yield subject, _denied(statement)


def _changing(statement: Statement) -> Iterator[Slot]:
    """Yield the slots of a statement that tells of a change: where what is so since then may change again."""
    yield _repeated(statement)
    if not statement.subject or not statement.real:
        return
    subject = _subject(statement.language, statement.subject)
    if _is_place(statement):
        yield subject, _KINDS[Value.NAME]
    elif statement.effect is Effect.CHANGED and statement.value in _VALUES:
        yield subject, _KINDS[statement.value]
    elif statement.effect is Effect.ENDED:
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
            yield subject, _verbs(statement.language, statement.verb)[0]


def wanted(statements: Iterable[Statement]) -> Iterator[Slot]:
    """Yield the slots in which something may stand that *statements* change or repeat."""
    for statement in statements:
        if not _can_change(statement):
            yield _repeated(statement)
        if not statement.subject or not statement.real:
            continue
        subject = _subject(statement.language, statement.subject)
        if statement.effect in (_SAYS, _INSTEAD):
            yield from _by_value(statement, subject)
        else:
            yield from ((subject, said) for said in _by_effect(statement))


def withdrawing(found: Iterable[Withdrawal]) -> Iterator[Slot]:
    """Yield the slots in which something may stand that is named as ended."""
    subjects: dict[frozenset[str], str] = {}  # all are of one language
    for language, subject, said in looked_for(found):
        if (name := subjects.get(subject)) is None:
            name = subjects[subject] = _subject(language, subject)
        yield name, said


def _denied(statement: Statement) -> str:
    return "d" + _verbs(statement.language, statement.verb)[0].removeprefix("v")


def _ended(statement: Statement) -> str:
    """What is said of somebody who has given something up, and may take it up again."""
    if not statement.verb:
        return f"e {statement.core[-1] if statement.core else ''}"
    return "e" + _verbs(statement.language, statement.verb)[0].removeprefix("v")


def _can_change(statement: Statement) -> bool:
    """Return whether anything can become of a statement but that it is repeated."""
    return bool(statement.subject) and statement.real and not statement.past and statement.effect is _SAYS


def _is_place(statement: Statement) -> bool:
    """Return whether a statement says where something has moved to, which ends when it moves on."""
    is_so = statement.real and statement.positive and not statement.past
    return bool(statement.subject) and is_so and statement.effect is Effect.MOVED and statement.value is Value.NAME


def _repeated(statement: Statement) -> Slot:
    return f"{statement.language} w {' '.join(statement.words)}", ""


def _subject(language: str, words: Collection[str]) -> str:
    return f"{language} {' '.join(sorted(words) if len(words) > 1 else words)}"


def _verbs(language: str, verb: str) -> list[str]:
    """Return what is said by a verb and all that say nearly the same."""
    return _classes(language).get(verb) or [f"v {verb}"]


@cache
def _classes(language: str) -> dict[str, list[str]]:
    """Return verb -> what is said by it: the numbers of the classes that it is in."""
    found: dict[str, list[str]] = {}
    for at, verbs in enumerate(() if language in _SPACELESS else lexicon(language).classes):
        for verb in verbs:
            found.setdefault(verb, []).append(f"v {at}")
    return found


def _by_value(statement: Statement, subject: str) -> Iterator[Slot]:
    verbs = _verbs(statement.language, statement.verb)
    for verb in verbs:
        yield subject, verb
    if statement.core and (word := statement.core[0])[0] not in "#~":
        yield subject, f"c {word}"
    if statement.denied:
        yield from ((subject, f"c {word}") for word in sorted(statement.denied)[:_WORDS])
    if statement.value in _VALUES or statement.slot is _ONE:
        yield subject, _KINDS[statement.value]
    if statement.effect is _INSTEAD:
        replaced = _subject(statement.language, statement.denied)
        yield from ((replaced, verb) for verb in verbs)
    if statement.now and statement.core:
        yield _exchanged(statement)
    if statement.now and statement.verb != "be":
        yield subject, _ended(statement)
        yield subject, f"e {statement.core[-1] if statement.core else ''}"
    if (statement.now or statement.value is _STATE) and statement.language not in _SPACELESS:
        yield from _by_being(statement, subject)


def _by_being(statement: Statement, subject: str) -> Iterator[Slot]:
    """Yield where something else may stand that cannot be so any more: it is elsewhere now, or who did it is dead."""
    words, verbs = lexicon(statement.language), NOBODY
    if statement.now and statement.verb in words["placing"]:
        verbs = words["placing"]
    elif statement.value is _STATE and statement.core in DEAD:
        verbs = words["living"]
    elif statement.now and words.ruling_out(statement.verb):
        verbs = frozenset(("be",))
    for one in sorted(verbs):
        yield from ((subject, verb) for verb in _verbs(statement.language, one))


def _by_effect(statement: Statement) -> Iterator[str]:
    effect, language = statement.effect, statement.language
    if effect is Effect.GONE:
        yield _KINDS[Value.TIME]
        yield from ("c in-progress", "c progress")
    elif effect is Effect.REMOVED:
        serving = () if language in _SPACELESS else sorted(lexicon(language)["serving"])
        yield from {verb: None for one in ("be", *serving) for verb in _verbs(language, one)}
    elif effect is Effect.MOVED and statement.value not in (Value.TIME, Value.AMOUNT):
        home = spaceless(language).home if language in _SPACELESS else lexicon(language).home
        yield from _verbs(language, home)
        yield _KINDS[Value.NAME]
    elif effect is Effect.RENEWED and statement.value is Value.NAME:
        yield from ("v be", *_verbs(language, USE.get(language, "")))
        yield from (f"c {word}" for word in statement.core[:_WORDS])
    elif effect in (Effect.ENDED, Effect.LEFT):
        if statement.verb:
            yield from _verbs(language, statement.verb)
        yield from (f"c {word}" for word in statement.core[:_WORDS])
        if statement.value in _VALUES:
            yield _KINDS[statement.value]
    else:
        yield _KINDS[statement.value]


def _is_exchangeable(statement: Statement) -> bool:
    """Return whether another may do instead what the subject does."""
    if statement.language in _SPACELESS or not statement.core or statement.event or not statement.positive:
        return False
    return is_exchangeable(statement)


def _exchanged(statement: Statement) -> Slot:
    return f"{statement.language} x {statement.verb} {' '.join(statement.core)}", ""


class Stated(NamedTuple):
    """What a note states."""

    statements: Sequence[Statement]

    def encoded(self) -> str:
        """Return it as the text it is stored as."""
        return encode(self.statements)


def encode(statements: Iterable[Statement]) -> str:
    """Return *statements* as the text they are stored as."""
    return to_json([_plain(statement) for statement in statements]).decode()


def _plain(statement: Statement) -> tuple[Any, ...]:
    language, subject, verb, link, core, rest, words, amounts, value, slot, effect, *marks, denied = statement
    return (
        language, sorted(subject), verb, link, core, sorted(rest), words, amounts,
        _TEXTS[value], _TEXTS[slot], _TEXTS[effect],  # which are written three times as fast
        *marks, sorted(denied),
    )  # fmt: skip


_READ: Final = {
    **dict.fromkeys(("subject", "rest", "denied"), frozenset),
    **dict.fromkeys(("core", "words", "amounts"), tuple),
    "value": Value,
    "slot": Arity,
    "effect": Effect,
}
_TEXTS: Final[Mapping[str, str]] = {str(one): str(one) for kind in (Value, Arity, Effect) for one in kind}
_CONVERTED: Final = [(Statement._fields.index(name), read) for name, read in _READ.items()]


def decode(said: str) -> tuple[Statement, ...]:
    """Return the statements that :func:`encode` was given."""
    return tuple(_statement(values) for values in from_json(said))


def _statement(values: list[Any]) -> Statement:
    for at, read in _CONVERTED:
        values[at] = read(values[at])
    return Statement._make(values)
