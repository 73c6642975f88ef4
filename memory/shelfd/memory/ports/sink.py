"""A sink: somebody outside who must be told every change of a shelf, however long that takes."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from typing import Protocol


class Sink(Protocol):
    """One receiver of one open shelf's changes. Its methods are called on the event loop.

    Unlike who follows a shelf, a sink does not keep it open for ever: how far it got is stored in the shelf, and
    it goes on from there when the shelf is opened again.
    """

    @property
    def is_behind(self) -> bool:
        """Whether it is at work on changes it has not got yet; an idle shelf stays open meanwhile."""

    def applied(self, last_seq: int) -> None:
        """Hear that every change up to *last_seq* is durable and known to recall. Must take next to no time."""

    def closing(self) -> None:
        """Hear that the shelf is being closed and must not be read any more."""


class SinksView(Protocol):
    """Reads of how far sinks have come. Part of the store's port."""

    def get(self, name: str) -> int | None:
        """Return the last change a receiver of events was given; None if it never got one."""


class SinksWriter(SinksView, Protocol):
    """Reads and writes of how far sinks have come."""

    def put(self, name: str, seq: int) -> None:
        """Set the last change a receiver of events was given."""
