"""Use cases that let go of notes: forget and delete, for now or for good."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from shelfd.memory.call import Call
from shelfd.memory.composing import get_note
from shelfd.memory.note import Note, fold_key
from shelfd.memory.purging import forget_for_good, purge
from shelfd.memory.repeats import Outcome
from shelfd.memory.shelf import Shelf
from shelfd.memory.transaction import Transaction
from shelfd.memory.usecases.registry import whole
from shelfd.memory.usecases.remember import show_note
from shelfd.protocol.methods.graph import NoteDeleteParams
from shelfd.protocol.methods.notes import ForgetParams

if TYPE_CHECKING:
    from shelfd.memory.service import Service

DEFAULT_NUGGET = "memory"


@whole("forget")
async def forget(service: "Service", call: Call) -> dict[str, Any]:
    """Hide a note by id, or a fact by nugget and key; with *purge* take it out for good."""
    shelf = await service.shelf(cast("str", call.shelf))
    return await _let_go(service, shelf, call, lambda tx: _named(tx, cast("ForgetParams", call.params)))


@whole("note.delete")
async def delete(service: "Service", call: Call) -> dict[str, Any]:
    """Take a note out of sight, its links staying for the day it comes back, or for good."""
    params = cast("NoteDeleteParams", call.params)
    shelf = await service.shelf(params.shelf)
    result = await _let_go(service, shelf, call, lambda tx: get_note(tx, params.id))
    told: dict[str, Any] = {"changed": bool(result["forgotten"]), "still_in": result["still_in"]}
    if "replayed" in result:
        told["replayed"] = True
    return told if params.hard else {"note": show_note(shelf, None, params.id), **told}


def _named(tx: Transaction, params: ForgetParams) -> Note | None:
    if params.id is not None:
        return get_note(tx, params.id)
    return tx.rows.fact(params.nugget or DEFAULT_NUGGET, fold_key(cast("str", params.key)))


async def _let_go(
    service: "Service", shelf: Shelf, call: Call, find: Callable[[Transaction], Note | None]
) -> dict[str, Any]:
    params: Any = call.params
    for_good = getattr(params, "purge", False) or getattr(params, "hard", False)
    gone: list[Note] = []
    touched: list[str] = []
    still_in: list[str] = []

    def apply(tx: Transaction, _params: object, _call: Call) -> Outcome:
        note = find(tx)
        if note is None or (note.hidden and not for_good):
            return {"forgotten": [], "still_in": []}
        if not for_good:
            tx.hide(note)
            return {"forgotten": [note.id], "still_in": []}
        gone.append(note)
        still_in = purge(tx, note)
        touched.extend(tx.touched)
        return {"forgotten": [note.id], "still_in": still_in}

    shelf.enter()
    try:
        changed = await shelf.change(call, apply)
        if gone:
            still_in += await leave_no_trace(service, shelf, call, gone, touched)
            await shelf.store.scrub()
    finally:
        shelf.leave()
    result = {**changed.outcome, "still_in": [*changed.outcome["still_in"], *still_in]}
    return result | {"replayed": True} if changed.replayed else result


async def leave_no_trace(
    service: "Service", shelf: Shelf, call: Call, gone: list[Note], touched: Sequence[str]
) -> list[str]:
    """Let go of purged notes outside of the shelf's rows: in the daemon's memory and in MEMORY.md.

    Args:
        gone: The notes.
        touched: Ids of notes from which lines were taken back, so that their own in MEMORY.md follow.

    Returns:
        The paths of files that still hold text of them.
    """
    await forget_for_good(shelf, gone)
    return await service.promoter.withdraw(shelf, call, [note.id for note in gone], touched)
