"""What the daemon takes from its host."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from shelfd.daemon.host import SystemClock
from shelfd.protocol.base import from_micros, parse_instant


def test_a_clock_beyond_the_calendar_stands_still_where_all_that_is_kept_still_ends_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 300_000_000_000 * 10**9)
    now = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=SystemClock().now())
    assert now == datetime(9900, 1, 1, tzinfo=UTC)
    assert now + timedelta(days=36_500) < datetime(9999, 12, 31, tzinfo=UTC)


def test_a_moment_beyond_the_calendar_is_told_as_its_end() -> None:
    assert from_micros(parse_instant("9999-12-30T00:00:00Z") + 10**18) == "9999-12-31T23:59:59.999999Z"
    assert from_micros(-(10**18)) == "0001-01-01T00:00:00Z"
