"""The same attribute in other words: "Wombat's licence is MIT", and "Wombat is licensed under Apache 2.0".

What somebody or something has one of is told by a noun, or by a verb, and its value may stand first: "Bar Tolino is
Helen's favourite restaurant". So two statements are put in one form: the attribute and all else that is said, and the
value. Where the first is the same and the values are not, the newer one holds.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from shelfd.memory.knowledge.evolution.attribute_words import AttributeWords, attribute_words
from shelfd.memory.knowledge.evolution.compounds import FAVOURITE, parts_of
from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, ME, US, lexicon
from shelfd.memory.knowledge.evolution.manner import are_told_alike
from shelfd.memory.knowledge.evolution.measures import OF_SPEAKER, whither
from shelfd.memory.knowledge.evolution.questions import answer_two_questions
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.stems import stem
from shelfd.memory.knowledge.evolution.values import HAVE
from shelfd.memory.knowledge.evolution.verdicts import SAME, Judgement, updated
from shelfd.memory.knowledge.evolution.word_forms import are_forms

_LONGEST: Final = 16  #: words of a statement that is looked at
# By a name of this module they are found in a tenth of the time that Python 3.11 takes to find an enumeration's member.
_TELLING: Final = (Effect.SAYS, Effect.INSTEAD)
_NAME: Final = Value.NAME
_LIKE: Final = (Value.STATE, Value.QUALITY)
_STATE: Final = Value.STATE
_FIXED: Final = Arity.FIXED


class Attribute(NamedTuple):
    """What something has one of, and its value."""

    about: frozenset[str]  #: stems: whose, and which
    said: frozenset[str]  #: the words that these are of
    begins: frozenset[str]  #: of these words
    value: frozenset[str]
    is_noun: bool  #: it is named by a noun, which says that there is one


def may_be_told_otherwise(statement: Statement) -> bool:
    """Return whether a statement may tell of an attribute that has a verb as well, or that may stand behind its value.

    What another statement tells of any other attribute has the same subject, by which it is found.
    """
    language, subject, verb, link, core, *_ = statement
    if not core or not subject or language not in ALPHABETIC:
        return False
    return verb != "be" or bool(link) or _is_named(subject, language, attribute_words(language).told_otherwise)


def attribute_of(statement: Statement) -> Attribute | None:
    """Return the attribute that a statement tells of; None if it tells of none, or only supposes or denies it."""
    (
        language, subject, verb, link, core, rest, words, _, value, slot, effect, positive, event, past, real, *_,
    ) = statement  # fmt: skip
    if not core or not subject or language not in ALPHABETIC or len(words) > _LONGEST:
        return None
    known = attribute_words(language)
    has = verb in HAVE
    is_used = (has or verb in known.using) and bool(owned(statement))
    key = known.verbs.get(_joined(verb, link) if link else verb, "")
    held = "" if link and link != _WHOM.get(language) else known.holding.get(verb, "")
    has = has and not link and not (is_used and _AS[language] in words) and not known.nouns.isdisjoint(core)
    has = has and lexicon(language).lists["naming"].isdisjoint(core)  # "has a branch named release-2", of many
    first = core[0]
    is_labelled = len(core) > 1 and first in known.labels and _is_labelled(verb, link, known)
    if is_labelled:
        held = ""
    if is_labelled or (link == "de" and not known.nouns.isdisjoint(subject)):
        key = ""  # "la resolución es de 720p", and not what it is made of
    is_told = key or held or has or is_used or is_labelled
    if not is_told and (verb != "be" or link or not _is_named(subject, language, known.nouns)):
        return None  # as most
    if value is not _NAME and not _is_named_as(value, subject, core, rest, known):
        return None
    is_fact = positive and real and effect in _TELLING and slot is not _FIXED
    if not is_fact or past or event or statement.several or statement.adds:
        return None
    if "," in words:
        rest = rest - _said_of_value(words)
    if is_labelled or has:  # "is in phase 2", "occupies room 204", "has the booking code KX72"
        named_by = core[:-1] if is_labelled else core  # its last word is the value, even if it names a purpose
        at = max(at for at, word in enumerate(named_by) if word in known.nouns or (is_labelled and not at)) + 1
        named = frozenset(core[at:])
        return _told(language, (*subject, *core[:at], *rest), "", named, is_noun=True) if named else None
    if is_used:  # "uses MySQL as its database", "prefers Helix as an editor"
        return _told(language, (*subject, *rest), key, frozenset(core), is_noun=True)
    if held:
        is_named = len(core) > 1 and core[0] in lexicon(language)["appositives"] and not core[1].isdigit()
        what = core[1:] if is_named else core  # "commands the airship Halcyon"
        return _told(language, (*what, *rest), held, subject, is_noun=False)
    is_of_role = len(core) > 1 and not known.roles.isdisjoint(map(known.keys.get, subject))
    if is_of_role and first.endswith(_DONE[language]):
        return None  # "the night shift is paid double" says of nobody that it is theirs
    return _told(language, (*subject, *rest), key, frozenset(core), is_noun=not key)


def _is_named(subject: frozenset[str], language: str, nouns: AbstractSet[str]) -> bool:
    """Return whether a word is one of *nouns*, or in German ends in one, or names a favourite: "Projektstart"."""
    if not nouns.isdisjoint(subject):
        return True
    return language == "de" and any(
        word[:_ALIKE].isalpha()
        and (word.startswith(FAVOURITE) or (parts_of(word)[0] != word and parts_of(word)[-1] in nouns))
        for word in subject
    )


def _is_named_as(
    value: Value, subject: frozenset[str], core: tuple[str, ...], rest: frozenset[str], known: AttributeWords
) -> bool:
    """Return whether a state or a quality names something: a favourite colour; but a gateway of some make is down."""
    if value not in _LIKE:
        return False
    is_favourite = value is _STATE and not (known.named.isdisjoint(subject) and known.named.isdisjoint(rest))
    return is_favourite or not known.graded.isdisjoint((*subject, core[0]))


def _is_labelled(verb: str, link: str, known: AttributeWords) -> bool:
    """Return whether what follows may be a noun and its value: "is in phase 2", "occupies room 204"."""
    return verb in known.labelling or (verb == "be" and bool(link))


def _joined(verb: str, link: str) -> str:
    """Return a verb with what joins it to its value, be that certain or not: "is in the hall"."""
    return f"{verb}_{link.removesuffix(' the').replace(' ', '_')}" if link else verb


def _said_of_value(words: tuple[str, ...]) -> frozenset[str]:
    """Return what only describes a value: "Ysolde, a smuggler's daughter"; nothing if it is a time or a number."""
    after = words[words.index(",") + 1 :]
    return NOBODY if any(word[0] in "#~," for word in after) else frozenset(after)


def names(statement: Statement) -> bool:
    """Return whether the value of a statement is said to be a name: "is called Mio", "the app's name is Quillon"."""
    verb, link = statement.verb, statement.link
    known = attribute_words(statement.language)
    if verb == "be" and not link:
        return any(known.keys.get(word) == known.name for word in statement.subject)
    return known.verbs.get(_joined(verb, link)) == known.name


def owned(statement: Statement) -> frozenset[str]:
    """Return the attribute that something has, or uses a thing as or for, and whose it is.

    "Uses MySQL as its database", "uses MySQL for storage".
    """
    language, subject, verb, link, core, rest, words, *_ = statement
    if language not in ALPHABETIC:
        return NOBODY
    known = attribute_words(language)
    has = verb in HAVE
    if has and len(core) > 1 and not link and core[-2] in known.nouns:
        return subject.union(core[:-1])
    if not rest or not (has or verb in known.using):  # as most
        return NOBODY
    is_as = _AS[language] in words and not known.nouns.isdisjoint(rest)
    is_for = len(rest) <= _PURPOSE and not _FOR[language].isdisjoint(words) and not known.purposes.isdisjoint(rest)
    return subject | rest if is_as or is_for else NOBODY


def _told(language: str, said: tuple[str, ...], key: str, value: frozenset[str], *, is_noun: bool) -> Attribute | None:
    """Return the attribute of which *said* tells, and *key* if a verb does; None if nothing says whose it is."""
    known = attribute_words(language)
    words = whole = [whither(word) for word in said if word not in known.silent]
    if not known.phrased.keys().isdisjoint(words):
        words = whole = _as_one(words, known)
    if language == "de":
        words = [part for word in words for part in ((word,) if word in known.keys else parts_of(word))]
    elif any("-" in word for word in words):
        words = [part for word in words for part in _at_hyphens(word, known.keys)]
    about = frozenset([known.keys.get(word) or (word if word[0] in "#~" else stem(word, language)) for word in words])
    if key:
        about |= {key}
    if not about.isdisjoint(known.roles):  # "who reviews it is in charge", "in charge of its review"
        about = about - known.in_charge
    if not about.isdisjoint(known.implied):
        said_of = about - known.implied
        about = said_of if said_of - {key} - known.all_keys else about
    if not about.isdisjoint(known.classes):
        about = about - known.classes or about
    if known.name in about and not about.isdisjoint(known.roles) and known.kin.isdisjoint(words):
        about = about - {known.name}  # the boss who "is called Silvia" is Silvia
    if len(about) > OF_SPEAKER and ME in about:
        about = about - {ME}
    if len(about) <= 1 and known.compounds.isdisjoint(about):
        return None
    named = frozenset([word for word in words if word not in known.keys])
    begins = frozenset([word[:_ALIKE] for word in (*words, *whole) if word not in known.keys])
    begins = begins or frozenset([word[:_ALIKE] for word in words])  # "the plumber's phone number"
    return Attribute(about, named, begins, frozenset(_parted(value)), is_noun)


def _as_one(words: list[str], known: AttributeWords) -> list[str]:
    """Return words with one noun for each that is told in several: a "tarjeta gráfica" is a "gráfica"."""
    for first in known.phrased.keys() & set(words):
        for parts, noun in known.phrased[first]:
            if parts.issubset(words):
                words = [*(word for word in words if word not in parts), noun]
    return words


def _at_hyphens(word: str, nouns: Mapping[str, str]) -> Sequence[str]:
    """Return the parts of a word that is put together and no such noun itself: "living-room"."""
    is_whole = "-" not in word or word in nouns or not word.replace("-", "").isalpha()
    return (word,) if is_whole else [*filter(None, word.split("-"))]


def _parted(value: frozenset[str]) -> Iterator[str]:
    """Yield the words of a value without hyphens: "Apache-2.0" is "Apache 2.0"."""
    for word in value:
        is_code = len(word) <= _CODE or word.replace("-", "").isdigit()
        yield from (word,) if is_code else word.split("-")


def as_if_so(statement: Statement) -> Statement:
    """Return what a statement says is no longer so, as if it were: "no longer lives in the lighthouse"."""
    if statement.effect is Effect.ENDED and statement.verb and not statement.positive:
        return statement._replace(effect=Effect.SAYS, positive=True)
    return statement


def other_attribute(new: Statement, old: Statement) -> Judgement | None:
    """Return what becomes of a value of an attribute that has another now, however it is told; None if nothing does."""
    is_over = new.effect is Effect.ENDED
    told = attribute_of(as_if_so(new))
    if told is None or not any(word[:_ALIKE] in told.begins for word in old.words):
        return None  # as most
    before = attribute_of(old)
    if before is None or told.about != before.about:
        return None
    if new.amounts != old.amounts and any(word[0] == "#" for word in new.subject):
        return None  # chapter four, and chapter fourteen
    if not told.is_noun and not before.is_noun:
        if _is_somewhere(new) or _is_somewhere(old):
            return None
        is_same = (new.verb, new.link) == (old.verb, old.link)
        if not (_is_of_one(new) and _is_of_one(old) if is_same else Arity.ONE in (new.slot, old.slot)):
            return None
        if is_same and told.value == before.value:
            return None  # as was seen already
    if not are_forms((told.said ^ before.said) - {US}, new.language):
        return None
    if is_over:
        return updated(new, "no longer holds") if told.value == before.value else None
    if told.value == before.value:
        return SAME
    is_named = told.is_noun or before.is_noun  # what it is of then is no other thing
    if answer_two_questions(new, old) or not (is_named or are_told_alike(new, old)):
        return None
    common = attribute_words(new.language).common
    is_other = _is_other(told.value, before.value, common) or _is_another_code(told.value, before.value)
    return updated(new, "another value") if is_other else None


def _is_of_one(statement: Statement) -> bool:
    """Return whether what somebody leads or commands is named, so that nobody else does: the airship Meridian."""
    if statement.slot is Arity.OF_ONE:
        return True
    lists = lexicon(statement.language).lists
    return (
        len(statement.core) > 1
        and statement.verb in lists["exchangeable"]
        and statement.core[0] in lists["appositives"]
    )


def _is_other(value: frozenset[str], before: frozenset[str], common: frozenset[str]) -> bool:
    """Return whether one value cannot be another, or lie in it: a Pixel 8 is no Pixel 7, MPL 2.0 is not Apache 2.0.

    Args:
        value: Words of one.
        before: Words of the other.
        common: Words that any two may have: channel 6, and channel 11.
    """
    named, named_before = value - common or value, before - common or before
    numbers, numbers_before = (
        frozenset([word for word in each if word[0].isdigit()]) for each in (named, named_before)
    )
    names, names_before = named - numbers, named_before - numbers_before
    if names == names_before and numbers and numbers_before:
        return numbers.isdisjoint(numbers_before)
    if names and names_before:
        return names.isdisjoint(names_before)
    return named.isdisjoint(named_before)


def _is_somewhere(statement: Statement) -> bool:
    """Return whether a statement says where something is, which may be several: on the beach, and at dusk."""
    return statement.link.endswith(" the")


def _is_another_code(value: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether each of two values has a part that the other has not, and both a number: GPL-2.0, and GPL-3.0."""
    is_as_long = len(value) == len(other) and not value <= other
    return is_as_long and all(any(word[-1].isdigit() for word in each) for each in (value, other))


#: In what participles end.
_DONE: Final = {
    "en": ("ed",),
    "de": ("elt", "iert"),
    "es": ("ado", "ada", "ido", "ida"),
    "fr": ("ee", "ees", "ie", "ue"),
}
_AS: Final = {"en": "as", "de": "als", "es": "como", "fr": "comme"}
_FOR: Final = {
    "en": frozenset(("for",)),
    "de": frozenset(("fur", "zu", "zum", "zur")),
    "es": frozenset(("para",)),
    "fr": frozenset(("pour",)),
}
_PURPOSE: Final = 2  #: words of what something is used for: "local storage"
_CODE: Final = 5  #: letters of a code, as of a licence plate
_ALIKE: Final = 4  #: letters that forms of one word begin with
_WHOM: Final = {"es": "a"}  #: before somebody to whom something is done: "cuida a los niños"
