"""Dispatch: from one message to its outcome, the same for every transport."""

import asyncio
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeAlias

import structlog
from pydantic import ValidationError

from shelfd.gateway import envelope as rpc
from shelfd.gateway.company import Company
from shelfd.gateway.counters import Counters
from shelfd.gateway.envelope import Envelope, Refusal
from shelfd.gateway.lane import Batch, Lane, Request
from shelfd.gateway.own import Handler, OwnMethods
from shelfd.gateway.ports import Scheduling, ServicePort, SystemPort
from shelfd.gateway.reply import Reply, Send
from shelfd.memory.call import Call, work_in_task
from shelfd.memory.encoded import EncodedResult
from shelfd.memory.errors import Cancelled, DeadlineExceeded, ShelfError, ShuttingDown, error_of, traced
from shelfd.memory.ports.store import Clock, Ticket
from shelfd.protocol import METHODS, Code, Limits, Method, Params, error_object, from_validation

#: A parsed message: an envelope, a batch's members as they came, or the refusal of either.
Message: TypeAlias = Envelope | list[Any] | Refusal
Done: TypeAlias = Callable[[], None]
Result: TypeAlias = dict[str, Any] | EncodedResult | Exception


class Dispatcher:
    """Takes messages, carries them out in their lane's order, and hands over their outcomes.

    Construct it after structlog is configured: the logger is bound once.
    """

    def __init__(
        self,
        service: ServicePort,
        system: SystemPort,
        *,
        clock: Clock,
        limits: Limits,
        counters: Counters | None = None,
        scheduling: Scheduling | None = None,
    ) -> None:
        self.limits = limits
        self.counters = counters or Counters()
        self._service = service
        self._clock = clock
        self._own = OwnMethods(service, system, scheduling)
        self._log = structlog.get_logger().bind(component="gateway")
        self._company = Company()
        self._is_draining = False

    @property
    def is_draining(self) -> bool:
        """Whether further requests are answered with ShuttingDown."""
        return self._is_draining

    def refuse_new(self) -> None:
        """Answer every further request with ShuttingDown."""
        self._is_draining = True

    def read(self, data: bytes) -> Message:
        """Parse one message. Never raises: an error becomes its answer in :meth:`start`."""
        try:
            return self.open(rpc.parse(data, self.limits))
        except Refusal as refusal:
            return refusal.kept()

    def read_in_turns(self, data: bytes) -> Generator[None, None, Message]:
        """Do what :meth:`read` does with a large message, and yield where others may have their turn."""
        try:
            return self.open((yield from rpc.parse_in_turns(data, self.limits)))
        except Refusal as refusal:
            return refusal.kept()

    def open(self, message: Any) -> Message:  # noqa: ANN401 - whatever JSON holds
        """Do what :meth:`read` does for a message that is parsed already."""
        try:
            if isinstance(message, list):
                rpc.open_batch(message, self.limits)
                return message
            return rpc.open_envelope(message)
        except Refusal as refusal:
            return refusal.kept()

    def start(
        self,
        message: Envelope | Refusal,
        lane: Lane,
        send: Send,
        done: Done,
        on_begun: Callable[[], None] | None = None,
    ) -> None:
        """Begin to carry out *message*; must be called in order of arrival, on the loop.

        Args:
            message: From :meth:`read` or :meth:`open`.
            lane: The caller's lane.
            send: Called with the reply; never for notifications.
            done: Called once when all work on the message has ended, perhaps before this returns.
            on_begun: Called when the message has become a durable job, which may take long to end.
        """
        request = self._admit(message, lane, send)
        if request is None:
            done()
            return
        request.call.on_begun = on_begun
        method = request.call.method
        if method.is_change:
            request.wait_to = lane.entered if request.is_rehearsal else lane.barrier
            request.turn = lane.enter()
            if method.is_barrier or method.name in self._own.handlers:
                # A change that is made here is in no queue, so later ones wait for it, too.
                lane.barrier = request.turn
        elif method.name not in self._own.unordered:
            request.wait_to = lane.entered
        self._launch(request, done)

    def start_batch(self, members: list[Any], lane: Lane, put: Callable[[int, Reply], Reply], done: Done) -> None:
        """Begin to carry out a batch, as :meth:`start` does a request.

        Args:
            members: From :meth:`read`.
            lane: The caller's lane.
            put: Takes the reply of the member with that index, as ``send`` does; never for notifications.
            done: Called once when all work on the batch has ended, perhaps before this returns.
        """
        batch = Batch(lane, self._launch, done)
        for index, member in enumerate(members):
            opened = self.open(member) if not isinstance(member, list) else self.open(None)
            assert not isinstance(opened, list)
            request = self._admit(opened, lane, partial(put, index))
            if request is not None:
                batch.add(request)
        batch.start()

    def cancel(self, lane: Lane, request_id: rpc.Id) -> bool:
        """Take back an unanswered request of *lane*; return False if there is none or it is too late."""
        request = lane.find(request_id)
        return request is not None and self._abandon(request, Cancelled())

    def close(self, lane: Lane) -> None:
        """The caller is gone: reads end, changes go on."""
        lane.is_closed = True
        if lane.subscriptions is not None:
            lane.subscriptions.close_all()
        for request in list(lane.requests):
            if not request.call.method.is_change:
                self._abandon(request, Cancelled())

    def abandon_all(self, lane: Lane) -> None:
        """Answer ShuttingDown to everything of *lane* that has not happened yet."""
        for request in list(lane.requests):
            self._abandon(request, ShuttingDown())

    # ------------------------------------------------------------------ admission

    def _admit(self, message: Envelope | Refusal, lane: Lane, send: Send) -> Request | None:
        """Turn a message into a request, or answer it at once and return None."""
        if isinstance(message, Refusal):
            self._refuse(None, message.error, message.id, lane, send)
            return None
        if message.method == rpc.CANCEL:
            self._cancel(message, lane, send)
            return None
        try:
            method, params = self._check(message)
        except Refusal as refusal:
            name = message.method if message.method in METHODS else None
            self._refuse(name, refusal.error, message.id, lane, None if message.is_notification else send)
            return None
        now = self._clock.monotonic()
        ticket = Ticket(self._clock)
        call = Call(method, params, lane.principal, lane.next_request_id(), ticket, self.limits, message.repeat)
        call.sender = lane.name
        call.is_alone = self._company.asks(lane.name, now) and not lane.requests
        request = Request(message, call, lane, send, now)
        if params.timeout_ms is not None:
            seconds = params.timeout_ms / 1000
            ticket.deadline = now + seconds
            request.timer = asyncio.get_running_loop().call_later(seconds, self._expire, request)
        lane.requests.add(request)
        return request

    def _check(self, message: Envelope) -> tuple[Method, Params]:
        """Return the method and its validated params.

        Raises:
            Refusal: If the daemon is stopping, there is no such method, or the params are wrong.
        """
        if self._is_draining:
            raise Refusal(error_of(ShuttingDown()))
        method = METHODS.get(message.method)
        if method is None:
            raise Refusal(rpc.no_such_method(message.method))
        try:
            return method, method.params.model_validate(message.params, context=self.limits)
        except ValidationError as invalid:
            raise Refusal(from_validation(invalid)) from None

    def _refuse(
        self, method: str | None, error: dict[str, Any], request_id: rpc.Id, lane: Lane, send: Send | None
    ) -> None:
        reply = Reply(request_id, error=error)
        self._record(method or "?", None, lane.principal, lane.next_request_id(), 0.0, reply.outcome)
        if send is not None:
            send(reply)

    def _cancel(self, message: Envelope, lane: Lane, send: Send) -> None:
        target = message.params.get("id")
        if message.params.keys() != {"id"} or target is None or not rpc.is_id(target):
            text = "id: must be the id of a request, and the only param"
            error = error_object(Code.INVALID_PARAMS, text, kind="InvalidParams", field="id", reason="BAD_ARGS")
            self._refuse(rpc.CANCEL, error, message.id, lane, None if message.is_notification else send)
            return
        cancelled = self.cancel(lane, target)
        self._record(rpc.CANCEL, None, lane.principal, lane.next_request_id(), 0.0, "ok")
        if not message.is_notification:
            send(Reply(message.id, {"cancelled": cancelled}))

    # ------------------------------------------------------------------ work

    def _launch(self, request: Request, done: Done) -> None:
        request.done = done
        if request.lane.is_closed and not request.call.method.is_change:
            self._abandon(request, Cancelled())
        if request.lane.finished_to >= request.wait_to:
            self._begin(request)
        else:
            request.lane.when_over(request.wait_to, partial(self._begin, request))

    def _begin(self, request: Request) -> None:
        """Carry out a request whose turn has come."""
        call, lane = request.call, request.lane
        over = partial(self._over, request)
        if request.is_answered:
            # In a later turn, like every end: a caller that begins many requests in a row relies on it.
            asyncio.get_running_loop().call_soon(over, {})
            return
        if lane.room is not None and not call.method.is_change:
            request.room = lane.room()
            call.room = request.room.take
        handler = self._own.handlers.get(call.method.name)
        if handler is None:
            self._service.submit(call, over)
        else:
            work_in_task(call, partial(_answer, handler, request), over)

    def _over(self, request: Request, result: Result) -> None:
        try:
            if not request.is_answered:
                self._conclude(request, self._reply(request, result))
        finally:
            if isinstance(result, Exception):
                # Its frames know the futures that know it: a ring around what may be a large request.
                result.__traceback__ = None
            self._end(request)

    def _end(self, request: Request) -> None:
        if request.room is not None:
            request.room.settle(0)
        request.lane.requests.discard(request)
        if request.turn:
            request.lane.leave(request.turn)
        request.done()

    def _reply(self, request: Request, result: Result) -> Reply:
        """Return what goes back. This is the boundary where every exception becomes an answer."""
        call = request.call
        if isinstance(result, Exception):
            return Reply(request.envelope.id, None, self._error(call, result), call.method.is_change, request.room)
        return Reply(request.envelope.id, result, None, call.method.is_change, request.room)

    def _error(self, call: Call, failure: Exception) -> dict[str, Any]:
        if isinstance(failure, ShelfError):
            return error_of(failure)
        self._log.error("rpc.failed", method=call.method.name, request_id=call.request_id, **traced(failure))
        return rpc.internal_error()

    def _expire(self, request: Request) -> None:
        self._abandon(request, DeadlineExceeded())

    def _abandon(self, request: Request, error: ShelfError) -> bool:
        """Answer with *error* and prevent the work; return False if it is too late for that."""
        # What cannot start any more ends by itself when its turn comes; the caller need not wait for that.
        call = request.call
        if request.is_answered or not call.ticket.withdraw():
            return False
        if call.abort is not None and not call.method.is_change:
            call.abort()
        self._conclude(request, Reply(request.envelope.id, error=error_of(error)))
        return True

    def _conclude(self, request: Request, reply: Reply) -> None:
        request.is_answered = True
        if request.timer is not None:
            request.timer.cancel()
        if not request.envelope.is_notification:
            reply = self._sent(request, reply)
        if request.follow_up is not None:
            if request.follow_ups is None:
                request.follow_up()
            else:
                request.follow_ups.append(request.follow_up)
        call = request.call
        duration_ms = (self._clock.monotonic() - request.began) * 1000
        self._record(call.method.name, call.shelf, call.principal, call.request_id, duration_ms, reply.outcome)

    def _sent(self, request: Request, reply: Reply) -> Reply:
        try:
            return request.send(reply)
        except Exception as fault:  # noqa: BLE001 - a result that cannot be encoded
            return request.send(reply.failed(self._error(request.call, fault)))

    def _record(
        self, method: str, shelf: str | None, principal: str, request_id: str, duration_ms: float, outcome: str
    ) -> None:
        self.counters.requests[method, outcome] += 1
        self._log.info(
            "rpc.handled",
            method=method,
            shelf=shelf,
            principal=principal,
            request_id=request_id,
            duration_ms=round(duration_ms, 3),
            outcome=outcome,
        )


async def _answer(handler: Handler, request: Request) -> dict[str, Any]:
    if request.call.room is not None and (wait := request.call.room()) is not None:
        await wait
    return await handler(request)
