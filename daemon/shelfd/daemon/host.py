"""What the daemon takes from its host: the clock and the environment. Nothing else of the daemon reads either."""

import asyncio
import os
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

#: 9900-01-01. A hundred years later, which is the longest anything is kept for, is still in the calendar.
_LATEST: Final = 250_246_627_200_000_000


class SystemClock:
    """Implements the memory's ``Clock`` port."""

    __slots__ = ()

    def now(self) -> int:
        """Return the wall clock in microseconds since 1970 UTC; at the year 9900 it stands still."""
        return min(time.time_ns() // 1000, _LATEST)

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""
        return time.monotonic()

    async def sleep(self, delay: timedelta) -> None:
        """Wait for *delay*; none or less only yields."""
        await asyncio.sleep(max(0.0, delay.total_seconds()))


def monotonic_usec() -> int:
    """Return CLOCK_MONOTONIC in microseconds, the form the service manager compares RELOADING with."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


#: What the service manager says to this process alone. A child that inherited it would speak in our name.
_FOR_US_ALONE = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES")


def take_environment() -> Mapping[str, str]:
    """Return a copy of the environment and remove from it what is meant for this process alone."""
    environ = dict(os.environ)
    for name in _FOR_US_ALONE:
        os.environ.pop(name, None)
    return environ
