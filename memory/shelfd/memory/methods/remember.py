"""Use cases that store: remember, remember_many, note.create."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, cast

from pydantic import ValidationError

from shelfd.memory.call import Call
from shelfd.memory.errors import InvalidParams, NotFound, Unavailable, error_of
from shelfd.memory.knowledge.evolution.applying import Evolved, remember_evolved
from shelfd.memory.knowledge.evolution.text_reading import TextRead, read_text
from shelfd.memory.knowledge.model.doubts import doubt_of, put_doubt, with_decision
from shelfd.memory.log.idempotency import Outcome, RolledBack
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.registry import change
from shelfd.memory.methods.render import NoteRenderer, note_view
from shelfd.memory.notes.text import tidy_content
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.memory.shelf.storing import StoredNote, store_note
from shelfd.memory.shelf.storing_many import store_many
from shelfd.protocol import Limits, from_validation
from shelfd.protocol.methods.notes import (
    EVOLVED_AT_ONCE,
    NoteCreateParams,
    RememberInput,
    RememberManyParams,
    RememberParams,
)


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


def _read_ahead(params: RememberParams, call: Call) -> None:
    """Read a note that evolves, unless it was read for a group that ended before it."""
    if params.evolve and params.content is not None and call.worked_out is None:
        call.worked_out = read_text(tidy_content(params.content))


@change("remember", render=_show_remembered, settle=_begin_pending, can_repeat=True, ahead=_read_ahead)
def remember(tx: Transaction, params: RememberParams, call: Call) -> Outcome:
    """Store a note; with a key, a fact whose second value replaces the first."""
    if params.evolve:
        return _evolve(tx, params, call)
    kept = store_note(tx, params, call.limits)
    return {"id": kept.note.id, "status": kept.status, "links": len(params.links)}


def _evolve(tx: Transaction, params: RememberParams, call: Call) -> Outcome:
    """Store a note, and let it supersede what it makes untrue."""
    evolved = remember_evolved(tx, params, call.limits, known=cast("TextRead | None", call.worked_out))
    outcome = {"id": evolved.note.id, "status": evolved.status, "links": len(params.links)}
    if evolved.superseded:
        outcome["superseded"] = list(evolved.superseded)
    if evolved.conflicts:
        outcome["conflicts"] = list(evolved.conflicts)
    if call.has_model and (doubt := doubt_of(tx, evolved, seeks=call.asks_of_similar)) is not None:
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
    outcome = changed.outcome
    result = {"ids": outcome["ids"], "rejected": outcome["rejected"], "last_seq": changed.last_seq}
    return result | {name: outcome[name] for name in ("evolved", "pending") if name in outcome}


async def _begin_all_pending(context: Context, shelf: Shelf, changed: Changed, _call: Call) -> None:
    """Begin the jobs that decide later."""
    for job_id in changed.outcome["pending"]:
        job = shelf.view.jobs.get(job_id)
        if job is not None and job.state == "queued":
            context.jobs(shelf).start(job_id)


@change("remember_many", render=_show_many, settle=_begin_all_pending)
def remember_many(tx: Transaction, params: RememberManyParams, call: Call) -> Outcome:
    """Store all good items in one transaction, or none if *atomic* and one is bad.

    They are checked here, on the store's thread: ten thousand of them would hold up the event loop.
    """
    _check_evolving(params)
    rejected: list[dict[str, Any]] = []
    evolved: list[dict[str, Any]] = []
    ids: list[str | None] = [None] * len(params.notes)
    created = 0
    told: list[Evolved] = []  # what the item did that was stored last, if it evolves
    pending: dict[str, None] = {}
    for index, stored in enumerate(store_many(tx, params.notes, call.limits, partial(_evolve_one, told))):
        if isinstance(stored, StoredNote):
            ids[index] = stored.note.id
            created += stored.status == "created"
            if told:
                one = told.pop()
                created += bool(one.superseded)
                evolved.append(_told(index, one))
                if call.has_model and (doubt := doubt_of(tx, one, seeks=call.asks_of_similar)) is not None:
                    pending[put_doubt(tx, doubt, call.origin())] = None
        elif isinstance(stored, ValidationError):
            rejected.append({"index": index, "error": from_validation(stored, prefix=("notes", index))})
        else:
            rejected.append({"index": index, "error": error_of(stored)})
    if rejected and params.atomic:
        raise RolledBack({"ids": [None] * len(ids), "rejected": rejected, "created": 0})
    outcome: Outcome = {"ids": ids, "rejected": rejected, "created": created}
    if evolved:
        outcome["evolved"] = evolved
    if pending:
        outcome["pending"] = list(pending)
    return outcome


def _evolve_one(told: list[Evolved], tx: Transaction, given: RememberInput, limits: Limits) -> StoredNote:
    told.append(remember_evolved(tx, given, limits, catch_up=EVOLVED_AT_ONCE))
    return StoredNote(told[-1].note, told[-1].status)


def _told(index: int, one: Evolved) -> dict[str, Any]:
    return {
        "index": index,
        "status": one.status,
        "superseded": list(one.superseded),
        "conflicts": list(one.conflicts),
    }


def _check_evolving(params: RememberManyParams) -> None:
    """Raise if there are more notes than may be compared with each other and with older ones.

    Raises:
        InvalidParams: The store would be held up for seconds.
    """
    count = len(params.notes)
    if count > EVOLVED_AT_ONCE and any(isinstance(item, Mapping) and item.get("evolve") for item in params.notes):
        text = f"notes: are {count}, and with evolve at most {EVOLVED_AT_ONCE} at once"
        raise InvalidParams(text, field="notes", limit=EVOLVED_AT_ONCE)


__all__ = ["create", "remember", "remember_many", "show_note"]
