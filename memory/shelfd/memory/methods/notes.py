"""Use cases on single notes: forget, get, edit, list, hide, restore, history, revert."""

import asyncio
from typing import Any

from shelfd.memory.call import Call
from shelfd.memory.errors import InvalidParams, NoteNotFound, NotFound, RevisionConflict
from shelfd.memory.log.history import KEPT_BY_REVERT, at_rev, versions, with_log
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.superseding import can_stand_for, unsuperseded
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.methods.caught_up import catch_up
from shelfd.memory.methods.registry import change, read
from shelfd.memory.methods.remember import show_note
from shelfd.memory.methods.render import NoteRenderer, change_view, vector_view
from shelfd.memory.methods.time_travel import note_then
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.inference import clamp, default_confidence
from shelfd.memory.notes.note import RELEASED, Extra, Note, fold_key
from shelfd.memory.notes.text import render_fields, tidy_content
from shelfd.memory.ports.log import EVERY_VARIANT, Origin
from shelfd.memory.shelf.nuggets import ensure_nugget, get_nugget
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.memory.shelf.storing import (
    DAY_MICROS,
    check_validity,
    checked_size,
    get_note,
    own_tags,
    too_many,
    unique_names,
    with_summary,
)
from shelfd.protocol import Limits, from_micros
from shelfd.protocol.methods.notes import (
    NoteEditParams,
    NoteGetParams,
    NoteHistoryParams,
    NoteIdParams,
    NoteListParams,
    NoteMetadata,
    NoteRevertParams,
    is_scope_prefix,
)

#: Tags remembered that a caller removed from a note.
_DROPPED_TAGS = 64
#: Notes rendered without yielding to other tasks: some 3 ms.
_NOTES_AT_ONCE = 128


@read("note.get")
async def get(shelf: Shelf, params: NoteGetParams, _call: Call) -> dict[str, Any]:
    """Return one note; looking at it is no hit."""
    if params.full:
        await catch_up(shelf)
    if params.known_at is not None or params.as_of is not None:
        note, links, redacted = note_then(shelf, params)
    else:
        note, redacted = get_note(shelf.view, params.id), {}
        shelf.touch(note)
        links = shelf.view.links.leaving([note.id])
    shown = NoteRenderer(shelf.view, shelf.usage.of([note]), links, full=params.full)(note)
    return {"note": shown | {"vector": vector_view(note)} if params.include_vector else shown, **redacted}


def show_changed(shelf: Shelf, changed: Changed, _call: Call) -> dict[str, Any]:
    """Answer with the note as it is now, and whether the call changed it."""
    return {"note": show_note(shelf, changed, changed.outcome["id"]), "changed": changed.outcome["changed"]}


@change("note.hide", render=show_changed)
def hide(tx: Transaction, params: NoteIdParams, _call: Call) -> Outcome:
    """Hide a note; hiding it twice is fine."""
    note = get_note(tx.rows, params.id)
    if not note.hidden:
        tx.hide(note)
    return {"id": note.id, "changed": not note.hidden}


@change("note.restore", render=show_changed)
def restore(tx: Transaction, params: NoteIdParams, _call: Call) -> Outcome:
    """Bring a hidden note back, its nugget too if that is gone; and a visible one that was superseded."""
    note = get_note(tx.rows, params.id)
    restored = note
    if note.hidden:
        ensure_nugget(tx, note.nugget)
        restored = tx.restore(note)
    elif note.superseded_by is not None:
        restored = tx.change_note(note, tx.unsuperseded(note), kind="note.restored")
    return {"id": note.id, "changed": restored is not note}


@change("note.release", render=show_changed)
def release(tx: Transaction, params: NoteIdParams, _call: Call) -> Outcome:
    """Let a note out of quarantine, as it stands now."""
    note = get_note(tx.rows, params.id)
    if note.quarantined:
        tx.change_note(note, note._replace(extra=note.extra._replace(trust=RELEASED)))
    return {"id": note.id, "changed": note.quarantined}


