"""Logging: one line for each event on stderr, as JSON or, on a terminal, for people.

Everything goes through structlog. What libraries say by the standard ``logging`` comes along from WARNING up.
"""

import asyncio
import atexit
import logging
import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from threading import Lock
from typing import BinaryIO, Literal, TextIO, cast

from pydantic_core import to_json

from shelfd.daemon.host import SystemClock

# structlog.dev loads rich when it is installed (0.13 s, 8 MB) only to print pretty tracebacks, which we do not use.
# A None entry makes that import fail at once; structlog foresees the failure.
_hidden = "rich" not in sys.modules
if _hidden:
    sys.modules["rich"] = None  # type: ignore[assignment]
import structlog  # noqa: E402
from structlog.typing import EventDict, Processor, WrappedLogger  # noqa: E402

if _hidden:
    del sys.modules["rich"]

Form = Literal["json", "console", "journal"]

#: syslog priorities by method name, as journald reads them from the prefix "<N>".
_PRIORITIES = {"debug": 7, "info": 6, "warning": 4, "warn": 4, "error": 3, "exception": 3, "critical": 2}
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "warn": 30, "error": 40, "exception": 40, "critical": 50}


class Threshold:
    """Drops what is below a level. Can be moved while the daemon runs, which cached loggers cannot."""

    def __init__(self, level: str) -> None:
        self.level = _LEVELS[level]

    @property
    def name(self) -> str:
        """The level, as settings name it."""
        return next(name for name, level in _LEVELS.items() if level == self.level)

    def set(self, level: str) -> None:
        """Drop what is below *level* from now on."""
        self.level = _LEVELS[level]

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        """Let *event* pass or drop it."""
        del logger
        if _LEVELS.get(method, 50) < self.level:
            raise structlog.DropEvent
        return event


def configure(level: str, form: Form, stream: TextIO | None = None) -> Threshold:
    """Send all logging to *stream* (stderr) from now on.

    Args:
        level: debug, info, warning or error.
        form: json, console, or journal: JSON after journald's priority prefix.
        stream: Where lines go.

    Returns:
        The threshold, to be moved when the level changes.
    """
    out = stream or sys.stderr
    threshold = Threshold(level)
    factory: Callable[..., WrappedLogger]
    stages: list[Processor]
    if form == "console":
        stages = [threshold, structlog.contextvars.merge_contextvars, _Stamp()]
        stages += [structlog.processors.add_log_level, _console(out)]
        factory = structlog.WriteLoggerFactory(out)
    else:
        stages = [_Json(threshold, with_priority=form == "journal")]
        lines = LineLogger(cast("BinaryIO", out.buffer))
        factory = lambda *_: lines  # noqa: E731
    structlog.configure(
        processors=stages,
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
        logger_factory=factory,
        cache_logger_on_first_use=True,
    )
    _bridge()
    return threshold


def form_for(wanted: str, stream: TextIO, environ: Mapping[str, str]) -> Form:
    """Return the form for *stream*: what is *wanted*, or by what is at its other end when that is ``auto``."""
    if wanted == "console" or (wanted == "auto" and stream.isatty()):
        return "console"
    device, _, inode = environ.get("JOURNAL_STREAM", "").partition(":")
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return "json"
    return "journal" if (device, inode) == (str(status.st_dev), str(status.st_ino)) else "json"


def _console(out: TextIO) -> Processor:
    return structlog.dev.ConsoleRenderer(colors=out.isatty(), exception_formatter=structlog.dev.plain_traceback)


class _Stamp:
    """Adds the time in ISO 8601 UTC with milliseconds. The seconds are rendered once a second: this is hot."""

    def __init__(self) -> None:
        self._clock = SystemClock()
        self._second = -1
        self._text = ""

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        del logger, method
        event["timestamp"] = self.now()
        return event

    def now(self) -> str:
        """Return the time."""
        second, micros = divmod(self._clock.now(), 1_000_000)
        if second != self._second:
            self._text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
            self._second = second
        return f"{self._text}.{micros // 1000:03d}Z"


class _Json:
    """Renders one line of JSON, keys in the order time, level, event, rest; the only stage: this is hot."""

    def __init__(self, threshold: Threshold, *, with_priority: bool) -> None:
        self._threshold = threshold
        self._stamp = _Stamp()
        self._priorities = {m: b"<%d>" % p for m, p in _PRIORITIES.items()} if with_priority else {}

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> bytes:
        if _LEVELS.get(method, 50) < self._threshold.level:
            raise structlog.DropEvent
        if "request_id" not in event:  # nothing else is ever bound to a context
            event = structlog.contextvars.merge_contextvars(logger, method, event)
        if "exc_info" in event:
            event = structlog.processors.format_exc_info(logger, method, event)
        level = "error" if method == "exception" else method
        line = {"timestamp": self._stamp.now(), "level": level, "event": event.pop("event"), **event}
        # Bytes that are no UTF-8 and objects of any kind must not break a log line.
        rendered = to_json(line, fallback=repr, bytes_mode="hex", inf_nan_mode="strings")
        return self._priorities.get(method, b"") + rendered


class _Bridge(logging.Handler):
    """Hands records of the standard logging to structlog."""

    def emit(self, record: logging.LogRecord) -> None:
        method = record.levelname.lower() if record.levelname.lower() in _PRIORITIES else "warning"
        # Libraries build their message with values; ours is constant, and theirs a field.
        fields = {"logger": record.name, "message": record.getMessage()}
        getattr(structlog.get_logger(), method)("library.reported", **fields, exc_info=record.exc_info or None)


def _bridge() -> None:
    root = logging.getLogger()
    root.handlers[:] = [h for h in root.handlers if not isinstance(h, _Bridge)]
    root.addHandler(_Bridge(level=logging.WARNING))
    logging.captureWarnings(capture=True)


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
                pass  # the log has no reader any more: no reason to stop serving
