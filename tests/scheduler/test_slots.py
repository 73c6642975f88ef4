"""Slots: which moments a cron text names, and their keys."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.house import BERLIN, DAY, HOUR, micros
from shelfd.scheduler import Schedule, Slot, check_cron, daily_cron

SANTIAGO = ZoneInfo("America/Santiago")
CAIRO = ZoneInfo("Africa/Cairo")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")


def keys(schedule: Schedule, start: datetime, end: datetime) -> list[str]:
    found = []
    for slot in schedule.after(micros(start) - 1):
        if slot.planned_at >= micros(end):
            break
        found.append(slot.key)
    return found


def utc(slot: Slot | None) -> datetime:
    assert slot is not None
    return datetime.fromtimestamp(slot.planned_at / 1_000_000, UTC)


@pytest.mark.parametrize(
    "text",
    ["0 9 * * *", "*/15 * * * *", "0 9 * * mon-fri", " 30  2 1,15 * *", "0 9 L * *", "@daily", "@Weekly", "0 0 1 1 *"],
)
def test_texts_that_are_taken(text: str) -> None:
    check_cron(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "hello", "@reboot", "* * * *", "* * * * * *", "0 9 * * * 2026", "0 0 9 * * * *",  # not five fields
        "61 * * * *", "0 24 * * *", "*/0 * * * *", "0 9 32 * *", "0 9 * * funday", "x * * * *", "-1 9 * * *",
        "R 9 * * *", "R(0-5) 9 * * *", "0 r * * *", "H 9 * * *", "H/5 * * * *", "0 h(9-12) * * *",  # drawn at random
        "0 0 31 2 *", "0 0 29 2 *", "0 0 * 2 1#5",  # never, or not every year
    ],
)  # fmt: skip
def test_texts_that_are_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match="expected") as refused:
        check_cron(text)
    assert repr(text) in str(refused.value)


def test_months_and_days_with_r_and_h_in_them_are_no_draw() -> None:
    for text in ("0 9 * mar thu", "0 9 * APR,MAR THU-FRI"):
        check_cron(text)


def test_croniter_is_imported_when_needed_and_not_before() -> None:
    code = (
        "import sys, shelfd.scheduler; assert 'croniter' not in sys.modules;"
        "shelfd.scheduler.check_cron('@daily'); assert 'croniter' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_key_is_the_local_minute_and_the_zone() -> None:
    slot = Schedule("0 9 * * *", BERLIN).next(micros(datetime(2026, 7, 1, tzinfo=UTC)))
    assert slot is not None
    assert slot.key == "2026-07-01T09:00 Europe/Berlin"
    assert utc(slot) == datetime(2026, 7, 1, 7, tzinfo=UTC)


def test_the_key_of_a_rhythm_is_the_minute_in_utc() -> None:
    for text in ("0 * * * *", "0 */3 * * *", "@hourly"):
        slot = Schedule(text, BERLIN).next(micros(datetime(2026, 7, 1, 12, 30, tzinfo=UTC)))
        assert slot is not None
        assert slot.key.endswith(" UTC")
        assert slot.key.startswith(f"{utc(slot):%Y-%m-%dT%H:%M}")


def test_a_zone_without_a_name() -> None:
    slot = Schedule("@daily", UTC).next(micros(datetime(2026, 7, 1, 12, tzinfo=UTC)))
    assert slot is not None
    assert slot.key == "2026-07-02T00:00 UTC"


def test_a_time_that_the_change_to_summer_skips_is_due_once_after_the_gap() -> None:
    schedule = Schedule("30 2 * * *", BERLIN)
    start, end = datetime(2026, 3, 28, tzinfo=BERLIN), datetime(2026, 3, 31, tzinfo=BERLIN)
    assert keys(schedule, start, end) == [
        "2026-03-28T02:30 Europe/Berlin", "2026-03-29T03:00 Europe/Berlin", "2026-03-30T02:30 Europe/Berlin",
    ]  # fmt: skip


def test_a_time_that_comes_twice_in_the_change_back_is_due_the_first_time() -> None:
    schedule = Schedule("30 2 * * *", BERLIN)
    start, end = datetime(2026, 10, 24, tzinfo=BERLIN), datetime(2026, 10, 27, tzinfo=BERLIN)
    assert keys(schedule, start, end) == [f"2026-10-{day}T02:30 Europe/Berlin" for day in (24, 25, 26)]
    first = micros(datetime(2026, 10, 25, 0, 30, tzinfo=UTC))
    second = first + HOUR // timedelta(microseconds=1)
    for moment in (first, first + 1, second - 1, second, second + 1):
        slot = schedule.latest(moment)
        assert slot is not None
        assert slot.planned_at == first
        following = schedule.next(moment)
        assert following is not None
        assert following.key == "2026-10-26T02:30 Europe/Berlin"


@pytest.mark.parametrize(
    ("zone", "text", "day", "expected"),
    [
        (SANTIAGO, "0 0 * * *", "2026-09-06", "2026-09-06T01:00"),  # midnight is skipped
        (SANTIAGO, "30 23 * * *", "2026-04-04", "2026-04-04T23:30"),  # 23:00 to 24:00 comes twice
        (CAIRO, "0 0 * * *", "2026-04-24", "2026-04-24T01:00"),
        (CAIRO, "15 23 * * *", "2026-10-29", "2026-10-29T23:15"),
        (LORD_HOWE, "45 1 * * *", "2026-04-05", "2026-04-05T01:45"),  # half an hour comes twice
        (LORD_HOWE, "15 2 * * *", "2026-10-04", "2026-10-04T02:30"),
    ],
)
def test_one_slot_a_day_where_the_clock_changes_at_midnight(zone: ZoneInfo, text: str, day: str, expected: str) -> None:
    midnight = datetime.fromisoformat(day).replace(tzinfo=zone)
    found = keys(Schedule(text, zone), midnight, midnight + DAY)
    assert found == [f"{expected} {zone.key}"]


def test_a_rhythm_goes_on_through_both_changes() -> None:
    schedule = Schedule("*/30 * * * *", BERLIN)
    for start in (datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 10, 24, 22, tzinfo=UTC)):
        found = keys(schedule, start, start + 6 * HOUR)
        assert found == [f"{start + index * HOUR / 2:%Y-%m-%dT%H:%M} UTC" for index in range(12)]


def test_slots_around_a_moment() -> None:
    schedule = Schedule("0 9 * * *", BERLIN)
    nine = micros(datetime(2026, 1, 14, 9, tzinfo=BERLIN))
    for moment, latest, following in ((nine - 1, 13, 14), (nine, 14, 15), (nine + 1, 14, 15), (nine - 1, 13, 14)):
        slot = schedule.latest(moment)
        assert slot is not None
        assert slot.key == f"2026-01-{latest}T09:00 Europe/Berlin"
        then = schedule.next(moment)
        assert then is not None
        assert then.key == f"2026-01-{following}T09:00 Europe/Berlin"
        before = schedule.previous(slot)
        assert before is not None
        assert before.key == f"2026-01-{latest - 1}T09:00 Europe/Berlin"


@given(
    text=st.sampled_from(
        [
            "30 2 * * *",
            "0 0 * * *",
            "30 23 * * *",
            "*/30 * * * *",
            "0 */2 * * *",
            "15 1-3 * * *",
            "0 9 * * mon",
            "@yearly",
        ]
    ),
    zone=st.sampled_from([BERLIN, SANTIAGO, CAIRO, LORD_HOWE]),
    minutes=st.integers(0, 2 * 365 * 1440),
)
def test_latest_and_next_lie_around_every_moment_and_do_not_depend_on_it(
    text: str, zone: ZoneInfo, minutes: int
) -> None:
    schedule = Schedule(text, zone)
    moment = micros(datetime(2026, 1, 1, tzinfo=UTC)) + minutes * 60_000_000 + minutes % 7
    latest, following = schedule.latest(moment), schedule.next(moment)
    assert latest is not None
    assert following is not None
    assert latest.planned_at <= moment < following.planned_at
    assert Schedule(text, zone).next(moment) == following
    assert Schedule(text, zone).next(latest.planned_at) == following
    assert Schedule(text, zone).latest(following.planned_at) == following
    assert Schedule(text, zone).previous(following) == latest


@given(hour=st.integers(0, 23), minute=st.integers(0, 59))
def test_a_daily_text_is_due_daily(hour: int, minute: int) -> None:
    text = daily_cron(hour, minute)
    check_cron(text)
    slot = Schedule(text, UTC).next(micros(datetime(2026, 5, 5, tzinfo=UTC)) - 1)
    assert utc(slot) == datetime(2026, 5, 5, hour, minute, tzinfo=UTC)
