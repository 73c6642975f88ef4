"""Promotion: what is recalled again and again is written to MEMORY.md, beside whatever people wrote there."""

from shelfd.memory.tending.promotion.ports import LeftAlone, MemoryFiles, NoFiles, Target
from shelfd.memory.tending.promotion.promoter import Promoter

__all__ = ["LeftAlone", "MemoryFiles", "NoFiles", "Promoter", "Target"]
