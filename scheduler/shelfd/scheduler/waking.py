"""Waking hours: when the daemon may start something that nobody asked for at that hour."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class QuietHours(NamedTuple):
    """Local hours, 0 to 23, from *start* up to and without *end*; they may wrap around midnight.

    The same hour twice or a negative one means that no hour is quiet.
    """

    start: int = 22
    end: int = 8

    def is_quiet(self, hour: int) -> bool:
        """Return whether that hour of the day is quiet."""
        if self.start < 0 or self.end < 0:
            return False
        if self.start <= self.end:
            return self.start <= hour < self.end
        return hour >= self.start or hour < self.end

    def is_waking(self, now: int, zone: tzinfo) -> bool:
        """Return whether *now*, microseconds since 1970 UTC, lies in waking hours of *zone*."""
        return not self.is_quiet((_EPOCH + timedelta(microseconds=now)).astimezone(zone).hour)
