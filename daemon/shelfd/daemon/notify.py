"""What the service manager and the daemon say to each other: sd_notify and socket activation."""

import contextlib
import os
import socket
from collections.abc import Mapping

from shelfd.daemon.host import monotonic_usec

_FIRST_FD = 3


class Notifier:
    """Speaks to ``$NOTIFY_SOCKET``; without one, every call does nothing. Never raises, never blocks."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        address = environ.get("NOTIFY_SOCKET", "")
        # "@" stands for the NUL byte that begins an abstract address.
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) if address else None
        if self._socket is not None:
            self._socket.setblocking(False)

    def send(self, *lines: str) -> None:
        """Send *lines* as one datagram."""
        if self._socket is not None:
            # The manager may be restarting; a lost status line is no reason to stop serving.
            with contextlib.suppress(OSError):
                self._socket.sendto("\n".join(lines).encode(), self._address)

    def ready(self, status: str) -> None:
        """Say that requests are accepted."""
        self.send("READY=1", f"STATUS={status}")

    def reloading(self) -> None:
        """Say that the configuration is being read again; :meth:`ready` ends it."""
        self.send("RELOADING=1", f"MONOTONIC_USEC={monotonic_usec()}")

    def stopping(self) -> None:
        """Say that the daemon is on its way out."""
        self.send("STOPPING=1", "STATUS=draining")

    def watchdog(self) -> None:
        """Say that the daemon is alive."""
        self.send("WATCHDOG=1")

    def close(self) -> None:
        """Release the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def watchdog_interval_s(environ: Mapping[str, str], pid: int) -> float | None:
    """Return how often to ping, in seconds: half of what the manager allows. None when it does not watch us."""
    if environ.get("WATCHDOG_PID", str(pid)) != str(pid):
        return None
    usec = environ.get("WATCHDOG_USEC", "")
    return int(usec) / 2e6 if usec.isdecimal() and int(usec) > 0 else None


def listen_fds(environ: Mapping[str, str], pid: int) -> dict[str, socket.socket]:
    """Return the listening sockets the service manager handed over, by name; unnamed ones are called ``rpc``.

    They are closed on exec from here on. Of several sockets with one name the first counts.
    """
    if environ.get("LISTEN_PID") != str(pid) or not environ.get("LISTEN_FDS", "").isdecimal():
        return {}
    names = environ.get("LISTEN_FDNAMES", "").split(":")
    found: dict[str, socket.socket] = {}
    for offset in range(int(environ["LISTEN_FDS"])):
        descriptor = _FIRST_FD + offset
        os.set_inheritable(descriptor, False)
        name = names[offset] if offset < len(names) else ""
        # "unknown" is what the manager calls a socket without FileDescriptorName.
        found.setdefault(name if name not in ("", "unknown") else "rpc", socket.socket(fileno=descriptor))
    return found
