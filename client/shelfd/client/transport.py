"""A blocking client: JSON-RPC 2.0, one message per line, over a Unix socket."""

import json
import select
import socket
import struct
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType, TracebackType
from typing import Any, Final, Protocol, Self, TypeVar, overload

from shelfd.client.endpoint import advice, candidates, not_admitted
from shelfd.client.failure import NotRunning, ProtocolError, RpcFailure, Unsendable

M_co = TypeVar("M_co", covariant=True)
M = TypeVar("M")

#: Bytes that are read of a connection at once.
_READ_BYTES: Final = 1 << 16
#: From how many bytes on a reply is long.
_LONG_BYTES: Final = 1 << 11
#: A reply is at most 8 MiB by contract; anything longer is not ours.
REPLY_BYTES = 8 * 1024 * 1024 + 2
_TIMED_OUT: Final = "timed out"
_NOTHING: Final[Mapping[str, bytes]] = MappingProxyType({})
_END_OF_PARAMS: Final = b"}}\n"  #: of a request as one line
_LEAST_S: Final = 1e-6  #: the shortest time that the kernel waits
#: Made once: a file that is imported may have many thousands of items.
_encoded: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
#: How often who waits for an answer is called.
LOOK_S = 0.25


class Into(Protocol[M_co]):
    """A model that results are read into, such as those of ``shelfd.protocol.methods``, which need pydantic."""

    def model_validate(self, obj: Any, /) -> M_co:  # noqa: ANN401
        """Return *obj* as an instance of the model."""
        ...


def connect(path: str | None = None, *, timeout_s: float | None = 60.0) -> "Client":
    """Connect to the daemon at *path*, or where one usually listens.

    Args:
        path: Socket path; None looks in the usual places, in the contract's order.
        timeout_s: Longest wait for a reply; None waits for ever.

    Raises:
        NotRunning: If no daemon listens there; the message says what was tried.
    """
    tried: list[tuple[str, str]] = []
    closed: str | None = None
    for candidate in candidates(path):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(timeout_s)
        try:
            connection.connect(candidate)
            _wait_at_most(connection, timeout_s)
        except OSError as error:
            connection.close()
            # A path that is too long has no strerror.
            tried.append((candidate, error.strerror or str(error)))
            closed = closed or (candidate if isinstance(error, PermissionError) else None)
        else:
            return Client(connection)
    raise NotRunning(tried, advice([path for path, _ in tried]) if closed is None else not_admitted(closed))


def _wait_at_most(connection: socket.socket, timeout_s: float | None) -> None:
    """Let the kernel end reads and writes that take longer: Python's own timeout takes a system call for each.

    None: let them take any time.
    """
    whole, rest = divmod(0.0 if timeout_s is None else max(timeout_s, _LEAST_S), 1)  # the kernel takes 0 for no end
    at_most = struct.pack("ll", int(whole), int(rest * 1_000_000))
    connection.settimeout(None)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        connection.setsockopt(socket.SOL_SOCKET, option, at_most)


