"""Use cases that take back: a transaction, a run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import Forbidden, NotFound
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.begin import Begun, carry_out
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import whole
from shelfd.memory.tending import undo as undoing
from shelfd.protocol.methods.undo import ReflectionUndoParams, UndoParams

if TYPE_CHECKING:
    from shelfd.memory.methods.service import Service


@whole("undo")
async def undo_transaction(service: "Service", call: Call) -> dict[str, Any]:
    """Take back one transaction of the caller's own; administrators may take back anybody's."""
    params = cast("UndoParams", call.params)
    may_any = service.access.may(call.principal, call.shelf, "admin")

    def begin(tx: Transaction) -> Begun | Outcome:
        rows = tx.rows.log.page(since_seq=params.tx - 1, limit=1)
        if not rows or rows[0].seq != params.tx or rows[0].tx != params.tx:
            text = f"no transaction begins with change {params.tx}; shelf.log shows them"
            raise NotFound(text, tx=params.tx, field="tx")
        if rows[0].origin.principal != call.principal and not may_any:
            raise Forbidden(f"transaction {params.tx} is not yours; its principal or an admin can undo it")
        wanted = undoing.new_params(first=params.tx, until=params.tx + rows[0].tx_size, run_id=None)
        return _begin(tx, wanted, call)

    return await carry_out(service, await service.shelf(call), call, begin, _undone)


@whole("reflection.undo")
async def undo_reflection(service: "Service", call: Call) -> dict[str, Any]:
    """Take back what a run did."""
    params = cast("ReflectionUndoParams", call.params)

    def begin(tx: Transaction) -> Begun | Outcome:
        rows = tx.rows.log.of_run(params.run_id, limit=1)
        if not rows:
            raise NotFound("there is no such run in the log", run_id=params.run_id, field="run_id")
        wanted = undoing.new_params(first=rows[0].seq, until=tx.rows.log.last_seq + 1, run_id=params.run_id)
        return _begin(tx, wanted, call)

    return await carry_out(service, await service.shelf(call), call, begin, _undone)


def _begin(tx: Transaction, params: Mapping[str, Any], call: Call) -> Begun | Outcome:
    cursor = undoing.new_cursor(params)
    undoing.undo_some(tx, cursor, params)
    if not cursor["is_over"]:
        return Begun(undoing.UNDO, params, cursor)
    return {"run_id": call.run_id, **undoing.result_of(cursor)}


def _undone(job: Job) -> dict[str, Any]:
    return {"run_id": job.run_id, **(job.result or {})}
