"""Vectors of tokens by all-MiniLM-L6-v2, on this machine. Only :mod:`runtime` imports what computes them."""

from shelfd.models.minilm.embedder import MINILM, MiniLmEmbedder
from shelfd.models.minilm.places import MiniLmFiles, found_files

__all__ = ["MINILM", "MiniLmEmbedder", "MiniLmFiles", "found_files"]
