"""Whatever happens to the clock and the daemon, a slot is run once."""

import asyncio
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from scheduler.house import DAY, HOUR, MINUTE, USUAL, House, running

HAPPENINGS = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.integers(1, 26 * 60)),
        st.tuples(st.just("jump"), st.integers(-3 * 1440, 3 * 1440)),
        st.tuples(st.just("leap"), st.sampled_from([-800, -401, -30, 30, 401, 800])),
        st.tuples(st.just("restart"), st.integers(0, 2000)),
        st.tuples(st.just("kill"), st.integers(0, 120)),
        st.tuples(st.just("reschedule"), st.sampled_from(["30 2 * * *", "0 9 * * *", "0 */6 * * *"])),
        st.tuples(st.just("fail"), st.integers(1, 3)),
    ),
    max_size=12,
)
ZONES = st.sampled_from(["Europe/Berlin", "America/Santiago", "Africa/Cairo"])
STARTS = st.sampled_from(["2026-03-28T20:00", "2026-10-24T20:00", "2026-09-05T20:00"])


async def happen(house: House, what: str, amount: int | str) -> None:
    match what, amount:
        case "wait", int():
            await house.pass_time(amount * MINUTE, step=timedelta(minutes=20))
        case "jump", int():
            house.clock.jump(amount * MINUTE)
            await house.pass_time(HOUR, step=timedelta(minutes=20))
        case "leap", int():
            house.clock.jump(amount * DAY)
            await house.pass_time(2 * DAY, step=timedelta(minutes=45))
        case "restart", int():
            await house.down_for(amount * MINUTE)
        case "kill", int():
            await house.killed(amount * MINUTE)
        case "reschedule", str():
            house.settings = replace(house.settings, cron=amount)
            assert house.scheduler.reschedule(house.settings)
        case _:
            house.reflection.failures = [OSError() for _ in range(int(amount))]


async def check(happenings: list[tuple[str, int | str]], zone: str, start: str) -> None:
    there = ZoneInfo(zone)
    options = replace(USUAL, cron="30 2 * * *", zone=there)
    with capture_logs() as logs:
        async with running(at=datetime.fromisoformat(start).replace(tzinfo=there), settings=options) as house:
            for what, amount in happenings:
                await happen(house, what, amount)
    attempts: dict[tuple[str, str], list[str]] = defaultdict(list)
    successes: Counter[tuple[str, str]] = Counter()
    for line in logs:
        if line["event"] == "run.started":
            attempts[line["job"], line["slot"]].append(line["run_id"])
        if line["event"] == "run.ended" and line["status"] == "done":
            successes[line["job"], line["slot"]] += 1
    for slot, run_ids in attempts.items():
        assert len(set(run_ids)) == 1, slot
        assert len(run_ids) <= 3, slot
        assert successes[slot] <= 1, slot


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(happenings=HAPPENINGS, zone=ZONES, start=STARTS)
def test_a_slot_has_one_run_whatever_happens(happenings: list[tuple[str, int | str]], zone: str, start: str) -> None:
    asyncio.run(check(happenings, zone, start))
