"""What notes say of a query, sentence by sentence: the material of every answer."""

import asyncio
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from math import sqrt
from typing import Final, NamedTuple

from shelfd.memory.knowledge.synthesis.sentences import sentences_of
from shelfd.memory.notes.note import Note
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.recall.passages import PassageJudge
from shelfd.memory.shelf.shelf import Shelf

#: Sentences of one note, and of all notes, that are judged.
_OF_ONE: Final = 200
_OF_ALL: Final = 1_000
#: Sentences that are judged before other tasks have their turn: some 2 ms.
_AT_ONCE: Final = 16


class SourceNote(NamedTuple):
    """A note that answers are made of.

    Attributes:
        note: The note.
        relevance: How probable it is that it says what is asked.
        about: Names that the query does not have and that stand for what it asks; empty if its words do.
    """

    note: Note
    relevance: float
    about: str = ""


class NoteSentence(NamedTuple):
    """A sentence of a note.

    Attributes:
        source: The note.
        text: The sentence.
        score: How probable it is that it says what is asked, its note considered; 0 to 1.
        at: Its number in the note.
    """

    source: SourceNote
    text: str
    score: float
    at: int

    @property
    def said(self) -> str:
        """The sentence, of a note with a name after that: what it says is often said of its name."""
        title = self.source.note.title
        return f"{title}: {self.text}" if title and title.casefold() not in self.text.casefold() else self.text


class Evidence:
    """The sentences of notes that a query found.

    Attributes:
        sources: The notes, best first.
        sentences: The sentences of each, by its id, in their order; each note has one at least.
    """

    def __init__(self, sources: Sequence[SourceNote], sentences: dict[str, list[NoteSentence]]) -> None:
        self.sources = sources
        self.sentences = sentences

    def best_of(self, source: SourceNote) -> NoteSentence:
        """Return the sentence of a note that says most of what is asked; of equal ones the first."""
        return max(self.sentences[source.note.id], key=lambda one: (one.score, -one.at))

    @property
    def best(self) -> list[NoteSentence]:
        """The best sentence of each note, best first."""
        found = [self.best_of(source) for source in self.sources]
        return sorted(found, key=lambda one: -one.score)

    @property
    def confidence(self) -> float:
        """How sure what is best is: how probable it is that it says what is asked, and that this is so."""
        best = max(self.sources, key=lambda one: one.relevance * one.note.confidence, default=None)
        return 0.0 if best is None else round(best.relevance * best.note.confidence, 3)


async def gathered(shelf: Shelf, query: str, sources: Sequence[SourceNote]) -> Evidence:
    """Return what *sources* say of *query*, having let other tasks run in between."""
    focus = shelf.projection(ShelfIndex).focus
    of_query = focus.passages(query)
    sentences: dict[str, list[NoteSentence]] = {}
    left = _OF_ALL
    for source in sources:
        found: list[NoteSentence] = []
        judge = focus.passages(f"{query} {source.about}") if source.about else of_query
        around = judge.words_around(source.note.row)
        for at, text in enumerate(islice(sentences_of(source.note.content), min(_OF_ONE, left))):
            found.append(NoteSentence(source, text, _score(judge, source, text, around), at))
            left -= 1
            if left % _AT_ONCE == 0:
                await asyncio.sleep(0)
        sentences[source.note.id] = found or [_whole(source)]
    return Evidence(sources, sentences)


def _score(judge: PassageJudge, source: SourceNote, text: str, around: AbstractSet[int]) -> float:
    return sqrt(source.relevance * judge.judge(text, around))


def _whole(source: SourceNote) -> NoteSentence:
    """What stands for a note that has no sentence, or that was too many to be read."""
    text = " ".join(source.note.content[:600].split()) or source.note.title or source.note.id
    return NoteSentence(source, text, 0.0, 0)
