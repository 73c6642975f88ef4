"""The recall engine: ranks and judges notes for a query, in memory, without any model."""

from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.document import Document, Hit, Ranking
from shelfd.memory.recall.focus import Cut, Focus, Focused, Judged
from shelfd.memory.recall.index import RecallIndex
from shelfd.memory.recall.inspection import Aim
from shelfd.memory.recall.names import Names
from shelfd.memory.recall.shelf_index import ShelfIndex

__all__ = [
    "Aim", "Analyzer", "Cut", "Document", "Focus", "Focused", "Hit", "Judged", "Names", "Ranking",
    "RecallIndex", "ShelfIndex",
]  # fmt: skip
