"""Facts in holographic vectors (FHRR): pure computing on numpy arrays, no I/O and no clock."""

from shelfd.memory.facts.broadcast import Broadcast, NamedAnswer
from shelfd.memory.facts.codec import Answer, FactCodec, Options, Status
from shelfd.memory.facts.confidence import THRESHOLD
from shelfd.memory.facts.facts import FactMemory
from shelfd.memory.facts.note_index import Candidates, NoteFields, NoteIndex, Scored
from shelfd.memory.facts.note_score import is_in, shares_of
from shelfd.memory.facts.note_vectors import NoteVector, NoteVectors, note_vector
from shelfd.memory.facts.original import OriginalFacts

__all__ = [
    "THRESHOLD",
    "Answer",
    "Broadcast",
    "Candidates",
    "FactCodec",
    "FactMemory",
    "NamedAnswer",
    "NoteFields",
    "NoteIndex",
    "NoteVector",
    "NoteVectors",
    "Options",
    "OriginalFacts",
    "Scored",
    "Status",
    "is_in",
    "note_vector",
    "shares_of",
]
