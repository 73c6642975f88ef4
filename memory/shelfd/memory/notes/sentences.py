"""Where the sentences of a text end: at a line's end, or at a mark that ends one. One pass, no nested repetition."""

import re
from collections.abc import Iterator
from typing import Final

_END: Final = re.compile(r"(?<=\S[.!?…])[\"'”’»)\]]?\s+|(?<=[。！？])[”’」』]?\s*(?=\S)|\n+")
_LAST_WORD: Final = re.compile(r"[^\W_][\w.&-]*$")
#: Characters before a full stop among which its word is looked for.
_TAIL: Final = 24
#: Words after whose full stop a sentence always goes on.
_SHORTENED: Final = frozenset(
    "mr mrs ms mx dr dra prof st sr sra mme mlle hr vs e.g i.e approx ca bzw z.b d.h u.a ggf evtl u.s u.k u.n".split()
)
#: Words after whose full stop it goes on with a number: "No. 7", "3 Dec. 2025".
_NUMBERED: Final = frozenset(
    "no nr fig vol sec ch p pp art tel jan feb mar apr jun jul aug sep sept oct okt nov dec dez".split()
)
#: Words after whose full stop it goes on unless the next one has a capital.
_EITHER: Final = frozenset("etc usw inc ltd corp co dept jr a.m p.m".split())
_ORDINAL: Final = re.compile(r"\d{1,2}")
_GERMAN_MONTH: Final = re.compile("Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez")
#: German words that a number with a full stop belongs to: "am 3. Advent", "im 2. Stock".
_BEFORE_ORDINAL: Final = re.compile(
    r"\b(?:(?<!\bi )am|im|vom|zum|zur|beim|ins|der|die|das|den|dem|des|bis|seit|jede[rnms]?|ein(?:e[rnms]?)?) $",
    re.IGNORECASE,
)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of *text* in order as they stand there, with the marks and blanks that end them."""
    begin = 0
    for end in _END.finditer(text):
        at = end.start()
        if text[at - 1] == "." and "\n" not in end[0] and not ends_sentence(text, begin, at - 1, end.end()):
            continue
        yield text[begin : end.end()]
        begin = end.end()
    yield text[begin:]


def ends_sentence(text: str, begin: int, stop: int, after: int) -> bool:
    """Return whether a full stop ends its sentence.

    None does after an abbreviation, an initial, the number of a list's item, or a German ordinal.

    Args:
        text: What it stands in.
        begin: Where the sentence begins.
        stop: Where the full stop is.
        after: Where the text goes on behind it.
    """
    found = _LAST_WORD.search(text, max(begin, stop - _TAIL), stop)
    if found is None or after >= len(text):
        return True
    word, following = found[0], text[after]
    low = word.casefold()
    if low in _SHORTENED or (len(word) == 1 and word.isalpha() and word != "I"):
        return False
    if low in _NUMBERED:
        return not following.isdecimal()
    if low in _EITHER:
        return following.isupper()
    if _ORDINAL.fullmatch(word) is None:
        return True
    if found.start() - begin < _TAIL and not text[begin : found.start()].strip():
        return False
    return (
        _GERMAN_MONTH.match(text, after) is None
        and _BEFORE_ORDINAL.search(text, max(begin, found.start() - _TAIL), found.start()) is None
    )
