"""Lanes: the order in which the requests of one caller take effect.

Changes start in the order they arrived. A read waits until every change sent before it has finished. A batch is
one turn: later changes wait until all of it is done, as they do for a change that is a barrier. Every change and
every batch takes the next turn number; ``finished_to`` is the highest number up to which all turns are over.
"""

import asyncio
from collections.abc import Callable, Iterator
from heapq import heappop, heappush

from shelfd.gateway.envelope import Envelope, Id
from shelfd.gateway.outbox import Room
from shelfd.gateway.reply import Send
from shelfd.gateway.subscriptions import Following
from shelfd.memory.call import Call


class Request:
    """One request at work.

    Attributes:
        wait_to: The turn that must be over before it may begin.
        turn: The turn it occupies itself, 0 if none.
        send: Takes the reply; called once, never for a notification.
        done: Called once when nothing of the request is left at work, which may be after its answer.
        follow_up: Called when the reply is on its way.
        follow_ups: Where it is kept for a member of a batch, whose reply goes out with those of the others.
        room: Where its reply goes, if that is bounded.
    """

    __slots__ = (
        "began", "call", "done", "envelope", "follow_up", "follow_ups", "is_answered", "lane", "room", "send", "timer",
        "turn", "wait_to",
    )  # fmt: skip

    def __init__(self, envelope: Envelope, call: Call, lane: "Lane", send: Send, began: float) -> None:
        self.envelope = envelope
        self.call = call
        self.lane = lane
        self.send = send
        self.began = began
        self.done: Callable[[], None] = _nothing
        self.follow_up: Callable[[], None] | None = None
        self.follow_ups: list[Callable[[], None]] | None = None
        self.room: Room | None = None
        self.is_answered = False
        self.timer: asyncio.TimerHandle | None = None
        self.turn = 0
        self.wait_to = 0

    @property
    def is_rehearsal(self) -> bool:
        """Whether it only says what a change would do, and so has to know the changes before it, as a read has."""
        return self.call.method.has_dry_run and bool(getattr(self.call.params, "dry_run", False))


class Lane:
    """The requests of one connection or MQTT user.

    Args:
        principal: The caller: ``uid:<n>``, ``mqtt:<user>``.
        name: Prefix of its request ids.
        subscriptions: Where its event subscriptions live; None if the transport has another way to events.
        room: Makes what is to give room to the reply of a read; None if the transport bounds replies otherwise.
    """

    __slots__ = (
        "_finished", "_numbered", "_waiters", "barrier", "entered", "finished_to", "is_closed", "name", "principal",
        "requests", "room", "subscriptions",
    )  # fmt: skip

    def __init__(
        self,
        principal: str,
        name: str,
        *,
        subscriptions: Following | None = None,
        room: Callable[[], Room] | None = None,
    ) -> None:
        self.room = room
        self.principal = principal
        self.name = name
        self.subscriptions = subscriptions
        self.requests: set[Request] = set()
        self.is_closed = False  #: the caller is gone: reads are pointless
        self.entered = 0
        self.finished_to = 0
        self.barrier = 0  #: the last turn that later changes wait for: a batch's, or a barrier's
        self._finished: set[int] = set()
        self._waiters: list[tuple[int, int, Callable[[], None]]] = []
        self._numbered = 0

    def next_request_id(self) -> str:
        """Return an id for the log, unique among all lanes with different names."""
        self._numbered += 1
        return f"{self.name}-{self._numbered}"

    def enter(self) -> int:
        """Take the next turn."""
        self.entered += 1
        return self.entered

    def leave(self, turn: int) -> None:
        """End a turn and begin the requests that waited for it."""
        if turn != self.finished_to + 1:
            self._finished.add(turn)
            return
        while turn + 1 in self._finished:
            turn += 1
            self._finished.remove(turn)
        self.finished_to = turn
        while self._waiters and self._waiters[0][0] <= turn:
            heappop(self._waiters)[2]()

    def when_over(self, turn: int, begin: Callable[[], None]) -> None:
        """Call *begin* when every turn up to *turn* is over, at once if that is so.

        A request that waits holds its place here and not in a task, which could be overtaken: one made just before
        the turn ended would run its first step before those that waited longer are wakened.
        """
        if self.finished_to >= turn:
            begin()
        else:
            self._numbered += 1
            heappush(self._waiters, (turn, self._numbered, begin))

    def find(self, request_id: Id) -> Request | None:
        """Return the unanswered request with this id."""
        matches: Iterator[Request] = (
            request
            for request in self.requests
            if not request.is_answered and request.envelope.id == request_id and not request.envelope.is_notification
        )
        return next(matches, None)


def _nothing() -> None:
    pass


class Batch:
    """One batch at work. It takes one turn of its lane, so that later changes wait for all of it.

    Args:
        lane: The caller's lane.
        launch: Starts one member; calls the function given to it when that has ended.
        done: Called once when the last member has ended, before what follows their replies.
    """

    def __init__(
        self, lane: Lane, launch: Callable[[Request, Callable[[], None]], None], done: Callable[[], None]
    ) -> None:
        self._lane = lane
        self._launch = launch
        self._done = done
        self._requests: list[Request] = []
        self._follow_ups: list[Callable[[], None]] = []
        self._changes_wait_to = lane.barrier
        self._turn = lane.barrier = lane.enter()

    def add(self, request: Request) -> None:
        """Add the next member."""
        request.follow_ups = self._follow_ups
        is_queued = request.call.method.is_change and not request.is_rehearsal
        request.wait_to = self._changes_wait_to if is_queued else self._turn - 1
        self._requests.append(request)

    def start(self) -> None:
        """Begin with the first member."""
        self._requests.reverse()
        self._next()

    def _next(self) -> None:
        if self._requests:
            self._launch(self._requests.pop(), self._next)
            return
        self._lane.leave(self._turn)
        self._done()
        for follow_up in self._follow_ups:
            follow_up()
