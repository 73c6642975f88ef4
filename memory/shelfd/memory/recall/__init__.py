"""Lexical recall in memory: BM25 over notes and their neighbours, no model and no I/O."""

from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.document import Document, Hit, Ranking
from shelfd.memory.recall.index import RecallIndex

__all__ = ["Analyzer", "Document", "Hit", "Ranking", "RecallIndex"]
