"""Facts in holographic vectors (FHRR): pure computing on numpy arrays, no I/O and no clock."""

from shelfd.memory.facts.belief import THRESHOLD, FactAnswer
from shelfd.memory.facts.broadcast import Broadcast
from shelfd.memory.facts.capacity import Options, Status
from shelfd.memory.facts.note_index import Candidates, NoteFields, NoteIndex, Scored
from shelfd.memory.facts.note_score import is_in, shares_of
from shelfd.memory.facts.note_vectors import NoteVector, NoteVectors, note_vector

__all__ = [
    "THRESHOLD",
    "Broadcast",
    "Candidates",
    "FactAnswer",
    "NoteFields",
    "NoteIndex",
    "NoteVector",
    "NoteVectors",
    "Options",
    "Scored",
    "Status",
    "is_in",
    "note_vector",
    "shares_of",
]
