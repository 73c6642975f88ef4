"""A memory with a scheduler and jobs that tests direct, under a clock that only tests move."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from fakes import FakeClock, until
from shelfd.memory import PROJECTIONS, MemorySettings, Shelf, Shelves, Stores
from shelfd.scheduler import ScheduledJob, Scheduler, SchedulerSettings
from shelfd.scheduler.ledger import Run, run_of
from shelfd.storage.inmemory import InMemoryStores

BERLIN = ZoneInfo("Europe/Berlin")
SOON_S = 20.0
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
#: Eight in the morning in Berlin: an hour before the usual slot, and right behind the usual quiet hours.
MORNING = datetime(2026, 1, 14, 8, tzinfo=BERLIN)
USUAL = SchedulerSettings(cron="0 9 * * *", zone=BERLIN)

StoresOf = Callable[[FakeClock], Stores]


def micros(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)


class Clock(FakeClock):
    """Knows which tasks sleep."""

    def __init__(self, start: datetime) -> None:
        super().__init__(start, stands_still=True)
        self.asleep: set[asyncio.Task[Any] | None] = set()

    async def sleep(self, delay: timedelta) -> None:
        task = asyncio.current_task()
        self.asleep.add(task)
        try:
            await super().sleep(delay)
        finally:
            self.asleep.discard(task)

    def jump(self, delta: timedelta) -> None:
        """Set the wall clock to another time, as a suspend or somebody does; monotonic time is not touched."""
        self.set_back(-delta)


@dataclass
class Work:
    """What a job does: notes that it was called, and what the test says."""

    name: str
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)  #: raised by the next calls, in this order
    result: Mapping[str, Any] = field(default_factory=lambda: {"changed": 0})
    held: asyncio.Event | None = None  #: while set, calls wait for it
    at_once: int = 0
    most_at_once: int = 0

    async def __call__(self, shelf: str, run_id: str, reason: str) -> Mapping[str, Any]:
        self.calls.append((shelf, run_id, reason))
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            if self.held is not None:
                await self.held.wait()
            if self.failures:
                raise self.failures.pop(0)
            return self.result
        finally:
            self.at_once -= 1

    @property
    def shelves(self) -> list[str]:
        return [shelf for shelf, _, _ in self.calls]

    @property
    def reasons(self) -> list[str]:
        return [reason for _, _, reason in self.calls]


class House:
    """Shelves and a scheduler with the jobs reflection and, after it, promotion."""

    def __init__(self, stores: Stores, clock: Clock, settings: SchedulerSettings, memory: MemorySettings) -> None:
        self.stores = stores
        self.clock = clock
        self.settings = settings
        self.memory = memory
        self.reflection = Work("reflection")
        self.promotion = Work("promotion")
        self._make()

    def _make(self) -> None:
        self.shelves = Shelves(self.stores, self.clock, self.memory, PROJECTIONS)
        jobs = [
            ScheduledJob("promotion", self.promotion, follows="reflection"),
            ScheduledJob("reflection", self.reflection),
        ]
        self.scheduler = Scheduler(self.shelves, jobs, self.clock, self.settings)

    async def start(self) -> None:
        await self.shelves.start()
        await self.scheduler.start()
        await self.caught_up()

    async def stop(self) -> None:
        await self.scheduler.stop()
        await self.shelves.close()

    async def down_for(self, span: timedelta) -> None:
        """Stop the daemon, let time pass and start it again."""
        await self.stop()
        self.clock.advance(span)
        self._make()
        await self.start()

    async def killed(self, span: timedelta = timedelta(0)) -> None:
        """End the daemon without any farewell of the scheduler's: what is in the ledger stays as it is."""
        for task in list(self.scheduler._tasks):
            task.get_loop().call_soon(task.cancel)
        self.scheduler._runner._write = _nothing  # type: ignore[assignment,method-assign]
        await self.stop()
        self.clock.advance(span)
        self._make()
        await self.start()

    # ------------------------------------------------------------------ time

    async def caught_up(self) -> None:
        """Wait until the scheduler has looked at the present time and done what is due, but for what a test holds."""
        for _ in range(4):  # who slept until now wakes
            await asyncio.sleep(0)
        await until(lambda: self.scheduler._watch in self.clock.asleep)
        await until(lambda: not self.scheduler.is_at_work or self._is_held())

    def _is_held(self) -> bool:
        held = sum(work.at_once for work in (self.reflection, self.promotion) if work.held is not None)
        return held > 0 and len(self.scheduler._runner.attempts) == held

    async def pass_time(self, span: timedelta, *, step: timedelta = MINUTE) -> None:
        """Let time pass, at most *step* at a time; with a minute or less as on a machine that is awake."""
        while span > timedelta(0):
            self.clock.advance(min(span, step))
            span -= step
            await self.caught_up()

    async def until_local(self, moment: datetime, *, step: timedelta = MINUTE) -> None:
        """Let time pass up to *moment*."""
        await self.pass_time(timedelta(microseconds=micros(moment) - self.clock.now()), step=step)

    # ---------------------------------------------------------------- shelves

    def shelf(self, name: str = "default") -> Shelf:
        shelf = self.shelves.opened(name)
        assert shelf is not None
        return shelf

    def runs(self, job: str | None = None, shelf: str = "default") -> list[Run]:
        """Return the ledger's runs, the first claimed first."""
        found = self.shelf(shelf).view.jobs.page(kind=job, in_slots=True, before=None, limit=1000)
        return [run_of(run) for _, run in found][::-1]

    def missed(self, shelf: str = "default") -> list[dict[str, Any]]:
        """Return what the shelf's change log tells of missed slots."""
        rows = self.shelf(shelf).view.log.page(since_seq=0, limit=1000)
        return [dict(row.before or {}) for row in rows if row.kind == "schedule.missed"]


async def _nothing(*_: Any) -> None:
    return None


@asynccontextmanager
async def running(
    *,
    at: datetime = MORNING,
    settings: SchedulerSettings = USUAL,
    stores: StoresOf = InMemoryStores,
    memory: MemorySettings | None = None,
) -> AsyncIterator[House]:
    """Run a house whose shelf ``default`` is made at that moment."""
    clock = Clock(at.astimezone(UTC))
    house = House(stores(clock), clock, settings, memory or MemorySettings())
    await house.start()
    try:
        yield house
    finally:
        await house.stop()
