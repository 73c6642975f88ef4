"""Use cases that store: remember, remember_many, note.create."""

import asyncio
from contextlib import suppress
from typing import Any, cast

from pydantic import ValidationError

from shelfd.memory.call import Call
from shelfd.memory.errors import NotFound, Unavailable, error_of
from shelfd.memory.knowledge.evolution.applying import remember_evolved
from shelfd.memory.knowledge.model.doubts import doubt_of, put_doubt, with_decision
from shelfd.memory.log.idempotency import Outcome, RolledBack
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.registry import change
from shelfd.memory.methods.render import NoteRenderer, note_view
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.memory.shelf.storing import StoredNote, store_note
from shelfd.memory.shelf.storing_many import store_many
from shelfd.protocol import from_validation
from shelfd.protocol.methods.notes import NoteCreateParams, RememberManyParams, RememberParams


def show_note(shelf: Shelf, changed: Changed | None, note_id: str, *, full: bool = False) -> dict[str, Any]:
    """Render a note after a change, as the change left it or, when replayed, as it is now."""
    note = (changed.notes.get(note_id) if changed is not None else None) or shelf.view.notes.get(note_id)
    if note is None:
        raise NotFound("the note is gone", id=note_id)
    links = shelf.view.links.leaving([note.id])
    return NoteRenderer(shelf.view, shelf.usage.of([note]), links, full=full)(note)


def _show_remembered(shelf: Shelf, changed: Changed, call: Call) -> dict[str, Any]:
    if "pending" in changed.outcome:
        changed = changed._replace(outcome=with_decision(shelf.view, changed.outcome), notes={})
    outcome = changed.outcome
    note = changed.notes.get(outcome["id"])
    if note is not None and outcome["status"] == "created" and not outcome["links"]:
        shelf.notes_created += 1
        shown = note_view(note)  # new and without links: nothing else to look up
    else:
        is_new = outcome["status"] == "created" or "superseded" in outcome
        shelf.notes_created += is_new and not changed.replayed
        shown = show_note(shelf, changed, outcome["id"])
    if call.method.name == "note.create":
        return {"note": shown}
    superseded, conflicts = outcome.get("superseded", []), outcome.get("conflicts", [])
    told = {"note": shown, "status": outcome["status"], "superseded": superseded, "conflicts": conflicts}
    return told | {"pending": outcome.get("pending", [])}


async def _begin_pending(context: Context, shelf: Shelf, changed: Changed, call: Call) -> None:
    """Begin the job that decides later, and wait for its end if that is wanted and time is left."""
    for job_id in changed.outcome["pending"]:
        job = shelf.view.jobs.get(job_id)
        if job is not None and job.state == "queued":
            context.jobs(shelf).start(job_id)
        if job is not None and job.is_unfinished and cast("RememberParams", call.params).sync:
            deadline = call.ticket.deadline
            left = None if deadline is None else max(deadline - shelf.clock.monotonic(), 0.0)
            with suppress(Unavailable, TimeoutError):  # then the reply says that it is pending still
                async with asyncio.timeout(left):
                    await context.jobs(shelf).end_of(job_id)


@change("remember", render=_show_remembered, settle=_begin_pending, can_repeat=True)
def remember(tx: Transaction, params: RememberParams, call: Call) -> Outcome:
    """Store a note; with a key, a fact whose second value replaces the first."""
    if params.evolve:
        return _evolve(tx, params, call)
    kept = store_note(tx, params, call.limits)
    return {"id": kept.note.id, "status": kept.status, "links": len(params.links)}


def _evolve(tx: Transaction, params: RememberParams, call: Call) -> Outcome:
    """Store a note, and let it supersede what it makes untrue."""
    evolved = remember_evolved(tx, params, call.limits)
    outcome = {"id": evolved.note.id, "status": evolved.status, "links": len(params.links)}
    if evolved.superseded:
        outcome["superseded"] = list(evolved.superseded)
    if evolved.conflicts:
        outcome["conflicts"] = list(evolved.conflicts)
    if call.has_model and (doubt := doubt_of(tx, evolved)) is not None:
        outcome["pending"] = [put_doubt(tx, doubt, call.origin())]
    return outcome


@change("note.create", render=_show_remembered, can_repeat=True)
def create(tx: Transaction, params: NoteCreateParams, call: Call) -> Outcome:
    """Store a note without a key."""
    kept = store_note(tx, params, call.limits)
    return {"id": kept.note.id, "status": kept.status, "links": len(params.links)}


def _show_many(shelf: Shelf, changed: Changed, _call: Call) -> dict[str, Any]:
    if not changed.replayed:
        shelf.notes_created += changed.outcome["created"]
    return {"ids": changed.outcome["ids"], "rejected": changed.outcome["rejected"], "last_seq": changed.last_seq}


@change("remember_many", render=_show_many)
def remember_many(tx: Transaction, params: RememberManyParams, call: Call) -> Outcome:
    """Store all good items in one transaction, or none if *atomic* and one is bad.

    They are checked here, on the store's thread: ten thousand of them would hold up the event loop.
    """
    rejected: list[dict[str, Any]] = []
    ids: list[str | None] = [None] * len(params.notes)
    created = 0
    for index, stored in enumerate(store_many(tx, params.notes, call.limits)):
        if isinstance(stored, StoredNote):
            ids[index] = stored.note.id
            created += stored.status == "created"
        elif isinstance(stored, ValidationError):
            rejected.append({"index": index, "error": from_validation(stored, prefix=("notes", index))})
        else:
            rejected.append({"index": index, "error": error_of(stored)})
    if rejected and params.atomic:
        raise RolledBack({"ids": [None] * len(ids), "rejected": rejected, "created": 0})
    return {"ids": ids, "rejected": rejected, "created": created}


__all__ = ["create", "remember", "remember_many", "show_note"]
