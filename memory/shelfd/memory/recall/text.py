"""Folding and word splitting for any script (Unicode, no language knowledge)."""

import re
import unicodedata

# Accents, Hebrew points, Arabic points and elongation, joiners inside words.
_DROPPED = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u200c\u200d]"
)
# Scripts written without spaces between words: Thai, Lao, Myanmar, Hangul, Khmer, kana, Han.
# Hangul has spaces, but its particles stick to the words.
_SPACELESS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1100-\u11ff\u1780-\u17d3"
    "\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
# Python's \w leaves out the vowel signs of Indic scripts and would cut their words; dandas are no letters.
_INDIC = "\u0900-\u0963\u0966-\u096f\u0971-\u0df3"
_WORD = re.compile(rf"(?P<run>[{_SPACELESS}]+)|(?:[{_INDIC}]|[^\W_{_SPACELESS}])+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e")


def fold(text: str) -> str:
    """Return *text* without differences of case, accents, pointing and compatibility forms."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _DROPPED.sub("", decomposed))


def split(folded: str) -> list[str]:
    """Return the words of *folded* text in order.

    Scripts without spaces between words give overlapping character bigrams,
    the usual unit of CJK retrieval without a dictionary; one character alone
    stands for itself.
    """
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    found: list[str] = []
    for match in _WORD.finditer(folded):
        word = match.group()
        if match.lastgroup is None or len(word) == 1:
            found.append(word)
        else:
            found.extend(word[at : at + 2] for at in range(len(word) - 1))
    return found


def ends_as_question(text: str) -> bool:
    """Tell whether *text* ends with a question mark of any script."""
    return text.rstrip().endswith(_QUESTION_MARKS)
