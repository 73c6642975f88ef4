"""Vectors of tokens by all-MiniLM-L6-v2, on this machine. Only :mod:`runtime` imports what computes them."""

from typing import TYPE_CHECKING, Final

from shelfd.memory.ports.embedder import CONTEXTUAL
from shelfd.models.local_embedder import LocalEmbedder
from shelfd.models.minilm.places import MiniLmFiles, minilm_files

if TYPE_CHECKING:
    from shelfd.models.minilm.runtime import Runtime

__all__ = ["MINILM", "MiniLmFiles", "minilm", "minilm_files"]

#: Which vectors they are: the model, the width, and the version of the projection.
MINILM: Final = "all-MiniLM-L6-v2-int8/96.1"


def minilm(files: MiniLmFiles) -> LocalEmbedder:
    """Return the embedder. To load it takes some 0.5 s, once."""

    def load() -> "Runtime":
        from shelfd.models.minilm.runtime import Runtime  # after the first text is embedded: see the module

        return Runtime(files)

    return LocalEmbedder(MINILM, CONTEXTUAL, load)
