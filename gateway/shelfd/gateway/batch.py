"""Batches: members run one after another in array order, each for itself."""

from collections.abc import Callable

from shelfd.gateway.lane import Lane, Request


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
