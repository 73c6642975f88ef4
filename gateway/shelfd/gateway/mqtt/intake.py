"""What a link reads from its socket, in large pieces: the codec asks for a byte or two at a time."""

from collections.abc import Callable
from typing import Final

#: Bytes taken from the socket at a time.
_PIECE: Final = 65_536


class Intake:
    """Stands between a codec and its socket.

    Args:
        receive: Reads at most so many bytes from the socket, as ``socket.recv`` does.
    """

    def __init__(self, receive: Callable[[int], bytes]) -> None:
        self._receive = receive
        self._piece = b""
        self._at = 0

    @property
    def pending(self) -> bool:
        """Whether there are bytes that were read and not asked for yet: they do not make the socket readable."""
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
