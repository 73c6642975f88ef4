"""Folding and word splitting for any script (Unicode, no language knowledge)."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

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
#: Pattern of one character of a word.
LETTER: Final = rf"(?:[{_INDIC}]|[^\W_])"
# Of these one character alone may be a word.
_LETTERS_THAT_ARE_WORDS = (
    "\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_CHARACTER = re.compile(f"[{_LETTERS_THAT_ARE_WORDS}]")
# Letters that Unicode does not decompose, as people without them on their keyboards write them.
_LATIN = str.maketrans(
    {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe", "þ": "th"}
)
# Pictures, a flag's two letters as one; skin tones and the choice between picture and sign make no other word.
_EMOJI = re.compile(
    "[\U0001f1e6-\U0001f1ff]{1,2}|[\u203c\u2049\u2194-\u21aa\u231a-\u23ff\u25aa-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b55"
    "\u3030\u303d\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
)
# Names as programs have them: parts joined by "_" or "-", or distinguished by capitals.
_IN_COMPOUND = re.compile(r"[A-Z_-](?<=[^\W_].)\S*")  # a tenth of the time of looking for what precedes first
_COMPOUND = re.compile(r"[^\W_]+(?:[_-][^\W_]+)*")
_LONGEST_COMPOUND = 64  # characters; what is longer is data
_LONGEST_PART = 80  # characters between blanks that are remembered
_LONGEST_ADDRESS = 200  # characters
_JOINTS = frozenset("/@:\\")
_AROUND = ".,;:!?'\"()[]{}<>`*"
_IS_ADDRESS = re.compile(r"[^\W_](?:[/@\\]|::)[^\W_]|://|^~?/[^\W_]")
_CAPITALS = re.compile(r"[a-z][A-Z]|[0-9][A-Z][a-z]|[A-Z]{2}[a-z]{2}")
_CAPITALISED = re.compile(r"[A-Z]+(?=[A-Z][a-z]{2})|[A-Z]?[a-z0-9]+|[A-Z0-9]+|[^A-Za-z0-9_-]+")
_ASCII_WORDS = bytes(code if chr(code) in "abcdefghijklmnopqrstuvwxyz0123456789" else ord(" ") for code in range(256))
_LETTERS = re.compile(r"[^\W\d_]+")
_ASCII_LETTERS = bytes(code if chr(code) in "abcdefghijklmnopqrstuvwxyz" else ord(" ") for code in range(256))
_QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e")


def fold(text: str) -> str:
    """Return *text* without differences of case, accents, pointing and compatibility forms."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    dropped = _DROPPED.sub("", decomposed)
    return dropped if dropped.isascii() else unicodedata.normalize("NFC", dropped).translate(_LATIN)  # as few are left


def is_spaceless(word: str) -> bool:
    """Return whether *word* is all of a script that has no blanks between words, or whose particles stick to them."""
    found = _WORD.fullmatch(word)
    return found is not None and found["run"] is not None


def letters(text: str) -> list[str]:
    """Return what there is of letters alone in *text*, in lower case."""
    lowered = text.lower()
    if lowered.isascii():
        return lowered.encode().translate(_ASCII_LETTERS).decode().split()  # a quarter of the time of a pattern
    return _LETTERS.findall(lowered)


def whole_words(text: str) -> list[str]:
    """Return the words of *text* in order, as they stand there; what has no blanks between words is one."""
    return [match.group() for match in _WORD.finditer(text)]


def split(folded: str) -> list[str]:
    """Return the words of *folded* text in order.

    Scripts without spaces between words give overlapping character bigrams,
    the usual unit of CJK retrieval without a dictionary; one character alone
    stands for itself.
    """
    if folded.isascii():
        return folded.encode().translate(_ASCII_WORDS).decode().split()  # a quarter of the time of a pattern
    found: list[str] = []
    for match in _WORD.finditer(folded):
        word = match.group()
        if match.lastgroup is None or len(word) == 1:
            found.append(word)
        else:
            found.extend(word[at : at + 2] for at in range(len(word) - 1))
    return found


def emoji(folded: str) -> list[str]:
    """Return the emoji in *folded* text in order."""
    return [] if folded.isascii() else _EMOJI.findall(folded)


def characters(folded: str) -> list[str]:
    """Return each character of *folded* text that is a word in Chinese, Japanese or Korean, unless it stands alone."""
    if folded.isascii():
        return []
    runs = [match.group() for match in _WORD.finditer(folded) if match.lastgroup is not None]
    return [character for run in runs if len(run) > 1 for character in _CHARACTER.findall(run)]


def compounds(text: str, joints: str = "_-") -> list[str]:
    """Return the folded parts of names like ``getUserName``, and names like ``get_user_name`` as ``getusername``.

    What :func:`split` gives anyway is left out: the parts of the latter and the full form of the former.

    Args:
        text: As it was given: capitals count.
        joints: Which of "_" and "-" make one name of what they join.
    """
    found: list[str] = []
    done = 0
    for match in _IN_COMPOUND.finditer(text):
        begin = max(text.rfind(" ", done, match.start()) + 1, done)
        done = match.end()
        part = text[begin:done]
        found += _in_part(part, joints) if len(part) <= _LONGEST_PART else _compounds_in(part, joints)
    return found


def _compounds_in(part: str, joints: str) -> tuple[str, ...]:
    names = [name for name in _COMPOUND.findall(part) if len(name) <= _LONGEST_COMPOUND]
    return tuple([form for name in names for form in _of_compound(name, joints)])


_in_part: Final = lru_cache(4_096)(_compounds_in)  # the same names come again and again


def _of_compound(name: str, joints: str) -> tuple[str, ...]:
    parts = [] if _CAPITALS.search(name) is None else [fold(part) for part in _CAPITALISED.findall(name)]
    if any(joint in name for joint in joints):
        joined = fold(name).replace("_", "").replace("-", "")
        if not joined.isnumeric():
            parts.append(joined)
    return tuple(parts)


def addresses(folded: str) -> list[str]:
    """Return the paths, URLs, addresses of mail and qualified names in *folded* text, each as one word."""
    if "/" not in folded and "@" not in folded and "::" not in folded and "\\" not in folded:
        return []
    found = (part.strip(_AROUND) for part in folded.split() if not _JOINTS.isdisjoint(part))
    return [part for part in found if len(part) <= _LONGEST_ADDRESS and _IS_ADDRESS.search(part) is not None]


def ends_as_question(text: str) -> bool:
    """Return whether *text* ends with a question mark of any script."""
    return text.rstrip().endswith(_QUESTION_MARKS)
