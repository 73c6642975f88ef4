"""A stretch of text cut into words, which all rules look at."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from json import loads
from typing import Final

#: Longest stretch that is looked at together, characters: some milliseconds.
_LONGEST: Final = 4096
_WORD: Final = re.compile(r"[^\W_]+")
_ENDS: Final = frozenset('.!?:;\n"“”•*-–—(')


@lru_cache(maxsize=1)
def word_lists() -> dict[str, frozenset[str]]:
    """Return the word lists by name; ``clear_names`` are people's alone, ``heads`` end all other names.

    ``occasion_words`` end what has no name of its own.
    """
    text = files("shelfd.memory.knowledge.entities").joinpath("words.json").read_text("utf-8")
    lists = {name: frozenset(value.split()) for name, value in loads(text).items() if name != "about"}
    lists["clear_names"] = lists["first_names"] - lists["ambiguous_names"]
    lists["occasion_words"] = lists["occasions"] | lists["occasion_heads"] | lists["lesson_heads"]
    lists["heads"] = lists["org_heads"] | lists["place_heads"] | lists["event_heads"]
    return lists


class Segment:
    """A line, or a part of a long one.

    Attributes:
        text: Its text.
        offset: Where it begins in the whole.
        words: Its words: letters and digits, hyphens and apostrophes part them.
        low: The same in small letters.
        starts: Where each begins.
        taken: By word, whether it is part of an entity that was found.
    """

    __slots__ = ("_is_foreign", "ends", "low", "offset", "starts", "taken", "text", "words")

    def __init__(self, text: str, offset: int = 0) -> None:
        self.text = text
        self.offset = offset
        self.words: list[str] = _WORD.findall(text)
        self.low = [word.lower() for word in self.words]
        self.starts: list[int] = []
        self.ends: list[int] = []
        end = 0
        for word in self.words:
            start = text.index(word, end)
            end = start + len(word)
            self.starts.append(start)
            self.ends.append(end)
        self.taken = bytearray(len(self.words))
        self._is_foreign: bool | None = None

    @property
    def is_foreign(self) -> bool:
        """Whether it is in a language whose capitals and small words mean something else; found out when asked."""
        if self._is_foreign is None:
            self._is_foreign = len(word_lists()["foreign_words"].intersection(self.low)) > 1
        return self._is_foreign

    def between(self, at: int) -> str:
        """Return what stands between word *at* and the one after it."""
        return self.text[self.ends[at] : self.starts[at + 1]] if at + 1 < len(self.words) else ""

    def begins_sentence(self, at: int) -> bool:
        """Return whether a word is the first of a sentence."""
        if at == 0:
            return True
        gap = self.text[self.ends[at - 1] : self.starts[at]]
        return not _ENDS.isdisjoint(gap) and gap not in {"-", "–"}

    def take(self, first: int, end: int) -> None:
        """Mark words as part of an entity."""
        self.taken[first:end] = b"\x01" * (end - first)

    def take_span(self, start: int, end: int) -> None:
        """Mark the words between two places of the text as part of an entity."""
        first = bisect_left(self.starts, start)
        self.take(first, max(first, bisect_left(self.starts, end)))

    def is_free(self, start: int, end: int) -> bool:
        """Return whether no word between two places of the text is part of an entity yet."""
        return self.taken.find(1, bisect_left(self.starts, start), bisect_left(self.starts, end)) < 0


def segments(text: str) -> Iterator[Segment]:
    """Yield the lines of *text*, long ones in parts."""
    at = 0
    for line in text.splitlines(keepends=True):
        begin = 0
        while begin < len(line):
            end = min(len(line), begin + _LONGEST)
            if end < len(line):
                blank = line.rfind(" ", begin, end)
                end = blank if blank > begin else end
            part = line[begin:end]
            if part.strip():
                yield Segment(part, at + begin)
            begin = end
        at += len(line)
