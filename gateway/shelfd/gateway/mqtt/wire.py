"""A link's socket on the loop: written to once a turn, read from only while more is wanted.

The codec asks for a byte or two at a time and sends packet by packet; the socket is read and written in large pieces.
Messages and their answers, nearly all that comes, go past the codec.
"""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

import asyncio
import ssl
import threading
from collections.abc import Callable
from typing import Any, Final, Protocol

from shelfd.gateway.mqtt.packing import PUBACK, PUBLISH, read_length

#: Packets read before others get their turn on the loop: about a millisecond.
_AT_ONCE: Final = 16


class Codec(Protocol):
    """The MQTT codec on the socket; it is called when to read and write."""

    def socket(self) -> Any:  # noqa: ANN401 - a socket or one of its wrappers
        """Return the socket, None while there is none."""

    def loop_read(self) -> object:
        """Read one packet, which is there as a whole."""

    def loop_write(self) -> object:
        """Write what there is to write."""

    def want_write(self) -> bool:
        """Whether something is left to write."""


#: Bytes taken from the socket at a time.
_PIECE: Final = 65_536


class SocketReader:
    """Reads a socket in large pieces and divides them into packets.

    Args:
        receive: Reads at most so many bytes from the socket, as ``socket.recv`` does.

    Attributes:
        is_closed: Whether the other end has closed.
        is_dry: Whether there is no more to read for now, as far as that shows.
    """

    def __init__(self, receive: Callable[[int], bytes]) -> None:
        self._receive = receive
        self._unread = bytearray()
        self._at = 0
        self.is_closed = False
        self.is_dry = False

    def fill(self) -> None:
        """Read the next piece.

        Raises:
            OSError: If the socket is broken.
        """
        try:
            piece = self._receive(_PIECE)
        except BlockingIOError:
            self.is_dry = True
            return
        self.is_closed = not piece
        self.is_dry = len(piece) < _PIECE
        if self._at:
            del self._unread[: self._at]
            self._at = 0
        self._unread += piece

    def first(self) -> int | None:
        """Return the first byte of the next packet; None while it is not there as a whole.

        Raises:
            ValueError: If it is no packet.
        """
        return None if self._bounds() is None else self._unread[self._at]

    def packet(self) -> bytes:
        """Take the next packet, which must be there, and return what follows its length."""
        bounds = self._bounds()
        assert bounds is not None
        body = bytes(memoryview(self._unread)[bounds[0] : bounds[1]])
        self._at = bounds[1]
        return body

    def _bounds(self) -> tuple[int, int] | None:
        try:
            size, begin = read_length(self._unread, self._at + 1)
        except IndexError:
            return None
        end = begin + size
        return (begin, end) if end <= len(self._unread) else None

    def receive(self, size: int) -> bytes:
        """Return at most *size* bytes of the packet that the codec reads; none when the other end has closed.

        Raises:
            BlockingIOError: If there are none now.
        """
        found = bytes(self._unread[self._at : self._at + size])
        if not found and not self.is_closed:
            raise BlockingIOError
        self._at += len(found)
        return found


#: Packets that do not concern the codec.
_PAST_CODEC: Final = (PUBLISH, PUBACK)
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
        take: Called with the first byte of a message or an answer to one, and what follows its length; a ValueError
            says that it is none.
        broke: Called when the socket turns out to be broken.

    Attributes:
        begun: Done when the first packet is ready: the thread that connects has done its part.
    """

    def __init__(
        self,
        codec: Codec,
        reader: SocketReader,
        writer: SocketWriter,
        take: Callable[[int, bytes], None],
        broke: Callable[[], None],
    ) -> None:
        self._codec = codec
        self._reader = reader
        self._writer = writer
        self._take = take
        self._broke = broke
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._is_held_back = False
        self._is_reading = False
        self._is_write_due = False
        self.begun: asyncio.Future[None] = self._loop.create_future()

    def send(self, packet: bytes) -> bool:
        """Send a packet soon; return False if there is no connection."""
        if self._codec.socket() is None:
            return False
        self._writer.put(packet)
        self.write_soon()
        return True

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
            self._is_reading = True
            self._reader.is_dry = False
            for _ in range(_AT_ONCE):
                if self._is_held_back or (sock := self._codec.socket()) is None:
                    return
                first = self._reader.first()
                if first is not None and first >> 4 in _PAST_CODEC:
                    self._take(first, self._reader.packet())
                elif first is not None or self._reader.is_closed:
                    self._codec.loop_read()
                elif self._reader.is_dry and not _has_decrypted(sock):
                    return
                else:
                    self._reader.fill()
        except (OSError, ValueError):
            self._broke()
            return
        finally:
            self._is_reading = False
        self._loop.call_soon(self._read)


def _has_decrypted(sock: Any) -> bool:  # noqa: ANN401 - a socket or one of its wrappers
    """Whether TLS holds bytes back, which do not make the socket readable either."""
    return isinstance(sock, ssl.SSLSocket) and sock.fileno() >= 0 and sock.pending() > 0
