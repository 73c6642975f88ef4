"""In what manner a value is told: by a name, as something certain, as one of several, without an article.

One that is told in another manner is seldom another value of the same thing: who lives in Berlin may live "in a flat"
and "in fear". A name may take the place of what is certain: the pier, and Oslo.
"""

from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import NOUN_FIRST, AlphabeticLexicon, lexicon, places
from shelfd.memory.knowledge.evolution.statement import Manner, Statement


def manner_of(
    link: str, value: list[str], core: tuple[str, ...], proper: frozenset[str], words: AlphabeticLexicon
) -> Manner:
    """Return in what manner a value is told.

    Args:
        link: What joins it to its verb; it may have an article in it.
        value: Its words with their determiners.
        core: Those up to the first preposition, without.
        proper: Words that are names. In German any noun may be one.
        words: Of its language.
    """
    lists = words.lists
    first = value[0]
    if is_abstract(core, proper, words) or (words.language == "fr" and words.verbs.get(first, ("",))[0] == first):
        return "bare"  # and "à louer"
    if first in lists["indefinite"]:
        return "a"
    is_name = words.language == "de" or not proper.isdisjoint(core)
    if len(core) > 1 and core[-1][-1].isdigit():
        is_noun = core[0] in lists["nouns"] or core[0] in lists["coded"] or core[0] in lists["concrete_nouns"]
        if is_noun or (core[0] not in proper and words.language != "de"):
            return "number"
    if is_name and words.language != "de":
        return "name"
    if first in lists["definite"] or link.rpartition(" ")[2] in lists["definite"]:
        return "the"
    if first in lists["determiners"]:
        return "my"
    return "name" if is_name else "bare"


def is_description(value: list[str], core: tuple[str, ...], proper: frozenset[str], words: AlphabeticLexicon) -> bool:
    """Return whether a value says how something is, and names nothing: "reliable", "very kind", "the best"."""
    first, last = core[0], core[0] if words.language in NOUN_FIRST else core[-1]
    is_bare = value[0] == first or value[0] in words.lists["definite"]  # "das beste"
    if words.language == "de" and is_bare and proper.isdisjoint(core) and "".join(core).isalpha():
        return True  # nouns have a capital
    if value[0] == "de" and words.language == "fr" and first.isalpha():
        return True  # "est de Norvège"
    lists = words.lists
    if first in lists["degrees"]:
        return first not in proper
    if last in proper:
        return False
    return last in lists["describing"] or (len(last) > _STEM and last.endswith(_ADJECTIVES.get(words.language, ())))


_STEM: Final = 5  #: letters that an adjective has before one of its endings, with this
_ADJECTIVES: Final = {"es": ("able", "ible", "oso", "osa"), "fr": ("able", "ible", "eux", "euse", "ante", "ive")}


def is_abstract(core: tuple[str, ...], proper: frozenset[str], words: AlphabeticLexicon) -> bool:
    """Return whether a value says when or how, and not where: "at night", "in good shape", "at risk"."""
    abstract = words.lists["abstract"]
    if abstract.isdisjoint(core):
        return False
    return words.language == "de" or any(word in abstract and word not in proper for word in core)  # "the Morning Star"


def are_told_alike(new: Statement, old: Statement) -> bool:
    """Return whether two values are told in one manner, or the newer one says that it takes the older one's place."""
    manner, other = new.manner, old.manner
    if not manner or not other or not new.link or not old.link or new.now or new.corrects or new.denied:
        return True
    words = lexicon(new.language)
    storeys = words["storeys"]
    if storeys.isdisjoint(new.core) is not storeys.isdisjoint(old.core) and new.verb not in words["placing"]:
        return False  # who lives in Bremen lives on some floor
    if manner == other:
        if manner == "number":
            return new.core[0] == old.core[0]  # a port and a node
        return manner != "name" or not _are_place_and_kind(new, old, words)
    if not words["others"].isdisjoint(new.words):
        return True  # managed by Tomo, and by someone else
    if {manner, other} == {"name", "the"}:
        named = new if manner == "name" else old
        return named.core[0] not in words.categories  # code "in Go", and "in the monorepo"
    joined = new.link.rpartition(" ")[2]
    if {manner, other} == {"name", "a"}:
        return joined in words["agent_links"]  # ruled by Ida, and by a council
    if {manner, other} == {"bare", "a"}:
        return joined in _AS
    return {manner, other} in _ALIKE


def _are_place_and_kind(new: Statement, old: Statement, words: AlphabeticLexicon) -> bool:
    """Return whether a name is that of a place, and another one of a language or a program: in Berlin, in German."""
    one, other = new.core[0], old.core[0]
    return (one in places() and other in words.categories) or (other in places() and one in words.categories)


_ALIKE: Final = ({"a", "the"}, {"my", "the"}, {"number", "the"})
_AS: Final = frozenset(("as", "als", "como", "comme"))
