"""Use cases that let go of all notes of a nugget: clear it, or remove it with its notes hidden or gone for good."""

from typing import TYPE_CHECKING, Any, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import NuggetNotFound
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.begin import Begun, carry_out
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import whole
from shelfd.memory.tending import hide as hiding
from shelfd.memory.tending import purge as purging
from shelfd.protocol.methods.nuggets import NuggetParams, NuggetRemoveParams

if TYPE_CHECKING:
    from shelfd.memory.methods.service import Service


@whole("nugget.clear")
async def clear(service: "Service", call: Call) -> dict[str, Any]:
    """Hide every note of a nugget."""
    params = cast("NuggetParams", call.params)
    shelf = await service.shelf(call)
    return await carry_out(service, shelf, call, lambda tx: _hide(tx, params.name, call, drop=False), _hidden)


@whole("nugget.remove")
async def remove(service: "Service", call: Call) -> dict[str, Any]:
    """Drop a nugget's name; its notes are hidden, and restoring one brings the nugget back, or they are purged."""
    params = cast("NuggetRemoveParams", call.params)
    shelf = await service.shelf(call)
    if params.purge:
        return await carry_out(service, shelf, call, lambda tx: _purge(tx, params.name), _purged)
    return await carry_out(service, shelf, call, lambda tx: _hide(tx, params.name, call, drop=True), _removed)


def _hide(tx: Transaction, name: str, call: Call, *, drop: bool) -> Begun | Outcome:
    _check_exists(tx, name)
    params = {"nugget": name, "drop": drop, "seq": tx.rows.log.last_seq}
    counts = tx.rows.nuggets.counts(name)
    cursor = hiding.new_cursor(total=counts.notes - counts.hidden)
    hiding.hide_some(tx, cursor, params)
    if not cursor["is_over"]:
        return Begun(hiding.HIDE, params, cursor)
    outcome = {"hidden": cursor["done"], "run_id": call.run_id}
    return {"removed": name, **outcome} if drop else outcome


def _hidden(job: Job) -> dict[str, Any]:
    return {"hidden": (job.result or {})["hidden"], "run_id": job.run_id}


def _removed(job: Job) -> dict[str, Any]:
    return {"removed": job.params["nugget"], **_hidden(job)}


def _purge(tx: Transaction, name: str) -> Begun:
    _check_exists(tx, name)
    newest = tx.rows.notes.scan(before_row=None, limit=1)
    params = {"nugget": name, "seq": tx.rows.log.last_seq, "row": newest[0].row if newest else 0}
    cursor = purging.new_cursor(total=tx.rows.nuggets.counts(name).notes)
    purging.purge_some(tx, cursor, params)
    return Begun(purging.PURGE, params, cursor)


def _purged(job: Job) -> dict[str, Any]:
    return {"removed": job.params["nugget"], "hidden": 0, **(job.result or {})}


def _check_exists(tx: Transaction, name: str) -> None:
    if tx.rows.nuggets.get(name) is None:
        raise NuggetNotFound(name)
