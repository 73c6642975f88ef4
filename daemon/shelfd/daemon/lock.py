"""One daemon per data directory: an advisory lock that ends with the process."""

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Self

LOCK_FILE = "shelfd.lock"


class HeldError(Exception):
    """Another daemon serves this data directory."""

    def __init__(self, data: Path, holder: str) -> None:
        super().__init__(f"{data} is in use by another daemon: {holder}")


class DataLock:
    """Holds ``<data>/shelfd.lock`` from construction until :meth:`close`.

    The kernel drops the lock with the process, however it ends. The file stays and names its last holder;
    removing it would let two daemons lock two files of the same name.
    """

    def __init__(self, data: Path, *, socket: Path) -> None:
        """Take the lock at once.

        Raises:
            HeldError: If another process holds it; the message has its pid and socket.
            OSError: If the file cannot be made or written.
        """
        self._file = os.open(data / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _describe(os.pread(self._file, 4096, 0))
            os.close(self._file)
            raise HeldError(data, holder) from None
        record = json.dumps({"pid": os.getpid(), "socket": str(socket)}).encode() + b"\n"
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, record, 0)

    def close(self) -> None:
        """Release the lock. A second call is harmless."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _describe(record: bytes) -> str:
    try:
        holder = json.loads(record)
        return f"pid {holder['pid']}, socket {holder['socket']}"
    except (ValueError, KeyError, TypeError):
        return "its pid is not recorded yet"  # between taking the lock and writing the record
