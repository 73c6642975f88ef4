"""Dispatch: from one message to its reply, the same for every transport."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias

import structlog
from pydantic import ValidationError
from structlog.contextvars import bind_contextvars

from shelfd.gateway import envelope as rpc
from shelfd.gateway.batch import Batch
from shelfd.gateway.counters import Counters
from shelfd.gateway.envelope import Envelope, Refusal
from shelfd.gateway.lane import Claim, Lane, Request
from shelfd.gateway.outbox import Outbox
from shelfd.gateway.own import OwnMethods
from shelfd.gateway.ports import Scheduling, Service, System
from shelfd.memory.call import Call
from shelfd.memory.errors import Cancelled, DeadlineExceeded, ShelfError, ShuttingDown, Unavailable, error_of, traced
from shelfd.memory.ports.store import Clock
from shelfd.protocol import METHODS, Code, Limits, Method, Params, error_object, from_validation

#: A parsed message: an envelope, a batch's members as they came, or the refusal of either.
Message: TypeAlias = Envelope | list[Any] | Refusal
Answer: TypeAlias = Callable[[bytes], None]
Done: TypeAlias = Callable[[], None]
Result: TypeAlias = dict[str, Any] | Exception


class Dispatcher:
    """Takes messages, carries them out in their lane's order, and answers.

    Construct it after structlog is configured: the logger is bound once.
    """

    def __init__(
        self,
        service: Service,
        system: System,
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
        self._is_draining = False

    @property
    def is_draining(self) -> bool:
        """Whether further requests are answered with ShuttingDown."""
        return self._is_draining

    def refuse_new(self) -> None:
        """Answer every further request with ShuttingDown."""
        self._is_draining = True

    def read(self, data: bytes) -> Message:
        """Parse one message. Never raises: what is wrong with it becomes its answer in :meth:`start`."""
        try:
            return self.open(rpc.parse(data, self.limits))
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
        self, message: Message, lane: Lane, answer: Answer, done: Done, on_begun: Callable[[], None] | None = None
    ) -> None:
        """Begin to carry out *message*; must be called in order of arrival, on the loop.

        Args:
            message: From :meth:`read` or :meth:`open`.
            lane: The caller's lane.
            answer: Called with the reply; never for notifications.
            done: Called once when all work on the message has ended, perhaps before this returns.
            on_begun: Called when the message has become a durable job, whose end may be far away.
        """
        if isinstance(message, list):
            self._start_batch(message, lane, answer, done)
            return
        request = self._admit(message, lane, answer)
        if request is None:
            done()
            return
        request.call.on_begun = on_begun
        if request.call.method.is_change:
            request.wait_to = lane.barrier
            request.turn = lane.enter()
            if request.call.method.decides_access:
                # What the changes behind it may do is asked when their turn comes, and that is after its end.
                lane.barrier = request.turn
        elif request.call.method.name not in self._own.unordered:
            request.wait_to = lane.entered
        self._launch(request, done)

    def cancel(self, lane: Lane, request_id: rpc.Id) -> bool:
        """Take back an unanswered request of *lane*; return False if there is none or it is too late."""
        request = lane.find(request_id)
        return request is not None and self._abandon(request, Cancelled())

    def close(self, lane: Lane) -> None:
        """Say that nobody waits for answers any more: reads end, changes go on."""
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

    def _admit(self, message: Envelope | Refusal, lane: Lane, answer: Answer) -> Request | None:
        """Turn a message into a request, or answer it at once and return None."""
        if isinstance(message, Refusal):
            self._refuse(None, message.error, message.id, lane, answer)
            return None
        if message.method == rpc.CANCEL:
            self._cancel(message, lane, answer)
            return None
        try:
            method, params = self._check(message)
        except Refusal as refusal:
            name = message.method if message.method in METHODS else None
            self._refuse(name, refusal.error, message.id, lane, None if message.is_notification else answer)
            return None
        now = self._clock.monotonic()
        ticket = Claim(self._clock)
        call = Call(method, params, lane.principal, lane.next_request_id(), ticket, self.limits, message.repeat)
        request = Request(message, call, ticket, lane, answer, now)
        if params.timeout_ms is not None:
            seconds = params.timeout_ms / 1000
            ticket.deadline = now + seconds
            request.timer = asyncio.get_running_loop().call_later(seconds, self._expire, request)
        lane.requests.add(request)
        return request

    def _check(self, message: Envelope) -> tuple[Method, Params]:
        """Return what is asked for, its params validated.

        Raises:
            Refusal: If the daemon is on its way out, there is no such method, or the params are wrong.
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
        self, method: str | None, error: dict[str, Any], request_id: rpc.Id, lane: Lane, answer: Answer | None
    ) -> None:
        self._record(method or "?", None, lane.principal, lane.next_request_id(), 0.0, _outcome(error))
        if answer is not None:
            answer(rpc.error_reply(request_id, error))

    def _cancel(self, message: Envelope, lane: Lane, answer: Answer) -> None:
        target = message.params.get("id")
        if message.params.keys() != {"id"} or target is None or not rpc.is_id(target):
            text = "id: must be the id of a request, and the only param"
            error = error_object(Code.INVALID_PARAMS, text, kind="InvalidParams", field="id", reason="BAD_ARGS")
            self._refuse(rpc.CANCEL, error, message.id, lane, None if message.is_notification else answer)
            return
        cancelled = self.cancel(lane, target)
        self._record(rpc.CANCEL, None, lane.principal, lane.next_request_id(), 0.0, "ok")
        if not message.is_notification:
            answer(rpc.result_reply(message.id, {"cancelled": cancelled}))

    def _start_batch(self, members: list[Any], lane: Lane, answer: Answer, done: Done) -> None:
        batch = Batch(len(members), lane, answer, done, self._launch)
        for index, member in enumerate(members):
            opened = self.open(member) if not isinstance(member, list) else self.open(None)
            assert not isinstance(opened, list)
            batch.add(self._admit(opened, lane, batch.part(index)))
        batch.start()

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
        """Carry out a request whose turn has come: in a task, unless it is a change that needs none."""
        is_change = request.call.method.is_change
        # A change whose task has not had its first step must not be overtaken.
        if is_change and not request.lane.changes_to_begin and self._submit(request):
            return
        if not is_change and request.lane.outbox is not None:
            request.call.room = partial(_room, request, request.lane.outbox)
        request.lane.changes_to_begin += is_change
        request.task = asyncio.get_running_loop().create_task(self._run(request), name=request.call.request_id)

    def _submit(self, request: Request) -> bool:
        over = partial(self._over, request)
        try:
            return not request.is_answered and self._service.submit(request.call, over)
        except Exception as error:  # noqa: BLE001 - it becomes the answer
            # Later, as that of a task would be: who begins many requests in a row relies on it.
            asyncio.get_running_loop().call_soon(over, error)
            return True

    async def _run(self, request: Request) -> None:
        request.has_begun = True
        request.lane.changes_to_begin -= request.call.method.is_change
        result: Result = {}
        try:
            if not request.is_answered:
                result = await self._perform(request)
        except asyncio.CancelledError:
            # A read that was taken back is answered already; any other cancellation is the loop's end.
            if not request.is_answered:
                self._end(request)
                raise
        self._over(request, result)

    async def _perform(self, request: Request) -> Result:
        bind_contextvars(request_id=request.call.request_id)
        handler = self._own.handlers.get(request.call.method.name)
        try:
            if handler is None:
                return await self._service.handle(request.call)
            if request.call.room is not None and (wait := request.call.room()) is not None:
                await wait
            return await handler(request)
        except Exception as error:  # noqa: BLE001 - it becomes the answer
            return error

    def _over(self, request: Request, result: Result) -> None:
        try:
            if not request.is_answered:
                self._conclude(request, *self._fitted(request, *self._reply(request, result)))
        finally:
            if isinstance(result, Exception):
                # Its frames know the futures that know it: a ring around what may be a large request.
                result.__traceback__ = None
            self._end(request)

    def _fitted(self, request: Request, reply: bytes, outcome: str) -> tuple[bytes, str]:
        """Return the reply, or an error if it was made for want of room and turned out too large."""
        if _room_fits(request, len(reply)):
            return reply, outcome
        error = error_of(Unavailable("result: there is no room for it now; ask for less, or again", field="result"))
        return rpc.error_reply(request.envelope.id, error), _outcome(error)

    def _end(self, request: Request) -> None:
        _room_fits(request, 0)
        request.call.room = None  # it knows the request: a ring for the garbage collector
        request.lane.requests.discard(request)
        if request.turn:
            request.lane.leave(request.turn)
        request.done()

    def _reply(self, request: Request, result: Result) -> tuple[bytes, str]:
        """Return the reply and its outcome. This is the boundary where every exception becomes an answer."""
        error: dict[str, Any]
        try:
            if not isinstance(result, Exception):
                reply = rpc.result_reply(request.envelope.id, result)
                if len(reply) <= request.lane.reply_bytes:
                    return reply, "ok"
                error = rpc.result_too_large(request.lane.reply_bytes, is_change=request.call.method.is_change)
            else:
                error = self._told(request.call, result)
        except Exception as fault:  # noqa: BLE001 - a result that is no JSON
            error = self._told(request.call, fault)
        return rpc.error_reply(request.envelope.id, error), _outcome(error)

    def _told(self, call: Call, failure: Exception) -> dict[str, Any]:
        if isinstance(failure, ShelfError):
            return error_of(failure)
        self._log.error("rpc.failed", method=call.method.name, request_id=call.request_id, **traced(failure))
        return rpc.internal_error()

    def _expire(self, request: Request) -> None:
        self._abandon(request, DeadlineExceeded())

    def _abandon(self, request: Request, error: ShelfError) -> bool:
        """Answer with *error* and see to it that nothing happens; return False if it is too late for that."""
        if request.is_answered:
            return False
        if request.call.method.is_change:
            # What cannot start any more ends by itself when its turn comes; the caller need not wait for that.
            if not request.ticket.withdraw():
                return False
        elif request.task is not None and request.has_begun:
            # A task cancelled before its first step would never run its own clean-up.
            request.task.cancel()
        answer = error_of(error)
        self._conclude(request, rpc.error_reply(request.envelope.id, answer), _outcome(answer))
        return True

    def _conclude(self, request: Request, reply: bytes, outcome: str) -> None:
        if request.is_answered:
            return
        request.is_answered = True
        if request.timer is not None:
            request.timer.cancel()
        batch = request.batch
        if not request.envelope.is_notification:
            request.answer(reply if batch is None else batch.fitted(request, reply))
        if request.follow_up is not None:
            if batch is None:
                request.follow_up()
            else:
                batch.follow_ups.append(request.follow_up)
        call = request.call
        duration_ms = (self._clock.monotonic() - request.began) * 1000
        self._record(call.method.name, call.shelf, call.principal, call.request_id, duration_ms, outcome)

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


def _room(request: Request, outbox: Outbox) -> Awaitable[None] | None:
    """Take room for the request's reply; return what waits for it if that has to be."""
    if request.has_room is not None:
        return None
    if outbox.take_room(request.lane.reply_bytes):
        request.has_room = True
        return None
    return _wait_for_room(request, outbox)


async def _wait_for_room(request: Request, outbox: Outbox) -> None:
    request.has_room = await outbox.wait_for_room(request.lane.reply_bytes)


def _room_fits(request: Request, size: int) -> bool:
    """Give back what was taken for the request's reply; return whether there is room for the *size* it came to."""
    has_room, outbox = request.has_room, request.lane.outbox
    if has_room is None or outbox is None:
        return True
    request.has_room = None
    if has_room:
        outbox.leave_room(request.lane.reply_bytes)
        return True
    return outbox.leave_spare(size)


def _outcome(error: dict[str, Any]) -> str:
    return f"{error['data']['type']} {error['code']}"
