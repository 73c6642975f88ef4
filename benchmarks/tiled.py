"""Conversations repeated until there are as many notes as asked for, and the questions about them.

The copies say the same, or each has speakers of its own, other years, and other words in place of some of its rare
ones, so that a question about one copy is not answered by all of them. The same input gives the same notes.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from locomo import evidence, turns

_WORD = re.compile(r"[A-Za-z]+|\d+")
RARE = 3  #: a word that all conversations together hold at most so often
_RENAMED_PERCENT = 15  #: of the rare words, another choice in each copy
_SYLLABLES = ("ba", "do", "fe", "gi", "ka", "lo", "mi", "nu", "pe", "ra", "so", "tu", "vi", "we", "xa", "zo")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one copy of a conversation, and the ``source_ref`` of each turn that answers it."""

    text: str
    wanted: frozenset[str]


class Tiled:
    """The first *count* notes of the *conversations*, repeated, and questions whose evidence is among them."""

    def __init__(self, conversations: list[dict[str, Any]], count: int, *, is_varied: bool) -> None:
        self.count = count
        self.is_varied = is_varied
        self._conversations = conversations
        self._turns = [turns(conversation) for conversation in conversations]
        self._speakers = [sorted({str(note["author"]) for note in notes}) for notes in self._turns]
        words = Counter(
            word.lower() for notes in self._turns for note in notes for word in _WORD.findall(note["content"])
        )
        self._rare = {word for word, times in words.items() if times <= RARE and word.isalpha()}

    def notes(self) -> Iterator[dict[str, Any]]:
        """The params of each note, in the order of writing."""
        left = self.count
        for copy, at in self._copies():
            change = self._change(copy, at)
            for note in self._turns[at][:left]:
                yield {
                    **note,
                    "content": change(note["content"]),
                    "author": change(note["author"]),
                    "session_id": f"{note['session_id']}-{copy}",
                    "occurred_at": change(note["occurred_at"][:10].replace("-02-29", "-02-28"))
                    + note["occurred_at"][10:],
                    "source_ref": _reference(copy, at, note["source_ref"]),
                }
            left -= len(self._turns[at])

    def questions(self, count: int) -> list[Question]:
        """*count* questions of categories 1 to 4, spread over all whole copies."""
        dice = random.Random(7)
        whole = list(self._copies())[:-1] or list(self._copies())
        asked = [self._asked(at) for at in range(len(self._turns))]
        found = []
        for _ in range(count):
            copy, at = dice.choice(whole)
            text, wanted = dice.choice(asked[at])
            references = frozenset(_reference(copy, at, turn) for turn in wanted)
            found.append(Question(self._change(copy, at)(text), references))
        return found

    def _asked(self, at: int) -> list[tuple[str, set[str]]]:
        known = {note["source_ref"] for note in self._turns[at]}
        asked = [
            (one["question"], evidence(one, known)) for one in self._conversations[at]["qa"] if one["category"] < 5
        ]
        return [(text, wanted) for text, wanted in asked if wanted]

    def _copies(self) -> Iterator[tuple[int, int]]:
        """The number of the copy and of the conversation, until there are enough notes."""
        left, number = self.count, 0
        while left > 0:
            copy, at = divmod(number, len(self._turns))
            yield copy, at
            left -= len(self._turns[at])
            number += 1

    def _change(self, copy: int, at: int) -> "Change":
        return Change(copy if self.is_varied else 0, at, self._speakers[at], self._rare)


class Change:
    """What one copy of a conversation says otherwise; the first copy says the same."""

    def __init__(self, copy: int, at: int, speakers: Sequence[str], rare: set[str]) -> None:
        self._copy = copy
        self._rare = rare
        self._names = {name: _name(f"{copy} {at} {name}") for name in speakers} if copy else {}

    def __call__(self, text: str) -> str:
        """*text* as this copy has it."""
        return _WORD.sub(self._word, text) if self._copy else text

    def _word(self, match: re.Match[str]) -> str:
        word = match[0]
        if word in self._names:
            return self._names[word]
        if len(word) == 4 and word.isdigit() and word[:2] in ("19", "20"):
            return str(int(word) - self._copy % 40)
        folded = word.lower()
        if folded in self._rare and crc32(f"{folded} {self._copy}".encode()) % 100 < _RENAMED_PERCENT:
            return f"{word}{_name(folded + str(self._copy)).lower()}"
        return word


def _name(seed: str) -> str:
    number = crc32(seed.encode())
    return "".join(_SYLLABLES[number >> shift & 15] for shift in (0, 4, 8, 12)).capitalize()


def _reference(copy: int, at: int, turn: str) -> str:
    return f"{copy}/{at}/{turn}"
