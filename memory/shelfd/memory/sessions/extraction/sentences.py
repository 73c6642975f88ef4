"""Text cut into sentences and tokens, with the places of each in the text.

Everything here is one pass over the text: one expression without nested repetition, and a loop over what it finds.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from shelfd.memory.notes.text import Fences
from shelfd.memory.notes.words import fold

#: Tokens beyond which a sentence is no sentence but data; it is cut there.
_MOST_TOKENS: Final = 120
#: Clitics stand apart from their words: ``Ada's`` is ``Ada`` and ``'s``, ``I'll`` is ``I`` and ``'ll``.
_CLITIC: Final = r"['\u2019](?:s|ll|m|re|ve|d)\b"
_TOKEN: Final = re.compile(
    rf"{_CLITIC}|[^\W_]+(?:(?:[-.]|['\u2019](?!(?:s|ll|m|re|ve|d)\b))[^\W_]+)*|\n+|[^\w\s]|_", re.IGNORECASE
)
_ENDS: Final = frozenset(".!?\u2026\u3002\uff01\uff1f")
_OPENING: Final = frozenset("\u201c\u201e\u00ab")
_CLOSING: Final = frozenset("\u201d\u00bb")
_QUOTES: Final = _OPENING | _CLOSING | {'"'}
_QUESTION_MARKS: Final = frozenset("?\uff1f")
_ABBREVIATIONS: Final = frozenset("mr mrs ms mx dr st prof vs etc e.g i.e no".split())
#: Stars and underlines that set words off, and marks of lists: not part of what is said.
_ORNAMENTS: Final = frozenset("*_#>`")


class Sentence(NamedTuple):
    """A sentence: its tokens as they stand, folded, and where in the text each begins and ends."""

    source: str  #: the text it stands in
    words: tuple[str, ...]
    low: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    is_quoted: bool = False
    is_question: bool = False

    @property
    def text(self) -> str:
        """The sentence as it stands in the text, on one line."""
        return self.span(0, len(self.words))

    def span(self, start: int, end: int) -> str:
        """Return the text of the tokens from *start* up to *end*."""
        if start >= end:
            return ""
        return " ".join(self.source[self.spans[start][0] : self.spans[end - 1][1]].split()).strip("*_`# ")


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of *text* in order; code between fences is left out."""
    source = without_code(text)
    current = _Growing(source)
    words, spans = current.words, current.spans
    for match in _TOKEN.finditer(source):
        word = match[0]
        if word[0].isalnum():  # most of them
            words.append(word)
            spans.append(match.span())
            ends = len(words) >= _MOST_TOKENS
        elif word in _QUOTES:
            if (sentence := current.end()) is not None:
                yield sentence
            current.is_quoted = word in _OPENING or (word == '"' and not current.is_quoted)
            ends = False
        elif word in _ENDS:
            ends = not current.is_abbreviated(word)
            current.is_question = current.is_question or word in _QUESTION_MARKS
        else:
            ends = word[0] == "\n"
            if not ends and word not in _ORNAMENTS:
                words.append(word)
                spans.append(match.span())
        if ends and (sentence := current.end()) is not None:
            yield sentence
    if (sentence := current.end()) is not None:
        yield sentence


def without_code(text: str) -> str:
    """Return *text* without what stands between fences."""
    if "```" not in text and "~~~" not in text:
        return text
    fences = Fences()
    return "\n".join(line for line in text.split("\n") if not fences.encloses(line))


class _Growing:
    """The sentence that is being read."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.is_quoted = False
        self.is_question = False
        self.words: list[str] = []
        self.spans: list[tuple[int, int]] = []

    def is_abbreviated(self, mark: str) -> bool:
        """Whether a full stop after the last word belongs to it: "Mr.", "J."."""
        if mark != "." or not self.words:
            return False
        last = self.words[-1]
        return last.casefold() in _ABBREVIATIONS or (len(last) == 1 and last.isupper() and last != "I")

    def end(self) -> Sentence | None:
        """Return the sentence, None if nothing is said in it, and begin the next."""
        words, sentence = self.words, None
        if words and any(word[0].isalnum() for word in words):
            low = tuple([word.lower() if word.isascii() else fold(word) for word in words])
            sentence = Sentence(self._source, tuple(words), low, tuple(self.spans), self.is_quoted, self.is_question)
        words.clear()
        self.spans.clear()
        self.is_question = False
        return sentence
