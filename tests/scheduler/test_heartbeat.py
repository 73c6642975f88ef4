"""The heartbeat makes up for what was missed; what it cannot is reported."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from scheduler.house import BERLIN, DAY, HOUR, MINUTE, MORNING, USUAL, StoresOf, running
from shelfd.scheduler import QuietHours

HALF_HOUR = timedelta(minutes=30)


async def test_a_missed_slot_is_made_up_for_once(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        await house.down_for(4 * HOUR)
        await house.pass_time(HALF_HOUR - MINUTE)
        assert house.reflection.calls == []
        await house.pass_time(MINUTE)
        assert house.reflection.reasons == house.promotion.reasons == ["heartbeat"]
        run = house.runs("reflection")[0]
        assert (run.slot, run.reason, run.status) == ("2026-01-14T09:00 Europe/Berlin", "heartbeat", "done")
        assert run.planned_at < run.started_at
        await house.pass_time(12 * HOUR)
        assert len(house.reflection.calls) == 1
        assert house.missed() == []


async def test_a_slot_missed_in_quiet_hours_is_made_up_for_after_them() -> None:
    settings = replace(USUAL, cron="0 23 * * *")
    async with running(at=datetime(2026, 1, 14, 21, tzinfo=BERLIN), settings=settings) as house:
        await house.down_for(4 * HOUR)  # it is one at night
        await house.until_local(datetime(2026, 1, 15, 7, 59, tzinfo=BERLIN))
        assert house.reflection.calls == []
        await house.pass_time(HALF_HOUR + MINUTE)
        assert house.reflection.reasons == ["heartbeat"]


async def test_without_quiet_hours_it_is_made_up_for_at_night() -> None:
    settings = replace(USUAL, cron="0 23 * * *", quiet=QuietHours(-1, 8))
    async with running(at=datetime(2026, 1, 14, 21, tzinfo=BERLIN), settings=settings) as house:
        await house.down_for(4 * HOUR)
        await house.pass_time(HALF_HOUR)
        assert house.reflection.reasons == ["heartbeat"]


async def test_a_shelf_in_use_is_left_alone() -> None:
    async with running() as house:
        await house.down_for(4 * HOUR)
        await house.pass_time(HALF_HOUR - 4 * MINUTE)
        await house.shelves.get("default")  # somebody uses it four minutes before the tick
        await house.pass_time(4 * MINUTE)
        assert house.reflection.calls == []
        await house.pass_time(HALF_HOUR)
        assert house.reflection.reasons == ["heartbeat"]


async def test_a_shelf_with_a_call_at_work_is_left_alone() -> None:
    async with running() as house:
        await house.down_for(4 * HOUR)
        house.shelf().enter()
        await house.pass_time(HOUR)
        assert house.reflection.calls == []
        house.shelf().leave()
        await house.pass_time(HALF_HOUR)
        assert house.reflection.reasons == ["heartbeat"]


@pytest.mark.parametrize("interval", [None, timedelta(0), timedelta(milliseconds=-1)])
async def test_it_can_be_switched_off(interval: timedelta | None) -> None:
    async with running(settings=replace(USUAL, heartbeat=interval)) as house:
        await house.down_for(4 * HOUR)
        await house.pass_time(8 * HOUR)
        assert house.reflection.calls == []


async def test_promotion_alone_is_made_up_for_when_reflection_had_its_run() -> None:
    async with running() as house:
        house.scheduler._shelf_runner._jobs = house.scheduler.jobs[:1]
        await house.pass_time(2 * HOUR)
        assert [run.job for run in house.runs()] == ["reflection"]
        await house.down_for(2 * HOUR)
        await house.pass_time(HALF_HOUR)
        assert len(house.reflection.calls) == 1
        assert house.promotion.reasons == ["heartbeat"]


# ----------------------------------------------------------- what is given up


async def test_a_slot_is_given_up_when_the_next_one_falls_due(stores: StoresOf) -> None:
    async with running(stores=stores, settings=replace(USUAL, heartbeat=None)) as house:
        await house.down_for(2 * HOUR)
        await house.until_local(datetime(2026, 1, 15, 8, 59, tzinfo=BERLIN))
        assert house.missed() == []
        assert house.runs() == []
        await house.pass_time(MINUTE)
        (told,) = house.missed()
        slot = "2026-01-14T09:00 Europe/Berlin"
        assert told["job"] == "reflection"
        assert told["jobs"] == ["reflection", "promotion"]
        assert (told["slot"], told["first_slot"], told["count"]) == (slot, slot, 1)
        assert house.reflection.reasons == ["cron"]
        assert [(run.job, run.status, run.attempts) for run in house.runs()] == [
            ("reflection", "missed", 0),
            ("promotion", "missed", 0),
            ("reflection", "done", 1),
            ("promotion", "done", 1),
        ]
        await house.pass_time(DAY)
        assert len(house.missed()) == 1


async def test_one_event_reports_all_slots_that_a_shelf_slept_through() -> None:
    async with running() as house:
        await house.pass_time(2 * HOUR)
        await house.down_for(10 * DAY)
        (told,) = house.missed()
        assert (told["count"], told["first_slot"], told["slot"]) == (
            9, "2026-01-15T09:00 Europe/Berlin", "2026-01-23T09:00 Europe/Berlin",
        )  # fmt: skip
        await house.pass_time(HALF_HOUR)
        assert house.reflection.reasons == ["cron", "heartbeat"]
        assert house.runs("reflection")[-1].slot == "2026-01-24T09:00 Europe/Berlin"
        await house.down_for(MINUTE)
        assert len(house.missed()) == 1


async def test_very_many_slots_are_counted_up_to_a_thousand() -> None:
    async with running(settings=replace(USUAL, cron="*/5 * * * *")) as house:
        await house.down_for(10 * DAY)
        (told,) = house.missed()
        assert (told["count"], told["more"]) == (1000, True)


async def test_a_new_shelf_has_missed_nothing() -> None:
    async with running(at=MORNING + 2 * HOUR) as house:
        await house.shelves.create("fresh", owner="uid:1000")
        house.shelf("fresh").enter()
        await house.pass_time(HOUR)
        assert "fresh" not in house.reflection.shelves
        assert house.missed("fresh") == []
        await house.pass_time(DAY)
        assert house.missed("fresh") == []
        assert [run.slot for run in house.runs("reflection", "fresh")] == ["2026-01-15T09:00 Europe/Berlin"]
        house.shelf("fresh").leave()


async def test_another_cron_text_is_no_reason_to_report_missed_slots() -> None:
    async with running() as house:
        await house.pass_time(2 * DAY + 3 * HOUR)  # it is eleven, the third day
        assert house.scheduler.reschedule(replace(USUAL, cron="0 10 * * *"))
        await house.pass_time(DAY)
        assert house.missed() == []
        assert house.reflection.reasons == ["cron", "cron", "cron", "heartbeat", "cron"]


async def test_the_event_is_one_for_subscribers_too() -> None:
    async with running(settings=replace(USUAL, heartbeat=None)) as house:
        await house.down_for(2 * HOUR)
        await house.pass_time(DAY)
        await house.shelf().reach(1)
        events, _ = house.shelf().events(0, 10, lambda kind, nugget: nugget is None)
        assert [event["type"] for event in events] == ["shelfd.schedule.missed.v1"]
        assert events[0]["data"]["principal"] == "scheduler"
        assert events[0]["subject"] == "default"
