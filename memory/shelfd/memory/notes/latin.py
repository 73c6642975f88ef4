"""Text in the letters of European languages as one byte a character, so that it is folded as fast as ASCII.

Bytes below 128 are ASCII; the others are letters and signs that are common in such text. Text that has any other
character is not told so.
"""

from codecs import charmap_build, charmap_encode
from typing import Final

from shelfd.memory.notes.words import fold

#: What folds to letters of a to z, or to ASCII that is in no word.
_FOLDING: Final = (
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ"
    "āăąćčďđēęěğīıłľńňőœřśšşťţūůűźžżșțČĐİŁŒŘŚŠŞŻŽ™…\xa0\u2009\u202f"
)
#: What stays what it is, and is in no word either.
_SIGNS: Final = "«»¡¿‘’“”„–—•·€£¥°§"
_ASCII: Final = 128
_CHARACTERS: Final = "".join(map(chr, range(_ASCII))) + _FOLDING + _SIGNS
_COUNT: Final = 256
#: A private character for each byte that no character has.
_TABLE: Final = _CHARACTERS + "".join(map(chr, range(0xE000, 0xE000 + _COUNT - len(_CHARACTERS))))
_MAP: Final = charmap_build(_TABLE)

#: Bytes of signs that text has also once it is folded: then it is not ASCII.
SIGNS: Final = dict(zip(_SIGNS, range(_ASCII + len(_FOLDING), len(_CHARACTERS)), strict=True))
#: Bytes beyond ASCII that are parts of words.
LETTERS: Final = frozenset(byte for byte, character in enumerate(_CHARACTERS) if byte >= _ASCII and character.isalnum())


def as_latin(text: str) -> bytes | None:
    """Return *text* with a byte for each character; None if there is none for one of them."""
    try:
        return charmap_encode(text, "strict", _MAP)[0]
    except UnicodeEncodeError:
        return None


def _in_words(character: str) -> bytes:
    """What of a character, folded, is in words; a blank if none of it is."""
    folded = fold(character)
    return folded.encode() if folded.isascii() and folded.isalnum() else b" "


_FOLDED: Final = tuple(map(_in_words, _CHARACTERS)) + (b" ",) * (_COUNT - len(_CHARACTERS))
_SEVERAL: Final = [(bytes([byte]), folded) for byte, folded in enumerate(_FOLDED) if len(folded) > 1]
#: By bytes: the letter or digit that each is, folded, of those that are a single one; a blank for what is in no word.
WORDS: Final = bytes(folded[0] if len(folded) == 1 else ord(" ") for folded in _FOLDED)


def with_letters(latin: bytes) -> bytes:
    """Return text as :func:`as_latin` does, with several letters for each one that is folded to several, like "ß"."""
    for letter, folded in _SEVERAL:
        if letter in latin:
            latin = latin.replace(letter, folded)
    return latin
