"""Carries out the jobs of one shelf: those just begun, and at start those that an earlier daemon left unfinished."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

import structlog

from shelfd.memory.errors import Cancelled, JobNotFound, ShelfError, ShuttingDown, Unavailable, traced
from shelfd.memory.jobs.work import Procedure, Work, progress_of
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.job import Job
from shelfd.memory.ports.log import Origin
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import Limits

log = structlog.get_logger("shelfd.memory")

#: Jobs of one shelf at work at a time; others wait their turn.
_AT_ONCE: Final = 4
#: How long to wait before another attempt; the last one again and again.
_BACK_OFF: Final = tuple(timedelta(seconds=seconds) for seconds in (1, 5, 30, 120, 600))
#: Attempts that may end in an unforeseen error. An error of the store is no reason to give up.
_ATTEMPTS: Final = 5
_PAGE: Final = 100


class JobRunner:
    """The jobs of an open shelf.

    Args:
        limits: Returns the configured limits.
        procedures: Returns what carries out a job, by kind; not called before there is one.
    """

    def __init__(
        self, shelf: Shelf, limits: Callable[[], Limits], procedures: Callable[[], Mapping[str, Procedure]]
    ) -> None:
        self._shelf = shelf
        self._limits = limits
        self._procedures = procedures
        self._places = asyncio.Semaphore(_AT_ONCE)  # which lets those in first that came first
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._resting: set[str] = set()  # of these, until another attempt
        self._waiting: dict[str, list[asyncio.Future[Job]]] = {}
        self._is_closed = False
        shelf.at_close(self._close)

    def start(self, job_id: str) -> None:
        """Start a job now; one that is running already is not started twice."""
        if job_id in self._resting:
            self._resting.discard(job_id)
            self._tasks.pop(job_id).cancel()
        if not self._is_closed and job_id not in self._tasks:
            self._tasks[job_id] = self._shelf.spawn(self._carry_out(job_id), f"job.{job_id}")

    async def start_unfinished(self) -> None:
        """Resume the jobs that were cut short, but for those that the scheduler runs."""
        found: list[str] = []
        before: int | None = None
        while page := self._shelf.view.jobs.page(unfinished=True, before=before, limit=_PAGE):
            found += [job.id for _, job in page if not job.is_scheduled]
            before = page[-1][0]
            await asyncio.sleep(0)
        if found:
            log.info("job.resumed", shelf=self._shelf.name, jobs=len(found))
        for job_id in reversed(found):
            self.start(job_id)

    async def end_of(self, job_id: str) -> Job:
        """Wait until a job has ended and return it.

        Raises:
            ShelfError: What the job was refused with, or, retryable, why it has to wait; then it resumes automatically.
            ShuttingDown: If the shelf is closed first; the job resumes when it is opened again.
        """
        job = self._shelf.view.jobs.get(job_id)
        if job is None:
            raise JobNotFound(job_id)
        if job.is_unfinished:
            if self._is_closed:
                raise ShuttingDown
            if job.state == "waiting" and job_id in self._resting:
                raise Unavailable(
                    f"job {job.id} was cut short by {job.error}; it goes on by itself, job.get shows how far it is",
                    job=job.id,
                    progress=progress_of(job),
                )
            if job_id not in self._resting:
                self.start(job_id)
            future: asyncio.Future[Job] = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(job_id, []).append(future)
            job = await future
        if job.state != "done":
            raise Unavailable(f"job {job.id} was given up: {job.error}; job.get shows it", job=job.id)
        return job

    async def perform(self, job_id: str) -> Mapping[str, Any]:
        """Try once, in the caller's own task, to finish a job that the scheduler runs; return its result.

        An error is not recorded. Cancelling this leaves the job where it is.

        Raises:
            JobNotFound: If it is none that this version knows.
            ShelfError: What it was refused with.
        """
        job = self._shelf.view.jobs.get(job_id)
        if job is None or job.kind not in self._procedures():
            raise JobNotFound(job_id)
        if job_id in self._tasks or not job.is_unfinished:  # somebody retried it
            return (await self.end_of(job_id)).result or {}
        self._shelf.enter()
        try:
            return (await self._work(Work(self._shelf, self._limits(), job))).result or {}
        finally:
            self._shelf.leave()

    async def _carry_out(self, job_id: str) -> None:
        attempts = 0
        try:
            while not await self._attempt_in_use(job_id):
                # It takes up no place meanwhile, which another job may need, nor is the shelf in use, which may be
                # closed to make room for another.
                self._resting.add(job_id)
                await self._shelf.clock.sleep(_BACK_OFF[min(attempts, len(_BACK_OFF) - 1)])
                self._resting.discard(job_id)
                attempts += 1
        finally:
            if self._tasks.get(job_id) is asyncio.current_task():  # else it was begun again
                del self._tasks[job_id]

    async def _attempt_in_use(self, job_id: str) -> bool:
        async with self._places:
            self._shelf.enter()
            try:
                return await self._attempt(job_id)
            finally:
                self._shelf.leave()

    async def _attempt(self, job_id: str) -> bool:
        """Try to finish a job; return whether it has ended, or is of a kind unknown to this version."""
        job = self._shelf.view.jobs.get(job_id)
        if job is None or job.kind not in self._procedures():
            return True
        if not job.is_unfinished:  # it was cancelled while it waited
            self._notify(job, None if job.state == "done" else Cancelled())
            return True
        work = Work(self._shelf, self._limits(), job)
        try:
            ended = await self._work(work)
        except Cancelled:  # it ended meanwhile, and perhaps somebody has begun it again since
            return await self._attempt(job_id)
        except ShelfError as error:
            if error.retryable:
                await self._wait(work.job, error)
                return False
            return await self._give_up(work.job, "failed", error)
        except Exception as error:  # noqa: BLE001 - a boundary: one job's trouble must not reach the shelf
            log.error("job.failed", shelf=self._shelf.name, kind=job.kind, job=job.id, **traced(error))
            attempts = work.job.attempts + 1
            if attempts < _ATTEMPTS:
                await self._wait(work.job, error)
                return False
            return await self._give_up(work.job._replace(attempts=attempts), "dead", error)
        self._notify(ended, None)
        return True

    async def _work(self, work: Work) -> Job:
        """Do what is left of a job; return it as it ended."""
        job = work.job
        result = await self._procedures()[job.kind](work)
        if work.job.state != "done":
            await work.finish(lambda _tx, _cursor: result)
        log.info("job.completed", shelf=self._shelf.name, kind=job.kind, job=job.id, run_id=job.run_id)
        return work.job

    async def _give_up(self, job: Job, state: str, error: Exception) -> bool:
        """Record that a job has ended, and pass its callers why; return False if the store takes no record now."""
        ended = job._replace(state=state, error=type(error).__name__, finished_at=self._shelf.clock.now())
        try:
            recorded = await self._record(ended)
        except ShelfError as failure:  # it is unfinished still, so there is another attempt
            self._notify(job, failure)
            return False
        self._notify(recorded, error)
        return True

    async def _record(self, job: Job) -> Job:
        """Store how a job stands, unless it was cancelled meanwhile; return how it is stored."""

        def record(tx: Transaction) -> Job:
            stored = tx.rows.jobs.get(job.id)
            if stored is None or not stored.is_unfinished:
                return stored or job
            stands = job._replace(cursor=stored.cursor, updated_at=tx.now)
            tx.rows.jobs.put(stands)
            return stands

        origin = Origin("shelfd", "job.record", run_id=job.run_id)
        return (await self._shelf.commit(origin, record)).value

    async def _wait(self, job: Job, error: Exception) -> None:
        """Record that a job waits for another attempt, and pass its callers the error."""
        attempts = job.attempts + 1
        waiting = job._replace(state="waiting", attempts=attempts, error=type(error).__name__)
        with suppress(ShelfError):  # if the store fails, the record stays as it was, which does no harm
            await self._record(waiting)
        self._notify(waiting, error)

    def _notify(self, job: Job, error: Exception | None) -> None:
        for future in self._waiting.pop(job.id, ()):
            if future.done():
                continue
            if error is None:
                future.set_result(job)
            else:
                future.set_exception(_error_for_waiter(job, error))

    def _close(self) -> None:
        """The shelf is about to close: steps under way still become durable, the rest waits for the next start."""
        self._is_closed = True
        for task in self._tasks.values():
            task.cancel()
        for futures in self._waiting.values():
            for future in futures:
                if not future.done():
                    future.set_exception(ShuttingDown())
        self._waiting.clear()


def _error_for_waiter(job: Job, error: Exception) -> Exception:
    """The error for a caller that waits for a job's end: its own, and that the job continues."""
    if not isinstance(error, ShelfError) or not error.retryable:
        return error
    cause = error.message.partition(";")[0]
    text = f"cut short: {cause}; job {job.id} goes on by itself, job.get shows how far it is"
    return Unavailable(text, **{**error.data, "job": job.id, "progress": progress_of(job)})
