"""Batches: members run one after another in array order, each for itself, and are answered together."""

from collections.abc import Callable

from shelfd.gateway.envelope import error_reply, result_too_large
from shelfd.gateway.lane import Lane, Request

Launch = Callable[[Request, Callable[[], None]], None]


class Batch:
    """One batch at work. It takes one turn of its lane, so that later changes wait for all of it.

    Args:
        count: How many members the batch has.
        lane: The caller's lane.
        answer: Takes the reply array; not called when there is nothing to reply.
        done: Called once when the last member has ended.
        launch: Starts one member.
    """

    def __init__(
        self, count: int, lane: Lane, answer: Callable[[bytes], None], done: Callable[[], None], launch: Launch
    ) -> None:
        self._lane = lane
        self._answer = answer
        self._done = done
        self._launch = launch
        self._replies: list[bytes | None] = [None] * count
        self._reply_bytes = 0
        self._requests: list[Request] = []
        self.follow_ups: list[Callable[[], None]] = []  #: called when the reply array is on its way
        self._changes_wait_to = lane.barrier
        self._turn = lane.barrier = lane.enter()

    def part(self, index: int) -> Callable[[bytes], None]:
        """Return what takes the reply of the member at *index*."""

        def take(reply: bytes) -> None:
            self._replies[index] = reply
            self._reply_bytes += len(reply) + 1
            self._hold(len(reply) + 1)

        return take

    def add(self, request: Request | None) -> None:
        """Add the next member; None if it was answered on admission."""
        if request is not None:
            request.batch = self
            is_change = request.call.method.is_change
            request.wait_to = self._changes_wait_to if is_change else self._turn - 1
            self._requests.append(request)

    def start(self) -> None:
        """Begin with the first member."""
        self._requests.reverse()
        self._next()

    def fitted(self, request: Request, reply: bytes) -> bytes:
        """Return *reply*, or in its place an error if the reply array would become larger than the transport takes."""
        limit = self._lane.reply_bytes
        if self._reply_bytes + len(reply) + 2 <= limit:
            return reply
        error = result_too_large(limit, is_change=request.call.method.is_change)
        return error_reply(request.envelope.id, error)

    def _next(self) -> None:
        if self._requests:
            self._launch(self._requests.pop(), self._next)
        else:
            self._finish()

    def _finish(self) -> None:
        self._lane.leave(self._turn)
        self._hold(-self._reply_bytes)
        replies = [reply for reply in self._replies if reply is not None]
        if replies:
            self._answer(b"[" + b",".join(replies) + b"]")
        for follow_up in self.follow_ups:
            follow_up()
        self._done()

    def _hold(self, size: int) -> None:
        if self._lane.outbox is not None:
            self._lane.outbox.hold(size)