@change("note.edit", render=show_changed)
def edit(tx: Transaction, params: NoteEditParams, call: Call) -> Outcome:
    """Change parts of a note; an edit that changes nothing leaves no trace."""
    old = get_note(tx.rows, params.id)
    if params.if_rev is not None and params.if_rev != old.rev:
        raise RevisionConflict(old.id, expected=params.if_rev, actual=old.rev)
    new = tx.admit(_edited(old, params, tx.now, call.limits), old)
    if old.hidden and not new.hidden:
        ensure_nugget(tx, new.nugget)
    stored = tx.change_note(old, new)
    return {"id": stored.id, "changed": stored is not old}


def _edited(old: Note, params: NoteEditParams, now: int, limits: Limits) -> Note:
    changes: dict[str, Any] = {}
    content, extra = _edited_text(old, params, limits)
    if params.title is not None and params.title != old.title:
        if old.kind == "fact":
            if not params.title:
                raise InvalidParams("title: a fact's title is its key and cannot be empty", field="title")
            if is_scope_prefix(params.title):
                raise InvalidParams("title: is a scope prefix without a name after it", field="title")
            changes["key"] = fold_key(params.title)
        changes["title"] = params.title
    if params.aliases is not None:
        extra = extra._replace(aliases=unique_names(params.aliases))
    if params.pinned is not None:
        changes["pinned"] = params.pinned
    if params.hidden is not None and params.hidden != old.hidden:
        changes["archived_at"] = now if params.hidden else None
    if params.metadata is not None:
        extra = _edit_metadata(old, params.metadata, changes, extra)
    if params.remove_tags or params.add_tags:
        extra = _without_tags(old, params, extra)
    new = old._replace(**changes, content=content, extra=extra)
    if params.metadata is not None:
        check_validity(new)
    return new._replace(tags=_edited_tags(new, params, limits))


def _without_tags(old: Note, params: NoteEditParams, extra: Extra) -> Extra:
    """Remove derived tags, and remember which tags the caller does not want, so that none is derived again."""
    removed = [tag for tag in params.remove_tags if tag in (*old.tags, *old.derived_tags)]
    dropped = dict.fromkeys((*extra.dropped_tags, *removed))
    return extra._replace(
        derived_tags=tuple(tag for tag in old.derived_tags if tag not in removed),
        dropped_tags=tuple(tag for tag in dropped if tag not in params.add_tags)[-_DROPPED_TAGS:],
    )


def _edited_text(old: Note, params: NoteEditParams, limits: Limits) -> tuple[str, Extra]:
    fields = {**old.extra.fields, **params.set_fields}
    for name in params.clear_fields:
        fields.pop(name, None)
    if fields.get("summary") is None:
        fields.pop("summary", None)
    content, is_rendered = old.content, old.extra.rendered
    if params.content is not None:
        content, is_rendered = tidy_content(params.content), False
    elif isinstance(params.set_fields.get("summary"), str):
        content, is_rendered = tidy_content(params.set_fields["summary"]), False
    elif is_rendered and (params.set_fields or params.clear_fields):
        content = checked_size(render_fields(fields), limits)
    if not content.strip():
        raise InvalidParams("content: is empty or blank", field="content")
    return content, old.extra._replace(fields=with_summary(fields, content, limits), rendered=is_rendered)


def _edit_metadata(old: Note, given: NoteMetadata, changes: dict[str, Any], extra: Extra) -> Extra:
    for name in given.model_fields_set:
        value = getattr(given, name)
        if name in ("source_ref", "ttl_days"):
            continue
        if value is not None or name in ("author", "occurred_at", "valid_from", "valid_to"):
            changes[name] = value
    if "source_ref" in given.model_fields_set:
        extra = extra._replace(source_ref=given.source_ref)
    if "ttl_days" in given.model_fields_set:
        extra = extra._replace(ttl_days=given.ttl_days)
        days = given.ttl_days
        changes["expires_at"] = None if days is None else old.created_at + days * DAY_MICROS
    if given.confidence is not None:
        changes["confidence"] = clamp(given.confidence)
    elif given.source is not None:
        changes["confidence"] = default_confidence(given.source)
    return extra


def _edited_tags(new: Note, params: NoteEditParams, limits: Limits) -> tuple[str, ...]:
    wanted = new.tags if params.tags is None else tuple(params.tags)
    removed = set(params.remove_tags)
    own = tuple(tag for tag in own_tags((*wanted, *params.add_tags)) if tag not in removed and tag != new.nugget)
    if len(own) > max(limits.tags_count, len(new.tags)):
        raise too_many("tags", "own tags", limits.tags_count)
    return own