class Client:
    """One connection; calls one after another. Not for several threads at once.

    Use as a context manager, or call :meth:`close`.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._received, self._taken = b"", 0  #: what was read last, and how much of it is done with
        self._last_id = 0
        self._begun: dict[int, Any] = {}  #: requests whose answer nobody has taken, and the shelves they are about
        self._answers: dict[int, dict[str, Any]] = {}  #: those that came before they were asked for
        self._refusals: list[dict[str, Any]] = []  #: answers that do not say to what, which are refused unread
        self._notifications: deque[dict[str, Any]] = deque()

    @overload
    def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        written: Mapping[str, bytes] = ...,
        while_waiting: Callable[[], None] | None = None,
    ) -> Any: ...  # noqa: ANN401
    @overload
    def call(self, method: str, params: Mapping[str, Any] | None = None, *, into: Into[M]) -> M: ...
    def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        into: Into[Any] | None = None,
        written: Mapping[str, bytes] = _NOTHING,
        while_waiting: Callable[[], None] | None = None,
    ) -> Any:
        """Call *method* and return its result.

        Args:
            method: Its name, like ``note.get``.
            params: Its params by name.
            into: What the result is read into; without it, it is what JSON holds.
            written: Further params, as :func:`as_json` writes them.
            while_waiting: Called every :data:`LOOK_S` until something comes.

        Raises:
            Unsendable: If *params* hold what JSON or UTF-8 cannot say.
            RpcFailure: If the daemon answers with an error.
            ConnectionError: If the connection ends first; whether the call was carried out is then unknown.
            TimeoutError: If no reply came in time; the connection is of no more use then.
        """
        begun = self.begin(method, params, written=written)
        while while_waiting is not None and not select.select([self._socket], [], [], LOOK_S)[0]:
            while_waiting()
        result = self.end(begun)
        return result if into is None else into.model_validate(result)

    def begin(
        self, method: str, params: Mapping[str, Any] | None = None, *, written: Mapping[str, bytes] = _NOTHING
    ) -> int:
        """Send a request as :meth:`call` does; return the number by which :meth:`end` gives its result.

        Raises:
            Unsendable: As :meth:`call` does.
            ConnectionError: As :meth:`call` does.
            TimeoutError: If it could not be sent in time.
        """
        self._last_id += 1
        sent = dict(params or {})
        line = _request(self._last_id, method, sent, written)
        self._begun[self._last_id] = sent.get("shelf")
        self._send(line)
        return self._last_id

    def end(self, begun: int) -> Any:  # noqa: ANN401
        """Return the result of a request that was begun, when its answer comes; in any order, each once.

        Raises:
            RpcFailure: As :meth:`call` does.
            ConnectionError: As :meth:`call` does.
            TimeoutError: As :meth:`call` does.
        """
        while (answer := self._answers.pop(begun, None)) is None:
            message = self._read()
            if message.get("id") == begun:
                answer = message
                break
            self._keep(message)
        shelf = self._begun.pop(begun)
        self._share_refusals()
        try:
            return result_of(answer)
        except RpcFailure as failure:
            failure.shelf = shelf
            raise

    def _keep(self, message: dict[str, Any]) -> None:
        """Keep what is no answer to the request that is waited for, or does not say so."""
        if message.get("method"):
            self._notifications.append(message)
        elif message.get("id") in self._begun:
            self._answers[message["id"]] = message
        elif message.get("id") is None and "error" in message:
            self._refusals.append(message)
        self._share_refusals()

    def _share_refusals(self) -> None:
        """Give refusals that do not say of what they are to the requests that have no other answer, once all have."""
        if self._refusals:
            unanswered = self._begun.keys() - self._answers.keys()
            if len(unanswered) == len(self._refusals):
                self._answers |= zip(sorted(unanswered), self._refusals, strict=True)
                self._refusals = []

    def events(
        self,
        *,
        types: Sequence[str] = (),
        nugget: str | None = None,
        shelf: str = "default",
        since_seq: int | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Subscribe to a shelf's events and yield notifications as they come: ``{"method", "params"}``.

        ``event`` carries a CloudEvent; ``events.lagged`` and ``events.gap`` say what was missed.

        Raises:
            RpcFailure: If the subscription is refused.
            ConnectionError: If the connection ends.
        """
        wanted = {"types": list(types) or None, "nugget": nugget, "shelf": shelf, "since_seq": since_seq}
        self.call("events.subscribe", {name: value for name, value in wanted.items() if value is not None})
        self.wait_for_ever()  # nothing may happen for hours
        return self.notifications()

    def notifications(self) -> Iterator[dict[str, Any]]:
        """Yield notifications until the connection ends.

        Raises:
            ConnectionError: When it does.
        """
        while True:
            while self._notifications:
                yield self._notifications.popleft()
            message = self._read()
            if message.get("method"):
                self._notifications.append(message)

    def wait_for_ever(self) -> None:
        """Let reads take any time from now on, as following events does."""
        _wait_at_most(self._socket, None)

    def close(self) -> None:
        """End the connection. A second call is harmless."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, line: bytes) -> None:
        try:
            self._socket.sendall(line)
        except BrokenPipeError:
            raise ConnectionResetError("the daemon closed the connection") from None
        except BlockingIOError:
            raise TimeoutError(_TIMED_OUT) from None

    def _read(self) -> dict[str, Any]:
        parts, size = [], 0
        while (end := self._received.find(b"\n", self._taken)) < 0:
            parts.append(self._received[self._taken :])
            size += len(parts[-1])
            if size >= REPLY_BYTES:
                raise ProtocolError("the daemon's reply is longer than any reply may be")
            try:
                self._received, self._taken = self._socket.recv(_READ_BYTES), 0
            except BlockingIOError:
                raise TimeoutError(_TIMED_OUT) from None
            if not self._received:
                raise ConnectionResetError("the daemon closed the connection")
        parts.append(self._received[self._taken : end + 1])
        self._taken = end + 1
        return decode(b"".join(parts))


def encode(message: Mapping[str, Any]) -> bytes:
    """Return *message* as one line.

    Raises:
        Unsendable: As :func:`as_json` does.
    """
    return as_json(message) + b"\n"


def _request(id_: int, method: str, params: Mapping[str, Any], written: Mapping[str, bytes]) -> bytes:
    """Return a request as one line, with further params that are *written* already."""
    line = encode({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
    if not written:
        return line
    members = [b"%b:%b" % (as_json(name), value) for name, value in written.items()]
    before, end = line[: -len(_END_OF_PARAMS)], line[-len(_END_OF_PARAMS) :]
    return before + b"," * bool(params) + b",".join(members) + end


def as_json(value: Any) -> bytes:  # noqa: ANN401 - whatever JSON can hold
    """Return *value* as it is sent.

    Raises:
        Unsendable: If JSON or UTF-8 cannot say it: NaN, an infinity, half a surrogate pair, endless nesting.
    """
    # From None: those errors quote the text, which may be a memory.
    try:
        return _encoded(value).encode()
    except UnicodeEncodeError:
        raise Unsendable("text that is not UTF-8 cannot be sent") from None
    except RecursionError:
        raise Unsendable("params are nested too deeply to be sent") from None
    except ValueError:
        raise Unsendable("a number that is not finite cannot be sent") from None


def decode(line: bytes) -> dict[str, Any]:
    """Return the message on *line*.

    Raises:
        ProtocolError: If it is not a JSON object.
    """
    try:
        message = _decode_long(line) if len(line) >= _LONG_BYTES else json.loads(line)
    except ValueError:
        raise ProtocolError("what answered does not speak JSON-RPC") from None
    if not isinstance(message, dict):
        raise ProtocolError("what answered does not speak JSON-RPC")
    return message


def _decode_long(line: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return what a long line says: in half the time, if the program has loaded pydantic, which a command has not.

    Raises:
        ValueError: If it is not JSON.
    """
    from_json = getattr(sys.modules.get("pydantic_core"), "from_json", None)  # None also while it is being loaded
    if from_json is not None:
        with suppress(ValueError):  # nested more deeply than it reads, perhaps
            return from_json(line, cache_strings="keys")
    return json.loads(line)


def result_of(message: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return the result of a reply.

    Raises:
        RpcFailure: If it is an error.
        ProtocolError: If it is neither.
    """
    error = message.get("error")
    if isinstance(error, dict):
        raise RpcFailure(error.get("code", -32603), error.get("message", "error"), error.get("data"))
    if "result" not in message:
        raise ProtocolError("the reply holds neither a result nor an error")
    return message["result"]
