"""The words by which a language tells of what somebody or something has one of."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from shelfd.memory.knowledge.evolution.lexicon import US, AlphabeticLexicon, lexicon, load
from shelfd.memory.knowledge.evolution.statement import NOBODY
from shelfd.memory.knowledge.evolution.stems import stem
from shelfd.memory.knowledge.evolution.verdicts import USE


class AttributeWords(NamedTuple):
    """How a language tells of attributes."""

    verbs: dict[str, str]  #: verb, and what joins it to a value -> attribute
    holding: dict[str, str]  #: verb of what who is the value does -> attribute
    keys: dict[str, str]  #: noun -> attribute
    roles: frozenset[str]  #: attributes that say what somebody is in charge of
    in_charge: frozenset[str]  #: the attribute that only says that somebody is
    labels: frozenset[str]  #: nouns that the value follows: "room 204"
    labelling: frozenset[str]  #: verbs of having such a thing
    graded: frozenset[str]  #: those of these nouns that are of one kind: a theme, a phase, a priority
    name: str  #: the attribute that is a name
    using: frozenset[str]  #: verbs of using something as something
    purposes: frozenset[str]  #: for what one thing is used
    nouns: frozenset[str]
    named: frozenset[str]  #: those whose value may be a state, as a favourite colour
    common: frozenset[str]  #: words that two values may have in common: channel 6, and channel 11
    told_otherwise: frozenset[str]  #: of these, those that have a verb, or may stand behind their value
    all_keys: frozenset[str]
    silent: frozenset[str]
    implied: frozenset[str]  #: stems of whom a note speaks that names nobody, and those who speak
    classes: frozenset[str]  #: stems of nouns that only say of what kind something is that is named
    phrased: dict[str, list[tuple[frozenset[str], str]]]  #: first word -> words that tell a noun together, the noun
    compounds: frozenset[str]  #: stems of such nouns that tell of what they are: the provider of the internet
    kin: frozenset[str]  #: who is somebody's and has no attribute of that name: the queen's brother


#: Lists of words for what there is one of.
_NAMING: Final = ("nouns", "concrete_nouns", "personal", "offices", "modifiers")


@cache
def attribute_words(language: str) -> AttributeWords:
    """Return how *language* tells of attributes, the first of which is a name."""
    data, lists = load(f"{language}.json"), lexicon(language).lists
    verbs, holding, keys = dict[str, str](), dict[str, str](), dict[str, str]()
    for name, by in (("attributes", verbs), ("held", holding)):
        for group in data[name].split("|"):
            nouns, *telling = group.split("/")  # by verbs that say one thing, and by those that may say several
            first, *_ = names = nouns.split()
            keys.update({noun: keys.get(noun, f"={first}") for noun in names})
            by.update(dict.fromkeys(" ".join(telling).split(), keys[first]))
    listed = dict(holding)
    for verb, done_by in _in_passive(lists["participles"], lexicon(language)):
        key = verbs.setdefault(f"be_{done_by}", f"={verb}")
        if verb not in verbs:  # who drives a Seat has that car
            holding.setdefault(verb, key)
        keys.update({noun: keys.get(noun, key) for noun in _doers(verb, language)})
    purposes = frozenset(data.get("purposes", "").split())
    roles = {keys[group.split(None, 1)[0]] for group in data["held"].split("|")}
    in_charge = {keys[word] for word in lists.get("in_charge", NOBODY)}
    # In other languages a form of a verb is often a noun as well: "la paie".
    doing = _forms_of(language, holding if language == "en" else listed, data.get("doing", ""), keys)
    nouns = keys.keys() | purposes.union(*(lists[name] for name in _NAMING))
    nouns -= {noun for noun in nouns if (noun[-1] == "s" and noun[:-1] in nouns) or noun[-3:] == "ies"}  # of several
    silent = lists["prepositions"] | lists["of"] | lists["determiners"] | {"be", *data.get("ordinary", "").split()}
    using = next((frozenset(each) for each in lexicon(language).classes if USE[language] in each), frozenset[str]())
    return AttributeWords(
        verbs, holding, keys | doing, frozenset((roles | {*doing.values()}) - in_charge), frozenset(in_charge),
        lists["coded"], lists.get("labelling", NOBODY), lists.get("graded", NOBODY),
        next(iter(keys.values())), (using | lists["same_kind"]) - lists["have"], purposes, frozenset(nouns),
        lists["modifiers"].union(noun for noun in lists["personal"] if noun.startswith("liebling")),
        lists["titles"] | lists["establishments"] | lists["groups"] | lists["nouns"] | lists["concrete_nouns"],
        lists["modifiers"] | lists["coded"] | keys.keys() | purposes, frozenset(keys.values()), silent,
        frozenset([US, *(stem(word, language) for word in data["ending"]["implied"].split())]),
        frozenset([stem(word, language) for word in lists["class_nouns"]]), _phrased(data.get("phrased", "")),
        frozenset([stem(noun, language) for noun in _phrased_nouns(data.get("phrased", "")) if "-" in noun]),
        lists["relations"] - keys.keys(),
    )  # fmt: skip


def _phrased_nouns(text: str) -> frozenset[str]:
    """Return the nouns of such groups as :func:`_phrased` takes."""
    return frozenset(group.partition(":")[0] for group in text.split("|"))


def _phrased(text: str) -> dict[str, list[tuple[frozenset[str], str]]]:
    """Return first word -> the words that tell a noun together, and that noun, of groups as "gráfica: tarjeta gráfica".

    Longer ones stand first, for others may be a part of them.
    """
    found: dict[str, list[tuple[frozenset[str], str]]] = {}
    for group in text.split("|") if text else ():
        noun, _, told = group.partition(": ")
        first, *_ = words = told.split()
        found.setdefault(first, []).append((frozenset(words), noun))
    return {first: sorted(each, key=lambda one: -len(one[0])) for first, each in found.items()}


def _in_passive(participles: frozenset[str], words: AlphabeticLexicon) -> Iterator[tuple[str, str]]:
    """Yield each verb of what one at a time does, with how that is told of what it is done to: "be walked by"."""
    for joined in sorted(participles):
        participle, _, by = joined.partition("_")
        if by not in words["agent_links"] - words["directions"]:
            continue
        if participle in words.verbs:
            yield words.verbs[participle][0], joined
        elif words.language == "en" and participle.endswith("ed"):  # of a verb that is not known: "tune", or "mend"
            yield participle[:-1], joined
            yield participle[:-2], joined


def _doers(verb: str, language: str) -> Sequence[str]:
    """Return the English nouns for whoever does what a *verb* says: a tuner, an inspector."""
    if language != "en":
        return ()
    stem_ = verb.removesuffix("e")
    return (f"{stem_}or",) if stem_.endswith(_LATIN) else (f"{stem_}er",)


#: In what a verb ends whose doer's noun ends in "or".
_LATIN: Final = ("at", "ct", "dit")


def _forms_of(language: str, holding: dict[str, str], more: str, keys: dict[str, str]) -> dict[str, str]:
    """Return form -> attribute: of *holding* verbs, and of *more* that say what somebody is only in "who does it".

    Args:
        language: Whose verbs they are.
        holding: Verb -> attribute.
        more: Groups of a noun and verbs, as in the data.
        keys: Noun -> attribute; no form is such a noun.
    """
    by = dict(holding)
    for group in more.split("|") if more else ():
        noun, _, telling = group.partition(" / ")
        by.update(dict.fromkeys(telling.split(), keys.get(noun, f"={noun}")))
    forms = lexicon(language).verbs.items()
    return {
        form: by[verb] for form, (verb, told) in forms if verb in by and not told and form != verb and form not in keys
    }
