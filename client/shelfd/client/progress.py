"""How far work is that takes more than a second: a line on stderr for a person, nothing for a program."""

import sys
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, TextIO

from shelfd.client.terminal import columns_of, is_terminal

_QUIET_S: Final = 1.0  #: what ends within this needs no line
_REDRAW_S: Final = 0.1
_WINDOW_S: Final = 10.0  #: the rate is that of the last of this
_BAR: Final = 20


class Pace:
    """How fast work goes.

    Args:
        monotonic: A clock in seconds.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._samples: deque[tuple[float, int]] = deque()

    def rate(self, done: int) -> float:
        """Return how much a second was done lately, now that *done* is done; 0 while that is not known."""
        now = self._monotonic()
        self._samples.append((now, done))
        while len(self._samples) > 2 and now - self._samples[0][0] > _WINDOW_S:
            self._samples.popleft()
        then, before = self._samples[0]
        return max(0.0, (done - before) / (now - then)) if now > then else 0.0


class ProgressLine:
    """One line that is drawn again and again, and is gone when the work is done. A context manager.

    Args:
        unit: What is counted, in the plural: ``notes``.
        stream: Where to; stderr. What is no terminal gets nothing.
        monotonic: A clock in seconds.
    """

    def __init__(
        self, unit: str = "", *, stream: TextIO | None = None, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._unit = unit
        self.stream = sys.stderr if stream is None else stream
        self.is_shown = is_terminal(self.stream)  #: whether anybody sees it
        self._monotonic = monotonic
        self._next = monotonic() + _QUIET_S
        self._pace = Pace(monotonic)
        self._pace.rate(0)
        self._is_drawn = False

    def update(self, done: int, total: int | None = None) -> None:
        """Say that *done* of *total* is done; a total that is not known is None."""
        now = self._monotonic()
        if not self.is_shown or now < self._next:
            return
        self._next = now + _REDRAW_S
        text = progress_text(done, total, self._pace.rate(done), self._unit, columns_of(self.stream) - 1)
        print(f"\r{text}\x1b[K", end="", file=self.stream, flush=True)
        self._is_drawn = True

    def clear(self) -> None:
        """Take the line away, so that something else can be said."""
        if self._is_drawn:
            print("\r\x1b[K", end="", file=self.stream, flush=True)
            self._is_drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()


def progress_text(done: int, total: int | None, rate: float, unit: str, columns: int) -> str:
    """Return *done* of *total* with a bar, the *rate* per second and the time left, as far as *columns* allow."""
    count = f"{done:,}" if total is None else f"{done:,}/{max(done, total):,}"
    parts = [f"{count} {unit}".rstrip()]
    if total:
        parts.append(f"{min(1.0, done / total):.0%}")
    if rate > 0:
        parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
        if total and total > done:
            parts.append(f"{span((total - done) / rate)} left")
    text = "  ".join(parts)
    if total and len(text) + _BAR + 4 <= columns:
        return f"{bar(done, total)}  {text}"
    while len(text) > columns and len(parts) > 1:
        parts.pop(-2 if len(parts) > 2 else 0)  # the time that is left goes last
        text = "  ".join(parts)
    return text[: max(0, columns)]


def bar(done: int, total: int) -> str:
    """Return a bar that is filled as far as *done* is of *total*."""
    filled = min(_BAR * done // total, _BAR)
    return f"[{'#' * filled}{'-' * (_BAR - filled)}]"


def span(seconds: float) -> str:
    """Return a length of time in its two largest units: ``2 h 5 min``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    shown = [f"{number} {unit}" for number, unit in parts if number]
    return " ".join(shown[:2]) or "0 s"
