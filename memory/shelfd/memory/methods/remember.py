"""Use cases that store: remember, remember_many, note.create."""

from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from shelfd.memory.call import Call
from shelfd.memory.errors import NotFound, ShelfError, error_of
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import change, whole
from shelfd.memory.methods.render import NoteRenderer, note_view
from shelfd.memory.shelf.composing import keep
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.protocol import from_validation
from shelfd.protocol.methods.notes import KeyedInput, NoteCreateParams, RememberManyParams, RememberParams

if TYPE_CHECKING:
    from shelfd.memory.methods.service import Service


def show_note(shelf: Shelf, changed: Changed | None, note_id: str, *, full: bool = False) -> dict[str, Any]:
    """Render a note after a change, as the change left it or, when replayed, as it is now."""
    note = (changed.notes.get(note_id) if changed is not None else None) or shelf.view.notes.get(note_id)
    if note is None:
        raise NotFound("the note is gone", id=note_id)
    links = shelf.view.links.leaving([note.id])
    return NoteRenderer(shelf.view, shelf.usage.of([note]), links, full=full)(note)


def _show_remembered(shelf: Shelf, changed: Changed, call: Call) -> dict[str, Any]:
    outcome = changed.outcome
    note = changed.notes.get(outcome["id"])
    if note is not None and outcome["status"] == "created" and not outcome["links"]:
        shelf.notes_created += 1
        shown = note_view(note)  # new and without links: nothing else to look up
    else:
        shelf.notes_created += outcome["status"] == "created" and not changed.replayed
        shown = show_note(shelf, changed, outcome["id"])
    if call.method.name == "note.create":
        return {"note": shown}
    return {"note": shown, "status": outcome["status"], "superseded": [], "conflicts": [], "pending": []}


@change("remember", render=_show_remembered)
def remember(tx: Transaction, params: RememberParams, call: Call) -> Outcome:
    """Store a note; with a key, a fact whose second value replaces the first."""
    kept = keep(tx, params, call.limits)
    return {"id": kept.note.id, "status": kept.status, "links": len(params.links)}


@change("note.create", render=_show_remembered)
def create(tx: Transaction, params: NoteCreateParams, call: Call) -> Outcome:
    """Store a note without a key."""
    kept = keep(tx, params, call.limits)
    return {"id": kept.note.id, "status": kept.status, "links": len(params.links)}


class AtomicRefusal(Exception):
    """One bad item refuses an atomic batch."""

    def __init__(self, rejected: list[dict[str, Any]]) -> None:
        super().__init__()
        self.rejected = rejected


@whole("remember_many")
async def remember_many(service: "Service", call: Call) -> dict[str, Any]:
    """Store all good items in one transaction, or none if *atomic* and one is bad."""
    params = cast("RememberManyParams", call.params)
    shelf = await service.shelf(call)
    shelf.enter()
    try:
        changed = await shelf.change(call, _store_many)
    except AtomicRefusal as refusal:
        return {"ids": [None] * len(params.notes), "rejected": refusal.rejected, "last_seq": shelf.seq}
    finally:
        shelf.leave()
    result = {"ids": changed.outcome["ids"], "rejected": changed.outcome["rejected"], "last_seq": changed.last_seq}
    if changed.replayed:
        return result | {"replayed": True}
    shelf.notes_created += changed.outcome["created"]
    return result


def _store_many(tx: Transaction, params: RememberManyParams, call: Call) -> Outcome:
    """Check and store the items on the store's thread: ten thousand of them would hold up the event loop."""
    rejected: list[dict[str, Any]] = []
    ids: list[str | None] = [None] * len(params.notes)
    created = 0
    for index, item in enumerate(params.notes):
        try:
            kept = keep(tx, KeyedInput.model_validate(item, context=call.limits), call.limits)
        except ValidationError as error:
            rejected.append({"index": index, "error": from_validation(error, prefix=("notes", index))})
        except ShelfError as error:  # found before the item's first write: the others can stand
            rejected.append({"index": index, "error": error_of(error)})
        else:
            ids[index] = kept.note.id
            created += kept.status == "created"
    if rejected and params.atomic:
        raise AtomicRefusal(rejected)
    return {"ids": ids, "rejected": rejected, "created": created}


__all__ = ["create", "remember", "remember_many", "show_note"]
