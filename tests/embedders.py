"""Embedders for tests: one that knows which words mean the same, and whatever may go wrong with one."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final
from zlib import crc32

import numpy as np

from shelfd.memory.errors import EmbedderUnavailable
from shelfd.memory.ports.embedder import CONTEXTUAL, Permit, Vectors

#: Words that mean the same.
SAME: Final[Mapping[str, str]] = {"residence": "home", "dwelling": "home", "physician": "doctor", "feline": "cat"}
_WIDTH: Final = 64


class WordEmbedder:
    """One vector for each word, the same for words that mean the same."""

    def __init__(self, model: str = "words/1", *, is_local: bool = True) -> None:
        self.model = model
        self.is_local = is_local
        self.weight = CONTEXTUAL
        self.embedded: list[str] = []  #: texts, in order
        self.queries: list[str] = []
        self.fails = False
        self.hangs = False
        self.at_work: Callable[[], Awaitable[object]] | None = None  #: happens once, while texts are embedded

    async def query(self, text: str, *, permit: Permit = lambda: None) -> Vectors:
        """Return a vector for each word."""
        permit()
        self.queries.append(text)
        if self.hangs:
            await asyncio.Event().wait()
        if self.fails:
            raise EmbedderUnavailable("it is out of order", reason="EMBEDDER_FAILED")
        return vectors(text, self.model)

    async def texts(self, texts: Sequence[str], *, permit: Permit = lambda: None) -> list[Vectors]:
        """Return a vector for each word of each text."""
        permit()
        if self.fails:
            raise EmbedderUnavailable("it is out of order", reason="EMBEDDER_FAILED")
        await asyncio.sleep(0)
        if self.at_work is not None:
            happens, self.at_work = self.at_work, None
            await happens()
        self.embedded += texts
        return [vectors(text, self.model) for text in texts]

    def status(self) -> dict[str, Any]:
        """Return that all is well."""
        return {"state": "ready"}

    async def close(self) -> None:
        """There is nothing to end."""


def vectors(text: str, model: str) -> Vectors:
    """Return a vector for each word; those of another model are as wide and point elsewhere."""
    words = [SAME.get(word, word) for word in text.lower().replace("?", " ").replace(".", " ").split()]
    made = [np.random.default_rng(crc32(f"{model} {word}".encode())).normal(size=_WIDTH) for word in words]
    if not made:
        return np.zeros((0, _WIDTH), np.int8)
    return np.stack([np.rint(one / np.abs(one).max() * 127).astype(np.int8) for one in made])
