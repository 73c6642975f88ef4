"""A link's socket on the loop: written to once a turn, read from only while more is wanted.

The codec asks for a byte or two at a time and sends packet by packet; the socket is read and written in large pieces.
"""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

import asyncio
import ssl
import threading
from collections.abc import Callable
from typing import Any, Final, Protocol

#: Packets read before others get their turn on the loop: about a millisecond.
_AT_ONCE: Final = 16


class Codec(Protocol):
    """The MQTT codec on the socket; it is called when to read and write."""

    def socket(self) -> Any:  # noqa: ANN401 - a socket or one of its wrappers
        """Return the socket, None while there is none."""

    def loop_read(self) -> object:
        """Read what there is, one packet at a time."""

    def loop_write(self) -> object:
        """Write what there is to write."""

    def want_write(self) -> bool:
        """Whether something is left to write."""


#: Bytes taken from the socket at a time.
_PIECE: Final = 65_536


class SocketReader:
    """Reads a codec's socket in large pieces.

    Args:
        receive: Reads at most so many bytes from the socket, as ``socket.recv`` does.
    """

    def __init__(self, receive: Callable[[int], bytes]) -> None:
        self._receive = receive
        self._piece = b""
        self._at = 0

    @property
    def pending(self) -> bool:
        """Whether there are bytes that were read and not taken yet: they do not make the socket readable."""
        return self._at < len(self._piece)

    def receive(self, size: int) -> bytes:
        """Return at most *size* bytes; none when the other end has closed.

        Raises:
            BlockingIOError: If there are none now.
            OSError: If the socket is broken.
        """
        if self._at >= len(self._piece):
            if size >= _PIECE:
                return self._receive(size)
            self._piece, self._at = self._receive(_PIECE), 0
        found = self._piece[self._at : self._at + size]
        self._at += len(found)
        return found


#: First half byte of the packet after which the codec closes the socket.
_DISCONNECT: Final = 14


class SocketWriter:
    """Collects a codec's packets and sends them together.

    Args:
        send: Sends what fits and returns how much that was, as ``socket.send`` does.
    """

    def __init__(self, send: Callable[[Any], int]) -> None:
        self._send = send
        self._rest = bytearray()

    @property
    def pending(self) -> bool:
        """Whether something was put that is not sent yet."""
        return bool(self._rest)

    def put(self, packet: bytes | bytearray) -> int:
        """Take a packet; return its length, as if it were sent."""
        self._rest += packet
        if packet[0] >> 4 == _DISCONNECT:
            self.flush()
        return len(packet)

    def flush(self) -> None:
        """Send as much as fits.

        Raises:
            OSError: If the socket is broken.
        """
        while self._rest:
            try:
                sent = self._send(self._rest)
            except BlockingIOError:
                return
            del self._rest[:sent]


class CodecSocket:
    """Moves bytes between the loop and a codec.

    Args:
        codec: What speaks on the socket.
        reader: Where the codec reads.
        writer: Where it writes.
        broke: Called when the socket turns out to be broken.

    Attributes:
        begun: Done when the first packet is ready: the thread that connects has done its part.
    """

    def __init__(self, codec: Codec, reader: SocketReader, writer: SocketWriter, broke: Callable[[], None]) -> None:
        self._codec = codec
        self._reader = reader
        self._writer = writer
        self._broke = broke
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._is_held_back = False
        self._is_reading = False
        self._is_write_due = False
        self.begun: asyncio.Future[None] = self._loop.create_future()

    def write_soon(self) -> None:
        """Write in the loop's turn after the next, and so with all packets of both. Any thread may ask for it.

        The acknowledgement of a request then goes out with the answer, if work in the next turn gives one.
        """
        if threading.get_ident() != self._thread:
            self._loop.call_soon_threadsafe(self._write)
        elif not self._is_write_due:
            self._is_write_due = True
            self._loop.call_soon(self._loop.call_soon, self._write_due)

    def write_now(self) -> None:
        """Write at once, unless the codec is reading: it cannot do both at a time, and writes soon anyway."""
        if not self._is_reading:
            self._write()

    def written(self, sock: Any) -> None:  # noqa: ANN401 - a socket or one of its wrappers
        """Stop waiting to write: the codec has nothing left."""
        if not self._writer.pending:
            self._loop.remove_writer(sock)

    def hold_back(self) -> None:
        """Read no more: the sender has to wait."""
        self._is_held_back = True
        if (sock := self._codec.socket()) is not None:
            self._loop.remove_reader(sock)

    def read_on(self) -> None:
        """Read, or read again."""
        self._is_held_back = False
        if (sock := self._codec.socket()) is not None:
            self._loop.add_reader(sock, self._read)
            self._loop.call_soon(self._read)  # what TLS has decrypted already does not make the socket readable

    def _write_due(self) -> None:
        self._is_write_due = False
        if self._writer.pending or self._codec.want_write():  # nothing is if it went out with something urgent
            self._write()

    def _write(self) -> None:
        if not self.begun.done():
            self.begun.set_result(None)
        sock = self._codec.socket()
        if sock is None:
            return
        try:
            self._codec.loop_write()
            self._writer.flush()
        except OSError:
            self._broke()
            return
        if self._codec.socket() is not sock:
            return
        if self._writer.pending or self._codec.want_write():
            self._loop.add_writer(sock, self._write)
        else:
            self._loop.remove_writer(sock)

    def _read(self) -> None:
        try:
            for _ in range(_AT_ONCE):
                if self._is_held_back or (sock := self._codec.socket()) is None:
                    return
                self._is_reading = True
                self._codec.loop_read()
                if not (self._reader.pending or _has_decrypted(sock)):
                    return
        except (OSError, ValueError):
            self._broke()
            return
        finally:
            self._is_reading = False
        self._loop.call_soon(self._read)


def _has_decrypted(sock: Any) -> bool:  # noqa: ANN401 - a socket or one of its wrappers
    """Whether TLS holds bytes back, which do not make the socket readable either."""
    return isinstance(sock, ssl.SSLSocket) and sock.fileno() >= 0 and sock.pending() > 0
