"""Lists of numbers by key, laid over others: what is added here is not added there."""

from array import array
from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import TypeVar, overload

K = TypeVar("K", bound=Hashable)
D = TypeVar("D")


def new_array() -> "array[int]":
    """Return an empty list of numbers."""
    return array("q")


class Layered(defaultdict[K, "array[int]"]):
    """Takes a list over, as a copy, when it is first added to. Good for as long as nothing is added below."""

    def __init__(self, below: "Mapping[K, array[int]]") -> None:
        super().__init__(new_array)
        self._below = below

    def __missing__(self, key: K) -> "array[int]":
        own = self[key] = array("q", self._below.get(key, ()))
        return own

    @overload
    def get(self, key: K, default: None = None, /) -> "array[int] | None": ...
    @overload
    def get(self, key: K, default: "array[int]", /) -> "array[int]": ...
    @overload
    def get(self, key: K, default: D, /) -> "array[int] | D": ...
    def get(self, key: K, default: D | None = None, /) -> "array[int] | D | None":
        """Return the list, from below if nothing was added to it here."""
        return super().get(key) or self._below.get(key, default)
