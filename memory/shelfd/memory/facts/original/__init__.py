"""The codec "original": Nuggets' memory of facts, reproduced to the last digit that floating point allows."""

from shelfd.memory.facts.original.codec import ORIGINAL_OPTIONS, Decoding, OriginalFacts

__all__ = ["ORIGINAL_OPTIONS", "Decoding", "OriginalFacts"]
