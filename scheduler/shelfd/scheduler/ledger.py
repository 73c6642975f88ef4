"""The ledger of scheduled runs: each is a job in the shelf that has claimed its slot."""

import asyncio
from collections.abc import Container, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

from shelfd.memory import Shelf
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.job import INTERRUPTED, MANUAL, MISSED, SCHEDULER, Job, draw_run_id, job_id_of
from shelfd.memory.ports.log import Entry, Origin
from shelfd.protocol import from_micros
from shelfd.scheduler.deciding import ATTEMPTS, FLOOR
from shelfd.scheduler.settings import ScheduledJob

KEPT: Final = timedelta(days=400)
#: More runs than this are not kept, however young: a schedule by the minute must not fill the shelf.
KEPT_COUNT: Final = 10_000
_PAGE: Final = 200
_ORPHANS_AMONG: Final = 200  #: runs interrupted by the daemon's death are looked for among this many unfinished ones
_STATUS: Final = {"queued": "running", "running": "running", "done": "done"}
#: Members of a job's result that the ledger leaves out.
_LEFT_OUT: Final = frozenset({"changes", "path", "ran_at", "reason", "sections"})
_BY_ERROR: Final = {INTERRUPTED: "interrupted", MISSED: "missed"}


class Run(NamedTuple):
    """A job in a slot as it is reported. Times are microseconds since 1970 UTC."""

    run_id: str
    job: str
    slot: str
    reason: str
    planned_at: int
    started_at: int
    finished_at: int | None
    status: str  #: running, done, failed, interrupted or missed
    attempts: int
    error: str | None
    result: Mapping[str, Any]


def run_of(job: Job) -> Run:
    """Return the run that a job in a slot is."""
    status = _STATUS.get(job.state) or _BY_ERROR.get(job.error or "", "failed")
    result = {name: value for name, value in (job.result or {}).items() if name not in _LEFT_OUT}
    return Run(
        job.run_id,
        job.kind,
        job.slot or "",
        job.reason or "",
        job.planned_at or 0,
        job.started_at or 0,
        job.finished_at,
        status,
        job.attempts + (status in ("running", "done")),
        job.error if status == "failed" else None,
        result,
    )


def run_view(shelf: str, job: Job) -> dict[str, Any]:
    """Return a run as it goes over the wire."""
    run = run_of(job)
    view: dict[str, Any] = {
        "job": run.job,
        "shelf": shelf,
        "slot": run.slot,
        "reason": run.reason,
        "planned_at": from_micros(run.planned_at),
        "started_at": from_micros(run.started_at),
        "finished_at": None if run.finished_at is None else from_micros(run.finished_at),
        "status": run.status,
        "run_id": run.run_id,
        "attempts": run.attempts,
    }
    if run.error is not None:
        view["error"] = run.error
    if run.result:
        view["result"] = dict(run.result)
    return view


def new_run(job: ScheduledJob, *, slot: str | None, reason: str, planned_at: int, now: int) -> Job:
    """Return a run that is about to claim its slot; without one it has a slot of its own."""
    run_id = draw_run_id()
    return Job(
        job_id_of(run_id),
        job.name,
        "running",
        SCHEDULER,
        job.method or job.name,
        None,
        run_id,
        {},
        created_at=now,
        updated_at=now,
        slot=slot or f"{MANUAL}:{run_id}",
        reason=reason,
        planned_at=planned_at,
        started_at=now,
    )


def missed(run: Job, now: int) -> Job:
    """Return a run whose slot was missed."""
    return run._replace(state="failed", error=MISSED, updated_at=now, finished_at=now)


def cut_short(run: Job, now: int) -> Job:
    """Return a run that was interrupted: the scheduler tries it again, but not for ever."""
    attempts = run.attempts + 1
    state = "waiting" if attempts < ATTEMPTS else "dead"
    return run._replace(state=state, error=INTERRUPTED, attempts=attempts, finished_at=now)


def failed(run: Job, error: str, now: int) -> Job:
    """Return a run that failed. The scheduler tries it again, unless a caller requested it, who can ask again."""
    attempts = run.attempts + 1
    state = "waiting" if run.is_scheduled and attempts < ATTEMPTS else "dead"
    return run._replace(state=state, error=error, attempts=attempts, finished_at=now)


def claim_in(tx: Transaction, run: Job) -> bool:
    """Claim the run's slot in a transaction; return False if it is taken."""
    if tx.rows.jobs.in_slot(run.kind, run.slot or "") is not None:
        return False
    tx.rows.jobs.put(run)
    return True


