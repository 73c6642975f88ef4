"""The memory's port ``Embedder`` by a model in this process, in threads that leave the event loop alone."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Protocol, TypeVar

import structlog

from shelfd.memory.errors import EmbedderUnavailable
from shelfd.memory.ports.embedder import Permit, Vectors

log = structlog.get_logger("shelfd.models")

#: What is added to the priority's number of the thread that embeds notes: whatever answers somebody goes first.
_NICE: Final = 10
T = TypeVar("T")


class LocalModel(Protocol):
    """A loaded model. Several threads may use it at once."""

    def embed(self, text: str) -> Vectors:
        """Return the vectors of a text."""


class LocalEmbedder:
    """Implements ``Embedder``. Nothing is imported or read before the first text.

    Args:
        model: Which vectors they are.
        weight: What they add to the score by words; see the port.
        load: Imports and reads what it takes; raises ValueError if a file is not the one expected, OSError or
            ImportError. It is called by one thread at a time, and again after it failed.
    """

    is_local = True

    def __init__(self, model: str, weight: float, load: Callable[[], LocalModel]) -> None:
        self.model = model
        self.weight = weight
        self._load = load
        self._queries = ThreadPoolExecutor(1, "shelfd-embed-query")
        self._texts = ThreadPoolExecutor(1, "shelfd-embed", initializer=_go_last)
        self._loading = threading.Lock()
        self._loaded: LocalModel | None = None
        self._failed: str | None = None
        self._count = 0

    async def query(self, text: str, *, permit: Permit = lambda: None) -> Vectors:
        """Return the vectors of a query. See the port."""
        del permit  # nothing leaves this machine
        return await self._in(self._queries, lambda: self._ready().embed(text))

    async def texts(self, texts: Sequence[str], *, permit: Permit = lambda: None) -> list[Vectors]:
        """Return the vectors of each text. See the port."""
        del permit
        return [await self._in(self._texts, lambda text=text: self._ready().embed(text)) for text in texts]  # type: ignore[misc]

    def status(self) -> dict[str, Any]:
        """Return whether it is loaded, and what is wrong if it cannot be. See the port."""
        state = "failed" if self._failed else "idle" if self._loaded is None else "ready"
        return {"state": state, "model": self.model, "embedded": self._count, "last_error": self._failed}

    async def close(self) -> None:
        """Take nothing more; what is being embedded ends."""
        self._queries.shutdown(wait=False, cancel_futures=True)
        self._texts.shutdown(wait=False, cancel_futures=True)

    async def _in(self, executor: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        try:
            found = await asyncio.get_running_loop().run_in_executor(executor, work)
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            text = str(error) if isinstance(error, OSError | ValueError | ImportError) else type(error).__name__
            if self._failed is None:
                log.error("embedder.failed", model=self.model, error=text)
            self._failed = text
            problem = "the embedder cannot be used: see shelfd doctor"
            raise EmbedderUnavailable(problem, reason="EMBEDDER_FAILED") from None
        self._failed = None
        self._count += 1
        return found

    def _ready(self) -> LocalModel:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded


def _go_last() -> None:
    # On Linux a thread has a priority of its own.
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
