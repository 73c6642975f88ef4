"""Quiet hours."""

from datetime import datetime

import pytest

from scheduler.house import BERLIN, micros
from shelfd.scheduler import QuietHours


def quiet(hours: QuietHours) -> list[int]:
    return [hour for hour in range(24) if hours.is_quiet(hour)]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (22, 8, [0, 1, 2, 3, 4, 5, 6, 7, 22, 23]),  # wraps midnight
        (1, 4, [1, 2, 3]),
        (0, 23, list(range(23))),
        (23, 0, [23]),
        (0, 6, [0, 1, 2, 3, 4, 5]),
        (8, 8, []), (0, 0, []), (-1, 8, []), (22, -1, []), (-1, -1, []),
    ],
)  # fmt: skip
def test_hours(start: int, end: int, expected: list[int]) -> None:
    assert quiet(QuietHours(start, end)) == expected


def test_the_hour_is_the_local_one() -> None:
    hours = QuietHours(22, 8)
    assert hours.is_waking(micros(datetime(2026, 7, 1, 8, tzinfo=BERLIN)), BERLIN)
    assert not hours.is_waking(micros(datetime(2026, 7, 1, 7, 59, tzinfo=BERLIN)), BERLIN)
    assert not hours.is_waking(micros(datetime(2026, 7, 1, 22, tzinfo=BERLIN)), BERLIN)