async def claim(shelf: Shelf, run: Job) -> bool:
    """Claim the run's slot; return False if it was claimed before."""
    applied = await shelf.commit(_origin("scheduler.claim", run), lambda tx: claim_in(tx, run))
    return applied.value


async def put(shelf: Shelf, run: Job) -> None:
    """Record the state of a claimed run, unless it has already ended."""

    def apply(tx: Transaction) -> None:
        stored = tx.rows.jobs.get(run.id)
        if stored is not None and stored.is_unfinished:
            tx.rows.jobs.put(run._replace(params=stored.params, cursor=stored.cursor, updated_at=tx.now))

    if (known := shelf.view.jobs.get(run.id)) is not None and known.is_unfinished:
        await shelf.commit(_origin("scheduler.record", run), apply)


def unfinished(shelf: Shelf, kinds: Container[str] | None = None) -> list[Job]:
    """Return the unfinished runs that are the scheduler's; None is every kind."""
    found = shelf.view.jobs.page(unfinished=True, in_slots=True, before=None, limit=_ORPHANS_AMONG)
    return [job for _, job in found if job.is_scheduled and (kinds is None or job.kind in kinds)]


async def mark_orphans(shelf: Shelf, at_work: Container[str], now: int, kinds: Container[str] | None = None) -> int:
    """Mark as interrupted the runs, of some *kinds* or all, whose daemon is gone; return how many."""
    orphans = [run for run in unfinished(shelf, kinds) if run.state != "waiting" and run.run_id not in at_work]
    for run in orphans:
        await put(shelf, cut_short(run, now))
    return len(orphans)


async def end_passed(shelf: Shelf, planned_at: int, kinds: Container[str] | None = None) -> None:
    """Give up runs of earlier slots, of some *kinds* or all, that wait for another attempt: there will be none."""
    for run in unfinished(shelf, kinds):
        if run.state == "waiting" and (run.planned_at or 0) < planned_at:
            await put(shelf, run._replace(state="dead"))


async def give_up(shelf: Shelf, runs: Sequence[Job], details: Mapping[str, Any]) -> bool:
    """Claim slots as missed, or mark interrupted runs in them as missed, and record it in the shelf's change log.

    Args:
        runs: One per job, missed; the event names the job and slot of the first.
        details: What else the event says.

    Returns:
        Whether anything was given up: a slot that was claimed meanwhile is not.
    """

    def apply(tx: Transaction) -> bool:
        given_up = [run for run in runs if claim_in(tx, run) or _mark_missed(tx, run)]
        if not given_up:
            return False
        data = {"job": given_up[0].kind, "jobs": [run.kind for run in given_up], "slot": given_up[0].slot, **details}
        tx.log(Entry("schedule.missed", None, (), None, data))
        return True

    applied = await shelf.commit(Origin(SCHEDULER, "scheduler.give_up"), apply)
    return applied.value


def was_interrupted(run: Job) -> bool:
    """Return whether a run was cut short and may still be tried again."""
    return run.state == "waiting" and run.error == INTERRUPTED


def _mark_missed(tx: Transaction, run: Job) -> bool:
    known = tx.rows.jobs.get(run.id)
    if known is None or not was_interrupted(known):
        return False
    tx.rows.jobs.put(missed(known, tx.now))
    return True


async def delete_old(shelf: Shelf, now: int) -> None:
    """Delete old runs, and record up to which slot, so that none is run again when a clock is set back."""
    begin = now - KEPT // timedelta(microseconds=1)
    kept = 0
    old: list[Job] = []
    before: int | None = None
    while page := shelf.view.jobs.page(in_slots=True, before=before, limit=_PAGE):
        for _, run in page:
            if kept >= KEPT_COUNT or run.updated_at < begin:
                old.append(run)
            kept += 1
        before = page[-1][0]
        await asyncio.sleep(0)
    if not old:
        return  # an idle shelf is not written to for this alone
    floor = max((run.planned_at or 0 for run in old if not (run.slot or "").startswith(MANUAL)), default=0)
    until = max(run.updated_at for run in old) + 1

    def apply(tx: Transaction) -> None:
        if tx.rows.jobs.delete_ended(until, limit=len(old), in_slots=True) and floor:
            tx.rows.meta.put(FLOOR, str(max(floor, int(tx.rows.meta.get(FLOOR) or 0))))

    await shelf.commit(Origin(SCHEDULER, "scheduler.forget"), apply)


def _origin(method: str, run: Job) -> Origin:
    return Origin(SCHEDULER, method, run_id=run.run_id)
