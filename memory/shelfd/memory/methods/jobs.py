"""Use cases on jobs: look at them, begin one again that was given up, end one."""

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import Conflict, Forbidden, JobNotFound
from shelfd.memory.jobs import Job
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.methods.job_kinds import CANCELLABLE
from shelfd.memory.methods.registry import whole
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.protocol import from_micros
from shelfd.protocol.methods.jobs import JobChangeParams, JobGetParams, JobListParams

if TYPE_CHECKING:
    from shelfd.memory.methods.service import Service


@whole("job.list")
async def list_jobs(service: "Service", call: Call) -> dict[str, Any]:
    """Return jobs, the last begun first."""
    params = cast("JobListParams", call.params)
    shelf = await service.shelf(call)
    position = cursor.decode_numbers(params.cursor, 1)
    found = shelf.view.jobs.page(
        unfinished=params.unfinished, before=position[0] if position else None, limit=params.limit + 1
    )
    page = found[: params.limit]
    result: dict[str, Any] = {"jobs": [_view(job, is_open=_may(service, call, job)) for _, job in page]}
    if len(found) > params.limit:
        result["next_cursor"] = cursor.encode(page[-1][0])
    return result


@whole("job.get")
async def get_job(service: "Service", call: Call) -> dict[str, Any]:
    """Return one job."""
    params = cast("JobGetParams", call.params)
    shelf = await service.shelf(call)
    job = shelf.view.jobs.get(params.id)
    if job is None:
        raise JobNotFound(params.id)
    return {"job": _view(job, is_open=_may(service, call, job))}


@whole("job.retry")
async def retry(service: "Service", call: Call) -> dict[str, Any]:
    """Begin a job again that was given up or refused: it goes on where it was."""
    params = cast("JobChangeParams", call.params)
    shelf = await service.shelf(call)
    shelf.enter()
    try:
        changed = await shelf.change(call, partial(_revive, service))
        service.jobs(shelf).start(params.id)
        return _show(shelf, changed, call)
    finally:
        shelf.leave()


def _revive(service: "Service", tx: Transaction, params: JobChangeParams, call: Call) -> Outcome:
    job = _existing(service, tx, params.id, call)
    if job.state not in ("failed", "dead"):
        raise Conflict(f"the job is {job.state}; only one that was given up can be begun again", id=job.id)
    tx.rows.jobs.put(job._replace(state="queued", attempts=0, error=None, updated_at=tx.now))
    return {"id": job.id}


def _show(shelf: Shelf, changed: Changed, call: Call) -> dict[str, Any]:
    job = shelf.view.jobs.get(cast("JobChangeParams", call.params).id)
    assert job is not None
    shown = {"job": _view(job, is_open=True)}
    return {**shown, "replayed": True} if changed.replayed else shown


@whole("job.cancel")
async def cancel(service: "Service", call: Call) -> dict[str, Any]:
    """End a job where it is; what it did stays and can be taken back by its run."""
    shelf = await service.shelf(call)
    shelf.enter()
    try:
        return _show(shelf, await shelf.change(call, partial(_cancel, service)), call)
    finally:
        shelf.leave()


def _cancel(service: "Service", tx: Transaction, params: JobChangeParams, call: Call) -> Outcome:
    job = _existing(service, tx, params.id, call)
    if job.kind not in CANCELLABLE:
        raise Conflict(f"a {job.kind} cannot be ended half-way; it goes on by itself", id=job.id)
    if not job.is_unfinished:
        raise Conflict(f"the job is {job.state} already", id=job.id)
    tx.rows.jobs.put(job._replace(state="failed", error="Cancelled", updated_at=tx.now))
    return {"id": job.id}


def _existing(service: "Service", tx: Transaction, job_id: str, call: Call) -> Job:
    job = tx.rows.jobs.get(job_id)
    if job is None:
        raise JobNotFound(job_id)
    if not _may(service, call, job):
        raise Forbidden(f"job {job.id} is not yours; its principal or an admin can do this", id=job.id)
    return job


def _may(service: "Service", call: Call, job: Job) -> bool:
    """Whether the caller may see all of a job and change it: it is theirs, or they administer the shelf."""
    return job.principal == call.principal or service.access.may(call.principal, call.shelf, "admin")


def _view(job: Job, *, is_open: bool) -> dict[str, Any]:
    """Show a job.

    Args:
        is_open: Whether its result is shown, too, which may name files.
    """
    shown = {
        "id": job.id,
        "kind": job.kind,
        "note_ids": list(job.params.get("ids", ())),
        "nugget": job.params.get("nugget"),
        "state": job.state,
        "attempts": job.attempts,
        "progress": {"done": job.cursor.get("done", 0), "total": job.cursor.get("total")},
        "error": job.error,
        "result": dict(job.result) if is_open and job.result is not None else None,
        "run_id": job.run_id,
        "method": job.method,
        "created_at": from_micros(job.created_at),
        "updated_at": from_micros(job.updated_at),
    }
    return {name: value for name, value in shown.items() if value is not None}
