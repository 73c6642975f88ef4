"""How many values a subject can have of what is stated."""

from typing import Final

from shelfd.memory.knowledge.evolution.compounds import parts_of
from shelfd.memory.knowledge.evolution.lexicon import NOUN_FIRST, AlphabeticLexicon
from shelfd.memory.knowledge.evolution.manner import is_abstract
from shelfd.memory.knowledge.evolution.statement import DEAD, Arity, Value

# By a name of this module they are found in a tenth of the time that Python 3.11 takes to find an enumeration's member.
_MANY: Final = Arity.MANY
_ONE: Final = Arity.ONE
_NAME: Final = Value.NAME


def arity_of(
    subject: list[str],
    verb: str,
    link: str,
    core: tuple[str, ...],
    kind: Value,
    proper: frozenset[str],
    lexicon: AlphabeticLexicon,
) -> Arity:
    """Return how many values the subject can have of this."""
    joined, lists = link.split(), lexicon.lists
    if not lists["fixed_nouns"].isdisjoint(subject) or lexicon.fixed_parts:  # else no word below is one, either
        bare = _bare(subject, lexicon)
        is_fixed = not lists["fixed_nouns"].isdisjoint(bare) or _has_part(bare, lexicon.fixed_parts)
        if is_fixed and lists["unfixed"].isdisjoint(bare):  # blood pressure changes
            return Arity.FIXED
    if verb == "be":
        if (joined and joined[0] in lists["fixed_participles"]) or (core[1:] and core[:1] in DEAD):
            return Arity.FIXED
        if joined:
            functional = _is_functional(joined, core, proper, lexicon) or _is_place(joined, core, lexicon)
            functional = functional or _is_put(joined, core, lexicon)
            return _ONE if functional or _has_noun(subject, core, proper, lexicon) else _MANY
        return _ONE if _has_noun(subject, core, proper, lexicon) else _MANY
    if verb in lists["have"] or verb in lists["bearing"]:
        *_, attribute, value = ("", "", *core)
        is_named = attribute in lists["nouns"] and value in proper
        return _ONE if is_named and (len(core) == _NAMED or value[-1].isdigit()) else _MANY
    if verb in _BELONG and (joined[:1] in _TO_MEMBERS or not lists["groups"].isdisjoint(core)):
        return _MANY
    if verb in lists["same_kind"] or (verb in lists["running"] and _has_system(subject, core, lexicon)):
        return Arity.SAME_KIND
    if joined and _is_beside(subject, verb, core, proper, lexicon):
        return _MANY
    one = verb in lists["functional"] or (joined and f"{verb}_{joined[0]}" in lists["functional"])
    one = one or (kind is Value.TIME and verb in lists.get("timed", ()))
    one = one or (verb in lists["proper_functional"] and not proper.isdisjoint(core))
    one = one or (verb in lists["telling_where"] and not lists["works"].isdisjoint(subject))  # of a story
    one = one or (kind is _NAME and _is_circumstance(verb, joined, core, lexicon))
    if one and kind is not Value.QUALITY:
        return _ONE
    return Arity.OF_ONE if not joined and _is_led(verb, core, proper, lexicon) else _MANY


def _is_beside(
    subject: list[str], verb: str, core: tuple[str, ...], proper: frozenset[str], lexicon: AlphabeticLexicon
) -> bool:
    """Return whether something is said that may be so beside all else: in the holidays, at night, on Android."""
    lists = lexicon.lists
    if core and (core[-1] in lists["periods"] or core[-1].endswith("ferien")):
        return True
    is_app = verb in lists["running"] and not lists["software"].isdisjoint(subject)
    return is_app or is_abstract(core, proper, lexicon)  # who works at night works somewhere, too


