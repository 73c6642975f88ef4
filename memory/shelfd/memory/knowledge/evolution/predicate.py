"""What a subject's verb is followed by, read as a statement: a link, a value and what is said besides."""

from typing import Final

from shelfd.memory.knowledge.evolution.arity import arity_of, is_make_of
from shelfd.memory.knowledge.evolution.lexicon import NOUN_FIRST, AlphabeticLexicon
from shelfd.memory.knowledge.evolution.manner import is_description, is_to_be_done, manner_of
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.verbs import form_of, is_participle
from shelfd.memory.knowledge.evolution.whom import subject_of
from shelfd.memory.knowledge.evolution.wordorder import in_order, turned, with_particle

# By a name of this module they are found in a tenth of the time that Python 3.11 takes to find an enumeration's member.
_SAYS: Final = Effect.SAYS
_ONE: Final = Arity.ONE
_NAME: Final = Value.NAME
_AMOUNT: Final = Value.AMOUNT
_QUALITY: Final = Value.QUALITY
#: Makes a statement of all its fields: in a third of the time, and each clause of each note is one.
_new: Final = tuple.__new__
#: Between two values.
AND_OR: Final = {
    "en": frozenset(("and", "or")),
    "de": frozenset(("und", "oder")),
    "es": frozenset(("y", "o", "e", "u")),
    "fr": frozenset(("et", "ou")),
}


def content(words: list[str], lexicon: AlphabeticLexicon) -> tuple[str, ...]:
    """Return the words that make a difference, the speaker as one word."""
    silent = lexicon.silent
    said = words if silent.isdisjoint(words) else [word for word in words if word not in silent]
    if not lexicon.speaking.isdisjoint(said):
        said = [lexicon.spoken.get(word, word) for word in said]
    return tuple(said)


def split_value(value: tuple[str, ...], lexicon: AlphabeticLexicon) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return a value up to its first preposition, and what is said besides."""
    if len(value) > 1:
        prepositions = lexicon.lists["prepositions"]
        for at, word in enumerate(value):
            if at and (word in prepositions or word == "," or (word[0] == "~" and value[0][0] != "~")):
                return value[:at], frozenset(value[at:]) - prepositions - {","}
    return value, NOBODY


def kind_of(core: tuple[str, ...], proper: frozenset[str], lexicon: AlphabeticLexicon) -> Value:
    """Return of what kind a value is, by its words."""
    if not core:
        return Value.NONE
    for word in core:
        if word[0] == "#":
            return _AMOUNT
    if core[0].startswith("~"):
        return Value.TIME
    if len(core) == 1 and (core[0] in lexicon.states or core[0].startswith(lexicon.shading)) and lexicon.is_state(core):
        return Value.STATE
    if len(core) > 1 and not lexicon.lists["shades"].isdisjoint(core) and lexicon.is_state(core):
        return Value.STATE
    qualities = lexicon.lists["qualities"]
    if qualities.isdisjoint(core) or not any(word in qualities and word not in proper for word in core):  # as most
        return _NAME
    is_described = len(core) > 1 and core[-1] in proper and lexicon.language in NOUN_FIRST  # "la petite Rosalie"
    return _NAME if is_described else _QUALITY


#: Kinds of values that are told by a name, or with an article and without one.
_DESCRIBED: Final = (_NAME, _QUALITY, Value.STATE)


def stated(
    subject: list[str],
    verb: str,
    after: list[str],
    amounts: list[float],
    proper: frozenset[str],
    lexicon: AlphabeticLexicon,
) -> Statement:
    """Read what a subject's verb is followed by."""
    lists, language = lexicon.lists, lexicon.language
    is_be = verb in lists["be"]
    lemma, told = ("be", verb in lists["be_past"]) if is_be else form_of(verb, lexicon)
    if language != "en" and verb in lists["perfect"] and after and after[-1].endswith(("t", "en", "ado", "ido")):
        told = told or after[-1].startswith("ge") or "ge" in after[-1][:4]
    if language == "de" and not is_be:
        lemma, after = with_particle(lemma, after, proper, lexicon)
    date: list[str] = []
    if subject and subject[0] in lists["prepositions"] and any(word[0] == "~" for word in subject):
        date = _date_of(subject)
        subject = subject[len(date) :]
    unsaid = lists["unsaid"]
    raw_after = after if unsaid.isdisjoint(after) else [word for word in after if word not in unsaid]
    if is_be and language == "de":
        raw_after = in_order(raw_after, lexicon, proper)
    if is_be:
        subject, raw_after, proper = turned(subject, raw_after, proper, lexicon)
    link, value = link_of(raw_after, is_be, lexicon)
    words = content(value, lexicon)
    core, rest = split_value(words, lexicon)
    kind = kind_of(core, proper, lexicon)
    owner = subject_of(subject, lexicon, proper)
    owner = owner if kind is not Value.STATE else owner - lexicon.states.get(core[0], NOBODY) or owner  # "the lost bag"
    if link == "de" and kind is _AMOUNT and is_be:
        link = ""  # "es de 750 euros", "est de 750 euros"
    if kind is _NAME and _is_told_of(subject, lemma, link, core, value, proper, lexicon):
        kind = _QUALITY
    if is_be and link in lists["places"] and (proper.isdisjoint(core) or _is_owned(core, proper, lexicon)):
        is_certain = value[:1] and (value[0] in lists["definite"] or link in lists["definite"] or value[0] in proper)
        link += " the" if is_certain else " a"
    if kind is _QUALITY and _is_spot(link, core, value, lexicon):
        kind = _NAME  # in the old mill, in the bank safe
    slot = arity_of(subject, lemma, link, core, kind, proper, lexicon)
    is_told_how = bool(link) or is_be or lemma in lists["abiding"]
    manner = manner_of(link, value, core, proper, lexicon) if is_told_how and core and kind in _DESCRIBED else ""
    if link and not lexicon.contracted.keys().isdisjoint(link.split()):
        link = " ".join([lexicon.contracted.get(word, word) for word in link.split()])  # "im Flur", "in der Küche"
    if is_be and slot is _ONE:
        owner = owner - lists["new"] or owner
    whom = sorted(owner) if owner else content(subject, lexicon)
    everything = (*(content(date, lexicon) if date else ()), *whom, lemma, *link.split(), *words)
    return _new(
        Statement,
        (
            language, owner, lemma, link, core, rest, everything, tuple(amounts), kind, slot,
            _SAYS, True, told, bool(date), True, False, False, False, not AND_OR[language].isdisjoint(core),
            NOBODY, manner, NOBODY, None,
        ),
    )  # fmt: skip


