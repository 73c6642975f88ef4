"""Use cases on a knowledge graph over a nugget: entities, observations and relations, known by names."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, cast

from pydantic import ValidationError

from shelfd.memory.call import Call
from shelfd.memory.errors import InvalidParams, NotFound, TooLarge
from shelfd.memory.knowledge.graph.entity_notes import (
    Wording,
    check_trusted,
    entity_of,
    find,
    is_entity,
    is_relation,
    name_of,
    observations_of,
    observe,
    relation_of,
    spelled,
    worded,
)
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import change, read
from shelfd.memory.methods.search import likely
from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.notes.relations import check_writable, directed
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.memory.shelf.storing import connect, store_note
from shelfd.protocol import from_validation
from shelfd.protocol.methods.knowledge import (
    CreateEntitiesParams,
    DeleteEntitiesParams,
    GraphReadParams,
    ObservationsParams,
    OpenNodesParams,
    RelationsParams,
    SearchNodesParams,
)
from shelfd.protocol.methods.notes import NoteInput

#: Notes looked at between two turns of others.
_AT_ONCE: Final = 200
#: Entities whose links are looked up between two turns of others.
_LINKED_AT_ONCE: Final = 64
#: The share of a reply that the texts of a graph may have: some transports say it all twice.
_SHARE: Final = 4
#: Notes of a graph that is read to its end if words did not tell.
_READ_TO_THE_END: Final = 2_000
#: Links of one entity that are shown; a note has no more that leave it.
_LINKS: Final = 2000


# ------------------------------------------------------------------ changes


def _show_created(_shelf: Shelf, changed: Changed, call: Call) -> dict[str, Any]:
    entities = cast("CreateEntitiesParams", call.params).entities
    return {"entities": [entities[index].model_dump() for index in changed.outcome["created"]]}


@change("knowledge.create_entities", render=_show_created)
def create_entities(tx: Transaction, params: CreateEntitiesParams, call: Call) -> Outcome:
    """Make those entities whose names are free."""
    taken = set(find(tx.rows.notes, params.nugget, {one.name for one in params.entities}, tx.now))
    created: list[int] = []
    for index, entity in enumerate(params.entities):
        if entity.name in taken:
            continue
        taken.add(entity.name)
        wording = worded(entity.name, entity.type, entity.observations)
        given = _note_input(wording, params.nugget, index)
        kept = store_note(tx, given, call.limits)
        check_trusted(kept.note)  # what is kept out of the graph must not look as if it were in it
        created.append(index)
    return {"created": created}


def _note_input(wording: Wording, nugget: str, index: int) -> NoteInput:
    members = {
        "title": wording.title, "type": wording.type, "content": wording.content, "fields": dict(wording.fields),
        "nugget": nugget, "source_type": "mcp",
    }  # fmt: skip
    try:
        return NoteInput.model_validate(members)
    except ValidationError as error:
        found = from_validation(error, prefix=("entities", index))
        raise InvalidParams(found["message"], field=found["data"].get("field")) from None


def _show_related(_shelf: Shelf, changed: Changed, call: Call) -> dict[str, Any]:
    relations = cast("RelationsParams", call.params).relations
    return {"relations": [relations[index].model_dump() for index in changed.outcome["created"]]}


@change("knowledge.create_relations", render=_show_related)
def create_relations(tx: Transaction, params: RelationsParams, call: Call) -> Outcome:
    """Make those relations that are not there; all, or none if an entity is missing."""
    ends = _ends(tx, params)
    created = []
    for index, one in enumerate(params.relations):
        for end in ("source", "target"):
            if getattr(one, end) not in ends:
                raise _no_entity(f"relations.{index}.{end}")
        source, target = ends[one.source], ends[one.target]
        if source.id == target.id:
            raise InvalidParams("an entity cannot be related to itself", field=f"relations.{index}.target")
        relation = relation_of(one.relation)
        check_writable(relation.name, f"relations.{index}.relation")
        ((start, end_),) = _direction(source, target, relation.name)
        name = tx.admit_line(relation.name, f"relations.{index}.relation")
        reason = tx.admit_line(relation.spelling, f"relations.{index}.relation")
        there = tx.rows.links.get(start, end_, name)
        if there is not None and not is_relation(there):
            tx.delete_link(there, params.nugget)
            there = None
        if there is None:
            connect(tx, Link(start, end_, name, reason, tx.now), params.nugget, call.limits)
            created.append(index)
    return {"created": created}


def _direction(source: Note, target: Note, relation: str) -> list[tuple[str, str]]:
    return directed(source.id, target.id, relation, "outgoing", one_is_older=source.row < target.row)


def _ends(tx: Transaction, params: RelationsParams) -> dict[str, Note]:
    names = {name for one in params.relations for name in (one.source, one.target)}
    return find(tx.rows.notes, params.nugget, names, tx.now)


def _no_entity(field: str) -> NotFound:
    return NotFound(f"{field}: there is no entity of this name", field=field, reason="NODE_NOT_FOUND")


def _show_added(_shelf: Shelf, changed: Changed, call: Call) -> dict[str, Any]:
    items = cast("ObservationsParams", call.params).observations
    return {
        "results": [
            {"name": item.name, "observations": [item.observations[index] for index in added]}
            for item, added in zip(items, changed.outcome["added"], strict=True)
        ]
    }


@change("knowledge.add_observations", render=_show_added)
def add_observations(tx: Transaction, params: ObservationsParams, call: Call) -> Outcome:
    """Add what entities do not say yet; all, or nothing if an entity is missing."""
    there = find(tx.rows.notes, params.nugget, {item.name for item in params.observations}, tx.now)
    added: list[list[int]] = []
    for number, item in enumerate(params.observations):
        if item.name not in there:
            raise _no_entity(f"observations.{number}.name")
        known = observations_of(there[item.name])
        before = set(known)
        new = [index for index, one in enumerate(item.observations) if one not in before]
        if new:
            said = [*known, *(item.observations[index] for index in new)]
            there[item.name] = observe(tx, there[item.name], said, call.limits)
        added.append(new)
    return {"added": added}


def _show_deleted(_shelf: Shelf, changed: Changed, call: Call) -> dict[str, Any]:
    names = cast("DeleteEntitiesParams", call.params).names
    missing = set(changed.outcome["missing"])
    return {
        "deleted": [name for index, name in enumerate(names) if index not in missing],
        "not_found": [name for index, name in enumerate(names) if index in missing],
    }


@change("knowledge.delete_entities", render=_show_deleted)
def delete_entities(tx: Transaction, params: DeleteEntitiesParams, _call: Call) -> Outcome:
    """Hide entities: their relations go, and come back, with them."""
    there = find(tx.rows.notes, params.nugget, set(params.names), tx.now)
    for note in there.values():
        tx.hide(note)
    return {"missing": [index for index, name in enumerate(params.names) if name not in there]}


def _show_reduced(_shelf: Shelf, changed: Changed, call: Call) -> dict[str, Any]:
    items = cast("ObservationsParams", call.params).observations
    return {
        "removed": changed.outcome["removed"],
        "not_found": [items[index].name for index in changed.outcome["missing"]],
    }


@change("knowledge.delete_observations", render=_show_reduced)
def delete_observations(tx: Transaction, params: ObservationsParams, call: Call) -> Outcome:
    """Take observations out of entities."""
    there = find(tx.rows.notes, params.nugget, {item.name for item in params.observations}, tx.now)
    removed, missing = 0, []
    for index, item in enumerate(params.observations):
        if item.name not in there:
            missing.append(index)
            continue
        known = observations_of(there[item.name])
        left = [one for one in known if one not in set(item.observations)]
        if len(left) < len(known):
            removed += len(known) - len(left)
            there[item.name] = observe(tx, there[item.name], left, call.limits)
    return {"removed": removed, "missing": missing}


@change("knowledge.delete_relations")
def delete_relations(tx: Transaction, params: RelationsParams, _call: Call) -> Outcome:
    """Take relations away; one that is not there is none."""
    ends = _ends(tx, params)
    removed = 0
    for one in params.relations:
        if one.source not in ends or one.target not in ends:
            continue
        relation = relation_of(one.relation).name
        for start, end in _direction(ends[one.source], ends[one.target], relation):
            link = tx.rows.links.get(start, end, relation)
            if link is not None and is_relation(link):
                tx.delete_link(link, params.nugget)
                removed += 1
    return {"removed": removed}


# ------------------------------------------------------------------ reads


@read("knowledge.read_graph")
async def read_graph(shelf: Shelf, params: GraphReadParams, call: Call) -> dict[str, Any]:
    """Return the entire graph."""
    return await _graph(shelf, params, call, await _holding(shelf, params.nugget, call, ""))


@read("knowledge.search_nodes")
async def search_nodes(shelf: Shelf, params: SearchNodesParams, call: Call) -> dict[str, Any]:
    """Return entities that hold a text in their name, type or observations, and their relations.

    They are found by their words, 256 at most. Of a graph that one may read to its end, so is what words do not tell.
    """
    text, now = params.query.lower(), shelf.clock.now()
    wanted = RECALLABLE._replace(nugget=params.nugget, now=now)
    found: dict[int, Note] = {}
    if text.strip() and shelf.tracks.is_exact(ShelfIndex):
        named = find(shelf.view.notes, params.nugget, {params.query}, now).values()
        most = [*named, *await likely(shelf, text, wanted)]
        found = {note.row: note for note in most if is_entity(note, params.nugget, now) and _holds(note, text)}
    if not found and (not text or shelf.view.notes.count(NoteFilter(nugget=params.nugget)) <= _READ_TO_THE_END):
        return await _graph(shelf, params, call, await _holding(shelf, params.nugget, call, text))
    return await _graph(shelf, params, call, _bounded([found[row] for row in sorted(found)], call))


@read("knowledge.open_nodes")
async def open_nodes(shelf: Shelf, params: OpenNodesParams, call: Call) -> dict[str, Any]:
    """Return entities by their names, and their relations."""
    found = find(shelf.view.notes, params.nugget, set(params.names), shelf.clock.now())
    return await _graph(shelf, params, call, sorted(found.values(), key=lambda note: note.row))


async def _holding(shelf: Shelf, nugget: str, call: Call, text: str) -> list[Note]:
    """Return the entities of a graph that hold *text*, in lower case; read on another thread, a page at a time.

    Raises:
        TooLarge: If they say more than fits into an answer.
    """
    now = shelf.clock.now()
    wanted = RECALLABLE._replace(nugget=nugget, kind="note", now=now)
    found: list[Note] = []
    left = limit = call.limits.line_bytes // _SHARE
    after: tuple[int, int] | None = None
    while True:
        page = (await shelf.store.list_notes(wanted, order="row", descending=False, after=after, limit=_AT_ONCE)).notes
        for note in page:
            if is_entity(note, nugget, now) and _holds(note, text):
                found.append(note)
                left -= len(note.content.encode())
        if left < 0:
            raise _too_large(limit)
        if len(page) < _AT_ONCE:
            return found
        after = (page[-1].row, page[-1].row)


def _bounded(notes: list[Note], call: Call) -> list[Note]:
    limit = call.limits.line_bytes // _SHARE
    if sum(len(note.content.encode()) for note in notes) > limit:
        raise _too_large(limit)
    return notes


def _too_large(limit: int) -> TooLarge:
    text = f"result: is larger than {limit} bytes; ask for less with knowledge.search_nodes"
    return TooLarge(text, field="result", limit=limit)


def _holds(note: Note, text: str) -> bool:
    if not text:
        return True
    entity = entity_of(note)
    return any(text in said.lower() for said in (entity["name"], entity["type"], *entity["observations"]))


async def _graph(shelf: Shelf, params: GraphReadParams, call: Call, notes: Sequence[Note]) -> dict[str, Any]:
    """Return entities, and the relations that have one of them at an end."""
    del call
    names = {note.id: name_of(note) for note in notes}
    entities: list[dict[str, Any]] = []
    links: dict[int, Link] = {}
    for start in range(0, len(notes), _LINKED_AT_ONCE):
        part = notes[start : start + _LINKED_AT_ONCE]
        entities += map(entity_of, part)
        for note in part:
            links |= dict(shelf.view.links.page(note_id=note.id, relation=None, after=0, limit=_LINKS))
        await asyncio.sleep(0)
    names |= _others(shelf, params.nugget, links.values(), names)
    relations = [
        {"source": names[link.source], "target": names[link.target], "relation": spelled(link)}
        for _, link in sorted(links.items())
        if link.source in names and link.target in names and is_relation(link)
    ]
    return {"entities": entities, "relations": relations}


def _others(shelf: Shelf, nugget: str, links: Iterable[Link], known: Collection[str]) -> dict[str, str]:
    """Return the names of entities that links lead to from those that are known, by their ids."""
    now = shelf.clock.now()
    ids = sorted({end for link in links for end in (link.source, link.target)} - set(known))
    found = shelf.view.notes.by_ids(ids) if ids else {}
    return {note.id: name_of(note) for note in found.values() if is_entity(note, nugget, now)}
