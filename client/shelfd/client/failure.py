"""What can go wrong between a client and the daemon, and how a command says so by its exit status."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

INTERRUPTED: Final = 130  #: what a shell says of a command that Ctrl-C has ended


class RpcFailure(Exception):
    """The daemon answered with an error.

    Attributes:
        code: JSON-RPC error code, see the protocol document.
        message: For people; never holds memory text.
        data: ``type``, ``retryable`` and what else belongs to the error.
        shelf: The shelf that the request was for, if that is known.
    """

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data: Mapping[str, Any] = data or {}
        self.shelf: str | None = None

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.data.get("retryable") is True


class NotRunning(ConnectionError):
    """No daemon listens where one was looked for."""

    def __init__(self, tried: Sequence[tuple[str, str]], advice: str = "start one with: shelfd run") -> None:
        """*tried*: by socket path, why it could not be used; *advice*: what to do."""
        lines = "".join(f"\n  {path}: {why}" for path, why in tried)
        super().__init__(f"no daemon is listening; tried:{lines}\n{advice}")
        self.tried = tuple(tried)


class ProtocolError(ConnectionError):
    """What came back is no JSON-RPC."""


class Unsendable(ValueError):
    """Params hold what JSON or UTF-8 cannot say; nothing was sent."""


_EXITS: Mapping[int, int] = {
    -32700: os.EX_PROTOCOL,
    -32600: os.EX_PROTOCOL,
    -32601: os.EX_USAGE,
    -32602: os.EX_DATAERR,
    -32603: os.EX_SOFTWARE,
    -32001: os.EX_NOINPUT,
    -32002: os.EX_CANTCREAT,
    -32003: os.EX_TEMPFAIL,
    -32004: os.EX_NOPERM,
    -32005: os.EX_DATAERR,
    -32006: os.EX_DATAERR,
    -32007: os.EX_UNAVAILABLE,
    -32008: os.EX_UNAVAILABLE,
    -32009: os.EX_TEMPFAIL,
    -32010: os.EX_CANTCREAT,
    -32011: os.EX_TEMPFAIL,
    -32012: os.EX_IOERR,
    -32013: os.EX_NOINPUT,
}


def exit_status(failure: RpcFailure) -> int:
    """Return the sysexits status for an error; whatever may succeed later is 75."""
    return os.EX_TEMPFAIL if failure.is_retryable else _EXITS.get(failure.code, os.EX_SOFTWARE)
