"""Use cases on the graph of notes: links, move, record a hit, supersede."""

from collections import Counter
from typing import Any

from shelfd.memory.call import Call
from shelfd.memory.errors import NoteNotFound, NuggetNotFound
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.superseding import leads_to
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.methods.notes import show_changed
from shelfd.memory.methods.registry import change, read
from shelfd.memory.methods.render import link_view
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.notes.relations import check_writable, directed
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.storing import connect, get_note
from shelfd.memory.tending.nuggets import check_free
from shelfd.protocol.base import fold_relation
from shelfd.protocol.methods.graph import NoteMoveParams, NoteRecordHitParams, SupersedeParams
from shelfd.protocol.methods.links import LinkDeleteParams, LinkListParams, LinkUpsertParams


@change("note.move", render=show_changed)
def move(tx: Transaction, params: NoteMoveParams, _call: Call) -> Outcome:
    """Put a note into another nugget; its id stays.

    Raises:
        DuplicateKey: If that nugget has a fact with its key.
        NuggetNotFound: If there is no such nugget.
        Conflict: If a job is at work on all notes of one of the two.
    """
    old = get_note(tx.rows, params.id)
    if params.nugget != old.nugget and tx.nugget(params.nugget) is None:
        raise NuggetNotFound(params.nugget)
    if params.nugget != old.nugget:
        check_free(tx, old.nugget)
        check_free(tx, params.nugget)
    # An own tag that names the new nugget would stand twice.
    tags = tuple(tag for tag in old.tags if tag != params.nugget)
    stored = tx.change_note(old, old._replace(nugget=params.nugget, tags=tags))
    return {"id": stored.id, "changed": stored is not old}


@read("note.record_hit")
def record_hit(shelf: Shelf, params: NoteRecordHitParams, call: Call) -> dict[str, Any]:
    """Count that a session used a note, as a recall would have. Usage is not in the log, so this is no transaction."""
    note = get_note(shelf.view, params.id)
    call.ticket.start()
    shelf.record_use([note], session_id=params.session_id)
    return {"id": note.id, "hits": shelf.usage.of([note])[note.row].hits}


def _supersede(tx: Transaction, params: SupersedeParams, _call: Call) -> Outcome:
    old, new = tx.rows.notes.get(params.note_id), tx.rows.notes.get(params.superseded_by_id)
    if old is None or new is None:
        return {"ok": False, "reason": f"{'note_id' if old is None else 'superseded_by_id'}: there is no such note"}
    if old.row == new.row:
        return {"ok": False, "reason": "superseded_by_id: is the same note"}
    if leads_to(tx.rows, new.id, old.id):
        return {"ok": False, "reason": "superseded_by_id: that note is itself replaced by this one"}
    tx.supersede(old, new.id)
    return {"ok": True}


change("mark_note_superseded")(_supersede)
change("note.supersede")(_supersede)


@change("link.upsert")
def upsert(tx: Transaction, params: LinkUpsertParams, call: Call) -> Outcome:
    """Link two notes; a link that is there already takes over what is new about it."""
    check_writable(params.relation, "relation")
    relation, reason = tx.admit_line(params.relation, "relation"), tx.admit_line(params.reason, "reason")
    notes, is_older = _ends(tx, params.source, params.target)
    count = Counter[str]()
    ends = directed(params.source, params.target, relation, params.direction, one_is_older=is_older)
    for source, target in ends:
        link = Link(source, target, relation, reason, tx.now, params.valid_from, params.valid_to)
        count[connect(tx, link, notes[source].nugget, call.limits)] += 1
    return {"added": count["added"], "updated": count["updated"]}


@change("link.delete")
def delete(tx: Transaction, params: LinkDeleteParams, _call: Call) -> Outcome:
    """Delete links between two notes."""
    notes, is_older = _ends(tx, params.source, params.target)
    relation = params.relation or ""
    ends = directed(params.source, params.target, relation, params.direction, one_is_older=is_older)
    removed = 0
    for source, target in ends:
        for link in tx.rows.links.between(source, target):
            if params.relation in (None, fold_relation(link.relation)):
                tx.delete_link(link, notes[source].nugget)
                removed += 1
    return {"removed": removed}


def _ends(tx: Transaction, source: str, target: str) -> tuple[dict[str, Note], bool]:
    """The two notes by their ids, and whether the source is the older one."""
    one, other = get_note(tx.rows, source), get_note(tx.rows, target)
    return {one.id: one, other.id: other}, one.row < other.row


@read("link.list")
def list_links(shelf: Shelf, params: LinkListParams, _call: Call) -> dict[str, Any]:
    """Return a page of links in the order they were made."""
    if params.id is not None and shelf.view.notes.get(params.id) is None:
        raise NoteNotFound(params.id)
    position = cursor.decode_numbers(params.cursor, 1)
    found = shelf.view.links.page(
        note_id=params.id, relation=params.relation, after=position[0] if position else 0, limit=params.limit + 1
    )
    page = found[: params.limit]
    result: dict[str, Any] = {"links": [link_view(link) for _, link in page]}
    if len(found) > params.limit:
        result["next_cursor"] = cursor.encode(page[-1][0])
    return result
