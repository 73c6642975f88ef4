"""A note's text cut into sentences as they stand there."""

import re
from collections.abc import Iterator
from typing import Final

from shelfd.memory.notes.sentences import sentences

#: Characters of one sentence at most, and of a note.
_LONGEST: Final = 600
_READ: Final = 32_768

_SAYS: Final = re.compile(r"[^\W_]")
_MARK: Final = re.compile(r"^(?:[-*+•>#]+|\d{1,3}[.)])\s+")


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of *text* in order, each on one line and without the mark of a list.

    A line's end is a sentence's, and a longer one than 600 characters is cut. Of a text longer than 32 Ki characters
    the beginning counts.
    """
    for part in sentences(text[:_READ]):
        yield from _tidy(part)


def _tidy(part: str) -> Iterator[str]:
    sentence = _MARK.sub("", " ".join(part.split()))
    while len(sentence) > _LONGEST:
        at = sentence.rfind(" ", _LONGEST // 2, _LONGEST)
        at = at if at > 0 else _LONGEST
        yield sentence[:at]
        sentence = sentence[at:].lstrip()
    if _SAYS.search(sentence) is not None:
        yield sentence
