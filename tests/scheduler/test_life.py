"""The scheduler itself: start, stop, new settings, what it says of itself."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

from structlog.testing import capture_logs

from scheduler.house import BERLIN, HOUR, MINUTE, USUAL, StoresOf, running
from shelfd.scheduler import TICK, QuietHours


async def test_status_before_and_after_a_run() -> None:
    async with running() as house:
        status = house.scheduler.status()
        assert status == {
            "cron": "0 9 * * *", "tz": "Europe/Berlin", "next_at": "2026-01-14T08:00:00Z",
            "last": None, "running": [], "last_tick_s": 0.0, "complaint": None,
        }  # fmt: skip
        house.promotion.held = asyncio.Event()
        await house.pass_time(HOUR)
        (at_work,) = house.scheduler.status()["running"]
        assert (at_work["job"], at_work["status"], at_work["finished_at"]) == ("promotion", "running", None)
        house.promotion.held.set()
        house.promotion.held = None
        await house.caught_up()
        status = house.scheduler.status()
        assert status["running"] == []
        assert status["next_at"] == "2026-01-15T08:00:00Z"
        assert status["last"]["run_id"] == house.runs()[-1].run_id
        assert status["last"]["finished_at"] == "2026-01-14T08:00:00Z"


async def test_it_looks_at_the_clock_at_least_once_a_minute() -> None:
    async with running(settings=replace(USUAL, heartbeat=None)) as house:
        for _ in range(50):
            await house.pass_time(timedelta(seconds=7))
            assert house.clock.monotonic() - house.scheduler.last_tick < TICK.total_seconds()


async def test_new_settings_hold_at_once() -> None:
    async with running() as house:
        assert house.scheduler.reschedule(replace(USUAL, cron="30 8 * * *"))
        assert house.scheduler.status()["next_at"] == "2026-01-14T07:30:00Z"
        await house.pass_time(30 * MINUTE)
        assert house.reflection.reasons == ["cron"]
        await house.pass_time(HOUR)
        assert len(house.reflection.calls) == 1


async def test_a_bad_cron_text_leaves_the_old_schedule_and_is_said() -> None:
    async with running() as house:
        assert not house.scheduler.reschedule(replace(USUAL, cron="0 9 * *", heartbeat=None))
        status = house.scheduler.status()
        assert status["cron"] == "0 9 * * *"
        assert "'0 9 * *'" in status["complaint"]
        assert "expected five fields" in status["complaint"]
        await house.pass_time(HOUR)
        assert house.reflection.reasons == ["cron"]
        assert house.scheduler.reschedule(USUAL)
        assert house.scheduler.status()["complaint"] is None


async def test_a_configuration_refused_elsewhere_is_said_too() -> None:
    async with running() as house:
        house.scheduler.complain("reflection.cron: no")
        assert house.scheduler.status()["complaint"] == "reflection.cron: no"


async def test_a_new_heartbeat_and_new_quiet_hours() -> None:
    async with running(
        at=datetime(2026, 1, 14, 20, tzinfo=BERLIN), settings=replace(USUAL, cron="0 21 * * *")
    ) as house:
        await house.down_for(3 * HOUR)
        await house.pass_time(HOUR)
        assert house.reflection.calls == []
        settings = replace(USUAL, cron="0 21 * * *", heartbeat=timedelta(minutes=5), quiet=QuietHours(0, 0))
        assert house.scheduler.reschedule(settings)
        await house.pass_time(5 * MINUTE)
        assert house.reflection.reasons == ["heartbeat"]


async def test_stopping_leaves_no_task_behind() -> None:
    async with running() as house:
        house.reflection.held = asyncio.Event()
        await house.pass_time(HOUR)
        await house.scheduler.stop()
        names = {task.get_name() for task in asyncio.all_tasks()}
        assert not {name for name in names if "scheduler" in name or "reflection" in name}
        await house.scheduler.stop()


async def test_a_scheduler_that_was_never_started_can_be_stopped() -> None:
    async with running() as house:
        await house.stop()
        house._make()
        assert house.scheduler.status()["next_at"] is None
        await house.scheduler.stop()
        await house.start()


async def test_a_jump_is_logged() -> None:
    async with running() as house:
        with capture_logs() as logs:
            await house.pass_time(10 * MINUTE)
            assert not [line for line in logs if line["event"] == "clock.jumped"]
            house.clock.jump(timedelta(seconds=-90))
            await house.pass_time(2 * MINUTE)
        (line,) = [line for line in logs if line["event"] == "clock.jumped"]
        assert line["delta_s"] == -90.0


async def test_health_says_when_the_clock_jumped() -> None:
    async with running() as house:
        await house.pass_time(10 * MINUTE)
        assert house.scheduler.clock_status() == {"jumped": None}
        house.clock.jump(timedelta(days=20_000))
        await house.pass_time(2 * MINUTE)
        ahead = house.scheduler.clock_status()["jumped"]
        assert (ahead["delta_s"], ahead["seen_at"][:4]) == (20_000 * 86_400, "2080")
        house.clock.jump(timedelta(days=-20_000))
        await house.pass_time(2 * MINUTE)
        back = house.scheduler.clock_status()["jumped"]
        assert (back["delta_s"], back["seen_at"][:10]) == (-20_000 * 86_400, "2026-01-14")


async def test_a_shelf_made_while_the_clock_was_ahead_is_tended_once_it_is_right(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        house.clock.jump(timedelta(days=20_000))
        await house.pass_time(2 * MINUTE)
        await house.shelves.create("late", owner="uid:1000")
        house.clock.jump(timedelta(days=-20_000))
        await house.pass_time(2 * HOUR)
        assert "late" in house.reflection.shelves
        await house.shelves.get("late")
        assert house.missed("late") == []


async def test_nothing_else_is_logged_and_nothing_of_memory() -> None:
    async with running() as house:
        with capture_logs() as logs:
            await house.pass_time(2 * HOUR)
        events = [line["event"] for line in logs if not line["event"].startswith("index.")]
        assert events == ["run.started", "run.ended", "run.started", "run.ended"]
