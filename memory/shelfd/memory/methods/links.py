"""Use cases on links."""

from collections import Counter
from typing import Any

from shelfd.memory.call import Call
from shelfd.memory.errors import NoteNotFound
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.methods.registry import change, read
from shelfd.memory.methods.render import link_view
from shelfd.memory.notes.note import Link
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.storing import connect, get_note
from shelfd.protocol.methods.links import LinkDeleteParams, LinkListParams, LinkUpsertParams


def _directions(source: str, target: str, direction: str) -> list[tuple[str, str]]:
    there, back = (source, target), (target, source)
    return {"bidirectional": [there, back], "outgoing": [there], "incoming": [back]}[direction]


@change("link.upsert")
def upsert(tx: Transaction, params: LinkUpsertParams, call: Call) -> Outcome:
    """Link two notes; a link that is there already takes over what is new about it."""
    notes = {note.id: note for note in (get_note(tx, params.source), get_note(tx, params.target))}
    count = Counter[str]()
    for source, target in _directions(params.source, params.target, params.direction):
        link = Link(source, target, params.relation, params.reason, tx.now, params.valid_from, params.valid_to)
        count[connect(tx, link, notes[source].nugget, call.limits)] += 1
    return {"added": count["added"], "updated": count["updated"]}


@change("link.delete")
def delete(tx: Transaction, params: LinkDeleteParams, _call: Call) -> Outcome:
    """Take links between two notes away."""
    notes = {note.id: note for note in (get_note(tx, params.source), get_note(tx, params.target))}
    removed = 0
    for source, target in _directions(params.source, params.target, params.direction):
        for link in tx.rows.links.between(source, target):
            if params.relation in (None, link.relation):
                tx.delete_link(link, notes[source].nugget)
                removed += 1
    return {"removed": removed}


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
