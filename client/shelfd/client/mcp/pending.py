"""Requests that were sent and not answered."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeAlias

#: An id as it can be told from others: 1 and "1" are two, 1 and 1.0 and true are not what JSON-RPC calls an id twice.
Key: TypeAlias = tuple[str, str | int | float]


class OpenRequest(NamedTuple):
    """A request under way.

    Attributes:
        id: As the client gave it.
        line: What is sent, and sent again after a reconnection.
        deadline: When it is answered at the latest; None: it is open until it is ended.
        is_tool: Whether a model asks, who is answered by a result.
        stateless: Whether it is of a revision of MCP that each request names.
    """

    id: Any
    line: bytes
    deadline: float | None
    is_tool: bool
    stateless: bool


_IDS: Final = (str, int, float)
_LARGEST: Final = 2**53  #: a number that every implementation of JSON knows exactly


def key_of(request_id: Any) -> Key | None:  # noqa: ANN401 - whatever JSON holds
    """Return what tells a request's id from others; None if it is none."""
    if not isinstance(request_id, _IDS) or isinstance(request_id, bool):
        return None
    if not isinstance(request_id, str) and abs(request_id) > _LARGEST:
        return None
    return ("text" if isinstance(request_id, str) else "number", request_id)


class Pending:
    """Requests by id, in the order they came."""

    def __init__(self) -> None:
        self._requests: dict[Key, OpenRequest] = {}

    def __iter__(self) -> Iterator[OpenRequest]:
        return iter(self._requests.values())

    def add(self, request: OpenRequest) -> None:
        """Note a request; one with the id of another takes its place."""
        key = key_of(request.id)
        assert key is not None
        self._requests.pop(key, None)
        self._requests[key] = request

    def pop(self, request_id: Any) -> OpenRequest | None:  # noqa: ANN401
        """Take the request with this id; None if there is none."""
        key = key_of(request_id)
        return None if key is None else self._requests.pop(key, None)

    def overdue(self, now: float) -> list[OpenRequest]:
        """Return those whose time is over."""
        return [request for request in self if request.deadline is not None and request.deadline <= now]

    def next_deadline(self) -> float | None:
        """Return when the next one's time is over."""
        return min((request.deadline for request in self if request.deadline is not None), default=None)

    @property
    def awaits_answers(self) -> bool:
        """Whether somebody waits for an answer."""
        return any(request.deadline is not None for request in self)
