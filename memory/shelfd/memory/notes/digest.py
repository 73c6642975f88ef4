"""What a rollup says when nobody and no model writes it: a line of each note it represents, with that note's id.

The line is the sentence that has most in common with the other notes; of a rollup, those of its lines that do. Nothing
is worded anew, so nothing can be said that no note says.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from shelfd.memory.notes.note import Note
from shelfd.memory.notes.sentences import sentences
from shelfd.memory.notes.text import cut
from shelfd.memory.notes.words import fold, split

#: A digest's length, and that of one line, in characters.
_LONGEST: Final = 1_200
_LINE: Final = 240
_SHORTEST: Final = 60
#: Text looked at of one note, and sentences of it.
_READ: Final = 4_000
_SENTENCES: Final = 40

_CITED: Final = re.compile(r"^- (.*) \[[^\[\]]+\]$", re.DOTALL)
#: Words shorter than this say little in any language that has spaces.
_TELLING: Final = 4
#: Words of a sentence from which on a longer one has to have more in common.
_USUAL: Final = 6


def digest(notes: Sequence[Note]) -> str:
    """Return what the rollup of *notes*, in their order, says: a line each, at most some 1,200 characters."""
    said = [_sentences(note) for note in notes]
    shared = Counter(word for found in said for word in {w for one in found for w in _words(one)})
    room = max(_SHORTEST, min(_LINE, _LONGEST // max(1, len(notes))))
    lines = []
    for note, found in zip(notes, said, strict=True):
        best = max(range(len(found)), key=lambda at, found=found: (_weight(found[at], shared), -at))  # type: ignore[misc]
        lines.append(f"- {cut(found[best], room)} [{note.id}]")
    return "\n".join(lines)


def is_digest(note: Note) -> bool:
    """Return whether a note says nothing but what the notes it represents say, and where."""
    return note.extra.is_rollup and all(_CITED.match(line) for line in note.content.split("\n"))


def _sentences(note: Note) -> list[str]:
    """The sentences of a note, of a digest those it has from others; its title if it says nothing else."""
    text = note.content[:_READ]
    cited = [match[1] for line in text.split("\n") if (match := _CITED.match(line))]
    found = cited or [" ".join(part.split()) for part in sentences(text)]
    return [sentence for sentence in found if sentence][:_SENTENCES] or [note.title or note.id]


def _words(sentence: str) -> set[str]:
    return {word for word in split(fold(sentence)) if len(word) >= _TELLING or not word.isascii()}


def _weight(sentence: str, shared: Counter[str]) -> float:
    """How much of a sentence other notes speak of, too."""
    words = _words(sentence)
    return sum(shared[word] - 1 for word in words) / max(_USUAL, len(words))
