"""One request on its way through the use cases, whatever transport it came by."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple, Protocol, TypeVar

from structlog.contextvars import bind_contextvars

from shelfd.memory.errors import Cancelled
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.store import OnDone, Ticket
from shelfd.protocol import Limits, Method, Need, Params

T = TypeVar("T")
#: The loop itself keeps no task from the garbage collector.
_at_work: set[asyncio.Task[None]] = set()


class Repeat(NamedTuple):
    """How a transport that may deliver a request twice makes it known again; an idempotency key says more.

    Attributes:
        key: Unique for this request of its principal and method, as an idempotency key is.
        lifetime: For how long the same key means the same request.
    """

    key: str
    lifetime: timedelta


class AccessPolicy(Protocol):
    """Who may do what."""

    def may(self, principal: str, shelf: str | None, need: Need) -> bool:
        """Return whether *principal* may do *need* on *shelf* (None: on the daemon)."""


@dataclass(slots=True)
class Call:
    """A validated request.

    Attributes:
        method: The method called.
        params: Its validated params, an instance of ``method.params``.
        principal: Who asks: ``uid:<n>``, ``mqtt:<user>`` or a part of the daemon such as ``scheduler``.
        request_id: For the log, unique enough to find one request again.
        sender: Whose changes are carried out in the order in which they came: a connection, or a user of MQTT.
        ticket: Deadline and cancellation.
        limits: The configured limits.
        repeat: How a redelivery of it is recognised; None when the transport delivers once.
        run_id: The run it belongs to, for the change log.
        room: Of a read: called right before its answer is made, which can be large while the caller lags in
            reading others; returns what is to be awaited first, if anything. None if there is always room.
        on_begun: Of a change that is a job: called when the job is durable, which can be long before its end. A
            transport that has kept the request until then need not deliver it again.
        rules: Who may do what, for methods of which administrators may do more; set when it is submitted.
        own_types: Types of entities that the configuration adds; set then, too.
        abort: While a task is at work on it: ends that where it is.
        has_model: Whether there is a language model, which may be asked later; set when it is submitted.
        asks_of_similar: Whether it is asked of older notes like one that evolves, too; set then, too.
        worked_out: Of a change, what was worked out of its params before its transaction.
        is_alone: Whether nobody else has asked for anything lately, and its caller for nothing else: then milliseconds
            of work hold up nobody.
    """

    method: Method
    params: Params
    principal: str
    request_id: str
    ticket: Ticket
    limits: Limits = field(default_factory=Limits)
    repeat: Repeat | None = None
    run_id: str | None = None
    room: Callable[[], Awaitable[None] | None] | None = None
    on_begun: Callable[[], None] | None = None
    rules: AccessPolicy | None = None
    own_types: Collection[str] = ()
    abort: Callable[[], object] | None = None
    has_model: bool = False
    asks_of_similar: bool = False
    sender: str | None = None
    worked_out: object = None
    is_alone: bool = False

    @property
    def shelf(self) -> str | None:
        """The shelf the request is about; None for methods on the daemon itself."""
        return getattr(self.params, "shelf", None)

    def may(self, need: Need) -> bool:
        """Return whether its principal may do *need* on its shelf."""
        return self.rules is not None and self.rules.may(self.principal, self.shelf, need)

    def origin(self) -> Origin:
        """Who and what this request's log rows name."""
        params: Any = self.params
        return Origin(
            principal=self.principal,
            method=self.method.name,
            request_id=self.request_id,
            session_id=getattr(params, "session_id", None),
            turn=getattr(params, "turn", None),
            run_id=self.run_id,
        )


def work_in_task(call: Call, work: Callable[[], Awaitable[T]], on_done: OnDone[T]) -> None:
    """Have a task do *work* on *call*, unless that is withdrawn before it begins.

    Args:
        work: Does it. Ended by ``call.abort``.
        on_done: Called later, once, with what *work* returned or raised.
    """
    _in_task(call, _work(call, work, on_done))


def _in_task(call: Call, work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.get_running_loop().create_task(work, name=call.request_id)
    _at_work.add(task)
    task.add_done_callback(_at_work.discard)


def work_soon(call: Call, work: Callable[[], T | Awaitable[T]], on_done: OnDone[T]) -> None:
    """Do *work* on *call* in the loop's next turn, unless that is withdrawn before; a task does what has to wait.

    Most reads have an answer at once, and to make a task of them would take longer than much of their work.

    Args:
        work: Does it, or returns what does it. Ended by ``call.abort``.
        on_done: Called later, once, with what *work* returned or raised.
    """
    asyncio.get_running_loop().call_soon(_work_now, call, work, on_done)


def _work_now(call: Call, work: Callable[[], T | Awaitable[T]], on_done: OnDone[T]) -> None:
    bind_contextvars(request_id=call.request_id)  # for this turn: the loop calls this in a context of its own
    if call.ticket.cancelled:
        on_done(Cancelled())
        return
    try:
        outcome = work()
    except Exception as error:  # noqa: BLE001 - whatever it was, the caller is notified
        on_done(error)
        return
    if isinstance(outcome, Awaitable):
        _in_task(call, _go_on(call, outcome, on_done))
    else:
        on_done(outcome)


async def _go_on(call: Call, work: Awaitable[T], on_done: OnDone[T]) -> None:
    async def rest() -> T:
        if call.ticket.cancelled:  # since it was begun
            asyncio.current_task().cancel()  # type: ignore[union-attr]
        return await work

    await _finish(call, rest, on_done)


async def _work(call: Call, work: Callable[[], Awaitable[T]], on_done: OnDone[T]) -> None:
    bind_contextvars(request_id=call.request_id)
    if call.ticket.cancelled:
        on_done(Cancelled())
    else:
        await _finish(call, work, on_done)


async def _finish(call: Call, work: Callable[[], Awaitable[T]], on_done: OnDone[T]) -> None:
    outcome: T | Exception = Cancelled()
    try:
        # Not before: a task cancelled before its first step would never end.
        call.abort = asyncio.current_task().cancel  # type: ignore[union-attr]
        outcome = await work()
    except Exception as error:  # noqa: BLE001 - whatever it was, the caller is notified
        outcome = error
    finally:
        call.abort = None
        on_done(outcome)
