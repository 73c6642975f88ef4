"""Use cases that delete: forget and delete a note, clear and remove a nugget; hidden, or purged for good."""

from collections.abc import Collection
from typing import Any, cast

from shelfd.memory.call import Call
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.work import Begun
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import job
from shelfd.memory.methods.remember import show_note
from shelfd.memory.notes.note import Note, fold_key
from shelfd.memory.shelf.nuggets import get_nugget
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.memory.shelf.storing import get_note
from shelfd.memory.tending import hide as hiding
from shelfd.memory.tending import purge as purging
from shelfd.memory.tending.nuggets import check_no_intake
from shelfd.memory.tending.purge import PURGE, new_cursor, purge_some
from shelfd.protocol.methods.graph import NoteDeleteParams
from shelfd.protocol.methods.notes import ForgetParams
from shelfd.protocol.methods.nuggets import NuggetParams, NuggetRemoveParams

DEFAULT_NUGGET = "memory"
_ELSEWHERE = 100  #: nuggets that are named as having a key
_NAMED = 100  #: notes that are named as replaced by what was forgotten


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
    """Hide a note by id, or a fact by nugget and key; with *purge* purge it. Where nothing has that key, say where."""
    note = _named(tx, params)
    if note is None:
        there = [fact.nugget for fact in tx.rows.notes.facts(fold_key(cast("str", params.key))) if not fact.hidden]
        return {"forgotten": [], "still_in": [], **({"elsewhere": there[:_ELSEWHERE]} if there else {})}
    return _delete_note(tx, note, for_good=params.purge)


@job("note.delete", ended=_deleted, render=_show_deleted, is_run=_is_hard)
def delete(tx: Transaction, params: NoteDeleteParams, _call: Call) -> Begun | Outcome:
    """Hide a note, which keeps its links, or purge it."""
    return _delete_note(tx, get_note(tx.rows, params.id), for_good=params.hard)


def _named(tx: Transaction, params: ForgetParams) -> Note | None:
    if params.id is not None:
        return get_note(tx.rows, params.id)
    return tx.rows.notes.fact(params.nugget or DEFAULT_NUGGET, fold_key(cast("str", params.key)))


def _delete_note(tx: Transaction, note: Note | None, *, for_good: bool) -> Begun | Outcome:
    if note is not None and for_good:
        check_no_intake(tx)
        params, cursor = {"ids": [note.id]}, new_cursor(total=1)
        purge_some(tx, cursor, params)
        return Begun(PURGE, params, cursor)
    if note is None or note.hidden:
        return {"forgotten": [], "still_in": []}
    replaced = [one.id for one in _replaced_by(tx, note) if not one.hidden]
    tx.hide(note)
    return {"forgotten": [note.id], "still_in": [], **({"still_superseded": replaced} if replaced else {})}


def _replaced_by(tx: Transaction, note: Note) -> Collection[Note]:
    """The newest notes that a note has replaced; that is so whether or not it is hidden."""
    ids = tx.rows.notes.superseded_by(note.id)[-_NAMED:]
    return tx.rows.notes.by_ids(ids).values() if ids else ()


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
    """Remove a nugget; its notes are hidden, and restoring one brings the nugget back, or they are purged."""
    return _purge(tx, params.name) if params.purge else _hide(tx, params.name, call, drop=True)


def _hide(tx: Transaction, name: str, call: Call, *, drop: bool) -> Begun | Outcome:
    get_nugget(tx.rows, name)
    params = {"nugget": name, "drop": drop, "seq": tx.rows.log.last_seq}
    counts = tx.rows.nuggets.counts(name)
    cursor = hiding.new_cursor(total=counts.notes - counts.hidden)
    hiding.hide_some(tx, cursor, params)
    if not cursor["is_over"]:
        return Begun(hiding.HIDE, params, cursor)
    outcome = {"hidden": cursor["done"], "run_id": call.run_id}
    return {"removed": name, **outcome} if drop else outcome


def _purge(tx: Transaction, name: str) -> Begun:
    get_nugget(tx.rows, name)
    check_no_intake(tx)
    newest = tx.rows.notes.scan(before_row=None, limit=1)
    params = {"nugget": name, "seq": tx.rows.log.last_seq, "row": newest[0].row if newest else 0}
    cursor = purging.new_cursor(total=tx.rows.nuggets.counts(name).notes)
    purging.purge_some(tx, cursor, params)
    return Begun(purging.PURGE, params, cursor)
