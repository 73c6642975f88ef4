"""Notes in the form in which note search scores them: vectors, words and boosts, by row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.facts import note_score
from shelfd.memory.facts.note_texts import NoteTexts
from shelfd.memory.facts.note_vectors import NoteVectors, note_vector

_FIRST_ROWS: Final = 64
_SMALLEST_RENUMBERING: Final = 1_024  #: empty rows


class NoteFields(NamedTuple):
    """What search goes by of one note."""

    row: int  #: the store's
    title: str
    content: str
    tags: Sequence[str]  #: own ones, which are part of the vector
    labels: Sequence[str]  #: all tags, which are part of the text
    subject: str
    scope: str
    type: str
    stability: str
    confidence: float
    updated_at: int

    @property
    def text(self) -> str:
        """The text that a query is looked for in."""
        return note_score.searched_text(
            title=self.title,
            content=self.content,
            tags=self.labels,
            subject=self.subject,
            scope=self.scope,
            type_=self.type,
        )


@dataclass(frozen=True, slots=True)
class Candidates:
    """The notes that have anything of a query; all sequences have one place for each."""

    ids: npt.NDArray[np.object_]
    rows: npt.NDArray[np.int64]  #: the store's
    updated_at: npt.NDArray[np.int64]
    shares: note_score.Scores  #: of the query's words
    contained: npt.NDArray[np.bool_]  #: whether the whole query stands in the text, as far as is certain
    unsure: npt.NDArray[np.bool_]  #: whether the text itself has to tell
    cosines: note_score.Scores
    boosts: note_score.Scores

    def take(self, places: npt.NDArray[np.int64]) -> "Candidates":
        """Return those in *places*."""
        return Candidates(
            ids=self.ids[places],
            rows=self.rows[places],
            updated_at=self.updated_at[places],
            shares=self.shares[places],
            contained=self.contained[places],
            unsure=self.unsure[places],
            cosines=self.cosines[places],
            boosts=self.boosts[places],
        )

    def settled(self, contained: npt.NDArray[np.bool_]) -> "Candidates":
        """Return those that have anything of the query, now that it is known in which the whole of it stands."""
        known = replace(self, contained=contained, unsure=np.zeros_like(self.unsure))
        return known.take(np.flatnonzero((self.shares > 0) | contained | (self.cosines > 0)))

    def scored(self) -> "Scored":
        """Return the scores."""
        text = note_score.text_scores(self.shares, self.contained)
        vector = note_score.vector_scores(self.cosines)
        return Scored(note_score.raw_scores(vector, text, self.boosts), vector, text)


class Scored(NamedTuple):
    """The scores of candidates, in their order."""

    raw: note_score.Scores
    vector: note_score.Scores
    text: note_score.Scores


class NoteIndex:
    """Many notes, scored against a query all at once.

    A changed note gets a new row, and the old one stays empty until there are more empty rows than others.
    """

    def __init__(self) -> None:
        self._vectors = NoteVectors()
        self._texts = NoteTexts()
        self._rows: dict[str, int] = {}
        self._count = 0  #: rows given out so far
        self._ids = np.zeros(_FIRST_ROWS, dtype=np.object_)
        self._held = np.zeros(_FIRST_ROWS, dtype=np.bool_)  #: whether a row is not empty
        self._numbers = np.zeros((_FIRST_ROWS, 2), dtype=np.int64)  #: the store's row, and when it was updated
        self._boosts = np.zeros(_FIRST_ROWS)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, note_id: str) -> bool:
        return note_id in self._rows

    def put(self, note_id: str, note: NoteFields) -> None:
        """Take in a note, or what it says now."""
        self.remove(note_id)
        row = self._vectors.add(note_vector(note.title, note.content, note.tags))
        if row == len(self._held):
            self._resize(np.arange(row), 2 * row)
        self._count = row + 1
        self._texts.add(row, note.text)
        self._held[row] = True
        self._numbers[row] = note.row, note.updated_at
        self._boosts[row] = note_score.boost(stability=note.stability, scope=note.scope, confidence=note.confidence)
        self._ids[row] = note_id
        self._rows[note_id] = row

    def remove(self, note_id: str) -> bool:
        """Let go of a note; tell whether it was there."""
        row = self._rows.pop(note_id, None)
        if row is None:
            return False
        self._vectors.clear(row)
        self._held[row] = False
        if self._count - len(self._rows) > max(_SMALLEST_RENUMBERING, len(self._rows)):
            self._renumber()
        return True

    def candidates(self, query: str) -> Candidates:
        """Return the notes that hold a word of *query*, or one that it may mean, or all of it as part of a word."""
        count = self._count
        match = self._texts.match(query, count)
        question = self._vectors.asked(query)
        sought = (match.shares > 0) | match.contained | match.unsure
        for word in question.weights:
            sought[self._texts.holding(word)] = True
        rows = np.flatnonzero(sought & self._held[:count])
        return Candidates(
            ids=self._ids[rows],
            rows=self._numbers[rows, 0],
            updated_at=self._numbers[rows, 1],
            shares=match.shares[rows],
            contained=match.contained[rows],
            unsure=match.unsure[rows],
            cosines=self._vectors.cosines(question, rows),
            boosts=self._boosts[rows],
        )

    def _renumber(self) -> None:
        """Give the notes consecutive rows again."""
        kept = np.array(list(self._rows.values()), dtype=np.int64)
        kept.sort()
        numbers = np.full(self._count, -1, dtype=np.int64)
        numbers[kept] = np.arange(len(kept))
        self._vectors.keep(kept)
        self._texts.keep(numbers)
        self._count = len(kept)
        self._resize(kept, max(_FIRST_ROWS, 2 * len(kept)))
        self._rows = {note_id: row for row, note_id in enumerate(self._ids[: len(kept)].tolist())}

    def _resize(self, kept: npt.NDArray[np.int64], size: int) -> None:
        """Keep the columns of some rows as those of the first, with room for *size*."""
        for name in ("_ids", "_held", "_numbers", "_boosts"):
            old = getattr(self, name)
            new = np.zeros((size, *old.shape[1:]), dtype=old.dtype)
            new[: len(kept)] = old[kept]
            setattr(self, name, new)
