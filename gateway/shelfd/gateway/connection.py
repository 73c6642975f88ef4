"""One client's connection: lines in, replies and events out, both held back when the other side is slow."""

import asyncio
import socket
from typing import Final, Protocol, cast

from shelfd.gateway.binding import peer
from shelfd.gateway.counters import Counters
from shelfd.gateway.dispatch import Dispatcher, Message
from shelfd.gateway.envelope import CANCEL, Envelope, error_reply, line_too_long
from shelfd.gateway.framing import LineReader
from shelfd.gateway.lane import Lane
from shelfd.gateway.subscriptions import Subscriptions
from shelfd.memory.errors import Unavailable, error_of
from shelfd.protocol import Limits

#: Unsent bytes from which on a connection takes no new requests and sends no further events.
HIGH_WATER_BYTES: Final = 256 * 1024


class Owner(Protocol):
    """What a connection tells the server it belongs to."""

    def opened(self, connection: "Connection") -> str | None:
        """Return the connection's name, or None if there are too many."""

    def lost(self) -> None:
        """Note that a connection's transport is gone."""

    def ended(self, connection: "Connection") -> None:
        """Note that it is closed and nothing of it is at work."""

    def rested(self) -> None:
        """Note that a connection has nothing at work for the moment."""


class Connection(asyncio.Protocol):
    """Speaks newline-delimited JSON-RPC with one client.

    Requests run concurrently, at most ``limits.in_flight_count``; more wait unread. After the client's half-close the
    rest is answered and the connection closed. After a hang-up changes go on and reads end.
    """

    def __init__(self, owner: Owner, dispatcher: Dispatcher, limits: Limits, counters: Counters) -> None:
        self.in_flight = 0
        self._owner = owner
        self._dispatcher = dispatcher
        self._limits = limits
        self._counters = counters
        self._loop = asyncio.get_running_loop()
        self._reader = LineReader(limits.line_bytes)
        self._next: Message | None = None  #: parsed and waiting for its place
        self._out: list[bytes] = []
        self._out_bytes = 0
        self._flush_is_due = False
        self._is_taking = False
        self._is_write_paused = False
        self._is_read_paused = False
        self._saw_eof = False
        self._is_lost = False
        self._lane: Lane | None = None
        self._transport: asyncio.Transport

    # ------------------------------------------------------------------ called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Find out who it is, and let them in if there is room."""
        self._transport = cast("asyncio.Transport", transport)
        name = self._owner.opened(self)
        if name is None:
            limit = self._limits.connections_count
            full = Unavailable(f"all {limit} connections are taken", field="connections", limit=limit)
            self._transport.write(error_reply(None, error_of(full)) + b"\n")
            self._transport.close()
            return
        self._transport.set_write_buffer_limits(high=HIGH_WATER_BYTES)
        _, uid = peer(cast("socket.socket", transport.get_extra_info("socket")))
        subscriptions = Subscriptions(
            self._send, self._is_backed_up, limit=self._limits.subscriptions_count, counters=self._counters
        )
        self._lane = Lane(f"uid:{uid}", name, reply_bytes=self._limits.line_bytes, subscriptions=subscriptions)

    def data_received(self, data: bytes) -> None:
        """Take bytes as they come."""
        if self._lane is not None:
            self._reader.feed(data)
            self._take()

    def eof_received(self) -> bool:
        """Answer what is still at work, then close; a last line without its end counts as never sent."""
        self._saw_eof = True
        self._close_if_finished()
        return True

    def pause_writing(self) -> None:
        """Take no new requests: the client does not read."""
        self._is_write_paused = True

    def resume_writing(self) -> None:
        """Go on."""
        self._is_write_paused = False
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """End what only the client wanted; changes go on, also those that were read and not begun."""
        self._is_lost = True
        self._is_write_paused = False
        self._out.clear()
        self._out_bytes = 0
        if self._lane is None:
            return
        self._owner.lost()
        self._dispatcher.close(self._lane)
        self._take()
        self._end_if_finished()

    # ------------------------------------------------------------------ called by the server

    def abandon(self) -> None:
        """Answer ShuttingDown to what has not happened yet."""
        if self._lane is not None:
            self._dispatcher.abandon_all(self._lane)

    def close(self) -> None:
        """Send what there is to send, then close."""
        if not self._is_lost:
            self._flush()
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
        while (message := self._peek()) is not None:
            # A full connection still hears what would make room.
            is_full = self.in_flight >= self._limits.in_flight_count and not _is_cancel(message)
            if is_full or self._is_backed_up():
                break
            self._next = None
            self.in_flight += 1
            self._dispatcher.start(message, self._lane, self._send, self._left)
        self._is_taking = False
        self._throttle()

    def _peek(self) -> Message | None:
        if self._next is None and self._reader.lines:
            line = self._reader.lines.popleft()
            self._next = line_too_long(self._limits.line_bytes) if line is None else self._dispatcher.read(line)
        return self._next

    def _throttle(self) -> None:
        """Read from the socket only while everything read has been taken."""
        waits = self._next is not None
        if waits != self._is_read_paused and not (self._saw_eof or self._transport.is_closing()):
            self._is_read_paused = waits
            if waits:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def _left(self) -> None:
        self.in_flight -= 1
        if self._is_taking:
            return
        if self._next is not None:
            self._take()
        if self.in_flight == 0:
            self._owner.rested()
            self._close_if_finished()
            self._end_if_finished()

    def _close_if_finished(self) -> None:
        if self._saw_eof and self.in_flight == 0 and self._next is None and not self._is_lost:
            self.close()

    def _end_if_finished(self) -> None:
        if self._is_lost and self.in_flight == 0 and self._next is None:
            self._owner.ended(self)

    # ------------------------------------------------------------------ replies

    def _send(self, message: bytes) -> None:
        if self._is_lost:
            return
        self._out += (message, b"\n")
        self._out_bytes += len(message) + 1
        if self.in_flight == 1 and not self._flush_is_due:
            self._flush()  # nothing else is about to be answered: the caller need not wait for our log line
        elif not self._flush_is_due:
            # What is answered in one turn of the loop goes out in one write.
            self._flush_is_due = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_is_due = False
        if not self._out or self._is_lost:
            return
        data = b"".join(self._out)
        self._out.clear()
        was_backed_up = self._is_backed_up()
        self._out_bytes = 0
        self._transport.write(data)
        if was_backed_up and not self._is_write_paused:
            self._go_on()

    def _go_on(self) -> None:
        """Do what waited for the client to read."""
        self._take()
        if self._lane is not None and self._lane.subscriptions is not None:
            self._lane.subscriptions.resume()

    def _is_backed_up(self) -> bool:
        return self._is_write_paused or self._out_bytes > HIGH_WATER_BYTES


def _is_cancel(message: Message) -> bool:
    return isinstance(message, Envelope) and message.method == CANCEL
