"""The memory's port ``Embedder`` by a model in this process, in threads that leave the event loop alone."""

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, TypeVar

import structlog

from shelfd.memory.errors import EmbedderUnavailable
from shelfd.memory.ports.embedder import Permit, Vectors
from shelfd.models.minilm.places import MiniLmFiles

if TYPE_CHECKING:
    from shelfd.models.minilm.runtime import Runtime

log = structlog.get_logger("shelfd.models")

#: Which vectors they are: the model, the width, and the version of the projection.
MINILM: Final = "all-MiniLM-L6-v2-int8/96.1"
#: What is added to the priority's number of the thread that embeds notes: whatever answers somebody goes first.
_NICE: Final = 10
T = TypeVar("T")


class MiniLmEmbedder:
    """Implements ``Embedder``. Nothing is imported or read before the first text; then that takes some 0.5 s once.

    Args:
        paths: Of the model and its vocabulary.
    """

    model = MINILM
    is_local = True

    def __init__(self, paths: MiniLmFiles) -> None:
        self._paths = paths
        self._queries = ThreadPoolExecutor(1, "shelfd-embed-query")
        self._texts = ThreadPoolExecutor(1, "shelfd-embed", initializer=_go_last)
        self._loading = threading.Lock()
        self._runtime: Runtime | None = None
        self._failed: str | None = None
        self._count = 0

    async def query(self, text: str, *, permit: Permit = lambda: None) -> Vectors:
        """Return the vectors of a query's tokens. See the port."""
        del permit  # nothing leaves this machine
        return await self._in(self._queries, lambda: self._loaded().embed(text))

    async def texts(self, texts: Sequence[str], *, permit: Permit = lambda: None) -> list[Vectors]:
        """Return the vectors of the tokens of each text. See the port."""
        del permit
        return [await self._in(self._texts, lambda text=text: self._loaded().embed(text)) for text in texts]  # type: ignore[misc]

    def status(self) -> dict[str, Any]:
        """Return whether it is loaded, and what is wrong if it cannot be. See the port."""
        state = "failed" if self._failed else "idle" if self._runtime is None else "ready"
        return {"state": state, "model": MINILM, "embedded": self._count, "last_error": self._failed}

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
                log.error("embedder.failed", model=MINILM, error=text)
            self._failed = text
            problem = "the embedder cannot be used: see shelfd doctor"
            raise EmbedderUnavailable(problem, reason="EMBEDDER_FAILED") from None
        self._failed = None
        self._count += 1
        return found

    def _loaded(self) -> "Runtime":
        with self._loading:
            if self._runtime is None:
                from shelfd.models.minilm.runtime import Runtime  # after the first text is embedded: see the module

                self._runtime = Runtime(self._paths)
            return self._runtime


def _go_last() -> None:
    # On Linux a thread has a priority of its own.
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
