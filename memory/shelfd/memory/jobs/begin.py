"""How a request becomes a job: its first step is the request's own transaction."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from shelfd.memory.call import Call
from shelfd.memory.jobs.work import JobKind
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.job import Job, draw_job_id
from shelfd.memory.ports.ledger import draw_run_id
from shelfd.memory.shelf.shelf import Shelf

if TYPE_CHECKING:
    from shelfd.memory.methods.service import Service

_KEPT: Final = timedelta(days=30)
_FORGOTTEN_AT_ONCE: Final = 20


class Begun(NamedTuple):
    """What the first step of a job has left to do."""

    kind: JobKind
    params: Mapping[str, Any]
    cursor: Mapping[str, Any]


async def carry_out(
    service: "Service",
    shelf: Shelf,
    call: Call,
    begin: Callable[[Transaction], Begun | Outcome],
    render: Callable[[Job], dict[str, Any]],
) -> dict[str, Any]:
    """Carry out *call*, as a job if it is more than one transaction may do; return its result.

    The same request under an idempotency key waits for the same job.

    Args:
        begin: Takes the first step. What fits it returns the outcome: then there is no job.
        render: Makes the result of a job that is done.

    Raises:
        Unavailable: If the rest has to wait; it goes on by itself.
    """
    call.run_id = call.run_id or draw_run_id()

    def apply(tx: Transaction, _params: object, call: Call) -> Outcome:
        begun = begin(tx)
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
        # Not before the outcome of an idempotency key that names it.
        kept = max(_KEPT, shelf.settings.idempotency_retention)
        tx.rows.jobs.forget(tx.now - kept // timedelta(microseconds=1), limit=_FORGOTTEN_AT_ONCE)
        return {"job": job.id}

    shelf.enter()
    try:
        changed = await shelf.change(call, apply)
        result = dict(changed.outcome)
        if "job" in result:
            if call.on_begun is not None:
                call.on_begun()
            result = render(await service.jobs(shelf).end_of(result["job"]))
    finally:
        shelf.leave()
    return result | {"replayed": True} if changed.replayed else result
