"""Whether words are forms of the same words: plurals, cases, genders."""

from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import lexicon
from shelfd.memory.knowledge.evolution.stems import stem


def are_forms(words: frozenset[str], language: str) -> bool:
    """Return whether words, each of which only one of two statements has, are forms of the same words.

    Names may have one stem as well: Olivia, and Olivier.
    """
    forms: dict[str, list[str]] = {}
    for word in words:
        forms.setdefault(stem(word, language), []).append(word)
    ends = _ENDS[language]
    for each in forms.values():
        letters = enumerate(zip(*each, strict=False))
        common = next((at for at, some in letters if len({*some}) > 1), min(map(len, each)))
        if any(word[common:] not in ends for word in each):
            return False
    return not _may_be_names(words, language)


def _may_be_names(words: frozenset[str], language: str) -> bool:
    """Return whether words that differ in their last letter may be names of two: Ceibo and Ceiba."""
    if language not in _PAIRED:
        return False
    one, other = _PAIRED[language]
    lists = lexicon(language).lists
    known = (word for name in ("modifiers", "nouns", "personal", "offices", "qualities") for word in lists[name])
    both = {word for word in words if word.endswith(one) and word[: len(word) - len(one)] + other in words}
    return bool(both) and both.isdisjoint(known)


#: In what names end that are a man's and a woman's: Ceibo and Ceiba, Paul and Paule.
_PAIRED: Final = {"es": ("o", "a"), "fr": ("", "e")}


#: In what the forms of one word differ: plurals, cases, genders.
_ENDS: Final = {
    "en": frozenset(("", "s", "es", "ed", "ing", "e", "d", "y", "ies", "ly", "al", "er", "ers")),
    "de": frozenset(("", "e", "en", "n", "er", "ern", "es", "s", "em", "in", "innen")),
    "es": frozenset(("", "s", "es", "o", "a", "os", "as", "e")),
    "fr": frozenset(("", "s", "e", "es", "x", "al", "aux")),
}
