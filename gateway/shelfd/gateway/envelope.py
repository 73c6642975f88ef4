"""JSON-RPC 2.0 envelopes: bytes in, checked envelopes or refusals out."""

from collections.abc import Generator
from contextlib import suppress
from difflib import get_close_matches
from itertools import chain
from typing import Any, Final, NamedTuple, Self, TypeAlias

from pydantic_core import from_json, to_json

from shelfd.memory.call import Repeat
from shelfd.protocol import METHODS, Code, Limits, error_object
from shelfd.protocol.lazy_table import importing
from shelfd.protocol.limits import MAX_INTEGER

#: A request's id as JSON-RPC allows it.
Id: TypeAlias = str | int | float | None

CANCEL: Final = "$/cancel"
#: A connection whose first message is one of these speaks MCP.
MCP_METHODS: Final = frozenset(
    (
        *("initialize", "server/discover", "ping", "logging/setLevel", "notifications/initialized"),
        *("tools/list", "tools/call", "prompts/list", "prompts/get", "subscriptions/listen"),
        *("resources/list", "resources/templates/list", "resources/read", "resources/subscribe"),
        *("resources/unsubscribe", "completion/complete", "notifications/cancelled", "notifications/progress"),
    )
)
_LARGE_BYTES: Final = 1 << 16
_SUGGEST_UP_TO = 64  #: characters of an unknown method's name for which near names are looked up


class Envelope(NamedTuple):
    """One request as the caller put it. A notification has no id member and gets no reply."""

    id: Id
    is_notification: bool
    method: str
    params: dict[str, Any]
    repeat: Repeat | None = None  #: set by a transport that may deliver twice


class Refusal(Exception):
    """A message that cannot become a request.

    Attributes:
        error: The JSON-RPC error object to answer with.
        id: The request's id as far as it could be read.
    """

    def __init__(self, error: dict[str, Any], request_id: Id = None) -> None:
        super().__init__(error["message"])
        self.error = error
        self.id = request_id

    def kept(self) -> Self:
        """Return this, to be kept: without its frames, which hold the message and what keeps it."""
        self.__traceback__ = self.__context__ = None
        return self


def parse(data: bytes, limits: Limits) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the JSON value of one message.

    Raises:
        Refusal: PARSE_ERROR for bad UTF-8, bad JSON, NaN and infinities; TOO_LARGE for too deep nesting.
    """
    try:
        message = from_json(data, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        if "recursion limit" in str(error):
            raise _too_deep(limits) from None
        # The parser's message has a position and none of the caller's text.
        raise Refusal(error_object(Code.PARSE_ERROR, f"not JSON: {error}", kind="ParseError")) from None
    # Few brackets cannot nest deeply: nearly every request is known good without a walk through it. A large one has
    # many, and to count them takes a third of that walk.
    depth = limits.json_depth
    has_many = len(data) > _LARGE_BYTES or data.count(b"{") + data.count(b"[") > depth
    if has_many and _is_deeper(message, depth):
        raise _too_deep(limits)
    return message


def parse_in_turns(data: bytes, limits: Limits) -> Generator[None, None, Any]:
    """Do what :func:`parse` does, a few milliseconds at a time: yield between them.

    Raises:
        Refusal: As :func:`parse` does.
    """
    with importing:
        from shelfd.gateway.slices import Odd, parsed_in_turns  # few messages are so large, and a start needs neither
    with suppress(Odd):
        return (yield from parsed_in_turns(data, limits.json_depth))
    yield
    return parse(data, limits)  # what is wrong, if anything is, the parser says of the whole


def open_envelope(message: Any) -> Envelope:  # noqa: ANN401
    """Check that *message* is a JSON-RPC 2.0 request with named params.

    Raises:
        Refusal: INVALID_REQUEST, with the id if it is a usable one.
    """
    if not isinstance(message, dict):
        raise _invalid("a request is a JSON object")
    request_id = message.get("id")
    if not is_id(request_id):
        raise _invalid("id must be a string, a number up to 2^53, or null")
    if message.get("jsonrpc") != "2.0":
        raise _invalid('jsonrpc must be "2.0"', request_id)
    method = message.get("method")
    if not isinstance(method, str):
        raise _invalid("method must be a string", request_id)
    params = message.get("params", {})
    if isinstance(params, list):
        raise _invalid("params must be an object with named members; positional params are not supported", request_id)
    if not isinstance(params, dict):
        raise _invalid("params must be an object", request_id)
    return Envelope(request_id, "id" not in message, method, params)


def open_batch(members: list[Any], limits: Limits) -> None:
    """Check a batch's size.

    Raises:
        Refusal: INVALID_REQUEST for an empty batch, INVALID_PARAMS with field ``batch`` for a too long one.
    """
    if not members:
        raise _invalid("a batch must have members")
    if len(members) > (limit := limits.batch_count):
        message = f"batch: has more than {limit} members"
        raise Refusal(
            error_object(
                Code.INVALID_PARAMS, message, kind="InvalidParams", field="batch", limit=limit, reason="BAD_ARGS"
            )
        )


def line_too_long(limit: int) -> Refusal:
    """Return the refusal of a line with more than *limit* bytes."""
    message = f"line: is larger than {limit} bytes"
    return Refusal(error_object(Code.TOO_LARGE, message, kind="TooLarge", field="line", limit=limit))


def no_such_method(name: str) -> dict[str, Any]:
    """Return the error object for a method this version does not have; it suggests near names."""
    near = get_close_matches(name, METHODS, n=3) if len(name) <= _SUGGEST_UP_TO else []
    hint = f"did you mean {' or '.join(near)}?" if near else "rpc.discover lists them all"
    return error_object(Code.METHOD_NOT_FOUND, f"unknown method; {hint}", kind="MethodNotFound", near=near or None)


def internal_error() -> dict[str, Any]:
    """Return the error object for a fault of ours, which says nothing about it."""
    return error_object(Code.INTERNAL_ERROR, "internal error", kind="InternalError")


def result_too_large(limit: int, *, is_change: bool) -> dict[str, Any]:
    """Return the error object for a result that does not fit into one reply of *limit* bytes."""
    message = f"result: is larger than {limit} bytes; ask for less with k, limit or max_content_chars"
    if is_change:
        message = f"the change is made, but its result is larger than {limit} bytes"
    return error_object(Code.TOO_LARGE, message, kind="TooLarge", field="result", limit=limit)


def notification(method: str, params: dict[str, Any]) -> bytes:
    """Return a message to a caller that asks for no answer."""
    return to_json({"jsonrpc": "2.0", "method": method, "params": params}, inf_nan_mode="null")


def is_id(value: object) -> bool:
    """Return whether *value* can be a request's id."""
    if value is None or isinstance(value, str):
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MAX_INTEGER


def _invalid(message: str, request_id: Id = None) -> Refusal:
    return Refusal(error_object(Code.INVALID_REQUEST, message, kind="InvalidRequest"), request_id)


def _too_deep(limits: Limits) -> Refusal:
    limit = limits.json_depth
    message = f"json: is nested deeper than {limit} levels"
    return Refusal(error_object(Code.TOO_LARGE, message, kind="TooLarge", field="json", limit=limit))


#: What the parser makes of objects and arrays, and nothing derived from these.
_NESTS: Final = frozenset({dict, list})


def _is_deeper(value: object, limit: int) -> bool:
    level: list[Any] = [value] if type(value) in _NESTS else []
    for _ in range(limit):
        if not level:
            return False
        children = chain.from_iterable(parent.values() if type(parent) is dict else parent for parent in level)
        level = [child for child in children if type(child) in _NESTS]
    return bool(level)
