"""Use case: remove a nugget, with its notes hidden or gone for good."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import NuggetNotFound, Unavailable
from shelfd.memory.naming import drop_nugget
from shelfd.memory.note import Note, Nugget
from shelfd.memory.ports import Ticket
from shelfd.memory.purging import purge
from shelfd.memory.repeats import Outcome, told_before
from shelfd.memory.shelf import Shelf
from shelfd.memory.transaction import Transaction
from shelfd.memory.usecases.forget import leave_no_trace
from shelfd.memory.usecases.nuggets import hide_all
from shelfd.memory.usecases.registry import whole
from shelfd.memory.view import NoteFilter
from shelfd.protocol.methods.nuggets import NuggetRemoveParams

if TYPE_CHECKING:
    from shelfd.memory.service import Service

#: Notes purged in one transaction: each takes a walk through the log, and others want to write, too.
_AT_ONCE: Final = 16
_ALL: Final = 2**31


class _Purged(NamedTuple):
    """What one transaction has purged."""

    gone: list[Note]
    touched: list[str]  #: ids of notes from which lines were taken back
    still_in: list[str]  #: ids of notes that still hold text


@dataclass(slots=True)
class _Total:
    """What all transactions so far have purged."""

    count: int = 0
    still_in: list[str] = field(default_factory=list)  #: ids of notes that still hold text
    files: list[str] = field(default_factory=list)  #: that still hold text


@whole("nugget.remove")
async def remove(service: "Service", call: Call) -> dict[str, Any]:
    """Drop a nugget's name; its notes are hidden, and restoring one brings the nugget back, or they are purged."""
    params = cast("NuggetRemoveParams", call.params)
    shelf = await service.shelf(params.shelf)
    shelf.enter()
    try:
        if params.purge:
            try:
                return await _remove_for_good(service, shelf, call, params.name)
            finally:
                await shelf.store.scrub()  # of a part that went, too, if the rest could not
        changed = await shelf.change(call, _hide_and_drop)
    finally:
        shelf.leave()
    return changed.outcome | {"replayed": True} if changed.replayed else changed.outcome


def _hide_and_drop(tx: Transaction, params: NuggetRemoveParams, _call: Call) -> Outcome:
    nugget = _existing(tx, params.name)
    hidden = hide_all(tx, params.name)
    drop_nugget(tx, nugget)
    return {"removed": params.name, "hidden": hidden}


async def _remove_for_good(service: "Service", shelf: Shelf, call: Call, name: str) -> dict[str, Any]:
    """Purge a few notes after the other, then drop the name.

    Raises:
        Unavailable: If the store took only a part of it; the same request goes on where this ended.
    """
    call.ticket.start()
    total = _Total()
    last: list[_Purged] = []

    def drop(tx: Transaction, _params: object, _call: Call) -> Outcome:
        nugget = _existing(tx, name)
        last.append(_purge_some(tx, name, _ALL))  # what somebody has written meanwhile
        drop_nugget(tx, nugget)
        ids = dict.fromkeys([*total.still_in, *last[0].still_in])
        left = [note_id for note_id in ids if tx.rows.note(note_id) is not None]
        told = [*left, *dict.fromkeys(total.files)]
        return {"removed": name, "hidden": 0, "purged": total.count + len(last[0].gone), "still_in": told}

    try:
        await _purge_all(service, shelf, call, name, total)
        changed = await shelf.change(replace(call, ticket=Ticket(shelf.clock)), drop)
    except Unavailable as error:
        if not total.count:
            raise
        text = f"{total.count} notes were purged, then the store took no more; the same request goes on with the others"
        raise Unavailable(text, **{**error.data, "purged": total.count}) from error
    for purged in last:
        await leave_no_trace(service, shelf, call, purged.gone, purged.touched)
    return changed.outcome | {"replayed": True} if changed.replayed else changed.outcome


async def _purge_all(service: "Service", shelf: Shelf, call: Call, name: str, total: _Total) -> None:
    """Purge the nugget's notes, a few in each transaction, and count them in *total*."""

    def some(tx: Transaction) -> _Purged:
        if told_before(tx.rows, call, shelf.settings.idempotency_retention, now=tx.now) is not None:
            return _Purged([], [], [])  # the same request was here
        _existing(tx, name)
        return _purge_some(tx, name, _AT_ONCE)

    while (purged := (await shelf.commit(call.origin(), some)).value).gone:
        total.count += len(purged.gone)
        total.still_in += purged.still_in
        total.files += await leave_no_trace(service, shelf, call, purged.gone, purged.touched)


def _purge_some(tx: Transaction, nugget: str, limit: int) -> _Purged:
    wanted = NoteFilter(nugget=nugget, include_hidden=True)
    notes = tx.rows.list_notes(wanted, order="row", descending=False, after=None, limit=limit)
    still_in: list[str] = []
    gone: list[Note] = []
    for note in notes:
        current = tx.rows.note(note.id)  # the one before may have given lines to it
        assert current is not None
        still_in += purge(tx, current, leaving=nugget)
        gone.append(current)
    return _Purged(gone, list(tx.touched), still_in)


def _existing(tx: Transaction, name: str) -> Nugget:
    nugget = tx.rows.nugget(name)
    if nugget is None:
        raise NuggetNotFound(name)
    return nugget
