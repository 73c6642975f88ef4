"""What computes the inner loops of ranking: numpy, or compiled loops that give the same numbers several times as fast.

All shelves of a process share it. It is numpy until the compiled loops are loaded, which takes a while and must not
hold anything up.
"""

from collections.abc import Callable
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from shelfd.memory.recall.columns import BoolArray, Columns, FloatArray, IntArray
from shelfd.memory.recall.inverted import Bytes, Numbers

Singles = npt.NDArray[np.float32]
#: Terms of a query up to which the loops score it: the table of all of them and all its documents stays small.
MOST_TERMS: Final = 32
_LARGE: Final = 20_000


class Loops(Protocol):
    """Compiled loops; see :mod:`~shelfd.memory.recall.loops`."""

    def accumulate(
        self,
        postings: tuple[Numbers, Bytes, IntArray],
        weights: Singles,
        columns: Columns,
        average: float,
        nugget: int,
        own: Singles,
    ) -> IntArray:
        """Add postings, those of each term up to an end, to *own*; return the documents that had nothing there."""
        ...

    def base_totals(
        self,
        postings: tuple[Numbers, Bytes, IntArray],
        members: IntArray,
        place: Numbers | None,
        columns: Columns,
        idf: tuple[FloatArray, FloatArray],
        averages: tuple[float, float],
    ) -> FloatArray:
        """Return the base scores of *members* from the postings of these and others; no *place*: all documents."""
        ...

    def with_rules(
        self,
        relevance: FloatArray,
        ordinals: IntArray,
        columns: Columns,
        speaker: int | None,
        asks_when: bool,
        wants: int,
    ) -> FloatArray:
        """Return the *relevance* of some documents with what the rules add, but for that of days."""
        ...

    def around(self, columns: Columns, ordinals: IntArray, groups: BoolArray | None) -> IntArray:
        """Return the living *ordinals* in some *groups*, or all, and their neighbours, each once, ascending."""
        ...

    def surrounded(self, columns: Columns, ordinals: IntArray) -> IntArray:
        """Return *ordinals*, the two before and the one after each, each once, ascending."""
        ...

    def promises(self, columns: Columns, own: Singles, ordinals: IntArray) -> Singles:
        """Return what documents promise: their own score and parts of that of their neighbours."""
        ...


class Engine:
    """What is in use, and why."""

    def __init__(self) -> None:
        self.loops: Loops | None = None  #: None: numpy
        self.problem: str | None = None  #: why it is numpy although it was to be compiled loops
        self.prepare: Callable[[], None] | None = None  #: begins to load the loops; called once, for a large shelf

    @property
    def name(self) -> str:
        """How ranking is computed: ``numpy`` or ``compiled``."""
        return "numpy" if self.loops is None else "compiled"

    def look_at(self, documents: int) -> None:
        """Let the loops be loaded if a shelf with so many documents gains by them; that takes no time here."""
        if self.prepare is not None and documents >= _LARGE:
            prepare, self.prepare = self.prepare, None
            prepare()


#: One for the process: whether something can be compiled, and what is, is the same for all shelves.
engine: Final = Engine()
