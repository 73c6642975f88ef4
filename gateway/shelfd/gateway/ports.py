"""What the gateway needs from the daemon around it: the memory's front door and the daemon's own state."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Callable
from typing import Any, Protocol

from shelfd.memory.call import Call
from shelfd.memory.encoded import EncodedResult
from shelfd.memory.ports.store import OnDone
from shelfd.memory.shelf.access import Access

#: Decides by event type (``note.created``) and nugget (None: the event has none).
Wanted = Callable[[str, str | None], bool]


class EventLogPort(Protocol):
    """An open shelf as its subscribers see it."""

    @property
    def seq(self) -> int:
        """The last applied change."""

    def follow(self, callback: Callable[[int], None], /) -> Callable[[], None]:
        """Call *callback* on the loop with the last seq of each applied group; return what ends that."""

    def events(
        self, since_seq: int, limit: int, wanted: Wanted, matches: int = 0, /
    ) -> tuple[list[dict[str, Any]], int]:
        """Return wanted CloudEvents of at most *limit* changes after *since_seq*, and the last seq looked at.

        Matches of standing queries follow the change that caused them. They may come in parts: then that change does
        not count as looked at yet, and *matches* says how many of its were returned before.

        Raises:
            HistoryTrimmed: If the log no longer reaches back that far.
        """


class ServicePort(Protocol):
    """Carries out calls; :class:`shelfd.memory.methods.service.Service` is one."""

    @property
    def access(self) -> Access:
        """The access rules."""

    def submit(self, call: Call, on_done: OnDone[dict[str, Any] | EncodedResult]) -> None:
        """Begin *call*; a change has its place among those of its shelf when this returns.

        Args:
            call: What to do.
            on_done: Called later, once, on the loop, with the result or the error; a ShelfError is passed
                on to the caller. It must not raise.
        """

    async def shelf(self, call: Call) -> EventLogPort:
        """Return the open shelf that *call* is about.

        Raises:
            ShelfNotFound: If there is none.
            Forbidden: If the caller may not do this on it.
        """


class SystemPort(Protocol):
    """The daemon's own state; each answer has the shape of the method's result."""

    def health(self, principal: str) -> dict[str, Any]:
        """Answer ``system.health``: without what *principal* may not read."""

    def version(self) -> dict[str, Any]:
        """Answer ``system.version``."""

    async def doctor(self) -> dict[str, Any]:
        """Answer ``system.doctor``."""

    def config(self) -> dict[str, Any]:
        """Answer ``system.config``."""

    def log_level(self, level: str | None) -> dict[str, Any]:
        """Answer ``system.log_level``: without a *level* it stays what it is."""

    def metrics(self) -> dict[str, Any]:
        """Answer ``system.metrics``."""


class Scheduling(Protocol):
    """What the daemon does by itself; each answer has the shape of the method's result.

    Every method may raise a ShelfError, which is passed on to the caller.
    """

    async def jobs(self, call: Call) -> dict[str, Any]:
        """Answer ``scheduler.jobs``."""

    async def run(self, call: Call) -> dict[str, Any]:
        """Answer ``scheduler.run``. A change: starts the call's ticket, and a repeat gets the first outcome."""

    async def history(self, call: Call) -> dict[str, Any]:
        """Answer ``scheduler.history``."""
