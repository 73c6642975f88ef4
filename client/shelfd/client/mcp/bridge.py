"""The bridge: lines from standard input to the daemon and back, and what to do when the daemon is not there.

One thread and one poll. While the daemon is connected lines are only carried; a request is kept until its answer comes,
so that it can be sent again to a daemon that was restarted. A call of a tool carries a key by which the daemon knows it
again: what was committed before the connection broke is answered and not done twice.
"""

import json
import os
import select
import signal
import socket
import time
from types import FrameType
from typing import Any, Final, NoReturn

from shelfd.client.mcp import messages
from shelfd.client.mcp.finding import DaemonSearch, Outlook
from shelfd.client.mcp.hello import greeting
from shelfd.client.mcp.lines import LINE_BYTES, LineBuffer
from shelfd.client.mcp.options import BridgeOptions
from shelfd.client.mcp.pending import OpenRequest, Pending, key_of
from shelfd.client.mcp.state import OWN, ClientState

_READ_BYTES: Final = 1 << 16
#: Unsent bytes from which on nothing more is read from the client.
_HIGH_WATER_BYTES: Final = 1 << 20
_TOO_OLD: Final = (
    "the daemon that runs here is older than this command and does not speak MCP: end it, and the next call starts one"
)
#: Seconds after the client's end of input within which what was asked is still answered.
_LAST_S: Final = 10.0


class ClientGone(Exception):
    """Nobody reads our output."""


