"""Use cases that let go of notes: forget and delete, for now or for good."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from shelfd.memory.call import Call
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.begin import Begun, carry_out
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import whole
from shelfd.memory.methods.remember import show_note
from shelfd.memory.notes.note import Note, fold_key
from shelfd.memory.shelf.composing import get_note
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.purge import PURGE, new_cursor, purge_some
from shelfd.protocol.methods.graph import NoteDeleteParams
from shelfd.protocol.methods.notes import ForgetParams

if TYPE_CHECKING:
    from shelfd.memory.methods.service import Service

DEFAULT_NUGGET = "memory"


@whole("forget")
async def forget(service: "Service", call: Call) -> dict[str, Any]:
    """Hide a note by id, or a fact by nugget and key; with *purge* take it out for good."""
    shelf = await service.shelf(call)
    return await _let_go(service, shelf, call, lambda tx: _named(tx, cast("ForgetParams", call.params)))


@whole("note.delete")
async def delete(service: "Service", call: Call) -> dict[str, Any]:
    """Take a note out of sight, its links staying for the day it comes back, or for good."""
    params = cast("NoteDeleteParams", call.params)
    shelf = await service.shelf(call)
    result = await _let_go(service, shelf, call, lambda tx: get_note(tx, params.id))
    told: dict[str, Any] = {"changed": bool(result["forgotten"]), "still_in": result["still_in"]}
    if "replayed" in result:
        told["replayed"] = True
    return told if params.hard else {"note": show_note(shelf, None, params.id), **told}


def _named(tx: Transaction, params: ForgetParams) -> Note | None:
    if params.id is not None:
        return get_note(tx, params.id)
    return tx.rows.notes.fact(params.nugget or DEFAULT_NUGGET, fold_key(cast("str", params.key)))


async def _let_go(
    service: "Service", shelf: Shelf, call: Call, find: Callable[[Transaction], Note | None]
) -> dict[str, Any]:
    params: Any = call.params
    if getattr(params, "purge", False) or getattr(params, "hard", False):
        return await carry_out(service, shelf, call, lambda tx: _begin_purge(tx, find(tx)), _purged)

    def hide(tx: Transaction, _params: object, _call: Call) -> Outcome:
        note = find(tx)
        if note is None or note.hidden:
            return {"forgotten": [], "still_in": []}
        tx.hide(note)
        return {"forgotten": [note.id], "still_in": []}

    shelf.enter()
    try:
        changed = await shelf.change(call, hide)
    finally:
        shelf.leave()
    return changed.outcome | {"replayed": True} if changed.replayed else changed.outcome


def _begin_purge(tx: Transaction, note: Note | None) -> Begun | Outcome:
    if note is None:
        return {"forgotten": [], "still_in": []}
    params, cursor = {"ids": [note.id]}, new_cursor(total=1)
    purge_some(tx, cursor, params)
    return Begun(PURGE, params, cursor)


def _purged(job: Job) -> dict[str, Any]:
    return {"forgotten": list(job.params["ids"]), "still_in": list((job.result or {})["still_in"])}
