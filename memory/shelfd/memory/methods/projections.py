"""What is derived from every shelf's log and kept beside its rows, in the order in which it applies a change."""

from typing import Final

from shelfd.memory.facts.fact_memory import ShelfFacts
from shelfd.memory.ports.projection import Project
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.recall.particulars import ShelfParticulars
from shelfd.memory.shelf.counts import ShelfCounts

PROJECTIONS: Final[tuple[Project, ...]] = (
    ShelfIndex,
    ShelfCounts,
    ShelfFacts,
    ShelfParticulars,
)
