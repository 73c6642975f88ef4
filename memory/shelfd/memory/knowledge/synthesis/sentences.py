"""A note's text cut into sentences as they stand there."""

import re
from collections.abc import Iterator
from typing import Final

#: Characters of one sentence at most, and of a note.
_LONGEST: Final = 600
_READ: Final = 32_768

_END: Final = re.compile(r"(?<=\S[.!?…])[\"'”’»)\]]?\s+|(?<=[。！？])[”’」』]?(?=\S)|\n+")
#: What a full stop belongs to that ends no sentence: an abbreviation, an initial, the day in "12. April".
_ABBREVIATED: Final = re.compile(
    r"(?:^|[\s(\"“'])(?:mr|mrs|ms|mx|dr|st|prof|vs|etc|e\.g|i\.e|nr|fig|approx|ca|bzw|z\.b|d\.h|sra?|[^\W\d_])\.$",
    re.IGNORECASE,
)
_DAY: Final = re.compile(r"\b\d{1,2}\.$")
_GERMAN_MONTH: Final = re.compile(r"(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")
_SAYS: Final = re.compile(r"[^\W_]")
_MARK: Final = re.compile(r"^(?:[-*+•>#]+|\d{1,3}[.)])\s+")
#: Characters before a full stop that tell what it belongs to.
_TAIL: Final = 12


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of *text* in order, each on one line and without the mark of a list.

    A line's end is a sentence's, and a longer one than 600 characters is cut. Of a text longer than 32 Ki characters
    the beginning counts.
    """
    text = text[:_READ]
    begin = 0
    for end in _END.finditer(text):
        at = end.start()
        if text[at - 1] == "." and "\n" not in end[0] and _goes_on(text[max(begin, at - _TAIL) : at], text, end.end()):
            continue
        yield from _tidy(text[begin : end.end()])
        begin = end.end()
    yield from _tidy(text[begin:])


def _goes_on(before: str, text: str, after: int) -> bool:
    """Whether the full stop that ends *before* does not end the sentence; *after* is where *text* goes on."""
    if _ABBREVIATED.search(before) is not None or before.strip()[:-1].isdigit():  # the number of a list's item
        return True
    return _DAY.search(before) is not None and _GERMAN_MONTH.match(text, after) is not None


def _tidy(part: str) -> Iterator[str]:
    sentence = _MARK.sub("", " ".join(part.split()))
    while len(sentence) > _LONGEST:
        at = sentence.rfind(" ", _LONGEST // 2, _LONGEST)
        at = at if at > 0 else _LONGEST
        yield sentence[:at]
        sentence = sentence[at:].lstrip()
    if _SAYS.search(sentence) is not None:
        yield sentence
