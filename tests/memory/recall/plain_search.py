"""Note search as its formula is written down: one note after the other, in plain Python."""

import math
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from shelfd.memory.facts.lexicon import content_words
from shelfd.memory.facts.spelling import spelling_likeness, understood
from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.notes.note import BLANK, Note
from shelfd.memory.notes.words import emoji, fold, split
from shelfd.memory.recall import Analyzer, RecallIndex
from shelfd.memory.recall.note_score import NoteScore, note_vector, score_of
from shelfd.memory.recall.note_search import Candidates
from shelfd.memory.recall.shelf_index import document_of

_USER = BLANK._replace(subject="user:primary", scope="user", type="note", stability="durable", confidence=0.9)
_WEIGHTS = {"title": 1.0, "content": 0.8, "tag": 0.8}


def note(title: str = "", content: str = "", **named: Any) -> Note:
    """A note of these words."""
    return _USER._replace(title=title, content=content, **named)


class Held:
    """Notes in an index, searched as note.search does, each of them looked at."""

    def __init__(self, notes: Mapping[str, Note]) -> None:
        self.index = RecallIndex(Analyzer())
        self.notes: dict[str, Note] = {}
        self._rows = count(1)
        for note_id, each in notes.items():
            self.put(note_id, each)

    def put(self, note_id: str, each: Note) -> None:
        """Add a note, or replace it."""
        row = (
            self.notes[note_id].row if note_id in self.notes else len(self.index.notes.known) + 1_000 * len(self.notes)
        )
        self.notes[note_id] = each._replace(id=note_id, row=row)
        self.index.put(document_of(self.notes[note_id]))

    def remove(self, note_id: str) -> None:
        """Remove a note."""
        self.index.remove(self.notes.pop(note_id).row)

    def scores(self, query: str, filters: NoteFilter = RECALLABLE) -> dict[str, NoteScore]:
        """The scores of the notes that have anything of *query*."""
        search = self.index.notes
        while not search.follow():
            pass
        question = search.question(query)
        *_, found = [Candidates([], *[np.zeros(0)] * 3), *search.candidates(question, filters)]
        assert len(found.rest) == 0
        scores = {note_id: score_of(self.notes[note_id], question, search.known) for note_id in found.ids}
        return {note_id: score for note_id, score in scores.items() if score.is_match}

    def cosines(self, query: str) -> dict[str, float]:
        """The cosines of those that have a word of *query*."""
        return {note_id: 2 * score.vector - 1 for note_id, score in self.scores(query).items() if score.vector > 0.5}


def text_of(note: Note) -> str:
    """All that is searched."""
    return "\n".join([note.title, note.content, " ".join(note.all_tags), note.subject, note.scope, note.type])


def text_score(query: str, text: str) -> float:
    """0.75 if all of the query stands in the text, and the share of its words that do."""
    asked, held = fold(query).strip(), fold(text)
    words = set(split(asked) or emoji(asked))
    if not words:
        return 0.0
    return (0.75 if asked in held else 0.0) + len(words & {*split(held), *emoji(held)}) / len(words)


def raw_score(cosine: float, text: float, note: Note) -> float:
    """0.42 vector, 0.48 text, and what the note's own fields add."""
    durable = 0.05 if note.stability == "durable" else 0.0
    personal = 0.03 if note.scope in ("user", "self") else 0.0
    vector = (cosine + 1) / 2
    return 0.42 * vector + 0.48 * min(text, 1.5) / 1.5 + durable + personal + 0.05 * note.confidence


def softmax(scores: Sequence[float]) -> list[float]:
    """At the temperature 0.35."""
    raised = [math.exp(score / 0.35) for score in scores]
    return [value / sum(raised) for value in raised]


class PlainSearch:
    """Scores *notes* by every word there is; which are known, and how rare, is the *index*'s to say."""

    def __init__(self, notes: Sequence[Note], index: RecallIndex) -> None:
        self.notes = notes
        self._rarity, self._usual = index.notes.rarity, index.notes.usual_rarity()
        self._term, self._number = index.analyzer.term, index.notes.known
        self._words = {word for word in index.notes.known if index.notes.knows(word)}
        self._terms = {self._term(word) for word in self._words}

    def scores(self, query: str) -> dict[str, tuple[float, float, float, float]]:
        """Raw score, vector score, text score and share of the notes that have anything of *query*, by id."""
        asked = self._asked(query)
        found = {}
        for note in self.notes:
            cosine, text = self._cosine(asked, note), text_score(query, text_of(note))
            if cosine or text:
                found[note.id] = raw_score(cosine, text, note), (cosine + 1) / 2, text
        shares = softmax([raw for raw, _, _ in found.values()])
        return {note_id: (*scores, share) for (note_id, scores), share in zip(found.items(), shares, strict=True)}

    def __contains__(self, word: str) -> bool:
        return self._term(word) in self._terms

    def meant(self, word: str, _knows: object = None) -> list[tuple[str, float]]:
        """The three likest of all words."""
        likely = [
            (spelling_likeness(word, known), known) for known in self._words if known.isalpha() and len(known) > 2
        ]
        ranked = sorted((-likeness, known) for likeness, known in likely if likeness) if word.isalpha() else []
        return [(known, -likeness) for likeness, known in ranked[:3]] if len(word) > 2 else []

    def _asked(self, query: str) -> tuple[dict[str, float], set[str], float]:
        weights: dict[str, float] = {}
        forms, unknown = set(), 0.0
        for meant in understood(content_words(query), self):  # type: ignore[arg-type]
            unknown += 0.0 if meant else self._usual**2
            for word, likeness in meant:
                term = self._term(word)
                weights[term] = max(weights.get(term, 0.0), likeness * self._rarity(self._number[word]))
                forms.add(word)
        return weights, forms, math.sqrt(sum(weight**2 for weight in weights.values()) + unknown)

    def _cosine(self, asked: tuple[dict[str, float], set[str], float], note: Note) -> float:
        weights, forms, length = asked
        basis = note_vector(note.title, note.content, note.tags).basis
        total = 0.0
        for role, weight in _WEIGHTS.items():
            words = [token.partition(":")[2] for token in basis if token.startswith(f"{role}:")]
            for term in weights:
                of_term = [word for word in words if self._term(word) == term]
                if of_term:
                    like = 1.0 if forms & set(of_term) else 0.75
                    total += like * weight * weights[term]
        return min(total / length / math.sqrt(len(basis)), 1.0) if total else 0.0
