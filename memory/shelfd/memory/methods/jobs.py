"""Use cases on jobs: look at them, begin one again that was given up, end one."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from shelfd.memory.call import Call
from shelfd.memory.errors import Conflict, Forbidden, JobNotFound
from shelfd.memory.jobs import Job
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.job_kinds import BY_NAME
from shelfd.memory.methods.registry import change, read
from shelfd.memory.ports.job import ITEM_BY_ITEM, MANUAL
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.protocol import from_micros
from shelfd.protocol.methods.jobs import JobChangeParams, JobGetParams, JobListParams

#: Jobs read without giving others a turn: of a result that is very long, even to leave that out takes a while.
_AT_ONCE: Final = 4


@read("job.list")
async def list_jobs(shelf: Shelf, params: JobListParams, call: Call) -> dict[str, Any]:
    """Return jobs, the last begun first."""
    position = cursor.decode_numbers(params.cursor, 1)
    before = position[0] if position else None
    found: list[tuple[int, Job]] = []
    while left := params.limit + 1 - len(found):
        some = shelf.view.jobs.page(unfinished=params.unfinished, before=before, limit=min(left, _AT_ONCE))
        found += some
        if len(some) < min(left, _AT_ONCE):
            break
        before = some[-1][0]
        await asyncio.sleep(0)
    page = found[: params.limit]
    result: dict[str, Any] = {"jobs": [_view(job, is_open=_may(call, job)) for _, job in page]}
    if len(found) > params.limit:
        result["next_cursor"] = cursor.encode(page[-1][0])
    return result


@read("job.get")
def get_job(shelf: Shelf, params: JobGetParams, call: Call) -> dict[str, Any]:
    """Return one job."""
    job = shelf.view.jobs.get(params.id)
    if job is None:
        raise JobNotFound(params.id)
    return {"job": _view(job, is_open=_may(call, job))}


def _show(shelf: Shelf, changed: Changed, _call: Call) -> dict[str, Any]:
    job = shelf.view.jobs.get(changed.outcome["id"])
    assert job is not None
    return {"job": _view(job, is_open=True)}


def _start(context: Context, shelf: Shelf, changed: Changed) -> None:
    context.jobs(shelf).start(changed.outcome["id"])


@change("job.retry", render=_show, then=_start)
def retry(tx: Transaction, params: JobChangeParams, call: Call) -> Outcome:
    """Begin a job again that was given up or refused: it goes on where it was.

    From now on it is the caller's, also if the scheduler began it: that would not go on with one whose slot is over.
    """
    job = _existing(tx, params.id, call)
    if job.state not in ("failed", "dead"):
        raise Conflict(f"the job is {job.state}; only one that was given up can be begun again", id=job.id)
    again = job._replace(state="queued", attempts=0, error=None, updated_at=tx.now, finished_at=None)
    tx.rows.jobs.put(again if job.slot is None else again._replace(reason=MANUAL, started_at=tx.now))
    return {"id": job.id}


@change("job.cancel", render=_show)
def cancel(tx: Transaction, params: JobChangeParams, call: Call) -> Outcome:
    """End a job where it is; what it did stays and can be taken back by its run."""
    job = _existing(tx, params.id, call)
    if job.kind not in BY_NAME or not BY_NAME[job.kind].can_end_early:
        raise Conflict(f"a {job.kind} cannot be ended half-way; it goes on by itself", id=job.id)
    if not job.is_unfinished:
        raise Conflict(f"the job is {job.state} already", id=job.id)
    tx.rows.jobs.put(job._replace(state="failed", error="Cancelled", updated_at=tx.now, finished_at=tx.now))
    return {"id": job.id}


def _existing(tx: Transaction, job_id: str, call: Call) -> Job:
    job = tx.rows.jobs.get(job_id)
    if job is None:
        raise JobNotFound(job_id)
    if not _may(call, job):
        raise Forbidden(f"job {job.id} is not yours; its principal or an admin can do this", id=job.id)
    return job


def _may(call: Call, job: Job) -> bool:
    """Whether the caller may see all of a job and change it: it is theirs, or they administer the shelf."""
    return job.principal == call.principal or call.may("admin")


def _view(job: Job, *, is_open: bool) -> dict[str, Any]:
    """Show a job.

    Args:
        is_open: Whether its result is shown, too, which may name files.
    """
    shown = {
        "id": job.id,
        "kind": job.kind,
        "note_ids": list(job.params.get("ids", ())),
        "nugget": job.params.get("nugget") or job.params.get("only"),
        "state": job.state,
        "attempts": job.attempts,
        "progress": {"done": job.cursor.get("done", 0), "total": job.cursor.get("total")},
        "error": job.error,
        "result": _brief(job.result) if is_open and job.result is not None else None,
        "run_id": job.run_id,
        "method": job.method,
        "created_at": from_micros(job.created_at),
        "updated_at": from_micros(job.updated_at),
    }
    return {name: value for name, value in shown.items() if value is not None}


def _brief(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result without what is long in it: its method has answered with that, and does so again under the same key."""
    return {name: value for name, value in result.items() if name not in ITEM_BY_ITEM}