class Bridge:
    """Serves one client by file descriptors 0 and 1."""

    def __init__(self, options: BridgeOptions) -> None:
        self._options = options
        self._finding = DaemonSearch(options.socket, starts=options.starts)
        self._input: LineBuffer | None = LineBuffer()  # None once it has ended
        self._ends_at: float | None = None
        self._daemon: socket.socket | None = None
        self._replies = LineBuffer()
        self._unsent = bytearray()
        self._pending = Pending()
        self._state = ClientState(options)
        self._is_told = False  #: whether the client has said anything
        self._run = os.urandom(9).hex()
        self._calls = 0
        self._was_connected = False
        self._is_too_old = False  #: the daemon does not speak MCP

    def run(self) -> int:
        """Serve until the client is gone; return the exit status."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _end)
        self._connect()
        try:
            while not self._is_over():
                self._turn()
        except (ClientGone, KeyboardInterrupt):
            pass
        return os.EX_OK

    def _is_over(self) -> bool:
        if self._input is not None:
            return False
        return not self._pending.awaits_answers or (self._ends_at is not None and time.monotonic() >= self._ends_at)

    # ------------------------------------------------------------------ one turn

    def _turn(self) -> None:
        poll = select.poll()
        if self._input is not None and len(self._unsent) < _HIGH_WATER_BYTES:
            poll.register(0, select.POLLIN)
        if self._daemon is not None:
            poll.register(self._daemon, select.POLLIN | (select.POLLOUT if self._unsent else 0))
        poll.register(1, 0)  # says when the client's end of it is closed
        for descriptor, _ in poll.poll(self._wait_ms()):
            if descriptor == 0:
                self._read_client()
            elif descriptor == 1:
                raise ClientGone
            elif self._daemon is not None:
                self._read_daemon()
        self._flush()
        if self._daemon is None and self._is_wanted() and time.monotonic() >= self._finding.look_at:
            self._look()
        self._answer_overdue()

    def _wait_ms(self) -> int | None:
        moments = [self._pending.next_deadline(), self._ends_at]
        if self._daemon is None and self._is_wanted():
            moments.append(self._finding.look_at)
        known = [moment for moment in moments if moment is not None]
        return max(0, int((min(known) - time.monotonic()) * 1000) + 1) if known else None

    def _is_wanted(self) -> bool:
        """Return whether the daemon is needed now."""
        return self._is_told and (self._input is not None or self._pending.awaits_answers)

    # ------------------------------------------------------------------ from the client

    def _read_client(self) -> None:
        try:
            data = os.read(0, _READ_BYTES)
        except OSError:
            data = b""
        if not data:
            self._input = None  # half a line at the end was never sent
            self._ends_at = time.monotonic() + min(_LAST_S, self._options.timeout_s)
            return
        assert self._input is not None
        for line in self._input.feed(data):
            self._take(line)

    def _take(self, line: bytes | None) -> None:
        self._is_told = True
        if line is None:
            text = f"line: is larger than {LINE_BYTES} bytes"
            self._say(messages.error(None, messages.TOO_LARGE, text))
            return
        try:
            message = messages.decoded(line)
        except (ValueError, RecursionError):
            self._say(messages.error(None, messages.PARSE_ERROR, "not JSON"))
            return
        for one in message if isinstance(message, list) and message else [message]:
            if isinstance(one, dict) and messages.is_deep(line, one):
                self._refuse_message(one, messages.TOO_LARGE, "json: is nested too deeply")
                continue
            try:
                self._take_message(one)
            except UnicodeEncodeError:
                self._refuse_message(one, messages.INVALID_PARAMS, "text that is not UTF-8 cannot be stored or sought")

    def _take_message(self, message: Any) -> None:  # noqa: ANN401 - whatever JSON holds
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            if not (isinstance(message, dict) and ("result" in message or "error" in message)):
                self._say(messages.error(None, messages.INVALID_REQUEST, "a message is a request or a notification"))
            return  # nothing is asked of the client, so its answers answer nothing
        method = message["method"]
        if "id" not in message:
            self._take_notification(method, message)
        elif key_of(message["id"]) is None:
            self._say(messages.error(None, messages.INVALID_REQUEST, "id must be a string or a number up to 2^53"))
        elif method == "ping":
            self._say({"jsonrpc": "2.0", "id": message["id"], "result": {}})
        elif self._daemon is None and method in ("initialize", "server/discover") and (hello := greeting(message)):
            self._say(hello)
        else:
            self._take_request(method, message)

    def _take_notification(self, method: str, message: dict[str, Any]) -> None:
        if method == "notifications/cancelled":
            params = message.get("params")
            if isinstance(params, dict):
                self._pending.pop(params.get("requestId"))
        self._state.note(method, message)
        self._send(messages.encoded(messages.with_options(message, self._options, None)))

    def _take_request(self, method: str, message: dict[str, Any]) -> None:
        is_tool = method == "tools/call"
        key = None
        if is_tool:
            self._calls += 1
            key = f"mcp-{self._run}-{self._calls}"
        line = messages.encoded(messages.with_options(message, self._options, key))
        if len(line) > LINE_BYTES:
            self._refuse_message(message, messages.TOO_LARGE, f"line: is larger than {LINE_BYTES} bytes")
            return
        if self._is_too_old and self._daemon is not None:
            self._refuse_message(message, messages.METHOD_NOT_FOUND, _TOO_OLD)
            return
        lasts = method == "subscriptions/listen"
        deadline = None if lasts else time.monotonic() + self._options.timeout_s
        self._pending.add(OpenRequest(message["id"], line, deadline, is_tool, messages.version_of(message) is not None))
        self._state.note(method, message)
        self._send(line)

    # ------------------------------------------------------------------ to the client

    def _say(self, message: dict[str, Any]) -> None:
        self._write(messages.encoded(message))

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(1, left) :]
            except BlockingIOError:
                select.select([], [1], [])
            except OSError:
                raise ClientGone from None

    def _refuse_message(self, message: Any, code: int, why: str) -> None:  # noqa: ANN401
        """Refuse what is not even sent to the daemon."""
        if not isinstance(message, dict) or key_of(message.get("id")) is None:
            self._say(messages.error(None, code, why))
            return
        is_tool, stateless = message.get("method") == "tools/call", messages.version_of(message) is not None
        self._refuse(OpenRequest(message["id"], b"", None, is_tool, stateless), code, why)

    def _refuse(self, request: OpenRequest, code: int, why: str) -> None:
        self._pending.pop(request.id)
        if request.is_tool:
            self._say(messages.tool_error(request.id, code, why, stateless=request.stateless))
        else:
            self._say(messages.error(request.id, code, why))

    def _answer_overdue(self) -> None:
        for request in self._pending.overdue(time.monotonic()):
            if self._daemon is None or self._finding.refusal is not None:
                self._refuse(request, messages.UNAVAILABLE, self._finding.why_not())
                continue
            params = {"requestId": request.id}
            cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
            self._send(messages.encoded(cancelled))
            text = (
                f"the memory did not answer within {self._options.timeout_s:g} s. If it was to change something, it is"
                " not known whether it did: look before you repeat it"
            )
            self._refuse(request, messages.DEADLINE, text)

    # ------------------------------------------------------------------ the daemon

    def _send(self, line: bytes) -> None:
        if self._daemon is not None:
            self._unsent += line
            self._flush()

    def _flush(self) -> None:
        while self._unsent and self._daemon is not None:
            try:
                sent = self._daemon.send(self._unsent)
            except BlockingIOError:
                return
            except OSError:
                self._lose()
                return
            del self._unsent[:sent]

    def _read_daemon(self) -> None:
        assert self._daemon is not None
        try:
            data = self._daemon.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose()
            return
        out = [line for line in self._replies.feed(data) if line is not None and self._is_for_client(line)]
        if out:
            self._write(b"\n".join(out) + b"\n")

    def _is_for_client(self, line: bytes) -> bool:
        """Return whether a line from the daemon is to be passed on; note what it answers."""
        try:
            message = json.loads(line)
        except ValueError:
            return False
        if "method" in message:
            return True
        request_id = message.get("id")
        if request_id is None:
            self._finding.refusal = _refused_connection(message)
            return self._finding.refusal is None  # else about a line that could not be understood
        if b'"ShuttingDown"' in line and _is_ending(message):
            return False  # nothing was done: the next daemon is asked again
        if request_id == OWN and message.get("error", {}).get("code") == messages.METHOD_NOT_FOUND:
            self._is_too_old = True
            self._refuse_all(messages.METHOD_NOT_FOUND, _TOO_OLD)
            return False
        # What is answered already, or was asked by us, is nobody's.
        return self._pending.pop(request_id) is not None

    def _lose(self) -> None:
        """Take note that the daemon is gone; what was under way will be sent again."""
        assert self._daemon is not None
        self._daemon.close()
        self._daemon = None
        self._replies = LineBuffer()
        self._unsent.clear()
        self._finding.lost()

    def _look(self) -> None:
        """Look for the daemon; who waits for one that is not to be expected is answered."""
        if self._connect() or self._finding.missed() is not Outlook.NOWHERE:
            return
        self._refuse_all(messages.UNAVAILABLE, self._finding.why_not())

    def _refuse_all(self, code: int, why: str) -> None:
        for request in [one for one in self._pending if one.deadline is not None]:
            self._refuse(request, code, why)

    def _connect(self) -> bool:
        self._daemon = self._finding.connect()
        if self._daemon is None:
            return False
        self._is_too_old = False
        for line in self._state.again():
            self._send(line)
        for request in list(self._pending):
            self._send(request.line)
        if self._was_connected:
            for uri in sorted(self._state.subscribed):  # what happened meanwhile was told to nobody
                params = {"uri": uri}
                self._say({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params})
        self._was_connected = True
        return True


def _refused_connection(message: dict[str, Any]) -> str | None:
    """Return why a daemon that lets nobody else in says so; None if a message says something else."""
    error = message.get("error")
    if not isinstance(error, dict) or not isinstance(data := error.get("data"), dict):
        return None
    return str(error.get("message")) if data.get("field") == "connections" else None


def _is_ending(message: dict[str, Any]) -> bool:
    """Return whether a daemon that is about to end answers that it takes nothing more."""
    result = message.get("result")
    of_tool = result.get("structuredContent") if isinstance(result, dict) and result.get("isError") is True else None
    error = of_tool.get("error") if isinstance(of_tool, dict) else message.get("error")
    if not isinstance(error, dict):
        return False
    data = error.get("data")
    return (data if isinstance(data, dict) else error).get("type") == "ShuttingDown"


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(os.EX_OK)
