"""What the scheduler does on one shelf in one slot: looks at its ledger and does what is due, one run at a time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import structlog

from shelfd.memory import Clock, Shelf, Shelves
from shelfd.memory.ports.job import MANUAL, Job
from shelfd.scheduler import ledger
from shelfd.scheduler.deciding import beginning, decide_next, is_credible
from shelfd.scheduler.runner import Runner
from shelfd.scheduler.settings import ScheduledJob, SchedulerSettings
from shelfd.scheduler.slots import Schedule, Slot

log = structlog.get_logger("shelfd.scheduler")

_CLEAN_EVERY_S: Final = 86_400.0
_COUNTED: Final = 1000  #: missed slots are counted up to this many
_COUNTED_AT_ONCE: Final = 8  #: slots calculated without giving others a turn, about 2 ms
_LOOKED_BACK: Final = 100  #: how many runs are looked through for the last one of the schedule


@dataclass(slots=True)
class ShelfState:
    """What the scheduler knows of a shelf in this process. Moments are the clock's monotonic seconds.

    Attributes:
        name: The shelf's.
        lock: Held by the run at work.
        used_at: When the shelf was last used, as far as seen.
        seq: Its last change, as far as seen.
        tended_at: When its jobs had last all succeeded; before that it counts as used.
        tended_seq: Its last change at that moment.
        settled: The slot that is over.
        looked_back: The slot for which missed slots before it were looked for.
        retry_at: When a run may be tried again.
        cleaned_at: When old runs were last deleted; None: the ledger has not been read yet.
        task: What tends it now.
    """

    name: str
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    used_at: float = 0.0
    seq: int = -1
    tended_at: float | None = None
    tended_seq: int = -1
    settled: str | None = None
    looked_back: str | None = None
    retry_at: float | None = None
    cleaned_at: float | None = None
    task: asyncio.Task[None] | None = None

    @property
    def is_at_work(self) -> bool:
        """Whether it is being tended."""
        return self.task is not None and not self.task.done()

    @property
    def was_used(self) -> bool:
        """Whether it was used or changed since its jobs last all succeeded."""
        return self.tended_at is None or self.used_at > self.tended_at or self.seq != self.tended_seq

    def see(self, shelf: Shelf) -> None:
        """Note when the open *shelf* was last used."""
        self.used_at, self.seq = shelf.last_used, shelf.view.log.last_seq


class ShelfRunner:
    """Does what is due on shelves: on several at a time, on each one thing.

    Attributes:
        settings: What holds now.
    """

    def __init__(
        self, shelves: Shelves, jobs: Sequence[ScheduledJob], clock: Clock, settings: SchedulerSettings, runner: Runner
    ) -> None:
        self.settings = settings
        self._shelves = shelves
        self._jobs = jobs
        self._kinds = frozenset(job.name for job in jobs)  # others are another schedule's
        self._clock = clock
        self._runner = runner
        self._places = asyncio.Semaphore(settings.parallel)

    async def run_slot(self, state: ShelfState, schedule: Schedule, slot: Slot, trigger: str | None) -> None:
        """Do what is due on a shelf in *slot*.

        Args:
            trigger: ``cron`` or ``heartbeat`` when a run may begin now; None when only what began may go on.

        Raises:
            ShelfError: If the shelf cannot be opened or its ledger not be written.
        """
        async with state.lock, self._places, self._open(state.name) as shelf:
            await self._prepare(state, shelf)
            if state.looked_back != slot.key:
                await self._give_up(state, shelf, schedule, slot)
                await ledger.end_passed(shelf, slot.planned_at, self._kinds)
                state.looked_back = slot.key
            await self._run_due(state, shelf, slot, trigger)

    async def run_claimed(self, state: ShelfState, job: ScheduledJob, run: Job) -> None:
        """Work on a run that a caller requested, when its turn comes.

        Raises:
            ShelfError: If the shelf cannot be opened.
        """
        try:
            async with state.lock, self._places, self._open(state.name) as shelf:
                await self._runner.perform(shelf, job, run, self.settings.run_limit)
        finally:
            self._runner.unqueue(run.run_id)

    @asynccontextmanager
    async def _open(self, name: str) -> AsyncIterator[Shelf]:
        """Have a shelf open, and keep it so."""
        shelf = self._shelves.opened(name)  # not by get, which would make the shelf a used one
        if shelf is not None:
            shelf.enter()
            try:
                yield shelf
            finally:
                shelf.leave()
            return
        async with self._shelves.visited(name) as visited:
            visited.enter()
            try:
                yield visited
            finally:
                visited.leave()

    async def _prepare(self, state: ShelfState, shelf: Shelf) -> None:
        now = self._clock.monotonic()
        if state.cleaned_at is None:
            count = await ledger.mark_orphans(shelf, self._runner, self._clock.now(), self._kinds)
            if count:
                log.warning("run.found_interrupted", shelf=shelf.name, runs=count)
        await self._runner.write_rest(shelf)
        if state.cleaned_at is None or now - state.cleaned_at >= _CLEAN_EVERY_S:
            await ledger.delete_old(shelf, self._clock.now())
            state.cleaned_at = now

    async def _run_due(self, state: ShelfState, shelf: Shelf, slot: Slot, trigger: str | None) -> None:
        state.retry_at = None
        while True:
            now = self._clock.now()
            ahead = decide_next(shelf.view, self._jobs, slot, trigger=trigger, now=now, at_work=self._runner)
            if ahead.job is None:
                break
            run = ahead.run
            if run is None:
                run = ledger.new_run(ahead.job, slot=slot.key, reason=ahead.reason, planned_at=slot.planned_at, now=now)
                if not await ledger.claim(shelf, run):
                    continue  # another claim was faster: the ledger decides
            else:
                run = run._replace(state="running", started_at=now, finished_at=None)
                await ledger.put(shelf, run)
            await self._runner.perform(shelf, ahead.job, run, self.settings.run_limit)
        if ahead.wait is not None:
            state.retry_at = self._clock.monotonic() + ahead.wait.total_seconds()
        if ahead.is_settled:
            self._settle(state, shelf, slot)

    def _settle(self, state: ShelfState, shelf: Shelf, slot: Slot) -> None:
        state.settled = slot.key
        runs = [shelf.view.jobs.in_slot(job.name, slot.key) for job in self._jobs]
        if all(run is not None and run.state == "done" for run in runs):
            state.see(shelf)
            state.tended_at, state.tended_seq = self._clock.monotonic(), state.seq

    # ------------------------------------------------------------- missed slots

    async def _give_up(self, state: ShelfState, shelf: Shelf, schedule: Schedule, slot: Slot) -> None:
        """Record which slots before *slot* were missed: now that it is due, they are no longer made up for."""
        last = schedule.previous(slot)
        begin = beginning(shelf.view, self._clock.now())
        if last is None or not begin or last.planned_at <= begin:
            return
        missed = [run for job in self._jobs if (run := self._missed(shelf, job, last)) is not None]
        if not missed:
            return
        first, count, is_more = await self._count_missed(shelf, schedule, missed[0], last)
        details = {"first_slot": first.key, "count": count, "zone": schedule.zone_name}
        if is_more:
            details["more"] = True
        if await ledger.give_up(shelf, missed, details):
            log.warning("schedule.missed", shelf=shelf.name, job=missed[0].kind, slot=last.key, **details)
            if not state.was_used:  # this record alone is no reason to tend it
                state.see(shelf)
                state.tended_seq = state.seq

    def _missed(self, shelf: Shelf, job: ScheduledJob, last: Slot) -> Job | None:
        """Return the entry that gives a job's slot up, unless it had its run or a later one had."""
        known = shelf.view.jobs.in_slot(job.name, last.key)
        now = self._clock.now()
        if known is not None:
            return ledger.missed(known, now) if ledger.was_interrupted(known) else None
        if _last_covered(shelf, job.name, now) >= last.planned_at:
            return None
        run = ledger.new_run(job, slot=last.key, reason="cron", planned_at=last.planned_at, now=now)
        return ledger.missed(run, now)

    async def _count_missed(self, shelf: Shelf, schedule: Schedule, missed: Job, last: Slot) -> tuple[Slot, int, bool]:
        """Return the first slot that was missed in a row up to *last*, how many, and whether there are more yet."""
        if missed.attempts:  # it was begun
            return last, 1, False
        first: Slot | None = None
        count = 0
        now = self._clock.now()
        for slot in schedule.after(max(beginning(shelf.view, now), _last_covered(shelf, missed.kind, now))):
            if slot.planned_at > last.planned_at or count == _COUNTED:
                break
            first = first or slot
            count += 1
            if count % _COUNTED_AT_ONCE == 0:
                await asyncio.sleep(0)
        return first or last, max(count, 1), count == _COUNTED


def _last_covered(shelf: Shelf, job: str, now: int) -> int:
    """Return the latest time for which a job had a run or is recorded as missed; 0 if never."""
    found = shelf.view.jobs.page(kind=job, in_slots=True, before=None, limit=_LOOKED_BACK)
    times = [run.planned_at or 0 for _, run in found if not (run.slot or "").startswith(MANUAL)]
    return max((time for time in times if is_credible(time, now)), default=0)


def soonest(states: Sequence[ShelfState], now: float, limit: timedelta) -> timedelta:
    """Return how long until the next run may be tried again, at most *limit*."""
    waits = (one.retry_at - now for one in states if one.retry_at is not None and one.retry_at > now)
    return min(limit, timedelta(seconds=min(waits, default=limit.total_seconds())))
