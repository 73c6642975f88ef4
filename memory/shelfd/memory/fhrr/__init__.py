"""Facts in holographic vectors (FHRR): pure computing on numpy arrays, no I/O and no clock."""

from shelfd.memory.fhrr.broadcast import Broadcast, NamedAnswer
from shelfd.memory.fhrr.codec import Answer, FactCodec, Options, Status
from shelfd.memory.fhrr.facts import FactMemory
from shelfd.memory.fhrr.note_vectors import NoteVector, NoteVectors, note_vector
from shelfd.memory.fhrr.original import OriginalFacts

__all__ = [
    "Answer",
    "Broadcast",
    "FactCodec",
    "FactMemory",
    "NamedAnswer",
    "NoteVector",
    "NoteVectors",
    "Options",
    "OriginalFacts",
    "Status",
    "note_vector",
]
