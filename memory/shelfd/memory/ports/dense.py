"""The dense tier of a shelf: how like a query its notes are in meaning, beside their words."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from shelfd.memory.errors import NoEmbedder
from shelfd.memory.ports.embedder import CONTEXTUAL, Vectors


class Likeness(NamedTuple):
    """How like a query notes are.

    Attributes:
        rows: Of the notes, ascending.
        values: Of each, about 0 to 1: see :func:`~shelfd.memory.recall.held_vectors.compared`.
        is_whole: Whether those are all notes that have vectors; else the first ones by their words.
        weight: What one standard deviation of it adds to a score by words.
        is_alone: Whether words do not count beside it.
    """

    rows: npt.NDArray[np.int64]
    values: npt.NDArray[np.float32]
    is_whole: bool
    weight: float = CONTEXTUAL
    is_alone: bool = False


#: Nothing is known of any note.
NOTHING_ALIKE: Final = Likeness(np.zeros(0, np.int64), np.zeros(0, np.float32), is_whole=True)


class Neighbours(Protocol):
    """Knows what is beside notes."""

    def __call__(self, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the rows of the notes before and after these, in their sessions; -1 for none."""


class Dense(Protocol):
    """Keeps the vectors of one open shelf, and compares them with a query's."""

    @property
    def model(self) -> str:
        """Which vectors; empty: there is no embedder."""

    def state(self) -> dict[str, Any]:
        """Return the model, and which share of the notes has its vectors, 0 to 1."""

    async def query(self, text: str, nugget: str | None) -> Vectors:
        """Return the vectors of a query about a nugget, or about all; in time, or not at all.

        Raises:
            NoEmbedder: If there is none, or it is elsewhere and the nugget is marked ``local_only``.
            EmbedderUnavailable: If it failed or took too long.
            QuotaExceeded: If it would take more tokens than are left for today.
        """

    @property
    def is_held(self) -> bool:
        """Whether the vectors of all notes are in memory; if not, the notes that are compared have to be named."""

    async def likeness(self, query: Vectors, rows: Sequence[int], neighbours: Neighbours) -> Likeness:
        """Return how like a query notes are: all of them if they are held, else those of *rows*."""

    def wake(self) -> None:
        """Go on in the background with notes that have no vectors of this model yet."""


class NoDense:
    """No dense tier."""

    model = ""
    is_held = False

    def state(self) -> dict[str, Any]:
        """There is none."""
        return {}

    async def query(self, text: str, nugget: str | None) -> Vectors:
        """Raise NoEmbedder."""
        del text, nugget
        raise NoEmbedder

    async def likeness(self, query: Vectors, rows: Sequence[int], neighbours: Neighbours) -> Likeness:
        """Raise NoEmbedder."""
        del query, rows, neighbours
        raise NoEmbedder

    def wake(self) -> None:
        """There is nothing to do."""
