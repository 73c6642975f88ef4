"""How far a long call of a tool is, for a client that asks to be told."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from shelfd.gateway.dispatch import Dispatcher
from shelfd.gateway.envelope import Envelope, notification
from shelfd.gateway.lane import Lane
from shelfd.gateway.reply import Reply

#: Seconds between two looks.
PAUSE_S: Final = 0.5
#: Unfinished jobs that are looked through.
_JOBS: Final = 20


class Progress:
    """Tells a client how far the job is that its request became.

    Args:
        dispatcher: Is asked for the jobs.
        lane: The caller's: its other requests wait for the one that is told of, and so it is asked on another.
        send: Takes one message for the client.
        token: By which the client knows what is told of.
        method: What the request asks.
        shelf: Of which shelf.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        lane: Lane,
        send: Callable[[bytes], None],
        token: str | int,
        *,
        method: str,
        shelf: str,
    ) -> None:
        self._dispatcher = dispatcher
        self._lane = Lane(lane.principal, f"{lane.name}-progress")
        self._send = send
        self._token = token
        self._method = method
        self._shelf = shelf
        self._told = -1
        self._timer: asyncio.TimerHandle | None = None
        self._has_ended = False

    def begin(self) -> None:
        """The request has become a job."""
        self._ask()

    def end(self) -> None:
        """The request is answered: nothing more is told."""
        self._has_ended = True
        if self._timer is not None:
            self._timer.cancel()

    def _ask(self) -> None:
        params = {"unfinished": True, "limit": _JOBS, "shelf": self._shelf}
        asking = Envelope("progress", is_notification=False, method="job.list", params=params)
        self._dispatcher.start(asking, self._lane, self._tell, lambda: None)

    def _tell(self, reply: Reply) -> Reply:
        if self._has_ended:
            return reply
        jobs: list[dict[str, Any]] = reply.data.get("jobs", [])
        mine = next((job for job in jobs if job["method"] == self._method), None)
        if mine is not None and mine["progress"]["done"] > self._told:
            self._told = mine["progress"]["done"]
            total = mine["progress"]["total"]
            of = {} if total is None else {"total": total}
            params = {"progressToken": self._token, "progress": self._told, **of, "message": mine["kind"]}
            self._send(notification("notifications/progress", params))
        self._timer = asyncio.get_running_loop().call_later(PAUSE_S, self._ask)
        return reply
