"""Runs one attempt of a run as a task of its own, up to its entry in the ledger."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import structlog

from shelfd.memory import Clock, Shelf, ShelfError
from shelfd.memory.ports.job import Job
from shelfd.scheduler import ledger
from shelfd.scheduler.ledger import run_of
from shelfd.scheduler.settings import ScheduledJob

log = structlog.get_logger("shelfd.scheduler")

_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(slots=True)
class Attempt:
    """A run at work."""

    shelf: str
    run: Job
    task: asyncio.Task[Any]
    ends_by: float  #: by the clock's monotonic seconds
    is_overdue: bool = False


class Runner:
    """Runs jobs and records their outcomes.

    Attributes:
        attempts: What is at work, by run id.
        last: The last run that ended here, with its shelf.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.attempts: dict[str, Attempt] = {}
        self.last: tuple[str, Job] | None = None
        self._queued: dict[str, str] = {}
        self._unwritten: dict[str, tuple[str, Job]] = {}

    def __contains__(self, run_id: object) -> bool:
        """Whether a run waits for its turn, is at work, or has ended and is not recorded yet."""
        return run_id in self.attempts or run_id in self._queued or run_id in self._unwritten

    def queue(self, run_id: str, shelf: str) -> None:
        """Note that a run waits for its turn, so that it is not taken for one that a dead daemon left."""
        self._queued[run_id] = shelf

    def unqueue(self, run_id: str) -> None:
        """Note that a run no longer waits."""
        self._queued.pop(run_id, None)

    def count_queued(self, shelf: str) -> int:
        """Return how many runs wait for their turn on a shelf, the one at work included."""
        return sum(name == shelf for name in self._queued.values())

    async def perform(self, shelf: Shelf, job: ScheduledJob, run: Job, limit: timedelta) -> Job:
        """Work on a run that is claimed; return how it ended.

        Cancelling this cancels the job, which is recorded as an interruption.
        """
        began = self._clock.monotonic()
        work = job.run(shelf.name, run.run_id, run.reason or "")
        task = asyncio.get_running_loop().create_task(work, name=f"shelfd.{shelf.name}.{job.name}")
        attempt = Attempt(shelf.name, run, task, began + limit.total_seconds())
        self.attempts[run.run_id] = attempt
        fields = {"shelf": shelf.name, "job": job.name, "slot": run.slot, "run_id": run.run_id, "reason": run.reason}
        log.info("run.started", **fields, attempt=run.attempts + 1)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        finally:
            # Also on cancellation, which comes once: the outcome is recorded before this ends.
            del self.attempts[run.run_id]
            ended = _ended(attempt, self._clock.now())
            duration_ms = round((self._clock.monotonic() - began) * 1000, 1)
            entry = run_of(ended)
            report = log.info if entry.status == "done" else log.warning
            report("run.ended", **fields, status=entry.status, error=entry.error, duration_ms=duration_ms)
            await self._write(shelf, ended)
        return ended

    def stop_overdue(self) -> None:
        """Cancel what takes longer than it may."""
        now = self._clock.monotonic()
        for attempt in self.attempts.values():
            if now >= attempt.ends_by and not attempt.is_overdue:
                attempt.is_overdue = True
                attempt.task.cancel()

    async def write_rest(self, shelf: Shelf) -> None:
        """Record what could not be recorded when it ended.

        Raises:
            ShelfError: If it still cannot.
        """
        for name, run in list(self._unwritten.values()):
            if name == shelf.name:
                await ledger.put(shelf, run)
                del self._unwritten[run.run_id]

    async def _write(self, shelf: Shelf, run: Job) -> None:
        self.last = shelf.name, run
        try:
            await ledger.put(shelf, run)
        except ShelfError as error:
            # Kept: otherwise the run would be taken for an abandoned one and run again.
            self._unwritten[run.run_id] = shelf.name, run
            log.error("run.record_failed", shelf=shelf.name, run_id=run.run_id, error=type(error).__name__)


def _ended(attempt: Attempt, now: int) -> Job:
    """Return the run as its task left it. Only the kind of an error is kept: its message may quote a memory."""
    run, task = attempt.run, attempt.task
    if not task.done() or task.cancelled():
        if attempt.is_overdue:
            return ledger.failed(run, TimeoutError.__name__, now)
        # One that a caller requested continues when the shelf is opened again, like any job.
        return ledger.cut_short(run, now) if run.is_scheduled else run
    error = task.exception()
    if error is None:
        return run._replace(state="done", error=None, finished_at=now, result=dict(task.result()))
    return ledger.failed(run, type(error).__name__, now)
