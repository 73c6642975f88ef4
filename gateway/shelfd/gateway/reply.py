"""What came of a request, as data: each transport encodes it in its own way."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self, TypeAlias

from shelfd.gateway.envelope import Id
from shelfd.gateway.outbox import Room


class Reply(NamedTuple):
    """A result, or what went wrong.

    Attributes:
        id: The request's.
        result: JSON-like, of the method's result shape.
        error: A JSON-RPC error object; then there is no result.
        is_change: Whether the request was a change, which is made whatever becomes of this.
        room: Where there must be room for it; None if the transport bounds replies otherwise.
    """

    id: Id
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    is_change: bool = False
    room: Room | None = None

    def failed(self, error: dict[str, Any]) -> Self:
        """Return the same with *error* instead of the result."""
        return self._replace(result=None, error=error, room=None)

    @property
    def outcome(self) -> str:
        """How it went, for log and counters: ``ok``, or type and code of the error."""
        return "ok" if self.error is None else f"{self.error['data']['type']} {self.error['code']}"


#: Takes a reply and sends it; returns what was sent, which is an error where the result had no room.
Send: TypeAlias = Callable[[Reply], Reply]
