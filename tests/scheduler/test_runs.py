"""Runs that fail, hang, are interrupted or asked for: what the ledger says and what is tried again."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from structlog.testing import capture_logs

from scheduler.house import BERLIN, DAY, HOUR, MINUTE, USUAL, House, StoresOf, running
from shelfd.memory.errors import QuotaExceeded, ShuttingDown
from shelfd.memory.ports.job import Job
from shelfd.memory.ports.log import Origin
from shelfd.scheduler import ScheduledJob
from shelfd.scheduler.ledger import claim_in, new_run
from shelfd.scheduler.settings import in_order

SLOT = "2026-01-14T09:00 Europe/Berlin"


async def claim(house: House, run: Job) -> None:
    await house.shelf().commit(Origin("scheduler", "test"), lambda tx: claim_in(tx, run))


async def ask(house: House, job: str = "reflection", shelf: str = "default") -> str:
    """Ask for a run without the wire around it."""
    claimed: list[str] = []

    async def claim_run(run: Job) -> bool:
        claimed.append(run.run_id)
        applied = await house.shelf(shelf).commit(Origin("uid:1000", "scheduler.run"), lambda tx: claim_in(tx, run))
        return applied.value

    wanted = next(one for one in house.scheduler.jobs if one.name == job)
    await house.scheduler.run_now(wanted, house.shelf(shelf), claim_run)
    return claimed[0]


# --------------------------------------------------------------------- failing


async def test_a_failed_run_is_tried_again_after_a_while(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        house.reflection.failures = [OSError("disk"), RuntimeError("secret memory text")]
        await house.pass_time(HOUR)
        run = house.runs("reflection")[0]
        assert (run.status, run.attempts, run.error) == ("failed", 1, "OSError")
        assert house.promotion.calls == []
        await house.pass_time(MINUTE)
        run = house.runs("reflection")[0]
        assert (run.status, run.attempts, run.error) == ("failed", 2, "RuntimeError")
        await house.pass_time(4 * MINUTE)
        assert len(house.reflection.calls) == 2
        await house.pass_time(MINUTE)
        run = house.runs("reflection")[0]
        assert (run.status, run.attempts, run.error) == ("done", 3, None)
        assert {call[1:] for call in house.reflection.calls} == {(run.run_id, "cron")}
        assert len(house.runs()) == 2
        assert house.promotion.reasons == ["cron"]


async def test_after_three_failures_it_is_given_up_and_promotion_runs_all_the_same(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        house.reflection.failures = [ValueError(f"bad {number}") for number in range(9)]
        await house.pass_time(2 * HOUR)
        assert len(house.reflection.calls) == 3
        run = house.runs("reflection")[0]
        assert (run.status, run.attempts, run.error) == ("failed", 3, "ValueError")
        assert house.promotion.reasons == ["cron"]
        await house.pass_time(20 * HOUR)
        assert len(house.reflection.calls) == 3
        assert house.missed() == []
        house.reflection.failures = []
        await house.pass_time(4 * HOUR)
        assert house.runs("reflection")[-1].status == "done"


async def test_the_text_of_an_error_goes_nowhere() -> None:
    async with running() as house:
        house.reflection.failures = [ValueError("my password is hunter2")]
        with capture_logs() as logs:
            await house.pass_time(HOUR)
        assert any(line["event"] == "run.ended" and line["error"] == "ValueError" for line in logs)
        assert "hunter2" not in str(logs)
        assert "hunter2" not in str(house.runs())
        assert "hunter2" not in str(house.scheduler.status())


async def test_what_takes_too_long_is_cancelled_and_counts_as_failed() -> None:
    async with running() as house:
        house.reflection.held = asyncio.Event()
        await house.pass_time(HOUR)
        await house.pass_time(9 * MINUTE)
        assert house.reflection.at_once == 1
        await house.pass_time(MINUTE)
        assert house.reflection.at_once == 0
        run = house.runs("reflection")[0]
        assert (run.status, run.error, run.attempts) == ("failed", "TimeoutError", 1)
        house.reflection.held = None
        await house.pass_time(MINUTE)
        assert house.runs("reflection")[0].status == "done"


async def test_a_retry_after_a_long_suspend_is_left_to_the_heartbeat() -> None:
    async with running() as house:
        house.reflection.failures = [OSError()]
        await house.pass_time(HOUR)
        house.clock.jump(15 * HOUR)  # until midnight
        await house.pass_time(7 * HOUR + 50 * MINUTE)
        assert len(house.reflection.calls) == 1
        await house.pass_time(HOUR)  # after the quiet hours, before the next slot
        assert len(house.reflection.calls) >= 2
        assert house.runs("reflection")[0].attempts == 2
        assert house.runs("reflection")[0].status == "done"


async def test_a_clock_set_back_does_not_make_a_retry_wait() -> None:
    async with running() as house:
        await house.down_for(4 * HOUR)
        house.reflection.failures = [OSError()]
        await house.pass_time(30 * MINUTE)
        assert house.runs("reflection")[0].status == "failed"
        house.clock.jump(-2 * HOUR)
        await house.pass_time(2 * MINUTE)
        assert house.runs("reflection")[0].status == "done"


# ------------------------------------------------------------------ interrupted


async def test_a_stop_interrupts_and_the_next_start_tries_again(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        house.reflection.held = asyncio.Event()
        await house.pass_time(HOUR)
        first = house.runs("reflection")[0]
        assert first.status == "running"
        await house.scheduler.stop()
        assert house.reflection.at_once == 0
        interrupted = house.runs("reflection")[0]
        assert (interrupted.status, interrupted.attempts) == ("interrupted", 1)
        assert interrupted.finished_at is not None
        house.reflection.held = None
        await house.down_for(timedelta(0))
        assert len(house.reflection.calls) == 1
        await house.pass_time(MINUTE)
        (run,) = house.runs("reflection")
        assert (run.run_id, run.status, run.attempts) == (first.run_id, "done", 2)
        assert house.promotion.reasons == ["cron"]


async def test_a_run_whose_daemon_was_killed_is_found_and_tried_again(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        house.reflection.held = asyncio.Event()
        await house.pass_time(HOUR)
        house.reflection.held = None
        await house.killed()
        (run,) = house.runs("reflection")
        assert (run.status, run.attempts) == ("interrupted", 1)
        await house.pass_time(MINUTE)
        (run,) = house.runs("reflection")
        assert (run.slot, run.status, run.attempts) == (SLOT, "done", 2)
        await house.pass_time(DAY - 2 * HOUR)
        assert len(house.reflection.calls) == 2


async def test_a_run_killed_three_times_is_not_tried_a_fourth_time() -> None:
    async with running() as house:
        house.reflection.held = asyncio.Event()
        await house.pass_time(HOUR)
        for _ in range(4):
            await house.killed()
            await house.pass_time(5 * MINUTE)
        assert len(house.reflection.calls) == 3
        (run,) = house.runs("reflection")
        assert (run.status, run.attempts) == ("interrupted", 3)
        assert house.promotion.reasons == ["cron"]


async def test_a_daemon_killed_between_two_jobs_goes_on_with_the_second() -> None:
    async with running() as house:
        house.promotion.held = asyncio.Event()
        await house.pass_time(HOUR)
        house.promotion.held = None
        await house.killed()
        await house.pass_time(2 * MINUTE)
        assert len(house.reflection.calls) == 1
        assert house.runs("promotion")[0].status == "done"


async def test_an_interrupted_run_that_is_not_continued_is_missed() -> None:
    async with running(settings=replace(USUAL, heartbeat=None)) as house:
        house.reflection.held = asyncio.Event()
        await house.pass_time(HOUR)
        house.reflection.held = None
        await house.killed(2 * HOUR)
        await house.until_local(datetime(2026, 1, 15, 8, 59, tzinfo=BERLIN))
        assert len(house.reflection.calls) == 1
        assert house.missed() == []
        await house.pass_time(MINUTE)
        (told,) = house.missed()
        assert (told["job"], told["jobs"], told["slot"], told["count"]) == (
            "reflection", ["reflection", "promotion"], SLOT, 1,
        )  # fmt: skip
        assert house.runs("reflection")[0].status == "missed"
        assert house.runs("reflection")[1].status == "done"


async def test_a_slot_that_was_claimed_elsewhere_is_not_run(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        now = house.clock.now()
        for job in house.scheduler.jobs:
            run = new_run(job, slot=SLOT, reason="cron", planned_at=now, now=now)
            await claim(house, run._replace(state="done", finished_at=now))
        await house.pass_time(2 * HOUR)
        assert house.reflection.calls == house.promotion.calls == []


async def test_an_end_that_cannot_be_written_is_written_later_and_nothing_is_run_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from shelfd.memory.errors import Unavailable
    from shelfd.scheduler import ledger

    async with running() as house:
        put = ledger.put
        failures = [Unavailable("disk full")] * 4

        async def fail_first(shelf: object, run: Job) -> None:
            if failures:
                raise failures.pop()
            await put(house.shelf(), run)

        monkeypatch.setattr(ledger, "put", fail_first)
        await house.pass_time(HOUR)
        assert house.runs("reflection")[0].status == "running"
        await house.pass_time(10 * MINUTE)
        assert len(house.reflection.calls) == 1
        assert [run.status for run in house.runs()] == ["done", "done"]


# -------------------------------------------------------------------- at a time


async def test_few_shelves_are_tended_at_a_time() -> None:
    async with running() as house:
        for number in range(5):
            await house.shelves.create(f"s{number}", owner="uid:1000")
        house.reflection.held = asyncio.Event()
        await house.pass_time(HOUR - 10 * MINUTE)
        for number in range(5):
            await house.shelves.get(f"s{number}")
        house.clock.advance(10 * MINUTE)
        await house.caught_up()
        assert house.reflection.at_once == 2
        house.reflection.held.set()
        house.reflection.held = None
        await house.caught_up()
        assert sorted(house.reflection.shelves) == ["default", "s0", "s1", "s2", "s3", "s4"]
        assert house.reflection.most_at_once == 2


async def test_a_run_asked_for_waits_for_the_one_at_work() -> None:
    async with running() as house:
        house.reflection.held = asyncio.Event()
        await house.pass_time(HOUR)
        run_id = await ask(house, "promotion")
        await house.pass_time(MINUTE)
        assert house.promotion.calls == []
        house.reflection.held.set()
        house.reflection.held = None
        await house.caught_up()
        assert house.promotion.calls[0][2] == "cron"
        assert house.promotion.calls[1] == ("default", run_id, "manual")
        assert house.promotion.most_at_once == 1


async def test_a_run_asked_for_has_a_slot_of_its_own(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        run_id = await ask(house)
        await house.caught_up()
        (run,) = house.runs()
        assert (run.run_id, run.slot, run.reason, run.status) == (run_id, f"manual:{run_id}", "manual", "done")
        await house.pass_time(2 * HOUR)
        assert house.reflection.reasons == ["manual", "cron"]


async def test_too_many_runs_asked_for_are_refused() -> None:
    async with running() as house:
        house.reflection.held = asyncio.Event()
        for _ in range(16):
            await ask(house)
        with pytest.raises(QuotaExceeded):
            await ask(house)
        house.reflection.held.set()
        house.reflection.held = None
        await house.caught_up()
        assert len(house.reflection.calls) == 16
        await ask(house)


async def test_a_stopped_scheduler_takes_no_runs() -> None:
    async with running() as house:
        await house.scheduler.stop()
        with pytest.raises(ShuttingDown):
            await ask(house)


async def test_a_failed_run_that_was_asked_for_is_not_tried_again() -> None:
    async with running() as house:
        house.reflection.failures = [OSError()]
        await ask(house)
        await house.pass_time(30 * MINUTE)
        assert len(house.reflection.calls) == 1
        assert house.runs()[0].status == "failed"


# ------------------------------------------------------------------------ jobs


def test_jobs_come_after_what_they_follow() -> None:
    async def work(shelf: str, run_id: str, reason: str) -> dict[str, int]:
        return {}

    third, first, second = (
        ScheduledJob("c", work, follows="b"),
        ScheduledJob("a", work),
        ScheduledJob("b", work, follows="a"),
    )
    assert in_order([third, first, second]) == (first, second, third)
    for bad in ([third], [first, first], [ScheduledJob("x", work, follows="x")]):
        with pytest.raises(ValueError, match="job"):
            in_order(bad)
