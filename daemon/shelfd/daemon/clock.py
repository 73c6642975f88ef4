"""The machine's clock. Nothing else of the daemon reads it."""

import asyncio
import time
from datetime import timedelta


class SystemClock:
    """Implements the memory's ``Clock`` port."""

    __slots__ = ()

    def now(self) -> int:
        """Return the wall clock in microseconds since 1970 UTC."""
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""
        return time.monotonic()

    async def sleep(self, delay: timedelta) -> None:
        """Wait for *delay*; none or less only yields."""
        await asyncio.sleep(max(0.0, delay.total_seconds()))


def monotonic_usec() -> int:
    """Return CLOCK_MONOTONIC in microseconds, the form the service manager compares RELOADING with."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
