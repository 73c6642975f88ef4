"""Titles in quotes, which are one word each, and German names without the ending that says whose something is."""

import re
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import AlphabeticLexicon

#: A title of two words to seven.
_QUOTED: Final = re.compile(r"[\"“„«]\s?((?:[\w'’-]+ ){1,6}[\w'’-]+)\s?[\"”“»]")
_QUOTED_SIGNS: Final = re.compile('["“„«]')
#: The same between apostrophes, which stand inside words, too.
_IN_APOSTROPHES: Final = re.compile(r"(?<![\w'])'((?:[\w-]+ ){1,6}[\w-]+)'(?![\w'])")


def with_titles(sentence: str) -> str:
    """Return *sentence* with each title in quotes as one word."""
    if " '" in sentence:
        sentence = _IN_APOSTROPHES.sub(_as_one, sentence)
    return sentence if _QUOTED_SIGNS.search(sentence) is None else _QUOTED.sub(_as_one, sentence)


def _as_one(match: re.Match[str]) -> str:
    """Return what is quoted as one word, if it is a title with words that say something else outside of it."""
    words = match[1].split()
    is_title = words[0][0].isupper() and (words[0].lower() in _ARTICLES or any(word[0].islower() for word in words[1:]))
    return f" {'_'.join(words)} " if is_title else match[0]


_ARTICLES: Final = frozenset("the a an der die das ein eine el la los las un una le les une".split())


def without_genitives(words: list[str], proper: set[str], lexicon: AlphabeticLexicon) -> tuple[list[str], set[str]]:
    """Return German words with whose something is without the ending that says so: "Svenjas Tablet", "Omas Garten"."""
    if _SIR in words:
        words, proper = ["herr" if word == _SIR else word for word in words], proper | {"herr"}
    for at, word in enumerate(words):
        if word[-1] != "s" or len(word) < _GENITIVE or not word.isalpha() or word in lexicon.numbers:
            continue
        if word in proper and words[at - 1] in _OF and word[-2:] != "ss":
            words = [*words[:at], word[:-1], *words[at + 1 :]]  # "des Klempners"
            proper = proper | {word[:-1]}
            continue
        thing = at + 1 + (at == 0 and at + 2 < len(words) and words[1] not in proper and _describes(words[1], lexicon))
        if thing >= len(words) or words[thing] not in proper or words[thing] in _BEGINNING:
            continue
        before = words[at - 1] if at else ":"
        is_name = before in _BEGINNING or (before in lexicon.lists["prepositions"] and before not in lexicon.contracted)
        is_name = is_name or (before in lexicon.lists["be"] and _is_owned(words[thing], lexicon))
        is_name = is_name and (word in _KIN or word not in lexicon.plain)
        if is_name and word not in lexicon.lists["names_in_s"]:
            words = [*words[:at], word[:-1], *words[at + 1 :]]
            proper = proper - {word} | ({word[:-1]} if at else set())
    return words, proper


def _describes(word: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a German word describes the noun that follows: "Henrikes alter Laptop"."""
    lists = lexicon.lists
    if any(word in lists[name] for name in ("aged", "new", "modifiers", "ordinals")):
        return True
    if any(word.endswith(end) and word[: -len(end)] in lists["qualities"] for end in ("er", "es", "en", "e")):
        return True
    is_other = any(word in lists[name] for name in ("no_nouns", "unsaid", "predicates", "particles"))
    return word[-2:] in _INFLECTED and len(word) > _GENITIVE and not is_other


def _is_owned(word: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a noun names what somebody has, or who somebody is to them: "ist Toms Lieblingsverein"."""
    lists = lexicon.lists
    return word.startswith("lieblings") or any(word in lists[name] for name in ("nouns", "concrete_nouns", "offices"))


_SIR: Final = "herrn"  #: as one is called of whom something is said
_OF: Final = ("des", "eines", "meines", "unseres", "deines")
_KIN: Final = frozenset(
    f"{word}s"
    for word in "opa oma papa mama mutti vati tante onkel vater mutter bruder schwester chef nachbar vermieter".split()
)
_INFLECTED: Final = ("er", "es", "en")
_GENITIVE: Final = 4  #: letters
_BEGINNING: Final = (":", ",")
