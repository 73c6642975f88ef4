"""Group commit: changes queue up while a group is being made durable, and then go together.

A large change is a group by itself. Between two of them go small changes of others that wait behind them: so nobody
waits for all large changes that came before, none of these waits for more than one group of small ones each, and what
one sender has asked for is done in its order.

Prior art: the binary log group commit of MySQL and PostgreSQL's ``commit_delay``, but without any delay: a
group is whatever waited while the one before it was written.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import structlog

from shelfd.memory.errors import ShuttingDown, StoreBusy, traced
from shelfd.memory.ports.log import LogRow, OfTurn, Origin
from shelfd.memory.ports.store import Applied, Change, Effects, OnDone

T = TypeVar("T")

Outcome: TypeAlias = Applied[Any] | BaseException  #: of one change
Take: TypeAlias = Callable[[], list[Change[Any]]]
Deliver: TypeAlias = Callable[[Sequence[Outcome] | Exception], None]
WriteGroup: TypeAlias = Callable[[Take, Deliver], None]
Listener: TypeAlias = Callable[[Sequence[Applied[Any]]], None]

#: Callers of a group that are notified before the loop does other work: about two milliseconds.
NOTIFIED_AT_ONCE: Final = 32
#: Changes in one group: small ones take about 30 us each.
GROUP_LIMIT: Final = 512
_made: Final = tuple.__new__  # a named tuple of a tuple of all its values, in a third of the time

log = structlog.get_logger(__name__)


class _Waiting(NamedTuple):
    change: Change[Any]
    on_done: OnDone[Any]


class CommitQueue:
    """Takes changes in order, hands them over in groups and notifies callers of their outcomes.

    Args:
        write_group: Calls the first function it is given, on any thread, for the changes of a group; makes them
            durable; and has the second called on the loop, with their outcomes, one a change and in order, or with
            what went wrong with all of them. Changes at the end without an outcome were not looked at: they are the
            first of the next group.
        shelf: Name for the log.
    """

    def __init__(self, write_group: WriteGroup, *, shelf: str) -> None:
        self._write_group = write_group
        self._shelf = shelf
        self._waiting: deque[_Waiting] = deque()
        self._group: list[_Waiting] = []
        self._was_large = False  # the group before
        self._listeners: list[Listener] = []
        self._closed = False
        self._rested: asyncio.Future[None] | None = None
        self.writing_since: float | None = None  #: when the group at work was begun, by the loop's time

    def submit(self, change: Change[T], on_done: OnDone[Applied[T]]) -> None:
        """Queue *change*; *on_done* is called later, on the loop, with its outcome.

        Raises:
            ShuttingDown: After :meth:`drain`.
        """
        if self._closed:
            raise ShuttingDown
        self._waiting.append(_Waiting(change, on_done))
        if self.writing_since is None:
            # At once: a sleeping thread takes its time to wake, and then takes whatever has come until then.
            self._begin()

    def follow(self, listener: Listener) -> Callable[[], None]:
        """Call *listener* with each group, before the callers are notified; return what ends that."""
        self._listeners.append(listener)

        def unfollow() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unfollow

    async def drain(self) -> None:
        """Take no more changes and wait until those queued are done."""
        self._closed = True
        if self.writing_since is not None:
            if self._rested is None:
                self._rested = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._rested)

    def _begin(self) -> None:
        self.writing_since = asyncio.get_running_loop().time()
        self._write_group(self._take, self._deliver)

    def _take(self) -> list[Change[Any]]:
        # On the writer's thread, while the loop may append; nothing else takes from the queue.
        waiting = self._waiting
        if not waiting[0].change.is_large:
            self._group = []
            while waiting and len(self._group) < GROUP_LIMIT and not waiting[0].change.is_large:
                self._group.append(waiting.popleft())
        else:
            self._group = (self._take_ahead() if self._was_large else []) or [waiting.popleft()]
        self._was_large = self._group[0].change.is_large
        return [one.change for one in self._group]

    def _take_ahead(self) -> list[_Waiting]:
        """Take the small changes that may go before the large one that is next: nothing of theirs waits before them."""
        ahead: list[_Waiting] = []
        left: list[_Waiting] = []
        waiting_senders: set[str | None] = {None}
        for one in [self._waiting.popleft() for _ in range(len(self._waiting))]:
            sender = one.change.sender
            if one.change.is_large or sender in waiting_senders or len(ahead) == GROUP_LIMIT:
                left.append(one)
                waiting_senders.add(sender)
            else:
                ahead.append(one)
        self._waiting.extendleft(reversed(left))
        return ahead

    def _deliver(self, outcomes: Sequence[Outcome] | Exception) -> None:
        group = self._group
        self._group = []
        if isinstance(outcomes, Exception):  # whatever this was, the next group deserves its own try
            log.error("store.group_failed", shelf=self._shelf, changes=len(group), **traced(outcomes))
            outcomes = [StoreBusy("the store did not take the change; nothing happened") for _ in group]
        if len(outcomes) < len(group):
            self._waiting.extendleft(reversed(group[len(outcomes) :]))
            del group[len(outcomes) :]
        if applied := [outcome for outcome in outcomes if isinstance(outcome, Applied)]:
            self._notify_listeners(applied)
        self._notify(zip(group, outcomes, strict=True))

    def _notify(self, done: Iterator[tuple[_Waiting, Outcome]]) -> None:
        """Notify the next callers, and the others in later rounds of the loop: each may take as long as a request."""
        loop = asyncio.get_running_loop()
        some = list(islice(done, NOTIFIED_AT_ONCE))
        for (_, on_done), outcome in some:
            try:
                on_done(outcome if isinstance(outcome, Applied) else _raisable(outcome))
            except Exception as error:  # noqa: BLE001 - one caller's trouble must not reach the others
                log.error("store.caller_failed", shelf=self._shelf, **traced(error))
        if len(some) == NOTIFIED_AT_ONCE:
            loop.call_soon(self._notify, done)
        elif self._waiting:
            # In the loop's next round, for the changes that callers make when they are notified of this group.
            loop.call_soon(self._begin)
        else:
            self.writing_since = None
            if self._rested is not None:
                self._rested.set_result(None)

    def _notify_listeners(self, applied: Sequence[Applied[Any]]) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(applied)
            except Exception as error:  # noqa: BLE001
                # The changes are durable: a listener's trouble must reach neither callers nor other listeners.
                log.error("store.listener_failed", shelf=self._shelf, last_seq=applied[-1].last_seq, **traced(error))


def _raisable(error: BaseException) -> Exception:
    # What is no Exception would end the caller's loop.
    if isinstance(error, Exception):
        return error
    wrapped = RuntimeError(f"a change raised {type(error).__name__}")
    wrapped.__cause__ = error
    return wrapped


def number_entries(effects: Effects, origin: Origin, *, last_seq: int, at: int) -> list[LogRow]:
    """Return the log rows of one transaction, with consecutive sequence numbers after *last_seq*."""
    if effects.variant is not None:
        origin = origin._replace(variant=effects.variant)
    entries = effects.entries
    tx, size = last_seq + 1, len(entries)
    origins: dict[OfTurn | None, Origin] = {None: origin}
    rows, whose, last = [], origin, None
    for seq, (kind, nugget, ids, row, before, of_turn) in enumerate(entries, tx):
        if of_turn is last:
            pass
        elif (known := origins.get(of_turn)) is not None:
            whose = known
        else:
            assert of_turn is not None
            whose = origin._replace(**of_turn._asdict())
            whose = origins[of_turn] = whose._replace(run_id=whose.run_id or origin.run_id)
        last = of_turn
        rows.append(_made(LogRow, (seq, tx, size, at, whose, kind, nugget, ids, row, before)))
    return rows