@read("note.list")
async def list_notes(shelf: Shelf, params: NoteListParams, _call: Call) -> dict[str, Any]:
    """Return a page of notes in the order asked for."""
    if params.nugget is not None:
        get_nugget(shelf.view, params.nugget)
    wanted = NoteFilter(
        nugget=params.nugget,
        kind=params.kind,
        include_hidden=params.include_hidden,
        include_superseded=params.include_superseded,
        subject=params.subject,
        scope=params.scope,
        type=params.type,
        stability=params.stability,
        tags=tuple(params.tags),
        needs_review=params.needs_review,
        quarantined=params.quarantined,
    )
    # Notes are numbered in the order they came, which is the order of creation.
    order = "row" if params.order == "created_at" else params.order
    # The cursor keeps the total, so that it is counted once and not again for each page.
    position = cursor.decode_numbers(params.cursor, 3)
    after, total = (None, 0) if position is None else ((position[0], position[1]), position[2])
    listing = await shelf.store.list_notes(
        wanted, order=order, descending=params.desc, after=after, limit=params.limit + 1
    )
    total = total if listing.total is None else listing.total
    notes = listing.notes
    page = notes[: params.limit]
    shown: list[dict[str, Any]] = []
    for start in range(0, len(page), _NOTES_AT_ONCE):
        part = page[start : start + _NOTES_AT_ONCE]
        links = shelf.view.links.leaving([note.id for note in part])
        shown += map(NoteRenderer(shelf.view, shelf.usage.of(part), links, full=False), part)
        await asyncio.sleep(0)
    result: dict[str, Any] = {"notes": shown, "total": total}
    if len(notes) > params.limit:
        result["next_cursor"] = cursor.encode(getattr(page[-1], order), page[-1].row, total)
    return result


@read("note.history")
def history(shelf: Shelf, params: NoteHistoryParams, _call: Call) -> dict[str, Any]:
    """Return the versions of a note, oldest first."""
    position = cursor.decode_numbers(params.cursor, 1)
    since = position[0] if position else 0
    logged = with_log(shelf.view, params.id)
    if logged is None:
        raise NoteNotFound(params.id)
    found = versions(*logged)
    page = [item for item in found if item[1].seq > since][: params.limit + 1]
    result: dict[str, Any] = {
        "versions": [
            {
                "rev": rev,
                "seq": row.seq,
                "at": from_micros(row.at),
                "principal": row.origin.principal,
                "kind": row.kind,
                **_place(row.origin),
                "change": change_view(values),
            }
            for rev, row, values in page[: params.limit]
        ]
    }
    if len(page) > params.limit:
        result["next_cursor"] = cursor.encode(page[params.limit - 1][1].seq)
    return result


def _place(origin: Origin) -> dict[str, Any]:
    """Where in a conversation a change was made, as far as it was in one."""
    variant = None if origin.variant == EVERY_VARIANT else origin.variant
    place = {"session_id": origin.session_id, "turn": origin.turn, "variant": variant}
    return {name: value for name, value in place.items() if value is not None}


@change("note.revert", render=show_changed)
def revert(tx: Transaction, params: NoteRevertParams, _call: Call) -> Outcome:
    """Give a note what it said at an earlier rev, as a new rev."""
    note = get_note(tx.rows, params.id)
    changes = tx.rows.log.of_note(note.row)
    then = at_rev(note, reversed(changes), params.rev)
    if then is None:
        raise NotFound(f"the note has no rev {params.rev}; it is at rev {note.rev}", id=note.id, field="rev")
    kept = {name: getattr(note, name) for name in KEPT_BY_REVERT}
    new = then._replace(**kept)
    if note.extra.provenance:  # what was merged into it stays merged, whatever it says
        new = new._replace(extra=new.extra._replace(provenance=note.extra.provenance))
    if new.superseded_by is not None and not can_stand_for(tx.rows, new.superseded_by, note.id):
        # What replaced it then was purged, or is replaced by it now.
        new = unsuperseded(new, reversed(changes[: len(changes) - (note.rev - params.rev)]))
    if note.hidden and not new.hidden:
        ensure_nugget(tx, new.nugget)
    stored = tx.change_note(note, new)
    return {"id": stored.id, "changed": stored is not note}
