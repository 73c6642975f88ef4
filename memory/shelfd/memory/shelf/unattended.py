"""Small changes of the daemon's own that no caller waits for."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import structlog

from shelfd.memory.errors import ShelfError, traced
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.store import Change, Store
from shelfd.memory.ports.view import Writer

log = structlog.get_logger("shelfd.memory")

#: Changes under way at once; what comes beyond them is left out.
MOST: Final = 1_000


class Unattended:
    """Submits such changes to a shelf's store. One that fails is logged; the others are made."""

    def __init__(self, store: Store, *, shelf: str) -> None:
        self._store = store
        self._shelf = shelf
        self._submitted = 0
        self._ended = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()  # for how many to have ended

    def submit(self, origin: Origin, apply: Callable[[Transaction], object]) -> bool:
        """Have *apply* run in a transaction, after those submitted before; return False if it will not be."""

        def transact(writer: Writer, now: int) -> tuple[None, Transaction]:
            transaction = Transaction(writer, now, origin)
            apply(transaction)
            return None, transaction

        if self._submitted - self._ended >= MOST:
            log.warning("change.left_out", shelf=self._shelf, method=origin.method)
            return False
        try:
            self._store.submit(Change(origin, transact), self._done)
        except ShelfError:
            return False  # the shelf is being closed
        self._submitted += 1
        return True

    async def settled(self) -> None:
        """Wait until what was submitted is durable, or has failed."""
        if self._ended < self._submitted:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((self._submitted, future))
            await future

    def _done(self, outcome: Any) -> None:  # noqa: ANN401
        self._ended += 1
        if isinstance(outcome, Exception):
            log.warning("change.failed", shelf=self._shelf, **traced(outcome))
        while self._waiting and self._waiting[0][0] <= self._ended:
            _, future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
