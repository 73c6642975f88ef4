"""Notes found by words of their labels: nugget, scope, type, subject and the tags that follow from them."""

from collections.abc import Mapping
from itertools import islice
from typing import Final

import numpy as np

from shelfd.memory.notes.words import fold, split
from shelfd.memory.recall.columns import Codes, Columns, IntArray
from shelfd.memory.recall.filtering import TAGS, Filtering
from shelfd.memory.recall.spellings import JoinedWords

_NEWEST: Final = 100_000  #: notes that are found by their labels, at most
_FOUND: Final = 1_000  #: labels of one kind in which a word is found, at most
_TAGS: Final = 1_000  #: tags in which words are looked for, the oldest: those that reflection gives by kind are early
_NOWHERE: Final = np.zeros(0, np.int64)
#: As they stand in a note: scope and type are tags, too.
_FORMS: Final = {"nugget": "{}", "scope": "scope:{}", "type": "type:{}", "subject": "{}"}


class Labels:
    """Finds the words of labels, of which an index keeps every value once. No note is read.

    A caller's own tags are part of the notes' texts; of the others reflection derives some from the kind of a note.
    """

    def __init__(self, columns: Columns, filtering: Filtering) -> None:
        self._columns = columns
        self._filtering = filtering
        self._known = {name: JoinedWords() for name in _FORMS}  #: numbered as the values' codes
        self._tags: tuple[str, ...] = ()
        self._tag_lines = JoinedWords()

    def follow(self) -> None:
        """Index the labels that were added since."""
        for name, known in self._known.items():
            codes = self._filtering.codes(name)
            if len(codes) > len(known):
                known.extend(_FORMS[name].format(_line(value)) for value in islice(codes, len(known), None))
        tags = self._filtering.codes(TAGS)
        if len(self._tags) < min(_TAGS, len(tags)):
            self._tags = tuple(islice(tags, _TAGS))
            self._tag_lines = JoinedWords()
            self._tag_lines.extend(map(_line, self._tags))

    def having(self, word: str) -> tuple[IntArray, IntArray]:
        """Return the ordinals with *word* as a word of a label, and those with it anywhere in one; dead ones, too."""
        found = {name: known.find(word, _FOUND) for name, known in self._known.items()}
        tags = self._tag_lines.find(word, _FOUND)
        if not tags and not any(found.values()):
            return _NOWHERE, _NOWHERE
        whole = {name: [at for at in some if word in split(self._known[name][at])] for name, some in found.items()}
        whole_tags = [number for number in tags if word in split(self._tag_lines[number])]
        return self._labelled(whole, whole_tags), self._labelled(found, tags)

    def _labelled(self, codes: Mapping[str, list[int]], tags: list[int]) -> IntArray:
        size = self._columns.size
        begin = max(0, size - _NEWEST)
        marked = np.zeros(size - begin, np.bool_)
        for name, chosen in codes.items():
            if chosen:
                is_chosen = np.zeros(len(self._known[name]), np.bool_)
                is_chosen[chosen] = True
                column: Codes = getattr(self._columns, name)
                marked |= is_chosen[column[begin:size]]
        tagged = [self._filtering.tagged(self._tags[number]) for number in tags]
        return np.concatenate([np.flatnonzero(marked) + begin, *tagged])


def _line(text: str) -> str:
    return fold(text).replace("\n", " ")
