"""DaemonSearch the daemon: again after it ended, and starting one where there is none."""

import errno
import socket
import time
from enum import Enum
from typing import Final

from shelfd.client.endpoint import advice, candidates, is_service_installed
from shelfd.client.failure import NotRunning
from shelfd.client.mcp.starting import Starting

#: Seconds between two looks: the first pause, and the longest.
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


class Outlook(Enum):
    """How a look for the daemon ended."""

    HERE = "here"
    NOT_YET = "not yet"
    NOWHERE = "nowhere"  #: none is to be expected: who waits is told why not


class DaemonSearch:
    """Looks for the daemon.

    Args:
        path: Its socket; None looks in the usual places.
        starts: Whether one is started where none listens.

    Attributes:
        look_at: When to look next, by the monotonic clock.
        refusal: Why the daemon that is there lets nobody else in.
    """

    def __init__(self, path: str | None, *, starts: bool) -> None:
        self.look_at = 0.0
        self.refusal: str | None = None
        self._sockets = candidates(path)
        self._is_named = len(self._sockets) == 1
        self._starts = starts
        self._since = time.monotonic()  #: when it was last known to be there, or we began
        self._pause_s = _LOOK_S[0]
        self._was_here = False
        self._is_forbidden = False  #: a daemon is there, for others
        self._tried: list[tuple[str, str]] = []
        self._starting: Starting | None = None
        self._started_at = 0.0
        self._why = ""

    def connect(self) -> socket.socket | None:
        """Connect to the daemon if it is there."""
        self._tried = []
        for path in self._sockets:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.setblocking(False)  # one whose backlog is full is not waited for
            try:
                connection.connect(path)
            except OSError as error:
                connection.close()
                self._tried.append((path, error.strerror or str(error)))
                self._is_forbidden = self._is_forbidden or error.errno == errno.EACCES
                continue
            self._was_here, self._starting, self.refusal = True, None, None
            return connection
        return None

    def lost(self) -> None:
        """The connection has ended."""
        self._since = time.monotonic()
        if self.refusal is None:
            self._pause_s, self.look_at = _LOOK_S[0], 0.0
        else:  # it is there, and full
            self._pause_later(self._since)

    def missed(self) -> Outlook:
        """Nothing was there: start a daemon if it is time for that, and say what is to be expected."""
        now = time.monotonic()
        self._pause_later(now)
        if not self._starts:
            is_over = now - self._since > (_AGAIN_S if self._was_here else _NEVER_S)
            return Outlook.NOWHERE if is_over else Outlook.NOT_YET
        if self._starting is None:
            return self._start(now) if not self._was_here or now - self._since > _GRACE_S else Outlook.NOT_YET
        waited = now - self._started_at
        if waited <= _OTHER_S or (waited <= _START_S and not self._starting.has_ended()):
            return Outlook.NOT_YET
        self._why = self.why_not()
        if waited > _RETRY_S:
            self._starting = None
        return Outlook.NOWHERE

    def _pause_later(self, now: float) -> None:
        self._pause_s = min(self._pause_s * 1.5, _LOOK_S[1])
        self.look_at = now + self._pause_s

    def _start(self, now: float) -> Outlook:
        if now - self._started_at <= _RETRY_S:
            return Outlook.NOWHERE
        if self._is_forbidden or (not self._is_named and is_service_installed()):
            self._why = ""
            return Outlook.NOWHERE  # its memory is the one that is meant, and not ours to start
        self._started_at = now
        try:
            self._starting = Starting(self._sockets, is_named=self._is_named)
        except OSError as error:
            self._why = f"shelfd's daemon does not run, and cannot be started: {error.strerror}"
            return Outlook.NOWHERE
        self._pause_s, self.look_at = _LOOK_S[0], now + _LOOK_S[0]
        return Outlook.NOT_YET

    def why_not(self) -> str:
        """Return why no daemon answers, and what to do."""
        if self.refusal is not None:
            return f"shelfd's daemon lets nobody else in: {self.refusal}"
        if self._starting is not None and self._starting.has_ended():
            return f"shelfd's daemon does not run, and did not start: {self._starting.why()}"
        if self._starting is not None:
            return "shelfd's daemon was started and does not answer yet; try again in a moment"
        return self._why or str(NotRunning(self._tried, advice(self._sockets)))
