"""Lexical recall in memory: BM25 over notes and their neighbours, no model and no I/O."""

from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.document import Document, Filters, Hit, Ranking
from shelfd.memory.recall.filtering import admits
from shelfd.memory.recall.index import RecallIndex
from shelfd.memory.recall.shelf_index import ShelfIndex

__all__ = ["Analyzer", "Document", "Filters", "Hit", "Ranking", "RecallIndex", "ShelfIndex", "admits"]
