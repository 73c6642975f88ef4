"""The cron run: once in each slot, promotion after reflection, whatever the clock does."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from scheduler.house import BERLIN, DAY, HOUR, MINUTE, MORNING, USUAL, StoresOf, running


async def test_a_slot_is_run_when_it_falls_due(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        await house.pass_time(HOUR - MINUTE)
        assert house.reflection.calls == []
        house.reflection.result = {"inspected": 3, "ids": ["note-memory-1"]}
        await house.pass_time(MINUTE)

        reflected, promoted = house.runs()
        assert house.reflection.calls == [("default", reflected.run_id, "cron")]
        assert house.promotion.calls == [("default", promoted.run_id, "cron")]
        assert (reflected.job, promoted.job) == ("reflection", "promotion")
        assert reflected.run_id != promoted.run_id
        for run in (reflected, promoted):
            assert (run.slot, run.reason, run.status) == ("2026-01-14T09:00 Europe/Berlin", "cron", "done")
            assert run.planned_at == run.started_at == run.finished_at == house.clock.now()
            assert (run.attempts, run.error) == (1, None)
        assert reflected.result == {"inspected": 3, "ids": ["note-memory-1"]}


async def test_each_day_has_its_run(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        await house.pass_time(3 * DAY)
        assert [run.slot[:10] for run in house.runs("reflection")] == ["2026-01-14", "2026-01-15", "2026-01-16"]
        assert house.missed() == []


async def test_the_cron_text_s_own_hours_are_meant_even_when_quiet() -> None:
    settings = replace(USUAL, cron="0 3 * * *")
    async with running(settings=settings) as house:
        await house.pass_time(DAY)
        assert house.reflection.reasons == ["cron"]


async def test_a_start_within_two_minutes_of_the_slot_is_on_time() -> None:
    async with running(at=MORNING - HOUR) as house:
        await house.down_for(2 * HOUR + MINUTE)
        assert house.reflection.reasons == ["cron"]


async def test_promotion_begins_when_reflection_has_ended() -> None:
    async with running() as house:
        house.reflection.held = asyncio.Event()
        await house.pass_time(HOUR + MINUTE)
        assert (len(house.reflection.calls), len(house.promotion.calls)) == (1, 0)
        house.reflection.held.set()
        house.reflection.held = None
        await house.caught_up()
        assert house.promotion.reasons == ["cron"]


@pytest.mark.parametrize(
    ("zone", "cron", "day", "expected"),
    [
        ("Europe/Berlin", "30 2 * * *", "2026-03-29", "2026-03-29T03:00"),
        ("Europe/Berlin", "30 2 * * *", "2026-10-25", "2026-10-25T02:30"),
        ("America/Santiago", "0 0 * * *", "2026-09-06", "2026-09-06T01:00"),
        ("America/Santiago", "30 23 * * *", "2026-04-04", "2026-04-04T23:30"),
        ("Africa/Cairo", "0 0 * * *", "2026-04-24", "2026-04-24T01:00"),
    ],
)
async def test_a_day_on_which_the_clock_changes_has_one_run(zone: str, cron: str, day: str, expected: str) -> None:
    there = ZoneInfo(zone)
    settings = replace(USUAL, cron=cron, zone=there)
    midnight = datetime.fromisoformat(day).replace(tzinfo=there)
    evening = midnight.astimezone(UTC) - timedelta(minutes=20)
    async with running(at=evening, settings=settings) as house:
        await house.until_local(midnight + DAY - timedelta(minutes=10))
        assert [run.slot for run in house.runs("reflection")] == [f"{expected} {zone}"]
        assert len(house.reflection.calls) == 1
        assert house.missed() == []


async def test_a_rhythm_runs_in_both_of_the_two_hours() -> None:
    settings = replace(USUAL, cron="30 * * * *", heartbeat=None)
    start = datetime(2026, 10, 25, 1, tzinfo=BERLIN)
    async with running(at=start, settings=settings) as house:
        await house.pass_time(4 * HOUR)  # 1:30, 2:30, 2:30 again, 3:30
        assert len(house.reflection.calls) == 4
        assert house.reflection.reasons == ["cron"] * 4


# ------------------------------------------------------------- clocks that jump


async def test_a_clock_set_back_does_not_rerun_a_slot(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        await house.pass_time(HOUR)
        assert len(house.reflection.calls) == 1
        house.clock.jump(-3 * HOUR)
        await house.pass_time(6 * HOUR)
        assert len(house.reflection.calls) == 1
        assert house.missed() == []


async def test_a_clock_set_forward_and_back_again() -> None:
    async with running() as house:
        house.clock.jump(50 * DAY)
        await house.pass_time(2 * HOUR)
        assert house.reflection.reasons == ["heartbeat", "cron"]
        house.clock.jump(-50 * DAY)
        await house.pass_time(DAY)
        assert house.reflection.reasons == ["heartbeat", "cron", "heartbeat", "cron"]
        done = [run.slot for run in house.runs("reflection") if run.status == "done"]
        assert len(set(done)) == len(done) == 4
        assert done[-1] == "2026-01-15T09:00 Europe/Berlin"


async def test_a_slot_is_not_rerun_when_its_run_was_forgotten_under_a_wrong_clock() -> None:
    async with running() as house:
        await house.pass_time(HOUR)
        slot = house.runs("reflection")[0].slot
        house.clock.jump(500 * DAY)
        await house.pass_time(2 * DAY)  # old runs are forgotten daily
        assert slot not in {run.slot for run in house.runs("reflection")}
        called = len(house.reflection.calls)
        house.clock.jump(-502 * DAY)
        await house.pass_time(6 * HOUR)
        assert len(house.reflection.calls) == called


async def test_a_suspend_over_the_slot_is_noticed_within_a_minute_and_left_to_the_heartbeat() -> None:
    async with running(settings=replace(USUAL, heartbeat=timedelta(minutes=2))) as house:
        await house.pass_time(30 * MINUTE)
        house.clock.jump(3 * HOUR)  # the lid was closed
        await house.pass_time(3 * MINUTE)
        assert house.reflection.reasons == ["heartbeat"]
        assert house.runs()[0].slot == "2026-01-14T09:00 Europe/Berlin"


async def test_a_clock_set_to_just_after_the_slot_is_on_time() -> None:
    async with running() as house:
        house.clock.jump(HOUR)
        await house.pass_time(MINUTE)
        assert house.reflection.reasons == ["cron"]


async def test_runs_are_forgotten_after_four_hundred_days() -> None:
    async with running() as house:
        await house.pass_time(3 * HOUR)
        first = house.runs()[0]
        house.clock.jump(399 * DAY)
        await house.pass_time(26 * HOUR)
        assert first.slot in {run.slot for run in house.runs()}
        await house.pass_time(2 * DAY)
        assert first.slot not in {run.slot for run in house.runs()}
        assert len(house.runs()) >= 4
