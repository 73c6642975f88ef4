"""Use cases that undo: a transaction, a run."""

from collections.abc import Mapping
from typing import Any, Final

from shelfd.memory.call import Call
from shelfd.memory.errors import Forbidden, NotFound
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.work import Begun
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import job
from shelfd.memory.methods.rewinding import begin_rewind, check_no_rewind
from shelfd.memory.sessions.rewinding import Intent
from shelfd.memory.sessions.rewinding import undoing as undoing_rewind
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending import undo as undoing
from shelfd.protocol.methods.undo import ReflectionUndoParams, UndoParams

#: What the result says; that a rewind was undone says more.
_SAID: Final = ("undone", "kept", "more_kept")


def _undone(_shelf: Shelf, job: Job) -> dict[str, Any]:
    return _said(job.run_id, job.result or {})


def _said(run_id: str | None, result: Mapping[str, Any]) -> dict[str, Any]:
    return {"run_id": run_id, **{name: result[name] for name in _SAID if name in result}}


@job("undo", ended=_undone)
def undo_transaction(tx: Transaction, params: UndoParams, call: Call) -> Begun | Outcome:
    """Undo one transaction of the caller's own; administrators may take back anybody's."""
    rows = tx.rows.log.page(since_seq=params.tx - 1, limit=1)
    if not rows or rows[0].seq != params.tx or rows[0].tx != params.tx:
        text = f"no transaction begins with change {params.tx}; shelf.log shows them"
        raise NotFound(text, tx=params.tx, field="tx")
    if rows[0].origin.principal != call.principal and not call.may("admin"):
        raise Forbidden(f"transaction {params.tx} is not yours; its principal or an admin can undo it")
    if (run_id := rows[0].origin.run_id) is not None and (rewound := undoing_rewind(tx.rows, run_id)) is not None:
        return _rewind(tx, rewound, call)
    return _begin(tx, undoing.params_of(tx, rows[0]), call)


@job("reflection.undo", ended=_undone)
def undo_reflection(tx: Transaction, params: ReflectionUndoParams, call: Call) -> Begun | Outcome:
    """Undo what a run did."""
    rows = tx.rows.log.of_run(params.run_id, limit=1)
    if not rows:
        raise NotFound("there is no such run in the log", run_id=params.run_id, field="run_id")
    if (rewound := undoing_rewind(tx.rows, params.run_id)) is not None:
        return _rewind(tx, rewound, call)
    until = tx.rows.log.last_seq + 1
    return _begin(tx, undoing.new_params(first=rows[0].seq, until=until, run_id=params.run_id), call)


def _rewind(tx: Transaction, intent: Intent, call: Call) -> Begun | Outcome:
    """Undo a rewind, or the undoing of one: by what counts then, all of it as it was done."""
    check_no_rewind(tx.rows, intent.session_id)
    begun = begin_rewind(tx, intent, call, {})
    return begun if isinstance(begun, Begun) else _said(call.run_id, begun)


def _begin(tx: Transaction, params: Mapping[str, Any], call: Call) -> Begun | Outcome:
    cursor = undoing.new_cursor(params)
    undoing.undo_some(tx, cursor, params)
    if not cursor["is_over"]:
        return Begun(undoing.UNDO, params, cursor)
    return {"run_id": call.run_id, **undoing.result_of(cursor)}
