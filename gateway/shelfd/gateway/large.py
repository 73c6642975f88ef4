"""Large messages of all connections: parsed one after the other, a turn of the loop at a time."""

import asyncio
from collections import deque
from collections.abc import Callable, Generator
from typing import Generic, TypeVar

T = TypeVar("T")


class LargeMessages(Generic[T]):
    """Parses large messages in the order in which they were read.

    While one is parsed there is much beside it, ten times its bytes: were all parsed at a time, what clients may send
    together would be a bound of nothing. And others wait for one turn only, not for one of each message.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[Generator[None, None, T], Callable[[T], None]]] = deque()

    def read(self, reading: Generator[None, None, T], is_read: Callable[[T], None]) -> None:
        """Go on with *reading* until it returns, when it is its turn; call *is_read* with what it returns."""
        self._waiting.append((reading, is_read))
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        """Parse for one turn; the next one is for whoever waits."""
        reading, is_read = self._waiting[0]
        try:
            next(reading)
        except StopIteration as read:
            self._waiting.popleft()
            is_read(read.value)
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._go_on)
