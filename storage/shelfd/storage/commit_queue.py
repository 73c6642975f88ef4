"""Group commit: changes queue up while a group is being made durable, and then go together.

Prior art: the binary log group commit of MySQL and PostgreSQL's ``commit_delay``, but without any delay: a
group is whatever waited while the one before it was written.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from traceback import extract_tb
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import structlog

from shelfd.memory.errors import ShuttingDown, StoreBusy
from shelfd.memory.ports import Applied, Change

T = TypeVar("T")

Outcome: TypeAlias = Applied[Any] | BaseException  #: of one change
Deliver: TypeAlias = Callable[[Sequence[Outcome]], None]
ApplyGroup: TypeAlias = Callable[[list[Change[Any]], Deliver], Awaitable[None]]
Listener: TypeAlias = Callable[[Sequence[Applied[Any]]], None]

#: Changes in one group. At about 30 us each this bounds how long the first waits for the last.
GROUP_LIMIT: Final = 512

log = structlog.get_logger(__name__)


class _Waiting(NamedTuple):
    change: Change[Any]
    future: asyncio.Future[Applied[Any]]


class CommitQueue:
    """Takes changes in order, hands them over in groups and tells everyone what came of them.

    Args:
        apply_group: Makes a group durable and hands its outcomes, one a change and in order, to the function it is
            given, on the loop. It may return a moment later.
        shelf: Name for the log.
    """

    def __init__(self, apply_group: ApplyGroup, *, shelf: str) -> None:
        self._apply_group = apply_group
        self._shelf = shelf
        self._waiting: deque[_Waiting] = deque()
        self._listeners: list[Listener] = []
        self._writing: asyncio.Task[None] | None = None
        self._closed = False
        self.writing_since: float | None = None  #: when the group at work was begun, by the loop's time

    def put(self, change: Change[T]) -> asyncio.Future[Applied[T]]:
        """Queue *change*; the future gets its outcome. Cancelling the future does not take the change back.

        Raises:
            ShuttingDown: After :meth:`drain`.
        """
        if self._closed:
            raise ShuttingDown
        future: asyncio.Future[Applied[T]] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(change, future))
        if self._writing is None:
            # The task starts in the loop's next round, so all changes that arrive in this one make one group.
            self._writing = asyncio.create_task(self._write(), name=f"shelfd.store.{self._shelf}")
        return future

    def follow(self, listener: Listener) -> Callable[[], None]:
        """Call *listener* with each group, before the callers hear of it; return what ends that."""
        self._listeners.append(listener)

        def unfollow() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unfollow

    async def drain(self) -> None:
        """Take no more changes and wait until those queued are done."""
        self._closed = True
        if self._writing is not None:
            await asyncio.wait([self._writing])

    async def _write(self) -> None:
        group: list[_Waiting] = []
        try:
            while self._waiting:
                group = [self._waiting.popleft() for _ in range(min(len(self._waiting), GROUP_LIMIT))]
                self.writing_since = asyncio.get_running_loop().time()
                await self._write_group(group)
        except asyncio.CancelledError:
            # The loop is being torn down: nobody may be left waiting for ever.
            for waiting in (*group, *self._waiting):
                waiting.future.cancel()
            self._waiting.clear()
            raise
        finally:
            self._writing = self.writing_since = None

    async def _write_group(self, group: Sequence[_Waiting]) -> None:
        try:
            await self._apply_group([waiting.change for waiting in group], partial(self._deliver, group))
        except Exception as error:  # noqa: BLE001 - whatever this was, the next group deserves its own try
            # Its message might quote a memory, so only kind and place are logged.
            log.error("store.group_failed", shelf=self._shelf, changes=len(group), **_told(error))
            self._deliver(group, [StoreBusy("the store did not take the change; nothing happened") for _ in group])

    def _deliver(self, group: Sequence[_Waiting], outcomes: Sequence[Outcome]) -> None:
        applied = [outcome for outcome in outcomes if isinstance(outcome, Applied)]
        if applied:
            self._tell_listeners(applied)
        for (_, future), outcome in zip(group, outcomes, strict=True):
            if future.done():  # its caller was cancelled while it waited
                continue
            if isinstance(outcome, Applied):
                future.set_result(outcome)
            else:
                future.set_exception(_raisable(outcome))

    def _tell_listeners(self, applied: Sequence[Applied[Any]]) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(applied)
            except Exception as error:  # noqa: BLE001
                # The changes are durable: a listener's trouble must reach neither callers nor other listeners.
                log.error("store.listener_failed", shelf=self._shelf, last_seq=applied[-1].last_seq, **_told(error))


def _told(error: Exception) -> dict[str, Any]:
    where = [f"{frame.name} {frame.filename}:{frame.lineno}" for frame in extract_tb(error.__traceback__)]
    return {"error": type(error).__name__, "where": where[-8:]}


def _raisable(error: BaseException) -> Exception:
    # A future refuses StopIteration, and what is no Exception would end the caller's loop.
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    wrapped = RuntimeError(f"a change raised {type(error).__name__}")
    wrapped.__cause__ = error
    return wrapped
