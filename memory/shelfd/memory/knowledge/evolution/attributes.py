"""The same attribute in other words: "Wombat's licence is MIT", and "Wombat is licensed under Apache 2.0".

What somebody or something has one of is told by a noun, or by a verb, and its value may stand first: "Bar Tolino is
Helen's favourite restaurant". So two statements are put in one form: the attribute and all else that is said, and the
value. Where the first is the same and the values are not, the newer one holds.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, ME, US, lexicon, load
from shelfd.memory.knowledge.evolution.manner import are_told_alike
from shelfd.memory.knowledge.evolution.measures import OF_SPEAKER, are_forms, whither
from shelfd.memory.knowledge.evolution.questions import answer_two_questions
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.stems import stem
from shelfd.memory.knowledge.evolution.values import HAVE
from shelfd.memory.knowledge.evolution.verdicts import SAME, USE, Judgement, updated

_LONGEST: Final = 16  #: words of a statement that is looked at
# By a name of this module they are found in a tenth of the time that Python 3.11 takes to find an enumeration's member.
_TELLING: Final = (Effect.SAYS, Effect.INSTEAD)
_NAME: Final = Value.NAME
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
    return verb != "be" or bool(link) or not _known(language).told_otherwise.isdisjoint(subject)


def attribute_of(statement: Statement) -> Attribute | None:
    """Return the attribute that a statement tells of; None if it tells of none, or only supposes or denies it."""
    (
        language, subject, verb, link, core, rest, words, _, value, slot, effect, positive, event, past, real, *_,
    ) = statement  # fmt: skip
    if not core or not subject or language not in ALPHABETIC or len(words) > _LONGEST:
        return None
    known = _known(language)
    is_used = verb in known.using and bool(owned(statement))
    key = known.verbs.get(f"{verb}_{link.replace(' ', '_')}" if link else verb, "")
    held = "" if link else known.holding.get(verb, "")
    has = verb in HAVE and not link and not known.nouns.isdisjoint(core)
    if not key and not held and not has and not is_used and (verb != "be" or link or known.nouns.isdisjoint(subject)):
        return None  # as most
    if value is not _NAME or slot is _FIXED or effect not in _TELLING or not (positive and real) or past or event:
        return None
    if statement.several or statement.adds:
        return None
    if has:
        at = max(at for at, word in enumerate(core) if word in known.nouns) + 1
        named = frozenset(core[at:])
        return _told(language, (*subject, *core[:at], *rest), "", named, is_noun=True) if named else None
    if is_used:  # "uses MySQL as its database"
        return _told(language, (*subject, *rest), "", frozenset(core), is_noun=True)
    if held:
        is_named = len(core) > 1 and core[0] in lexicon(language)["appositives"]
        what = core[1:] if is_named else core  # "commands the airship Halcyon"
        return _told(language, (*what, *rest), held, subject, is_noun=False)
    return _told(language, (*subject, *rest), key, frozenset(core), is_noun=not key)


def names(statement: Statement) -> bool:
    """Return whether the value of a statement is said to be a name: "is called Mio", "the app's name is Quillon"."""
    verb, link = statement.verb, statement.link
    known = _known(statement.language)
    if verb == "be" and not link:
        return any(known.keys.get(word) == known.name for word in statement.subject)
    return known.verbs.get(f"{verb}_{link.replace(' ', '_')}" if link else verb) == known.name


def owned(statement: Statement) -> frozenset[str]:
    """Return the attribute that something has, or uses a thing as, and whose it is: "uses MySQL as its database"."""
    language, subject, verb, link, core, rest, words, *_ = statement
    if language not in ALPHABETIC:
        return NOBODY
    known = _known(language)
    if verb in HAVE:
        return subject.union(core[:-1]) if len(core) > 1 and not link and core[-2] in known.nouns else NOBODY
    if not rest or verb not in known.using or _AS[language] not in words or known.nouns.isdisjoint(rest):
        return NOBODY
    return subject | rest


def _told(language: str, said: tuple[str, ...], key: str, value: frozenset[str], *, is_noun: bool) -> Attribute | None:
    """Return the attribute of which *said* tells, and *key* if a verb does; None if nothing says whose it is."""
    known = _known(language)
    words = [whither(word) for word in said if word not in known.silent]
    about = frozenset([known.keys.get(word) or (word if word[0] in "#~" else stem(word, language)) for word in words])
    if key:
        about |= {key}
    unsaid = {US} | known.implied
    about = about - unsaid if about - unsaid - {key} - known.all_keys else about
    about = about - known.classes or about
    if len(about) > OF_SPEAKER:
        about = about - {ME}
    named = frozenset(word for word in words if word not in known.keys)
    if len(about) <= 1:
        return None
    return Attribute(about, named, frozenset([word[:_ALIKE] for word in named]), frozenset(_parted(value)), is_noun)


def _parted(value: frozenset[str]) -> Iterator[str]:
    """Yield the words of a value without hyphens: "Apache-2.0" is "Apache 2.0"."""
    for word in value:
        yield from (word,) if word.replace("-", "").isdigit() else word.split("-")


def other_attribute(new: Statement, old: Statement) -> Judgement | None:
    """Return what becomes of a value of an attribute that has another now, however it is told; None if nothing does."""
    told = attribute_of(new)
    if told is None or not any(word[:_ALIKE] in told.begins for word in old.words):
        return None  # as most
    before = attribute_of(old)
    if before is None or told.about != before.about:
        return None
    if not told.is_noun and not before.is_noun:
        is_one = Arity.ONE in (new.slot, old.slot)
        if not is_one or (new.verb, new.link) == (old.verb, old.link):
            return None
    if not are_forms((told.said ^ before.said) - {US}, new.language):
        return None
    if told.value == before.value:
        return SAME
    if answer_two_questions(new, old) or not are_told_alike(new, old):
        return None
    lists = lexicon(new.language).lists
    titles = lists["titles"] | lists["establishments"]
    is_other = (told.value - titles or told.value).isdisjoint(before.value - titles or before.value)
    return updated(new, "another value") if is_other else None


_AS: Final = {"en": "as", "de": "als", "es": "como", "fr": "comme"}
_ALIKE: Final = 4  #: letters that forms of one word begin with


class _Known(NamedTuple):
    """How a language tells of attributes."""

    verbs: dict[str, str]  #: verb, and what joins it to a value -> attribute
    holding: dict[str, str]  #: verb of what who is the value does -> attribute
    keys: dict[str, str]  #: noun -> attribute
    name: str  #: the attribute that is a name
    using: frozenset[str]  #: verbs of using something as something
    nouns: frozenset[str]
    told_otherwise: frozenset[str]  #: of these, those that have a verb, or may stand behind their value
    all_keys: frozenset[str]
    silent: frozenset[str]
    implied: frozenset[str]  #: stems of whom a note speaks that names nobody
    classes: frozenset[str]  #: stems of nouns that only say of what kind something is that is named


#: Lists of words for what there is one of.
_NAMING: Final = ("nouns", "concrete_nouns", "personal", "offices", "modifiers")


@cache
def _known(language: str) -> _Known:
    """Return how *language* tells of attributes, the first of which is a name."""
    data, lists = load(f"{language}.json"), lexicon(language).lists
    verbs, holding, keys = dict[str, str](), dict[str, str](), dict[str, str]()
    for name, by in (("attributes", verbs), ("held", holding)):
        for group in data[name].split("|"):
            nouns, _, telling = group.partition("/")
            first, *_ = names = nouns.split()
            keys.update({noun: keys.get(noun, f"={first}") for noun in names})
            by.update(dict.fromkeys(telling.split(), keys[first]))
    nouns = keys.keys() | frozenset[str]().union(*(lists[name] for name in _NAMING))
    nouns -= {noun for noun in nouns if (noun[-1] == "s" and noun[:-1] in nouns) or noun[-3:] == "ies"}  # of several
    silent = lists["prepositions"] | lists["of"] | lists["determiners"] | {"be"}
    using = next((frozenset(each) for each in lexicon(language).classes if USE[language] in each), frozenset[str]())
    return _Known(
        verbs, holding, keys, next(iter(keys.values())), using - lists["have"], frozenset(nouns),
        lists["modifiers"] | keys.keys(), frozenset(keys.values()), silent,
        frozenset([stem(word, language) for word in data["ending"]["implied"].split()]),
        frozenset([stem(word, language) for word in lists["class_nouns"]]),
    )  # fmt: skip
