"""One client's connection: lines in, replies and events out, both held back when the other side is slow."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast

from shelfd.gateway.binding import peer
from shelfd.gateway.budget import Account, Budget, Share
from shelfd.gateway.counters import Counters
from shelfd.gateway.dispatch import Dispatcher, Message
from shelfd.gateway.envelope import CANCEL, MCP_METHODS, Envelope, Refusal, line_too_long
from shelfd.gateway.lane import Lane
from shelfd.gateway.large import LargeMessages
from shelfd.gateway.lines import Lines
from shelfd.gateway.outbox import Outbox, Room
from shelfd.gateway.reply import Reply, ReplyArray, encoded, fitted
from shelfd.gateway.subscriptions import Subscriptions
from shelfd.memory.errors import ShelfError, error_of
from shelfd.protocol import Limits
from shelfd.protocol.lazy_table import importing

if TYPE_CHECKING:
    from shelfd.gateway.mcp import McpSession

#: From here on a line counts while it is at work: of smaller ones there are too few to matter.
_COUNTED_BYTES: Final = 4096
#: A longer line is parsed in several turns of the loop; this one takes a few milliseconds.
_AT_ONCE_BYTES: Final = 1024 * 1024


class Admission(NamedTuple):
    """A connection that was let in."""

    name: str
    share: Share  #: what its principal has
    budget: Budget
    large: LargeMessages[Message]


class Owner(Protocol):
    """The server that a connection belongs to, as the connection notifies it."""

    def opened(self, connection: "Connection", principal: str) -> Admission:
        """Let the connection in.

        Raises:
            ShelfError: If there are too many.
        """

    def lost(self, connection: "Connection") -> None:
        """Note that a connection's transport is gone."""

    def ended(self, connection: "Connection") -> None:
        """Note that it is closed and nothing of it is at work."""

    def rested(self) -> None:
        """Note that a connection has nothing at work for the moment."""


