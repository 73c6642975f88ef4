"""Where rendered log lines go: written together once in each turn of the event loop.

A line of its own costs a system call, which is a tenth of what a whole request costs.
"""

import asyncio
import atexit
from threading import Lock
from typing import BinaryIO


class LineLogger:
    """The last stage of logging: takes finished lines, as structlog calls it, by the name of the level.

    Inside a running event loop lines wait for the end of its present turn; elsewhere, and from ``warning`` up,
    they are written at once. A killed process loses no more than the lines of one turn.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._lines: list[bytes] = []
        self._lock = Lock()
        self._awaited = False
        atexit.register(self.flush)

    def info(self, line: bytes) -> None:
        """Write *line* by the end of the loop's turn."""
        with self._lock:
            self._lines.append(line)
            if self._awaited:
                return
            try:
                asyncio.get_running_loop().call_soon(self.flush)
            except RuntimeError:  # no loop in this thread
                pass
            else:
                self._awaited = True
                return
        self.flush()

    def error(self, line: bytes) -> None:
        """Write *line*, and what waits before it, now."""
        with self._lock:
            self._lines.append(line)
        self.flush()

    debug = msg = info
    warning = warn = critical = exception = fatal = failure = err = error

    def flush(self) -> None:
        """Write all that waits."""
        with self._lock:
            lines, self._lines, self._awaited = self._lines, [], False
            if not lines:
                return
            try:
                self._out.write(b"\n".join(lines) + b"\n")
                self._out.flush()
            except (OSError, ValueError):
                pass  # nobody reads the log any more: no reason to stop serving
