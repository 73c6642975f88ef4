"""Tasks that wait until a shelf has reached a change."""

import asyncio
from heapq import heappop, heappush


class SeqWaiters:
    """Tasks that wait for sequence numbers that are not reached yet."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, asyncio.Future[None]]] = []
        self._count = 0

    def __bool__(self) -> bool:
        """Whether any task waits."""
        return bool(self._heap)

    async def wait_for(self, seq: int) -> None:
        """Wait until :meth:`reached` is called with *seq* or more.

        Raises:
            Exception: What :meth:`end` is given, if that happens first.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heappush(self._heap, (seq, self._count, future))
        await future

    def reached(self, seq: int) -> None:
        """Wake the tasks that wait for a number up to *seq*."""
        while self._heap and self._heap[0][0] <= seq:
            future = heappop(self._heap)[2]
            if not future.done():
                future.set_result(None)

    def end(self, error: Exception) -> None:
        """Raise *error* in all waiting tasks."""
        for _, _, future in self._heap:
            if not future.done():
                future.set_exception(error)
        self._heap.clear()
