"""Use cases that let go of all notes of a nugget: clear it, or remove it with its notes hidden or gone for good."""

from typing import Any

from shelfd.memory.call import Call
from shelfd.memory.errors import NuggetNotFound
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.begin import Begun
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import job
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending import hide as hiding
from shelfd.memory.tending import purge as purging
from shelfd.memory.tending.nuggets import check_no_import
from shelfd.protocol.methods.nuggets import NuggetParams, NuggetRemoveParams


def _hidden(_shelf: Shelf, job: Job) -> dict[str, Any]:
    return {"hidden": (job.result or {})["hidden"], "run_id": job.run_id}


def _removed(shelf: Shelf, job: Job) -> dict[str, Any]:
    removed = {"removed": job.params["nugget"]}
    if job.kind == purging.PURGE.name:
        return {**removed, "hidden": 0, **(job.result or {})}
    return {**removed, **_hidden(shelf, job)}


@job("nugget.clear", ended=_hidden)
def clear(tx: Transaction, params: NuggetParams, call: Call) -> Begun | Outcome:
    """Hide every note of a nugget."""
    return _hide(tx, params.name, call, drop=False)


@job("nugget.remove", ended=_removed)
def remove(tx: Transaction, params: NuggetRemoveParams, call: Call) -> Begun | Outcome:
    """Drop a nugget's name; its notes are hidden, and restoring one brings the nugget back, or they are purged."""
    return _purge(tx, params.name) if params.purge else _hide(tx, params.name, call, drop=True)


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


def _purge(tx: Transaction, name: str) -> Begun:
    _check_exists(tx, name)
    check_no_import(tx)
    newest = tx.rows.notes.scan(before_row=None, limit=1)
    params = {"nugget": name, "seq": tx.rows.log.last_seq, "row": newest[0].row if newest else 0}
    cursor = purging.new_cursor(total=tx.rows.nuggets.counts(name).notes)
    purging.purge_some(tx, cursor, params)
    return Begun(purging.PURGE, params, cursor)


def _check_exists(tx: Transaction, name: str) -> None:
    if tx.rows.nuggets.get(name) is None:
        raise NuggetNotFound(name)
