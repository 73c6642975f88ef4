"""The scheduler: watches the clock and has each shelf tended once per slot."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

import structlog

from shelfd.memory import Clock, Shelf, ShelfError, Shelves
from shelfd.memory.errors import QuotaExceeded, ShelfNotFound, ShuttingDown
from shelfd.memory.ports.job import MANUAL, Job
from shelfd.protocol import from_micros
from shelfd.scheduler.ledger import new_run, run_view
from shelfd.scheduler.runner import Runner
from shelfd.scheduler.settings import ScheduledJob, SchedulerSettings, in_order
from shelfd.scheduler.shelf_runner import ShelfRunner, ShelfState, soonest
from shelfd.scheduler.slots import Schedule, Slot, check_cron

log = structlog.get_logger("shelfd.scheduler")

#: The longest sleep: a suspend, a reset clock and a changed time zone are noticed within it.
TICK: Final = timedelta(seconds=60)
#: A slot seen later than this was missed, and is left to the heartbeat.
ON_TIME: Final = timedelta(minutes=2)
#: How long a shelf must have been left alone before the heartbeat makes up for a slot.
IDLE: Final = timedelta(minutes=5)
_JUMP_S: Final = 5.0
_LAST_RUNS_S: Final = 5.0  #: how long stopping waits for jobs to end
_REQUESTED: Final = 16  #: how many runs may wait on one shelf
_MICROSECOND = timedelta(microseconds=1)


class Jump(NamedTuple):
    """The wall clock was set, or the machine slept.

    Attributes:
        seen_at: When that was noticed, by the new time, microseconds since 1970 UTC.
        delta_s: By how much the clock went ahead of the seconds that passed; negative when it was set back.
    """

    seen_at: int
    delta_s: float


class Scheduler:
    """Runs jobs on shelves by a cron text, with a heartbeat that makes up for what was missed.

    What was run is in each shelf's ledger, so that a slot has one run whatever happens to clock or daemon. Shelves
    that are closed and were not used since they were last tended are left alone.

    Attributes:
        last_tick: When it last looked at the clock, by the clock's monotonic seconds; never older than
            :data:`TICK` while all is well.
        last_jump: When the clock last jumped; None: not since the start.
    """

    def __init__(
        self, shelves: Shelves, jobs: Sequence[ScheduledJob], clock: Clock, settings: SchedulerSettings
    ) -> None:
        self._shelves = shelves
        self._clock = clock
        self._jobs = in_order(jobs)
        self._settings = settings
        self._schedule = Schedule(settings.cron, settings.zone)
        self._runner = Runner(clock)
        self._shelf_runner = ShelfRunner(shelves, self._jobs, clock, settings, self._runner)
        self._states: dict[str, ShelfState] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watch: asyncio.Task[None] | None = None
        self._complaint: str | None = None
        self._seen = (clock.now(), clock.monotonic())
        self._next_beat = self._seen[1]
        self._is_watching = False
        self._is_stopping = False
        self.last_tick = self._seen[1]
        self.last_jump: Jump | None = None

    # ---------------------------------------------------------------- life

    async def start(self) -> None:
        """Begin to watch the clock, once the shelves are started."""
        self._seen = (self._clock.now(), self._clock.monotonic())
        self.last_tick = self._seen[1]
        self._plan_beat()
        self._watch = self._spawn(self._watch_clock(), "shelfd.scheduler")

    async def stop(self) -> None:
        """Interrupt what runs, record that, and end. To be called before the shelves are closed."""
        self._is_stopping = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_LAST_RUNS_S)
            if late:
                log.warning("scheduler.stopped_late", tasks=len(late))

    def reschedule(self, settings: SchedulerSettings) -> bool:
        """Take over new settings from now on; runs at work go on.

        A bad cron text changes nothing, is reported by :meth:`status`, and returns False.
        """
        try:
            check_cron(settings.cron)
        except ValueError as error:
            self.complain(str(error))
            return False
        has_new_times = (settings.cron, settings.zone) != (self._settings.cron, self._settings.zone)
        has_new_beat = settings.heartbeat != self._settings.heartbeat
        self._settings = self._shelf_runner.settings = settings
        self._complaint = None
        if has_new_times:
            self._schedule = Schedule(settings.cron, settings.zone)
        if has_new_beat:
            self._plan_beat()
        log.info("schedule.changed", cron=settings.cron, zone=self._schedule.zone_name)
        return True

    def complain(self, complaint: str) -> None:
        """Have :meth:`status` say why the schedule is not the configured one, until the next :meth:`reschedule`."""
        self._complaint = complaint
        log.error("schedule.refused", complaint=complaint, cron=self._settings.cron)

    @property
    def jobs(self) -> Sequence[ScheduledJob]:
        """What is run, in order."""
        return self._jobs

    @property
    def schedule(self) -> Schedule:
        """The schedule that holds now."""
        return self._schedule

    @property
    def is_at_work(self) -> bool:
        """Whether any shelf is being tended."""
        return any(task is not self._watch for task in self._tasks)

    def next_at(self) -> str | None:
        """Return when the next slot falls due, as it goes over the wire; None until the clock is watched."""
        following = self._schedule.next(self._clock.now()) if self._is_watching else None
        return None if following is None else from_micros(following.planned_at)

    def clock_status(self) -> dict[str, Any]:
        """Return what health says of the clock: when it last jumped and by how many seconds, None if it did not."""
        jump = self.last_jump
        return {"jumped": None if jump is None else {"seen_at": from_micros(jump.seen_at), "delta_s": jump.delta_s}}

    def status(self) -> dict[str, Any]:
        """Return what health says: schedule, next and last run, what is at work, how fresh, and what is wrong."""
        last = self._runner.last
        return {
            "cron": self._schedule.text,
            "tz": self._schedule.zone_name,
            "next_at": self.next_at(),
            "last": _brief(*last) if last else None,
            "running": [_brief(attempt.shelf, attempt.run) for attempt in self._runner.attempts.values()],
            "last_tick_s": round(self._clock.monotonic() - self.last_tick, 3),
            "complaint": self._complaint,
        }

    async def run_now(self, job: ScheduledJob, shelf: Shelf, claim: Callable[[Job], Awaitable[bool]]) -> None:
        """Begin a run that a caller requested, when the shelf's turn comes.

        Args:
            job: One of :attr:`jobs`.
            shelf: Open, and kept open by the caller until this returns.
            claim: Enters the run in the shelf's ledger; False: the same request was carried out before.

        Raises:
            QuotaExceeded: If too many runs wait on the shelf.
            ShuttingDown: If the scheduler was stopped.
        """
        if self._is_stopping:
            raise ShuttingDown
        if self._runner.count_queued(shelf.name) >= _REQUESTED:
            raise QuotaExceeded(f"{_REQUESTED} runs wait on this shelf already", limit=_REQUESTED)
        now = self._clock.now()
        run = new_run(job, slot=None, reason=MANUAL, planned_at=now, now=now)
        self._runner.queue(run.run_id, shelf.name)
        is_begun = False
        try:
            if await claim(run):
                work = self._shelf_runner.run_claimed(self._of(shelf.name), job, run)
                self._spawn(work, f"shelfd.scheduler.{shelf.name}.asked")
                is_begun = True
        finally:
            if not is_begun:
                self._runner.unqueue(run.run_id)

    # --------------------------------------------------------------- the clock

    async def _watch_clock(self) -> None:
        await asyncio.to_thread(check_cron, self._schedule.text)  # imports croniter while other work goes on
        for name in self._shelves.names():
            self._of(name)  # an earlier daemon may have used it: it is checked once
        self._is_watching = True
        log.info("scheduler.started", cron=self._schedule.text, zone=self._schedule.zone_name)
        while True:
            self._tick()
            self.last_tick = self._clock.monotonic()
            await self._clock.sleep(self._until_next())

    def _tick(self) -> None:
        now, moment = self._clock.now(), self._clock.monotonic()
        self._notice_jump(now, moment)
        self._runner.stop_overdue()
        is_beat = self._is_beat(now, moment)
        slot = self._schedule.latest(now)
        if slot is None:
            return
        is_on_time = now - slot.planned_at <= ON_TIME // _MICROSECOND
        for state in self._to_look_at(slot):
            shelf = self._shelves.opened(state.name)
            trigger = "cron" if is_on_time else "heartbeat" if is_beat and self._is_idle(shelf, moment) else None
            is_due = state.retry_at is not None and moment >= state.retry_at
            # Reading the ledger of an open shelf costs little; a closed one is opened only for a reason.
            if shelf is not None or trigger or is_due:
                self._tend(state, slot, trigger)

    def _to_look_at(self, slot: Slot) -> Iterator[ShelfState]:
        """Yield the shelves that may have something to be done in *slot*."""
        for status in self._shelves.status():
            shelf = self._shelves.opened(status["shelf"])
            if shelf is not None:
                self._of(shelf.name).see(shelf)
        for state in list(self._states.values()):
            if state.settled == slot.key or state.is_at_work:
                continue
            if state.was_used or self._shelves.opened(state.name) is not None:
                yield state

    def _tend(self, state: ShelfState, slot: Slot, trigger: str | None) -> None:
        state.retry_at = None
        state.task = self._spawn(self._tend_one(state, slot, trigger), f"shelfd.scheduler.{state.name}")

    async def _tend_one(self, state: ShelfState, slot: Slot, trigger: str | None) -> None:
        try:
            await self._shelf_runner.run_slot(state, self._schedule, slot, trigger)
        except ShelfNotFound:  # dropped meanwhile
            self._states.pop(state.name, None)

    def _notice_jump(self, now: int, moment: float) -> None:
        wall_s = (now - self._seen[0]) / 1_000_000
        delta_s = wall_s - (moment - self._seen[1])
        self._seen = (now, moment)
        if abs(delta_s) > _JUMP_S:
            self.last_jump = Jump(now, round(delta_s, 3))
            log.warning("clock.jumped", delta_s=self.last_jump.delta_s)

    def _is_beat(self, now: int, moment: float) -> bool:
        """Whether the heartbeat beats now, in waking hours."""
        if self._heartbeat is None or moment < self._next_beat:
            return False
        self._plan_beat()
        return self._settings.quiet.is_waking(now, self._settings.zone)

    @property
    def _heartbeat(self) -> timedelta | None:
        interval = self._settings.heartbeat
        return None if interval is None or interval <= timedelta(0) else max(interval, timedelta(seconds=1))

    def _plan_beat(self) -> None:
        if self._heartbeat is not None:
            self._next_beat = self._clock.monotonic() + self._heartbeat.total_seconds()

    def _until_next(self) -> timedelta:
        now, moment = self._clock.now(), self._clock.monotonic()
        waits = [soonest(list(self._states.values()), moment, TICK)]
        following = self._schedule.next(now)
        if following is not None:
            waits.append(timedelta(microseconds=following.planned_at - now))
        if self._heartbeat is not None:
            waits.append(timedelta(seconds=self._next_beat - moment))
        return max(min(waits), timedelta(milliseconds=1))

    @staticmethod
    def _is_idle(shelf: Shelf | None, moment: float) -> bool:
        return shelf is None or (not shelf.in_use and moment - shelf.last_used >= IDLE.total_seconds())

    # ------------------------------------------------------------------ tasks

    def _of(self, name: str) -> ShelfState:
        return self._states.setdefault(name, ShelfState(name))

    def _spawn(self, work: Any, name: str) -> asyncio.Task[None]:  # noqa: ANN401
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._over)
        return task

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, ShelfError):
            log.warning("tending.failed", task=task.get_name(), error=type(error).__name__)
        elif error is not None:
            log.error("scheduler.failed", task=task.get_name(), error=type(error).__name__)


def _brief(shelf: str, job: Job) -> dict[str, Any]:
    view = run_view(shelf, job)
    return {name: view[name] for name in ("job", "shelf", "slot", "reason", "run_id", "status", "finished_at")}
