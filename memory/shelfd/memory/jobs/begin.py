"""How a request becomes a job: its first step is the request's own transaction."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final, NamedTuple

from shelfd.memory.call import Call
from shelfd.memory.jobs.work import JobKind
from shelfd.memory.log.idempotency import Apply, Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.job import Job, draw_job_id

_KEPT: Final = timedelta(days=30)
_FORGOTTEN_AT_ONCE: Final = 20


class Begun(NamedTuple):
    """What the first step of a job has left to do."""

    kind: JobKind
    params: Mapping[str, Any]
    cursor: Mapping[str, Any]


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
        job = Job(
            draw_job_id(),
            begun.kind.name,
            "queued",
            call.principal,
            call.method.name,
            call.request_id,
            call.run_id or "",
            begun.params,
            begun.cursor,
            created_at=tx.now,
            updated_at=tx.now,
        )
        tx.rows.jobs.put(job)
        tx.rows.jobs.forget(tx.now - max(_KEPT, retention) // timedelta(microseconds=1), limit=_FORGOTTEN_AT_ONCE)
        return {"job": job.id}

    return apply
