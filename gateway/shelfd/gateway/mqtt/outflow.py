"""What a link writes to its socket, in one piece a turn: the codec sends packet by packet."""

from collections.abc import Callable
from typing import Any, Final

#: First half byte of the packet behind which the codec closes the socket.
_DISCONNECT: Final = 14


class Outflow:
    """Stands between a codec and its socket.

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
