"""In which language a note is written."""

import re
from collections.abc import Sequence
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, COUNT_BITS, COUNTED, telling
from shelfd.memory.notes.words import fold

_KANA: Final = re.compile("[\u3041-\u30ff]")
_HAN: Final = re.compile("[\u3400-\u9fff]")
#: What is written in one of the languages only: letters, articles that lost theirs. Names have letters of all, so that
#: no more than a tie is broken by them.
_WRITTEN: Final = {
    "de": re.compile("[äöß]"),
    "es": re.compile("[áéíóúñ¿¡]"),
    "fr": re.compile(r"[éàâèêëîïôûùœç]|\b(?:[dlnjsmtc]|qu)['’](?=\w\w)", re.IGNORECASE),
}
_ELIDED: Final = re.compile(r"(?<!\w)[dl]'(?=\w\w)", re.IGNORECASE)  #: an article, or "of", that lost its vowel
_SIGNS: Final = "'.,:"
_GERMAN, _FRENCH = ALPHABETIC.index("de"), ALPHABETIC.index("fr")
_SPANISH_END: Final = re.compile(r"(?:[ao]s?|dad|cion)\W?$")


def _words_of(text: str) -> Sequence[str]:
    """Return what stands between blanks, apostrophes, commas, colons and full stops in *text*, folded."""
    folded = fold(text)
    for sign in _SIGNS:  # which takes half the time of one look for all: most texts have one or two of them
        if sign in folded:
            folded = folded.replace(sign, " ")
    return folded.split()


def language_of(text: str) -> str:
    """Return the language of *text*, "en" if nothing speaks for another."""
    if not text.isascii():
        if _KANA.search(text):
            return "ja"
        if _HAN.search(text):
            return "zh"
    others, foreign, shares = telling()
    words = _words_of(text)
    is_german = "am" in words and _is_german_am(words)
    is_french = "'" in text and _ELIDED.search(text) is not None
    if (foreign if text.isascii() else others).isdisjoint(words) and not is_german and not is_french:  # as most
        return ALPHABETIC[0]
    counts = sum(map(shares.__getitem__, shares.keys() & words))
    found = [counts >> at * COUNT_BITS & COUNTED for at in range(len(ALPHABETIC))]
    if is_german:
        found[_GERMAN] += 2
    found[_FRENCH] += (" :" in text) + is_french
    most = max(found)
    best = [language for language, count in zip(ALPHABETIC, found, strict=True) if count == most]
    return best[0] if len(best) == 1 else _written_as(text, best)


def language_of_label(label: str, line: str) -> str:
    """Return the language of a *label* that a *line* begins with: by its value only if no word of its own speaks.

    A value may look like a word of another language, as MIT does. French has a blank before a colon: where there is
    one, the value may tell that the label is French.
    """
    language = language_of(label)
    if language != "fr" and " :" in line and language_of(line) == "fr":
        return "fr"
    if language != ALPHABETIC[0]:
        return language
    shares = telling()[2]
    said = shares.keys() & _words_of(label)
    if not said or any(not shares[word] & COUNTED for word in said):  # "Babysitter bei Familie Ott"
        return language_of(line)
    return language


def _is_german_am(words: Sequence[str]) -> bool:
    """Return whether "am" is the German preposition: in English it follows "I", or an hour."""
    at = words.index("am")
    return "i" not in words and at + 1 < len(words) and not (at and words[at - 1][-1].isdigit())


def _written_as(text: str, languages: Sequence[str]) -> str:
    """Return which of *languages*, for which as many words speak, *text* is in, by how it is written."""
    written = {each: len(_WRITTEN[each].findall(text)) for each in languages if each in _WRITTEN}
    most = max(written.values())
    best = [each for each, count in written.items() if count == most]
    if most == 0 and ALPHABETIC[0] in languages:
        return "de" if "de" in languages and not _GERMAN_ONLY.isdisjoint(_words_of(text)) else ALPHABETIC[0]
    if {"es", "fr"} <= {*best}:
        long = [word for word in text.split() if len(word) > _SHORT and word.islower()]  # and no names
        spanish = sum(_SPANISH_END.search(fold(word)) is not None for word in long)
        french = sum(_FRENCH_SOUND.search(fold(word)) is not None for word in long)
        is_spanish = spanish > french or (spanish == french and text.isascii() and " :" not in text)
        is_spanish = is_spanish and _FRENCH_BEGIN.match(text) is None
        best.remove("fr" if is_spanish else "es")
    return best[0]


#: Articles that are a word of no other language: "Firmware der Heizung" has as many English words.
_GERMAN_ONLY: Final = frozenset(
    "der das dem eine einer vom zum zur beim von ist wird und nicht sich auf ein ins auch nach bei hat".split()
)
_FRENCH_SOUND: Final = re.compile(
    r"ou|ai|oi|eu|au|ss|tt|nn|mm|ph|ent$|ette|elle|ques?$|[eiu]t$|[iu]s$|eur$|[xyu]$|ez$|^les$"
)
#: How no Spanish text begins that has no more words of its own: "Le vélo", "Josselin a un vélo".
_FRENCH_BEGIN: Final = re.compile(r"Les? |\S+ a (?:une?|le) ")
_SHORT: Final = 2  #: letters of words that end in all languages alike
