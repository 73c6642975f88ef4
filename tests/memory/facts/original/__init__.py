"""The codec "original": Nuggets' memory of facts, reproduced to the last digit that floating point allows."""

from memory.facts.original.codec import ORIGINAL_OPTIONS, Decoding, OriginalFacts

__all__ = ["ORIGINAL_OPTIONS", "Decoding", "OriginalFacts"]
