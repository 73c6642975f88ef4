"""Note search as its formula is written down: one note after the other, in plain Python."""

import math
from collections.abc import Mapping, Sequence

from shelfd.memory.facts import NoteFields
from shelfd.memory.facts.algebra import Phasors, bind, phasor
from shelfd.memory.facts.note_vectors import NoteVectors, note_vector
from shelfd.memory.notes.words import fold, split

_DIMENSION = 1024
_WORDS, _ROLES = Phasors("word", _DIMENSION), Phasors("role", _DIMENSION)
_WEIGHTS = {"title": 1.0, "content": 0.8, "tag": 0.8}


def text_score(query: str, text: str) -> float:
    """0.75 if all of the query stands in the text, and the share of its words that do."""
    asked, held = fold(query).strip(), fold(text)
    words = set(split(asked))
    if not words:
        return 0.0
    return (0.75 if asked in held else 0.0) + len(words & set(split(held))) / len(words)


def raw_score(cosine: float, text: float, note: NoteFields) -> float:
    """0.42 vector, 0.48 text, and what the note's own fields add."""
    durable = 0.05 if note.stability == "durable" else 0.0
    personal = 0.03 if note.scope in ("user", "self") else 0.0
    vector = (cosine + 1) / 2
    return 0.42 * vector + 0.48 * min(text, 1.5) / 1.5 + durable + personal + 0.05 * note.confidence


def softmax(scores: Sequence[float]) -> list[float]:
    """At the temperature 0.35."""
    raised = [math.exp(score / 0.35) for score in scores]
    return [value / sum(raised) for value in raised]


def cosines(query: str, notes: Mapping[str, NoteFields]) -> dict[str, float]:
    """The similarity of each note's superposed basis to the query's vector, unrelated pairs left out."""
    held = NoteVectors()
    bases = {note_id: note_vector(note.title, note.content, note.tags) for note_id, note in notes.items()}
    for basis in bases.values():
        held.add(basis)
    question = held.asked(query)
    known = {token for basis in bases.values() for token in basis.basis}
    pairs = {
        f"{role}:{word}": bind(phasor(_ROLES.phases(role)), phasor(_WORDS.phases(word)))
        for word in question.weights
        for role in _WEIGHTS
        if f"{role}:{word}" in known
    }
    found = {}
    for note_id, vector in bases.items():
        total = 0.0
        for token in vector.basis:
            for other, asked in pairs.items():
                if token in pairs:
                    role, _, word = other.partition(":")
                    like = float((pairs[token] * asked.conj()).real.mean())
                    total += like * question.weights[word] * _WEIGHTS[role]
        found[note_id] = min(max(total / (question.length or 1) / math.sqrt(max(len(vector.basis), 1)), 0.0), 1.0)
    return found
