"""Use case: shelf.import."""

import asyncio
from typing import Any, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import InvalidParams
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.work import Begun
from shelfd.memory.log.idempotency import Outcome, RolledBack
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.registry import procedure
from shelfd.memory.moving import FORMATS, pieces
from shelfd.memory.moving import job as importing
from shelfd.memory.notes.note import Usage
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.importing import ShelfImportParams


@procedure("shelf.import")
async def import_(context: Context, call: Call) -> dict[str, Any]:
    """Import what another memory kept."""
    params = cast("ShelfImportParams", call.params)
    if params.format not in FORMATS:
        raise InvalidParams(f"format: there is none of that name; expected {', '.join(FORMATS)}", field="format")
    format_ = FORMATS[params.format]
    for at, part in enumerate(params.parts):
        if part.part not in format_.readers:
            text = f"parts.{at}.part: {format_.name} has no {part.part}; expected {', '.join(format_.readers)}"
            raise InvalidParams(text, field=f"parts.{at}.part")
    shelf = await context.shelf(call)
    _go_on_with_run(shelf, call, params.run_id)
    total = pieces.count_items(params)
    one_step = pieces.as_one_step(params)
    found = await asyncio.to_thread(pieces.cut, params) if one_step is None else one_step
    kinds = [part.part for part in params.parts]
    taken_in: list[tuple[int, dict[int, Usage]]] = []

    def import_all(tx: Transaction) -> Outcome:
        taken, usages = importing.import_all(tx, found, call.limits)
        taken_in[:] = [(sum(outcome["notes"] for outcome in taken.outcomes.values()), usages)]
        result = importing.result_of(taken, kinds, params.known)
        return {**result, "run_id": call.run_id, "last_seq": tx.rows.log.last_seq + len(tx.entries)}

    def begin(tx: Transaction) -> Begun | Outcome:
        if one_step is not None:
            return import_all(tx)
        return Begun(importing.IMPORT, {"parts": kinds}, importing.new_cursor(total=total), found)

    if params.dry_run:
        return await context.carry_out(shelf, call, lambda tx: _rolled_back(shelf, import_all(tx)), _taken)
    result = await context.carry_out(shelf, call, begin, _taken)
    if taken_in and "replayed" not in result:
        created, usages = taken_in[0]
        shelf.notes_created += created
        shelf.raise_use(usages)
    return {**result, "dry_run": False}


@procedure("shelf.merge")
async def merge(context: Context, call: Call) -> dict[str, Any]:
    """Bring another copy of the shelf together with this one."""
    return await import_(context, call)


def _go_on_with_run(shelf: Shelf, call: Call, run_id: str | None) -> None:
    """Have what the call takes in belong to the run of an earlier request, which may have changed nothing.

    Raises:
        InvalidParams: If that run is not the caller's, or no import.
    """
    if run_id is None:
        return
    for row in shelf.view.log.of_run(run_id, limit=1):
        if (row.origin.principal, row.origin.method) != (call.principal, call.method.name):
            raise InvalidParams(f"run_id: is no {call.method.name} of yours", field="run_id")
    call.run_id = run_id


def _rolled_back(shelf: Shelf, outcome: Outcome) -> Outcome:
    """Roll a dry run back: it does all of it, for each item's outcome depends on those before."""
    raise RolledBack({**outcome, "run_id": None, "dry_run": True, "last_seq": shelf.seq})


def _taken(_shelf: Shelf, job: Job) -> dict[str, Any]:
    return {"run_id": job.run_id, **(job.result or {})}
