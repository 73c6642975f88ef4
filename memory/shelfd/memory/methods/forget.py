"""Use cases that let go of notes: forget and delete, for now or for good."""

from typing import Any, cast

from shelfd.memory.call import Call
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.begin import Begun
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import job
from shelfd.memory.methods.remember import show_note
from shelfd.memory.notes.note import Note, fold_key
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.memory.shelf.storing import get_note
from shelfd.memory.tending.nuggets import check_no_import
from shelfd.memory.tending.purge import PURGE, new_cursor, purge_some
from shelfd.protocol.methods.graph import NoteDeleteParams
from shelfd.protocol.methods.notes import ForgetParams

DEFAULT_NUGGET = "memory"


def _is_purge(params: ForgetParams) -> bool:
    return params.purge


def _is_hard(params: NoteDeleteParams) -> bool:
    return params.hard


def _purged(_shelf: Shelf, job: Job) -> dict[str, Any]:
    return {"forgotten": list(job.params["ids"]), "still_in": list((job.result or {})["still_in"])}


def _deleted(shelf: Shelf, job: Job) -> dict[str, Any]:
    return {"changed": True, "still_in": _purged(shelf, job)["still_in"]}


def _show_deleted(shelf: Shelf, changed: Changed, call: Call) -> dict[str, Any]:
    params = cast("NoteDeleteParams", call.params)
    deleted = {"changed": bool(changed.outcome["forgotten"]), "still_in": changed.outcome["still_in"]}
    return deleted if params.hard else {"note": show_note(shelf, None, params.id), **deleted}


@job("forget", ended=_purged, is_run=_is_purge)
def forget(tx: Transaction, params: ForgetParams, _call: Call) -> Begun | Outcome:
    """Hide a note by id, or a fact by nugget and key; with *purge* take it out for good."""
    return _let_go(tx, _named(tx, params), for_good=params.purge)


@job("note.delete", ended=_deleted, render=_show_deleted, is_run=_is_hard)
def delete(tx: Transaction, params: NoteDeleteParams, _call: Call) -> Begun | Outcome:
    """Take a note out of sight, its links staying for the day it comes back, or for good."""
    return _let_go(tx, get_note(tx, params.id), for_good=params.hard)


def _named(tx: Transaction, params: ForgetParams) -> Note | None:
    if params.id is not None:
        return get_note(tx, params.id)
    return tx.rows.notes.fact(params.nugget or DEFAULT_NUGGET, fold_key(cast("str", params.key)))


def _let_go(tx: Transaction, note: Note | None, *, for_good: bool) -> Begun | Outcome:
    if note is not None and for_good:
        check_no_import(tx)
        params, cursor = {"ids": [note.id]}, new_cursor(total=1)
        purge_some(tx, cursor, params)
        return Begun(PURGE, params, cursor)
    if note is None or note.hidden:
        return {"forgotten": [], "still_in": []}
    tx.hide(note)
    return {"forgotten": [note.id], "still_in": []}
