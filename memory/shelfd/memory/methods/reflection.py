"""Use case: reflect."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import WeakKeyDictionary

import structlog

from shelfd.memory.call import Call
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.nuggets import existing_nugget
from shelfd.memory.methods.recall import replay
from shelfd.memory.methods.registry import whole
from shelfd.memory.ports.ledger import SCHEDULER, draw_run_id, run_by_hand
from shelfd.memory.ports.log import Entry
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.reflection import Action, Plan, carry_out, draw_plan, hold_back, log_completed
from shelfd.protocol import METHODS, from_micros
from shelfd.protocol.methods.reflection import ReflectParams

if TYPE_CHECKING:
    from shelfd.memory.methods.service import Service

log = structlog.get_logger("shelfd.memory")

#: Of a result, what is logged of it.
_LOGGED: Final = ("inspected", "rewritten", "merged", "hidden", "tagged", "linked", "held_back", "remaining")
#: One reflection of a shelf at a time: a second one waits, and finds what the first has left.
_at_work: WeakKeyDictionary[Shelf, asyncio.Lock] = WeakKeyDictionary()


@whole("reflect")
@whole("reflect_and_clean_memory")
async def reflect(service: "Service", call: Call) -> dict[str, Any]:
    """Tidy the notes of a shelf, as far as one run goes."""
    params = cast("ReflectParams", call.params)
    shelf = await service.shelf(call)
    shelf.enter()
    try:
        if params.nugget is not None:
            existing_nugget(shelf, params.nugget)
        async with _at_work.setdefault(shelf, asyncio.Lock()):
            if params.dry_run:
                plan = await _plan(shelf, params, call)
                return _result(plan, plan.actions, None)
            return await _run(shelf, params, replace(call, method=METHODS["reflect"]))
    finally:
        shelf.leave()


async def _plan(shelf: Shelf, params: ReflectParams, call: Call) -> Plan:
    most = shelf.settings.reflection_max_notes
    limit = max(1, most if params.limit is None else min(params.limit, most))
    plan = await draw_plan(shelf, nugget=params.nugget, limit=limit, limits=call.limits)
    plan.held_back.extend(await hold_back(shelf, plan.actions, replay))
    return plan


async def _run(shelf: Shelf, params: ReflectParams, call: Call) -> dict[str, Any]:
    """Begin, plan, carry out and end a run; a repeated request gets the first one's result, or goes on with its run."""
    call.run_id = call.run_id or draw_run_id()
    begun = await shelf.change(call, _begin)
    if begun.replayed:
        if "result" in begun.outcome:
            return {**begun.outcome["result"], "replayed": True}
        call.run_id = cast("str", begun.outcome["run_id"])  # the first one was cut short
    origin = call.origin()
    plan = await _plan(shelf, params, call)
    done = await carry_out(shelf, origin, plan, call.limits)
    result = _result(plan, done, call.run_id)

    def end(tx: Transaction) -> None:
        log_completed(tx, plan, done, params.nugget)
        _record(tx, call, result)
        if call.principal != SCHEDULER:  # which keeps an entry of its own
            counts = plan.counts(done)
            tx.rows.runs.claim(
                run_by_hand("reflection", call.run_id or "", started_at=plan.ran_at, finished_at=tx.now, result=counts)
            )

    await shelf.commit(origin, end)
    log.info("reflection.completed", shelf=shelf.name, run_id=call.run_id, **{name: result[name] for name in _LOGGED})
    return result


def _begin(tx: Transaction, params: ReflectParams, call: Call) -> Outcome:
    """The first transaction, with the caller's deadline and idempotency key: behind it the run is under way."""
    tx.log(Entry("reflection.started", params.nugget, ()))
    return {"run_id": call.run_id}


def _record(tx: Transaction, call: Call, result: dict[str, Any]) -> None:
    """Keep the result for a repeated request, if it is one that can be known again."""
    params = cast("ReflectParams", call.params)
    key = params.idempotency_key or (call.repeat.key if call.repeat else None)
    recorded = None if key is None else tx.rows.recorded.get(call.principal, call.method.name, key)
    if key is not None and recorded is not None:
        outcome = {"run_id": call.run_id, "result": result}
        tx.rows.recorded.put(call.principal, call.method.name, key, recorded._replace(outcome=outcome))


def _result(plan: Plan, done: Sequence[Action], run_id: str | None) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "ran_at": from_micros(plan.ran_at),
        **plan.counts(done),
        "held_back": len(plan.held_back),
        "remaining": plan.remaining(done),
        "changes": [
            {"type": action.type, "nugget": action.note.nugget, "note_id": action.note.id, "detail": action.detail}
            for action in done
        ],
    }