def _is_led(verb: str, core: tuple[str, ...], proper: frozenset[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether what somebody leads, manages or rules is named: Varn has one king, teams have many.

    In German every noun has a capital.
    """
    lists = lexicon.lists
    if verb not in lists["exchangeable"] or verb in lists["many"] or lexicon.language == "de":
        return False  # as most
    kinds = lists["class_nouns"] | lists["appositives"] | lists["groups"]
    return not proper.isdisjoint(core) and all(word in proper or word in kinds for word in core)


_NAMED: Final = 2  #: words: an attribute and its value
#: What belongs to somebody has one owner; who belongs to a group may belong to others.
_BELONG: Final = ("belong", "gehoren", "pertenecer", "appartenir")
_TO_MEMBERS: Final = (["zu"], ["zur"], ["zum"])


def _is_circumstance(verb: str, joined: list[str], core: tuple[str, ...], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a verb and what follows say where, whence, how or as what: sleeps beneath, records in.

    Of that there is one at a time, but for what one does here and there, as eating at, believing in.
    """
    lists = lexicon.lists
    if not joined or not lists["abstract"].isdisjoint(core):
        return False
    if verb in lists["placing"] or verb in lists["abiding"]:
        return not lists["spots"].isdisjoint(joined)
    if verb in lists["plural_verbs"] or f"{verb}_{joined[0]}" in lists["plural_links"]:
        return False
    return joined[0] in lists["single_links"]


def _has_system(subject: list[str], core: tuple[str, ...], lexicon: AlphabeticLexicon) -> bool:
    """Return whether it is a machine's operating system that is said: somebody may run several, a machine runs one."""
    category, lists = lexicon.categories.get, lexicon.lists
    if not core or category(core[0]) != category("linux") or any(map(str.isalpha, core[1:])):
        return False  # nor "Linux games"
    is_known = not (lists["kinds"].isdisjoint(subject) and lists["concrete_nouns"].isdisjoint(subject))
    return is_known or any(word[0].isalpha() and not word.isalpha() for word in subject)  # as nova-2


def _is_functional(
    joined: list[str], core: tuple[str, ...], proper: frozenset[str], lexicon: AlphabeticLexicon
) -> bool:
    """Return whether something is, by this participle, with one thing only: set to, married to."""
    lists = lexicon.lists
    if joined[0] in lists["participles"] or "_".join(joined[:2]) in lists["participles"]:
        return True
    if "_".join(("be", *(lexicon.contracted.get(word, word) for word in joined))) in lists["told_of"]:
        return True
    return joined[0] in lexicon.lists["proper_participles"] and not proper.isdisjoint(core)


def _is_put(joined: list[str], core: tuple[str, ...], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a participle and what follows say where something was put: buried under the oak."""
    lists = lexicon.lists
    is_put = len(joined) > 1 and joined[0] in lists["put"] and joined[1] in lists["spots"]
    return is_put and lists["abstract"].isdisjoint(core)


def _is_place(joined: list[str], core: tuple[str, ...], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a link and what follows say where something is: in a certain place."""
    return (
        joined[0] in lexicon.lists["places"]
        and joined[1:] in ([], ["the"])
        and lexicon.lists["abstract"].isdisjoint(core)
    )


def _bare(subject: list[str], lexicon: AlphabeticLexicon) -> list[str]:
    """Return a subject without its determiners, but for those that say whose it is."""
    lists = lexicon.lists
    determiners, of = lists["determiners"], lists["of"]
    return [
        word
        for at, word in enumerate(subject)
        if word not in determiners or (at and word in of) or word in lexicon.speaking
    ]


def _has_part(words: list[str], parts: tuple[str, ...]) -> bool:
    return bool(parts) and any(part in word for word in words for part in parts)


def _has_noun(subject: list[str], core: tuple[str, ...], proper: frozenset[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether the subject is something that has one value: a deadline, a favourite colour."""
    if not lexicon.lists["determiners"].isdisjoint(subject):
        subject = _bare(subject, lexicon)
    head = head_of(subject, lexicon)
    if head in lexicon.lists["nouns"] or not lexicon.lists["modifiers"].isdisjoint(subject):
        return True
    if head in lexicon.lists["concrete_nouns"]:
        return not proper.isdisjoint(core)
    if lexicon.language == "de" and _is_compound_attribute(head, lexicon):
        return True
    return _has_part([head], lexicon.noun_parts) or _is_attribute(subject, head, core, proper, lexicon)


def _is_compound_attribute(head: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a German noun ends in one of which there is one value, and which is nobody: "Projektstart"."""
    *first, last = parts_of(head)
    return bool(first) and last in lexicon.lists["nouns"] and last not in lexicon.lists["relations"]


def _is_attribute(
    subject: list[str], head: str, core: tuple[str, ...], proper: frozenset[str], lexicon: AlphabeticLexicon
) -> bool:
    """Return whether a subject names, of something else, what is only one, by a word that is not known.

    "The mouthpiece of the guild" is one person, "my cousin" one of several; a value that is a name or a code says who
    or which it is, another word what it is like.
    """
    if proper.isdisjoint(core) or len(subject) < _OWNER_AND_ATTRIBUTE:
        return False
    lists = lexicon.lists
    bare = [word for word in subject if word not in lists["dull"] and word not in lists["new"]]
    if subject[0] in lexicon.speaking:
        bare = [subject[0], *bare]  # whose it is: "my chiropodist"
    if len(bare) < _OWNER_AND_ATTRIBUTE or not head.replace("-", "").isalpha():
        return False
    if head in lists["relations"] and (head not in lists["roles"] or len(bare) == _OWNER_AND_ATTRIBUTE):
        return False  # Ida has several teachers, and one piano teacher
    is_name = head in proper if lexicon.language != "de" else lists["of"].isdisjoint(subject[1:])
    if is_name and (
        lexicon.language != "de" or subject[0] not in lexicon.speaking
    ):  # in German all nouns have a capital
        return False
    return not head.endswith(("s", "x")) or head.endswith("ss")  # else it is several


_OWNER_AND_ATTRIBUTE: Final = 2


def is_make_of(subject: list[str], core: tuple[str, ...], proper: frozenset[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a name says which thing of its kind somebody has: the e-reader is a Kobo."""
    if proper.isdisjoint(core):
        return False
    head = head_of(subject, lexicon)
    if head in lexicon.lists["concrete_nouns"]:
        return True
    if lexicon.language == "de":
        return len(parts := parts_of(head)) > 1 and parts[-1] in lexicon.lists["concrete_nouns"]
    return _is_attribute(subject, head, core, proper, lexicon)


def head_of(words: list[str], lexicon: AlphabeticLexicon) -> str:
    """Return the noun that a subject's other words describe."""
    dull, of = lexicon.lists["dull"], lexicon.lists["of"]
    if lexicon.language in NOUN_FIRST:
        return _first_noun(words, lexicon)
    if of.isdisjoint(words):  # as most
        for word in reversed(words):
            if word not in dull:
                return word
        return ""
    words = [word for word in words if word not in dull or word in of]
    for at in range(1, len(words)):
        if words[at] in of:
            return words[at - 1]
    return words[-1] if words else ""


def _first_noun(words: list[str], lexicon: AlphabeticLexicon) -> str:
    """Return the first noun of a subject, which others and adjectives follow: "le casque audio d'Émile"."""
    lists = lexicon.lists
    before = (lists["dull"], lists["new"], lists["aged"], lists["ordinals"], lists["qualities"], lists["modifiers"])
    said = [word for word in words if word not in lists["dull"]]
    return next((word for word in said if not any(word in each for each in before)), said[-1] if said else "")
