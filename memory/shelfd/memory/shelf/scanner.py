"""Looking through a large shelf beside the event loop.

To rank one takes milliseconds, most of them in loops of numpy that let other threads run. In a thread of its own that
holds nobody up; what comes after it, the notes and their judging, needs what belongs to the event loop.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import inf
from typing import TypeVar

from shelfd.memory.ports.store import Clock

T = TypeVar("T")


class Scanner:
    """Ranks large shelves in a thread beside the event loop, for one query after the other.

    The next one begins when the event loop has seen the end of the one before: what waits for that, as a change of the
    index does, waits for one query at most.

    Attributes:
        took: Seconds that the last query took, here or on the event loop; infinite before the first.
    """

    def __init__(self, clock: Clock) -> None:
        self.took = inf
        self._clock = clock
        self._turn = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="shelfd.recall")  # which begins with the first query

    async def run(self, scan: Callable[[], T]) -> T:
        """Return what *scan* does."""
        async with self._turn:
            began = self._clock.monotonic()
            found = await asyncio.get_running_loop().run_in_executor(self._thread, scan)
            self.took = self._clock.monotonic() - began
            return found

    def close(self) -> None:
        """End the thread when it has done what it does."""
        self._thread.shutdown(wait=False)
