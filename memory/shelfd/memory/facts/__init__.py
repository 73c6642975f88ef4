"""Facts in holographic vectors (FHRR): pure computing on numpy arrays, no I/O and no clock."""

from shelfd.memory.facts.belief import THRESHOLD, FactAnswer
from shelfd.memory.facts.broadcast import Broadcast
from shelfd.memory.facts.capacity import Options, Status

__all__ = [
    "THRESHOLD",
    "Broadcast",
    "FactAnswer",
    "Options",
    "Status",
]
