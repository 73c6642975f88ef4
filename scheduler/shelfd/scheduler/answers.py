"""Answers to ``scheduler.*``: what is planned, what was run, and a run on request."""

from collections.abc import Sequence
from typing import Any

from shelfd.memory import Call, Shelf, Shelves
from shelfd.memory.errors import InvalidParams
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.ports.job import Job
from shelfd.scheduler.ledger import claim_in, run_view
from shelfd.scheduler.scheduler import Scheduler
from shelfd.scheduler.settings import ScheduledJob


class Answers:
    """Implements the gateway's port. The caller's access has been checked.

    Args:
        schedulers: Each with its own schedule and jobs, the main one first.
        shelves: The shelves they tend.
    """

    def __init__(self, schedulers: Sequence[Scheduler], shelves: Shelves) -> None:
        self._schedulers = schedulers
        self._shelves = shelves

    async def jobs(self, call: Call) -> dict[str, Any]:
        """Answer ``scheduler.jobs``: each job of a shelf, when it is next due, and its last run.

        Raises:
            ShelfNotFound: If there is no such shelf.
        """
        shelf = await self._read(call)
        found = []
        for scheduler in self._schedulers:
            schedule, next_at = scheduler.schedule, scheduler.next_at()
            shared = {"shelf": shelf.name, "cron": schedule.text, "tz": schedule.zone_name, "next_at": next_at}
            found += [{"job": job.name, **shared, "last": self._last(shelf, job)} for job in scheduler.jobs]
        return {"jobs": found}

    async def history(self, call: Call) -> dict[str, Any]:
        """Answer ``scheduler.history``: runs of a shelf, the last claimed first.

        Raises:
            ShelfNotFound: If there is no such shelf.
            InvalidParams: If the cursor is not one of these.
        """
        params: Any = call.params
        position = cursor.decode_numbers(params.cursor, 1)
        shelf = await self._read(call)
        before = position[0] if position else None
        runs = shelf.view.jobs.page(kind=params.job, in_slots=True, before=before, limit=params.limit + 1)
        page = runs[: params.limit]
        result: dict[str, Any] = {"runs": [run_view(shelf.name, run) for _, run in page]}
        if len(runs) > params.limit:
            result["next_cursor"] = cursor.encode(page[-1][0])
        return result

    async def run(self, call: Call) -> dict[str, Any]:
        """Answer ``scheduler.run``: claim a run of its own, which begins when the shelf's turn comes.

        Raises:
            ShelfNotFound: If there is no such shelf.
            InvalidParams: If there is no such job.
            QuotaExceeded: If too many runs wait on the shelf.
        """
        params: Any = call.params
        scheduler, job = self._job(params.job)
        shelf = await self._shelves.get(params.shelf)
        outcome: dict[str, Any] = {}

        async def claim(run: Job) -> bool:
            def apply(tx: Transaction, _params: Any, _call: Call) -> dict[str, Any]:  # noqa: ANN401
                claim_in(tx, run)
                return {"run_id": run.run_id}

            changed = await shelf.change(call, apply)
            outcome.update(changed.outcome)
            if changed.replayed:
                outcome["replayed"] = True
            return not changed.replayed

        shelf.enter()
        try:
            await scheduler.run_now(job, shelf, claim)
        finally:
            shelf.leave()
        return outcome

    async def _read(self, call: Call) -> Shelf:
        params: Any = call.params
        shelf = await self._shelves.get(params.shelf)
        shelf.enter()
        try:
            await shelf.reach(params.min_seq)
        finally:
            shelf.leave()
        return shelf

    def _job(self, name: str) -> tuple[Scheduler, ScheduledJob]:
        known = {job.name: (scheduler, job) for scheduler in self._schedulers for job in scheduler.jobs}
        if name in known:
            return known[name]
        raise InvalidParams(f"job: there is no such job; expected one of {', '.join(known)}", field="job")

    @staticmethod
    def _last(shelf: Shelf, job: ScheduledJob) -> dict[str, Any] | None:
        runs = shelf.view.jobs.page(kind=job.name, in_slots=True, before=None, limit=1)
        return run_view(shelf.name, runs[0][1]) if runs else None
