"""The outcome of a request as data, and as JSON-RPC: alone, or in the array that answers a batch."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self, TypeAlias

from pydantic_core import to_json

from shelfd.gateway.envelope import Id, result_too_large
from shelfd.gateway.outbox import Room
from shelfd.memory.encoded import EncodedResult, decoded
from shelfd.memory.errors import Unavailable, error_of


class Reply(NamedTuple):
    """A result, or what went wrong.

    Attributes:
        id: The request's.
        result: Of the method's result shape: JSON-like, or JSON.
        error: A JSON-RPC error object; then there is no result.
        is_change: Whether the request was a change, which is made whatever happens to its reply.
        room: Where there must be room for it; None if the transport bounds replies otherwise.
    """

    id: Id
    result: dict[str, Any] | EncodedResult | None = None
    error: dict[str, Any] | None = None
    is_change: bool = False
    room: Room | None = None

    def failed(self, error: dict[str, Any]) -> Self:
        """Return the same with *error* instead of the result."""
        return self._replace(result=None, error=error, room=None)

    @property
    def data(self) -> dict[str, Any]:
        """The result as data; empty if there is none."""
        return decoded(self.result or {})

    @property
    def outcome(self) -> str:
        """How it went, for log and counters: ``ok``, or type and code of the error."""
        return "ok" if self.error is None else f"{self.error['data']['type']} {self.error['code']}"


#: Takes a reply and sends it; returns what was sent, which is an error where the result had no room.
Send: TypeAlias = Callable[[Reply], Reply]


def encoded(reply: Reply, **members: Any) -> bytes:  # noqa: ANN401 - whatever JSON holds
    """Return *reply* as a JSON-RPC response, with further *members* if given."""
    result = reply.result
    if isinstance(result, EncodedResult):
        before = to_json({"jsonrpc": "2.0", "id": reply.id})
        after = b"," + to_json(members, inf_nan_mode="null")[1:] if members else b"}"
        return b'%b,"result":%b%b' % (before[:-1], result.json, after)
    said = {"result": result} if reply.error is None else {"error": reply.error}
    return to_json({"jsonrpc": "2.0", "id": reply.id, **said, **members}, inf_nan_mode="null")


def fitted(reply: Reply, limit: int, **members: Any) -> tuple[bytes, Reply]:  # noqa: ANN401
    """Return *reply* encoded, and as it was: with an error for a result of more than *limit* bytes or without room."""
    data = encoded(reply, **members)
    if len(data) > limit and reply.error is None:
        reply = reply._replace(result=None, error=result_too_large(limit, is_change=reply.is_change))
        data = encoded(reply, **members)
    if reply.room is not None and not reply.room.settle(len(data)):
        full = Unavailable("result: there is no room for it now; ask for less, or again", field="result")
        reply = reply.failed(error_of(full))
        data = encoded(reply, **members)
    return data, reply


class ReplyArray:
    """The replies to one batch, encoded as they come.

    Args:
        count: How many members the batch has.
        limit: Largest array the transport takes, in bytes.
        hold: Takes how many bytes more, or less if negative, wait here to be sent.
    """

    def __init__(self, count: int, limit: int, hold: Callable[[int], None]) -> None:
        self._limit = limit
        self._hold = hold
        self._replies: list[bytes | None] = [None] * count
        self._bytes = 0

    def put(self, index: int, reply: Reply) -> Reply:
        """Take the reply of the member at *index*; return it as it was taken."""
        data, reply = fitted(reply, self._limit)
        if self._bytes + len(data) + 2 > self._limit and reply.error is None:
            reply = reply.failed(result_too_large(self._limit, is_change=reply.is_change))
            data = encoded(reply)
        self._replies[index] = data
        self._bytes += len(data) + 1
        self._hold(len(data) + 1)
        return reply

    def take(self) -> bytes | None:
        """Return the array, which no longer waits; None if there is nothing to reply."""
        self._hold(-self._bytes)
        replies = [reply for reply in self._replies if reply is not None]
        return b"[" + b",".join(replies) + b"]" if replies else None