def _is_told_of(
    subject: list[str],
    verb: str,
    link: str,
    core: tuple[str, ...],
    value: list[str],
    proper: frozenset[str],
    lexicon: AlphabeticLexicon,
) -> bool:
    """Return whether a value says what sort of thing something is, and does not name one."""
    if verb != "be":  # in German what has no capital says how something is done
        is_plain = lexicon.language == "de" and not link and proper.isdisjoint(core) and core[0] != "sich"
        return is_plain and "".join(core).isalpha()
    if not link and is_description(value, core, proper, lexicon):
        return True
    if link and is_to_be_done(value, lexicon):
        return True
    is_indefinite = value[0] in lexicon.lists["indefinite"]
    if not is_indefinite and not (value[0] == core[0] and _is_predicate(core, proper, lexicon)):
        return False
    if not link and is_make_of(subject, core, proper, lexicon):
        return False
    return is_indefinite or lexicon.lists["modifiers"].isdisjoint(subject)  # "the main target is shipping"


def _is_spot(link: str, core: tuple[str, ...], value: list[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a link and a value say where something is, of a noun that is described, or that is certain."""
    lists, joined = lexicon.lists, link.split()
    if joined[1:] and joined[0] in lists["joined"] and joined[-1] in lists["spots"] and len(value) > 1:
        return value[0] in lists["definite"]  # "is stored in the bank safe"
    head = core[0] if lexicon.language in ("es", "fr") else core[-1]
    is_place = not lists["places"].isdisjoint(joined) and len(core) > 1
    return is_place and head not in lists["qualities"] and head not in lists["abstract"]


def _is_owned(core: tuple[str, ...], proper: frozenset[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a place is somebody's, as Sera's pocket."""
    return lexicon.language == "en" and len(core) > 1 and core[0] in proper and core[-1] not in proper


def _is_predicate(core: tuple[str, ...], proper: frozenset[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether one word says how something is, as "expired"."""
    if len(core) != 1 or core[0] in proper:
        return False
    word = core[0]
    return lexicon.language == "en" and (word.endswith(("ed", "ing")) or lexicon.verbs.get(word, ("", False))[1])


def _date_of(subject: list[str]) -> list[str]:
    """Return "In 2021" from the front of a subject."""
    last = next(at for at, word in enumerate(subject) if word.startswith("~"))
    return subject[: last + 1]


def link_of(after: list[str], is_be: bool, lexicon: AlphabeticLexicon) -> tuple[str, list[str]]:
    """Cut off what joins a verb to its value: a participle after "be", then prepositions."""
    at = 0
    if is_be and len(after) > 1 and (_joins(after[0], after[1], lexicon) or _is_set_for(after, lexicon)):
        at = 1
    prepositions = lexicon.lists["prepositions"]
    while at < len(after) and after[at] in prepositions:
        at += 1
    if at == len(after) > 0 and after[-1] in lexicon.states:
        at -= 1  # the light is on
    return (" ".join(after[:at]), after[at:]) if at else ("", after)


def _is_set_for(after: list[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a participle is followed by a time without a preposition: "prévue le 4 mai"."""
    lists = lexicon.lists
    if after[0] not in lists["joined"] or after[0] in lexicon.states:
        return False
    return next((word for word in after[1:3] if word not in lists["determiners"]), "")[:1] == "~"


def _joins(word: str, following: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a word after "be" belongs to the verb: called Mio, stored in, but not closed on."""
    if word in lexicon.lists["naming"]:
        return True
    if following not in lexicon.lists["prepositions"] or not is_participle(word, lexicon):
        return False
    return word not in lexicon.states or word in lexicon.lists["joined"] or following in lexicon.lists["agents"]
