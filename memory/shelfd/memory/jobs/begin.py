"""How a request becomes a job: its first step is the request's own transaction."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final, NamedTuple

from shelfd.memory.call import Call
from shelfd.memory.jobs.work import JobKind
from shelfd.memory.log.idempotency import Apply, Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.job import MANUAL, Job, job_id_of

_KEPT: Final = timedelta(days=30)
_FORGOTTEN_AT_ONCE: Final = 20


class Begun(NamedTuple):
    """What the first step of a job has left to do, and what else that needs which no job may keep for good."""

    kind: JobKind
    params: Mapping[str, Any]
    cursor: Mapping[str, Any]
    pieces: Mapping[int, Mapping[str, Any]] | None = None


def as_job(begin: Callable[[Transaction, Any, Call], Begun | Outcome], retention: timedelta) -> Apply:
    """Return the change that is the first step of a job, or all of it: what fits the step returns its outcome.

    Args:
        begin: Takes the step.
        retention: How long an idempotency key is remembered, whose outcome may name the job.
    """

    def apply(tx: Transaction, params: object, call: Call) -> Outcome:
        begun = begin(tx, params, call)
        if not isinstance(begun, Begun):
            return begun
        job = _job(begun, call, tx.now)
        tx.rows.jobs.put(job)
        for number, piece in (begun.pieces or {}).items():
            tx.rows.jobs.put_piece(job.id, number, piece)
        tx.rows.jobs.delete_ended(tx.now - max(_KEPT, retention) // timedelta(microseconds=1), limit=_FORGOTTEN_AT_ONCE)
        return {"job": job.id}

    return apply


def _job(begun: Begun, call: Call, now: int) -> Job:
    run_id = call.run_id or ""
    job = Job(
        job_id_of(run_id),
        begun.kind.name,
        "queued",
        call.principal,
        call.method.name,
        call.request_id,
        run_id,
        begun.params,
        begun.cursor,
        created_at=now,
        updated_at=now,
    )
    if not begun.kind.has_slot:
        return job
    return job._replace(slot=f"{MANUAL}:{run_id}", reason=MANUAL, planned_at=now, started_at=now)
