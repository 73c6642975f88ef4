"""What makes vectors of texts, as the memory sees it. There may be none; everything has an answer without it."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from shelfd.memory.errors import NoEmbedder

#: The vectors of one text, shape (n, width): one for each token, or a single one. Signed bytes of any scale: what is
#: compared is their direction. A text of which there is nothing to say has none.
Vectors: TypeAlias = npt.NDArray[np.int8]
#: Called right before anything leaves this machine, each time; what it raises ends it.
Permit: TypeAlias = Callable[[], None]


#: The weight of vectors by a model that knows what a word means where it stands (measured: docs/design.md).
CONTEXTUAL: Final = 0.3


class Embedder(Protocol):
    """Makes vectors. It keeps nothing of the texts."""

    @property
    def model(self) -> str:
        """Which vectors it makes: those of another model say nothing beside them. Empty: there is no embedder."""

    @property
    def is_local(self) -> bool:
        """Whether texts stay on this machine."""

    @property
    def weight(self) -> float:
        """What one standard deviation of likeness adds to a score by words, of which the best have about 1."""

    async def query(self, text: str, *, permit: Permit = lambda: None) -> Vectors:
        """Return the vectors of a query, at once and before those of texts. May be cancelled at any time.

        Raises:
            NoEmbedder: If there is none.
            EmbedderUnavailable: If it cannot be loaded or reached, or took too long; retryable.
            QuotaExceeded: If it would take more tokens than are left for today.
        """

    async def texts(self, texts: Sequence[str], *, permit: Permit = lambda: None) -> list[Vectors]:
        """Return the vectors of each of some texts, in the background, in their order; raises as :meth:`query`."""

    def status(self) -> dict[str, Any]:
        """Return what ``system.health`` says of it."""

    async def close(self) -> None:
        """Take nothing more."""


class AbsentEmbedder:
    """The absent embedder."""

    model = ""
    is_local = True
    weight = 0.0

    async def query(self, text: str, *, permit: Permit = lambda: None) -> Vectors:
        """Raise NoEmbedder."""
        del text, permit
        raise NoEmbedder

    async def texts(self, texts: Sequence[str], *, permit: Permit = lambda: None) -> list[Vectors]:
        """Raise NoEmbedder."""
        del texts, permit
        raise NoEmbedder

    def status(self) -> dict[str, Any]:
        """Return that there is none."""
        return {"state": "off"}

    async def close(self) -> None:
        """There is nothing to end."""


ABSENT_EMBEDDER: Final = AbsentEmbedder()
