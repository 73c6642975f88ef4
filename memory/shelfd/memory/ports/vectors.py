"""Vectors of notes as they are stored: made from rows, and made again if the model is another."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol


class NoteVectors(NamedTuple):
    """The vectors of one note."""

    note: int  #: row
    model: str  #: which made them; vectors of two models say nothing of each other
    text: int  #: CRC of the text they were made of
    width: int  #: numbers of a vector
    data: bytes  #: signed bytes, one vector after another


class VectorsView(Protocol):
    """Reads of vectors. Part of the store's port."""

    def of(self, notes: Sequence[int], model: str) -> list[NoteVectors]:
        """Return the vectors of *model* that some notes have, by row, ascending."""

    def texts(self, notes: Sequence[int], model: str) -> dict[int, int]:
        """Return for those of some notes that have vectors of *model* the CRC of the text these are of."""

    def page(self, model: str, *, after: int = 0, limit: int) -> list[NoteVectors]:
        """Return the vectors of *model*, by row, ascending."""

    def count(self, model: str) -> int:
        """Return how many notes have vectors of *model*. Takes no longer if there are many."""

    def position(self) -> Mapping[str, Any] | None:
        """Return up to where notes were given vectors, as it was put; None if that never began."""


class VectorsWriter(VectorsView, Protocol):
    """Reads and writes of vectors. They go with their note."""

    def put(self, vectors: Sequence[NoteVectors]) -> None:
        """Store the vectors of some notes, instead of those that they have."""

    def put_position(self, position: Mapping[str, Any]) -> None:
        """Set up to where notes were given vectors."""
