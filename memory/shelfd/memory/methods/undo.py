"""Use cases that take back: a transaction, a run."""

from typing import TYPE_CHECKING, Any, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import Forbidden, NotFound
from shelfd.memory.log.idempotency import Apply, Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import whole
from shelfd.memory.ports.ledger import draw_run_id
from shelfd.memory.ports.log import Entry, LogRow
from shelfd.memory.tending.undo import undo
from shelfd.protocol.methods.undo import ReflectionUndoParams, UndoParams

if TYPE_CHECKING:
    from shelfd.memory.methods.service import Service


@whole("undo")
async def undo_transaction(service: "Service", call: Call) -> dict[str, Any]:
    """Take back one transaction of the caller's own; administrators may take back anybody's."""
    may_any = service.access.may(call.principal, call.shelf, "admin")

    def apply(tx: Transaction, params: UndoParams, call: Call) -> Outcome:
        rows = _transaction(tx, params.tx)
        if rows[0].origin.principal != call.principal and not may_any:
            raise Forbidden(f"transaction {params.tx} is not yours; its principal or an admin can undo it")
        return _taken_back(tx, rows, cast("str", call.run_id))

    return await _run(service, call, apply)


@whole("reflection.undo")
async def undo_reflection(service: "Service", call: Call) -> dict[str, Any]:
    """Take back what a run did."""

    def apply(tx: Transaction, params: ReflectionUndoParams, call: Call) -> Outcome:
        rows = tx.rows.log.of_run(params.run_id)
        if not rows:
            raise NotFound("there is no such run in the log", run_id=params.run_id, field="run_id")
        outcome = _taken_back(tx, rows, cast("str", call.run_id))
        told = {"undone_run_id": params.run_id, "undone": outcome["undone"], "kept": len(outcome["kept"])}
        tx.log(Entry("reflection.undone", None, (), None, told))
        return outcome

    return await _run(service, call, apply)


def _transaction(tx: Transaction, first: int) -> list[LogRow]:
    """The rows of the transaction that begins with change *first*."""
    rows = tx.rows.log.page(since_seq=first - 1, limit=1)
    if not rows or rows[0].seq != first or rows[0].tx != first:
        raise NotFound(f"no transaction begins with change {first}; shelf.log shows them", tx=first, field="tx")
    return tx.rows.log.page(since_seq=first - 1, limit=rows[0].tx_size)


def _taken_back(tx: Transaction, rows: list[LogRow], run_id: str) -> Outcome:
    result = undo(tx, rows)
    return {"run_id": run_id, "undone": result.undone, "kept": [kept._asdict() for kept in result.kept]}


async def _run(service: "Service", call: Call, apply: Apply) -> dict[str, Any]:
    """Carry out an undo as a run of its own."""
    shelf = await service.shelf(call)
    call.run_id = draw_run_id()
    shelf.enter()
    try:
        changed = await shelf.change(call, apply)
    finally:
        shelf.leave()
    result = dict(changed.outcome)
    return result | {"replayed": True} if changed.replayed else result
