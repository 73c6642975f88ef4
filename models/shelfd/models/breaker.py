"""A circuit breaker: a server that keeps failing is left alone for a while, then tried with one question."""

from datetime import timedelta
from typing import Final, Literal

from shelfd.memory import Clock
from shelfd.memory.errors import ModelUnavailable

#: ``data.reason`` of a question that is not sent because the server is left alone.
RESTS: Final = "MODEL_RESTS"
BreakerState = Literal["closed", "open", "half_open"]


class Breaker:
    """Counts failures in a row.

    Args:
        failures: After how many it opens.
        rest: How long it stays open.
    """

    def __init__(self, clock: Clock, *, failures: int, rest: timedelta) -> None:
        self._clock = clock
        self._most = failures
        self._rest_s = rest.total_seconds()
        self._failed = 0
        self._opened_at: float | None = None
        self._is_tried = False

    @property
    def state(self) -> BreakerState:
        """``closed``: questions pass; ``open``: none does; ``half_open``: one is, or may be, tried."""
        if self._opened_at is None:
            return "closed"
        return "open" if self.rests_s > 0 else "half_open"

    @property
    def rests_s(self) -> float:
        """For how many seconds nothing will be sent."""
        if self._opened_at is None:
            return 0.0
        return max(0.0, self._opened_at + self._rest_s - self._clock.monotonic())

    def admit(self) -> None:
        """Let an attempt pass, which has to end with one of the methods below.

        Raises:
            ModelUnavailable: If it is open, or half open with a trial under way.
        """
        if self._opened_at is None:
            return
        rests_s = self.rests_s
        if rests_s > 0 or self._is_tried:
            text = "the language model failed several times in a row and is left alone for a while"
            raise ModelUnavailable(text, reason=RESTS, retry_after_s=round(max(rests_s, 1.0), 1))
        self._is_tried = True

    def succeeded(self) -> None:
        """The server works."""
        self._failed = 0
        self._opened_at = None
        self._is_tried = False

    def failed(self) -> None:
        """The server does not work."""
        self._failed += 1
        if self._is_tried or (self._opened_at is None and self._failed >= self._most):
            self._opened_at = self._clock.monotonic()
        self._is_tried = False

    def abandoned(self) -> None:
        """The attempt ended without telling anything about the server."""
        self._is_tried = False
