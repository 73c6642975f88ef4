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

from shelfd.client.endpoint import advice, candidates, is_service_installed
from shelfd.client.mcp import messages
from shelfd.client.mcp.hello import greeting
from shelfd.client.mcp.lines import LINE_BYTES, LineBuffer
from shelfd.client.mcp.options import BridgeOptions
from shelfd.client.mcp.pending import OpenRequest, Pending, key_of
from shelfd.client.mcp.starting import Starting
from shelfd.client.mcp.state import ClientState

_READ_BYTES: Final = 1 << 16
#: Unsent bytes from which on nothing more is read from the client.
_HIGH_WATER_BYTES: Final = 1 << 20
#: Seconds between two looks for the daemon: the first, and the longest.
_LOOK_S: Final = (0.02, 0.5)
#: Seconds after the end of a daemon until another one is started: whoever looks after it may be about to.
_GRACE_S: Final = 3.0
#: Seconds that are waited for one that is not to be started: where there was none, and where there was.
_NEVER_S: Final = 1.0
_AGAIN_S: Final = 15.0
#: Seconds that a daemon may take to start, and after the end of one until another that was quicker is found.
_START_S: Final = 20.0
_OTHER_S: Final = 2.0
#: Seconds after which a failed start is tried again.
_RETRY_S: Final = 5.0
#: Seconds after the client's end of input within which what was asked is still answered.
_LAST_S: Final = 10.0


class ClientGone(Exception):
    """Nobody reads our output."""


class Bridge:
    """Serves one client by file descriptors 0 and 1."""

    def __init__(self, options: BridgeOptions) -> None:
        self._options = options
        self._sockets = candidates(options.socket)
        self._is_named = len(self._sockets) == 1
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
        self._since = time.monotonic()  #: when the daemon was last known to be there, or we began
        self._look_at = 0.0
        self._pause_s = _LOOK_S[0]
        self._starting: Starting | None = None
        self._started_at = 0.0
        self._is_first = True

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
        if self._daemon is None and self._is_wanted() and time.monotonic() >= self._look_at:
            self._look()
        self._answer_overdue()

    def _wait_ms(self) -> int | None:
        moments = [self._pending.next_deadline(), self._ends_at]
        if self._daemon is None and self._is_wanted():
            moments.append(self._look_at)
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
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._say(messages.error(None, messages.PARSE_ERROR, "not JSON"))
            return
        for one in message if isinstance(message, list) and message else [message]:
            self._take_message(one)

    def _take_message(self, message: Any) -> None:  # noqa: ANN401 - whatever JSON holds
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            if not (isinstance(message, dict) and ("result" in message or "error" in message)):
                self._say(messages.error(None, -32600, "a message is a request or a notification"))
            return  # nothing is asked of the client, so its answers answer nothing
        method = message["method"]
        if "id" not in message:
            self._take_notification(method, message)
        elif key_of(message["id"]) is None:
            self._say(messages.error(None, -32600, "id must be a string or a number"))
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

    def _refuse(self, request: OpenRequest, code: int, why: str) -> None:
        self._pending.pop(request.id)
        if request.is_tool:
            self._say(messages.tool_error(request.id, code, why, stateless=request.stateless))
        else:
            self._say(messages.error(request.id, code, why))

    def _answer_overdue(self) -> None:
        for request in self._pending.overdue(time.monotonic()):
            if self._daemon is None:
                self._refuse(request, messages.UNAVAILABLE, self._why_not())
                continue
            self._send(
                messages.encoded(
                    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request.id}}
                )
            )
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
            return True  # about a line that could not be understood
        if b'"ShuttingDown"' in line and _is_ending(message):
            return False  # nothing was done: the next daemon is asked again
        # What is answered already, or was asked by us, is nobody's.
        return self._pending.pop(request_id) is not None

    def _lose(self) -> None:
        """Take note that the daemon is gone; what was under way will be sent again."""
        assert self._daemon is not None
        self._daemon.close()
        self._daemon = None
        self._replies = LineBuffer()
        self._unsent.clear()
        self._starting = None
        self._since = time.monotonic()
        self._pause_s, self._look_at = _LOOK_S[0], 0.0

    def _look(self) -> None:
        """Look for a daemon; start one if none comes."""
        if self._connect():
            return
        now = time.monotonic()
        self._pause_s = min(self._pause_s * 1.5, _LOOK_S[1])
        self._look_at = now + self._pause_s
        if not self._options.starts:
            if now - self._since > (_NEVER_S if self._is_first else _AGAIN_S):
                self._give_up()
            return
        if self._starting is None:
            if self._is_first or now - self._since > _GRACE_S:
                self._start(now)
        elif (self._starting.has_ended() and now - self._started_at > _OTHER_S) or now - self._started_at > _START_S:
            self._give_up()
            if now - self._started_at > _RETRY_S:
                self._starting = None

    def _start(self, now: float) -> None:
        self._started_at = now
        if not self._is_named and is_service_installed():
            self._give_up()  # its memory is the one that is meant, and only root can start it
            return
        try:
            self._starting = Starting(self._sockets, is_named=self._is_named)
        except OSError as error:
            self._refuse_all(f"shelfd's daemon could not be started: {error.strerror}")
        else:
            self._pause_s, self._look_at = _LOOK_S[0], now + _LOOK_S[0]

    def _give_up(self) -> None:
        self._refuse_all(self._why_not())

    def _why_not(self) -> str:
        if self._starting is not None and self._starting.has_ended():
            return f"shelfd's daemon does not run, and did not start: {self._starting.why()}"
        if self._starting is not None:
            return "shelfd's daemon was started and does not answer yet; try again in a moment"
        return f"shelfd's daemon does not run at {' or '.join(self._sockets)}; {advice(self._sockets)}"

    def _refuse_all(self, why: str) -> None:
        for request in [one for one in self._pending if one.deadline is not None]:
            self._refuse(request, messages.UNAVAILABLE, why)

    def _connect(self) -> bool:
        for path in self._sockets:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.setblocking(False)  # one whose backlog is full is not waited for
            try:
                connection.connect(path)
            except OSError:
                connection.close()
                continue
            self._daemon = connection
            self._connected()
            return True
        return False

    def _connected(self) -> None:
        is_again, self._is_first = not self._is_first, False
        self._starting = None
        for line in self._state.again():
            self._send(line)
        for request in list(self._pending):
            self._send(request.line)
        if is_again:
            for uri in sorted(self._state.subscribed):  # what happened meanwhile was told to nobody
                params = {"uri": uri}
                self._say({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params})


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