class Connection(asyncio.Protocol):
    """Speaks newline-delimited JSON-RPC with one client, and MCP if that is how the client begins.

    Requests run concurrently, at most ``limits.in_flight_count``, and ``limits.principal_requests_count`` on all
    connections of a principal; more wait unread. After the client's half-close the rest is answered and the
    connection closed. After a hang-up changes go on and reads end.
    """

    principal = ""  #: of the caller, once known

    def __init__(self, owner: Owner, dispatcher: Dispatcher, limits: Limits, counters: Counters) -> None:
        self.in_flight = 0
        self._owner = owner
        self._dispatcher: Dispatcher | McpSession = dispatcher
        self._is_new = True  #: nothing was asked yet
        self._limits = limits
        self._counters = counters
        self._next: Message | None = None  #: parsed and waiting for its place
        self._next_bytes = 0
        self._is_reading = False  #: a message that is parsed in several turns
        self._is_taking = False
        self._is_waiting = False  #: for a request of its principal to end
        self._has_batch = False  #: at work
        self._is_read_paused = False
        self._saw_eof = False
        self._is_lost = False
        self._lane: Lane | None = None  #: None before it was let in, and when all is over
        self._transport: asyncio.Transport
        self._share: Share
        self._large: LargeMessages[Message]
        self._account: Account
        self._lines: Lines
        self._outbox: Outbox

    @property
    def is_busy(self) -> bool:
        """Whether anything is at work, or waits for its place."""
        return self.in_flight > 0 or self._next is not None or self._is_reading

    # ------------------------------------------------------------------ called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Identify the caller and admit it if there is room."""
        self._transport = cast("asyncio.Transport", transport)
        _, uid = peer(cast("socket.socket", transport.get_extra_info("socket")))
        self.principal = f"uid:{uid}"
        try:
            entry = self._owner.opened(self, self.principal)
        except ShelfError as full:
            self._transport.write(encoded(Reply(None, error=error_of(full))) + b"\n")
            self._transport.close()
            return
        self._share = entry.share
        self._large = entry.large
        self._account = Account(entry.budget, entry.share)
        self._lines = Lines(
            self._limits.line_bytes, entry.budget, self._account, go_on=self._take, refuse=self._refuse_line
        )
        self._outbox = Outbox(self._transport, entry.budget, self._account, entry.share, self._go_on)
        subscriptions = Subscriptions(
            self._send,
            self._outbox.is_backed_up,
            principal=self.principal,
            limit=self._limits.subscriptions_count,
            counters=self._counters,
        )
        self._lane = Lane(
            self.principal,
            entry.name,
            subscriptions=subscriptions,
            room=partial(Room, self._outbox, self._limits.line_bytes),
        )

    def data_received(self, data: bytes) -> None:
        """Take bytes as they come."""
        if self._lane is not None:
            self._lines.feed(data)
            self._take()

    def eof_received(self) -> bool:
        """Answer what is still at work, then close; a last line without its end counts as never sent."""
        self._saw_eof = True
        self._close_if_finished()
        return True

    def pause_writing(self) -> None:
        """Take no new requests: the client does not read."""
        if self._lane is not None:
            self._outbox.pause()

    def resume_writing(self) -> None:
        """Go on."""
        if self._lane is not None:
            self._outbox.resume()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """End what was for the client only; changes go on, also those that were read and not begun."""
        self._is_lost = True
        if self._lane is None:
            return
        self._outbox.end()
        self._lines.end()
        self._owner.lost(self)
        self._dispatcher.close(self._lane)
        self._take()

    # ------------------------------------------------------------------ called by the server

    def abandon(self) -> None:
        """Answer ShuttingDown to what has not happened yet."""
        if self._lane is not None:
            self._dispatcher.abandon_all(self._lane)

    def close(self) -> None:
        """Send what there is to send, then close."""
        if not self._is_lost:
            self._outbox.flush()
            self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        if not self._is_lost:
            self._transport.abort()

    # ------------------------------------------------------------------ requests

    def _take(self) -> None:
        """Start requests while there are some and there is room."""
        if self._is_taking or self._lane is None:
            return
        self._is_taking = True
        while (message := self._peek()) is not None and not self._is_full(message):
            if self._is_new and not isinstance(message, Refusal):
                self._is_new = False
                if isinstance(message, Envelope) and message.method in MCP_METHODS:
                    self._speak_mcp(self._lane)
            size, done = self._next_bytes, self._left
            if size >= _COUNTED_BYTES:
                self._account.hold(size)
                done = partial(self._left, size)
            self._next, self._next_bytes = None, 0
            self.in_flight += 1
            self._share.at_work += 1
            if isinstance(message, list):
                self._has_batch = True
                array = ReplyArray(len(message), self._limits.line_bytes, self._outbox.hold)
                self._dispatcher.start_batch(message, self._lane, array.put, partial(self._end_batch, array, done))
            else:
                self._dispatcher.start(message, self._lane, self._reply, done)
        self._is_taking = False
        self._lines.settle(self._next_bytes)
        self._throttle()
        if self.in_flight == 0:  # what was taken may have been answered at once
            self._close_if_finished()
            self._end_if_finished()

    def _speak_mcp(self, lane: Lane) -> None:
        with importing:
            from shelfd.gateway.mcp import McpSession  # few connections do, and the daemon is to be ready fast

        assert isinstance(self._dispatcher, Dispatcher)
        self._dispatcher = McpSession(self._dispatcher, lane, self._send, self._outbox.is_backed_up)

    def _peek(self) -> Message | None:
        if self._next is None and self._lines and not self._is_reading:
            line = self._lines.take()
            self._next_bytes = len(line or b"")
            if self._next_bytes > _AT_ONCE_BYTES and line is not None:
                self._is_reading = True
                self._large.read(self._dispatcher.read_in_turns(line), self._read)
            else:
                self._next = line_too_long(self._limits.line_bytes) if line is None else self._dispatcher.read(line)
        return self._next

    def _read(self, message: Message) -> None:
        """Take a large message, now that it is parsed."""
        self._is_reading = False
        self._next = message
        self._take()
        if not self.is_busy:  # it was answered at once, and perhaps was all that a server waits for
            self._owner.rested()

    def _is_full(self, message: Message) -> bool:
        """Return whether *message* has to wait: for the client to read, or for a request to end."""
        if self._outbox.is_backed_up():
            return True
        if isinstance(message, Envelope) and message.method == CANCEL:
            return False  # a full connection still takes what would make room
        if self.in_flight and not self._account.fits(self._next_bytes):
            return True
        if self._has_batch and isinstance(message, list):
            return True  # it would wait for the other's end all the same; so no more than one array waits to be sent
        if self.in_flight >= self._limits.in_flight_count:
            return True
        if self._share.has_place:
            return False
        if not self._is_waiting:
            self._is_waiting = True
            self._share.waiting.append(self._stop_waiting)
        return True

    def _stop_waiting(self) -> None:
        self._is_waiting = False
        self._take()

    def _throttle(self) -> None:
        """Read from the socket only while everything read has been taken, and what has begun has room."""
        waits = self._next is not None or self._is_reading or self._lines.is_waiting
        if waits != self._is_read_paused and not (self._saw_eof or self._transport.is_closing()):
            self._is_read_paused = waits
            if waits:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def _left(self, size: int = 0) -> None:
        self.in_flight -= 1
        if size:
            self._account.hold(-size)
        self._share.leave()
        if self._is_taking:
            return
        if self._next is not None:
            self._take()
        if self.in_flight == 0:
            self._owner.rested()
            self._close_if_finished()
            self._end_if_finished()

    def _refuse_line(self, error: ShelfError) -> None:
        self._reply(Reply(None, error=error_of(error)))
        self._take()

    def _close_if_finished(self) -> None:
        if self._saw_eof and not self.is_busy and not self._is_lost:
            self.close()

    def _end_if_finished(self) -> None:
        if self._is_lost and not self.is_busy and self._lane is not None:
            # The lane knows us by its subscriptions: a ring that only the garbage collector would find, late.
            self._lane = None
            self._owner.ended(self)

    # ------------------------------------------------------------------ replies

    def _reply(self, reply: Reply) -> Reply:
        message, reply = fitted(reply, self._limits.line_bytes)
        self._send(message)
        return reply

    def _end_batch(self, array: ReplyArray, done: Callable[[], None]) -> None:
        self._has_batch = False
        if (message := array.take()) is not None:
            self._send(message)
        done()

    def _send(self, message: bytes) -> None:
        # The answer to one request alone goes out at once: the caller need not wait for our log line.
        self._outbox.send(message, is_urgent=self.in_flight == 1)

    def _go_on(self) -> None:
        """Do what waited for the client to read."""
        self._take()
        if self._lane is not None and self._lane.subscriptions is not None:
            self._lane.subscriptions.resume()
