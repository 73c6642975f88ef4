"""Two schedules tend the same shelves: each does its own jobs in its own slots, and leaves the other's alone."""

from dataclasses import replace
from datetime import timedelta

from fakes import until
from scheduler.house import HOUR, USUAL, Work, running
from shelfd.memory.ports.log import Origin
from shelfd.scheduler import ScheduledJob, Scheduler
from shelfd.scheduler.ledger import claim_in, new_run


async def test_each_does_its_own_jobs_and_no_other() -> None:
    async with running() as house:
        copying = Work("backup")
        job = ScheduledJob("backup", copying)
        # A run that is neither's, such as one of a schedule that a newer version has.
        now = house.clock.now()
        waiting = new_run(ScheduledJob("other", copying), slot="s", reason="cron", planned_at=now, now=now)
        await house.shelf().commit(Origin("scheduler", "scheduler.claim"), lambda tx: claim_in(tx, waiting))
        second = Scheduler(house.shelves, [job], house.clock, replace(USUAL, cron="30 9 * * *"))
        await second.start()
        await until(lambda: second._watch in house.clock.asleep)
        await house.pass_time(HOUR + timedelta(minutes=31))
        await until(lambda: not second.is_at_work)

        assert [run.slot for run in house.runs("reflection")] == ["2026-01-14T09:00 Europe/Berlin"]
        assert [run.slot for run in house.runs("backup")] == ["2026-01-14T09:30 Europe/Berlin"]
        assert (len(house.reflection.calls), len(copying.calls)) == (1, 1)
        assert [run.status for run in house.runs("other")] == ["running"]
        await second.stop()
