"""Use cases on entities: notes that mention one, and names that mean the same."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from heapq import merge
from types import MappingProxyType
from typing import Any, Final

from shelfd.memory.call import Call
from shelfd.memory.errors import Conflict, InvalidParams, QuotaExceeded
from shelfd.memory.knowledge.entities.aliases import ALIASES_KNOWN, Aliases, built_in
from shelfd.memory.knowledge.entities.kinds import ENTITY_TYPES, EntityName, family, key_of, shown
from shelfd.memory.knowledge.entities.phrases import (
    FOUND_BY_SURROUNDINGS,
    is_name_of_its_own,
    is_said,
    words_of,
    words_of_name,
)
from shelfd.memory.knowledge.position import read_again
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.methods.caught_up import is_partial, read_for_entities
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.recall import session_of_hits
from shelfd.memory.methods.registry import change, read
from shelfd.memory.methods.render import NoteRenderer
from shelfd.memory.methods.spelled import as_spelled
from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.entities import StoredAlias
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.shelf.nuggets import get_nugget
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.protocol.methods.entities import (
    AliasAddParams,
    AliasListParams,
    AliasParams,
    EntityRecallParams,
    RecallActorParams,
    RecallCveParams,
    RecallEntityParams,
    RecallToolParams,
)

#: How much a note is about what it mentions, most first.
_WEIGHTS: Final = (3, 2, 1)
#: Mentions read at once; after so many other tasks run.
_PAGE: Final = 32
#: Notes that have the words of a name and may have them as a name: some 2 ms.
_LOOKED_AT: Final = 32


@read("recall_entity")
async def recall_entity(shelf: Shelf, params: RecallEntityParams, call: Call) -> dict[str, Any]:
    """Return notes that mention an entity, by any of its names."""
    type_ = checked_type(params.entity_type, "entity_type", call)
    return await _recall(shelf, params, call, type_, params.entity_value)


@read("recall_cve")
async def recall_cve(shelf: Shelf, params: RecallCveParams, call: Call) -> dict[str, Any]:
    """Return notes that mention a vulnerability."""
    return await _recall(shelf, params, call, "cve", params.cve_id)


@read("recall_actor")
async def recall_actor(shelf: Shelf, params: RecallActorParams, call: Call) -> dict[str, Any]:
    """Return notes that mention an actor, an intrusion set among them."""
    return await _recall(shelf, params, call, "actor", params.actor_name)


@read("recall_tool")
async def recall_tool(shelf: Shelf, params: RecallToolParams, call: Call) -> dict[str, Any]:
    """Return notes that mention a tool, malware among them."""
    return await _recall(shelf, params, call, "tool", params.tool_name)


def checked_type(type_: str, field: str, call: Call) -> str:
    """Return a type of entities.

    Raises:
        InvalidParams: If there is no such type.
    """
    if type_ not in ENTITY_TYPES and type_ not in call.own_types:
        known = ", ".join(sorted({*ENTITY_TYPES, *call.own_types}))
        raise InvalidParams(f"{field}: is none of {known}", field=field)
    return type_


async def _recall(shelf: Shelf, params: EntityRecallParams, call: Call, type_: str, asked: str) -> dict[str, Any]:
    if params.nugget is not None:
        get_nugget(shelf.view, params.nugget)
    state = await read_for_entities(shelf, params.min_seq)
    wanted = RECALLABLE._replace(nugget=params.nugget, session=params.session_id, now=shelf.clock.now())
    value = await as_spelled(shelf, type_, asked, wanted)
    unread: Mapping[int, Sequence[int]] = {}
    if is_partial(state):
        unread = await read_now(shelf, type_, value, wanted, max(_LOOKED_AT, params.k))
    notes: list[Note] = []
    async for some in mentioning_any(shelf, type_, value, wanted, unread=unread):
        notes += some
        if len(notes) >= params.k:
            break
    notes = notes[: params.k]
    if params.count_hits:
        shelf.record_use(notes, session_id=session_of_hits(shelf, params, call))
    shelf.retrievals += 1
    shelf.entity_hits += bool(notes)
    links = shelf.view.links.leaving([note.id for note in notes])
    renderer = NoteRenderer(shelf.view, shelf.usage.of(notes), links, full=False)
    entity = {"type": type_, "value": shown(type_, asked), "canonical": shelf.enrichment.canonical(type_, value)}
    shown_notes = [renderer(note, params.max_content_chars) for note in notes]
    return {"notes": shown_notes, "entity": entity, "index": state}


async def read_now(
    shelf: Shelf, type_: str, value: str, wanted: NoteFilter, most: int = _LOOKED_AT
) -> dict[int, list[int]]:
    """Return the rows of notes that mention an entity, by how much they are about it, the newest first.

    Of the notes that have the words of one of its names the *most* newest are read for that, here and now.
    """
    names = set(shelf.enrichment.same(type_, value))
    known = shelf.view.entities.called(sorted(names))
    index = shelf.projection(ShelfIndex).index
    said = {*shelf.enrichment.spellings(type_, value), *(entity.value for entity in known)}
    words = {tuple(index.analyzer.words(one)) for one in said}
    rows = sorted({row for name in words if name for row in index.having(name, wanted, most)}, reverse=True)[:most]
    found: dict[int, list[int]] = {}
    for begin in range(0, len(rows), _PAGE):
        notes = list(shelf.view.notes.by_rows(rows[begin : begin + _PAGE]).values())
        for note, mentioned in zip(notes, await shelf.enrichment.mentioned(notes), strict=True):
            if weight := max((one.weight for one in mentioned if one[:2] in names), default=0):
                found.setdefault(weight, []).append(note.row)
    return {weight: sorted(some, reverse=True) for weight, some in found.items()}


async def mentioning_any(
    shelf: Shelf,
    type_: str,
    value: str,
    wanted: NoteFilter,
    most: int | None = _LOOKED_AT,
    *,
    unread: Mapping[int, Sequence[int]] = MappingProxyType({}),
) -> AsyncIterator[list[Note]]:
    """Yield wanted notes that mention what *value* names, then those that say its name where nothing shows what it is.

    A name of one word has to be known as one of the type by another note, or come with what is said beside it, as "Frau
    Amsel" does. Of notes that have the words of a name the *most* newest are looked at.
    """
    names = shelf.enrichment.same(type_, value)
    seen: set[int] = set()
    async for notes in mentioning(shelf, names, wanted, unread):
        seen.update(note.row for note in notes)
        yield notes
    if type_ not in FOUND_BY_SURROUNDINGS:
        return
    known = [entity.value for name in names if (entity := shelf.view.entities.get(*name)) is not None]
    phrases = {words_of_name(type_, said) for said in (value, *known)}
    if not known:
        phrases = {name for name in (*phrases, words_of(value)) if is_name_of_its_own(name)}
    index = shelf.projection(ShelfIndex).index
    for name in sorted(phrases):
        rows = index.having(index.analyzer.words(" ".join(name)), wanted, most)
        for begin in range(0, len(rows), _PAGE):
            some = shelf.view.notes.by_rows(rows[begin : begin + _PAGE]).values()
            found = [note for note in some if note.row not in seen and wanted.admits(note) and _says(note, name)]
            seen.update(note.row for note in found)
            yield found
            await asyncio.sleep(0)


def _says(note: Note, name: Sequence[str]) -> bool:
    return is_said("\n".join((note.title, *note.tags, note.content)), name)


async def mentioning(
    shelf: Shelf,
    names: Sequence[tuple[str, str]],
    wanted: NoteFilter,
    unread: Mapping[int, Sequence[int]] = MappingProxyType({}),
) -> AsyncIterator[list[Note]]:
    """Yield wanted notes that mention one of *names*, each once: a weight after the other, the newest first.

    Args:
        shelf: Theirs.
        names: Types and canonical forms.
        wanted: Which of them.
        unread: Rows of further ones that mention them, by weight, the newest first.
    """
    view = shelf.view
    entities = [entity.number for name in names if (entity := view.entities.get(*name)) is not None]
    seen: set[int] = set()
    for weight in _WEIGHTS:
        before: int | None = None
        while entities or unread:
            pages = [view.entities.notes(number, weight=weight, before=before, limit=_PAGE) for number in entities]
            pages.append([row for row in unread.get(weight, ()) if before is None or row < before][:_PAGE])
            rows = list(dict.fromkeys(merge(*pages, reverse=True)))[:_PAGE]
            notes = view.notes.by_rows([row for row in rows if row not in seen])
            yield [note for row in rows if (note := notes.get(row)) is not None and wanted.admits(note)]
            seen.update(rows)
            if len(rows) < _PAGE:
                break
            before = rows[-1]
            await asyncio.sleep(0)


def _renew(_context: Context, shelf: Shelf, _changed: Changed) -> None:
    shelf.enrichment.wake()


@change("alias.add", then=_renew)
def add(tx: Transaction, params: AliasAddParams, call: Call) -> Outcome:
    """Say that two names mean the same.

    Raises:
        InvalidParams: If the two are one, or there is no such type.
        Conflict: If the other is, by however many steps, an alias of this one.
        QuotaExceeded: If callers gave or took back as many aliases as a shelf knows.
    """
    type_ = checked_type(params.type, "type", call)
    key, canonical = key_of(type_, params.alias), key_of(type_, params.canonical)
    if key == canonical:
        raise InvalidParams("alias: is the same name as canonical", field="alias")
    tx.admit_name(params.alias, "alias")  # what was left of two of them would be one name
    tx.admit_name(params.canonical, "canonical")
    stored = tx.rows.entities.aliases(limit=ALIASES_KNOWN)
    known = Aliases(stored)
    if key in known.chain(type_, params.canonical):
        raise Conflict("canonical: is itself an alias of this name; remove that first", field="canonical")
    is_new = known.chain(type_, params.alias)[:1] != [canonical]
    if is_new:
        name = EntityName(family(type_), key)
        alias = StoredAlias(*name, params.alias, canonical, params.canonical, type_, 0, tx.now)
        _put(tx, alias, stored)
        replaced = [one for one in stored if one[:2] == name and not one.note]
        read_again(tx, [params.alias, params.canonical, *_names(replaced)])
        known = Aliases([alias, *stored])
    return {
        "alias": shown(type_, params.alias), "canonical": known.canonical(type_, params.alias), "added": is_new,
    }  # fmt: skip


def _put(tx: Transaction, alias: StoredAlias, stored: Sequence[StoredAlias]) -> None:
    """Store what a caller says of a name, if it is among the first that a shelf knows."""
    given = [one for one in stored if not one.note]
    if len(given) >= ALIASES_KNOWN and not any(one[:2] == alias[:2] for one in given):
        message = f"a shelf has at most {ALIASES_KNOWN} aliases that callers gave or took back"
        raise QuotaExceeded(message, field="alias", limit=ALIASES_KNOWN)
    tx.rows.entities.put_alias(alias)


@change("alias.remove", then=_renew)
def remove(tx: Transaction, params: AliasParams, call: Call) -> Outcome:
    """Take back that a name means the same as another: no note that says so makes it one again.

    Raises:
        QuotaExceeded: As for ``alias.add``.
    """
    type_ = checked_type(params.type, "type", call)
    name = EntityName(family(type_), key_of(type_, params.alias))
    stored = tx.rows.entities.aliases(limit=ALIASES_KNOWN)
    if not Aliases(stored).chain(type_, params.alias):
        return {"removed": False}
    tx.rows.entities.delete_aliases(*name)
    _put(tx, StoredAlias(*name, params.alias, "", "", type_, 0, tx.now), stored)
    read_again(tx, [params.alias, *_names(one for one in stored if one[:2] == name)])
    return {"removed": True}


def _names(gone: Iterable[StoredAlias]) -> list[str]:
    """Names that notes may have been known to mention by aliases that are gone."""
    return [one.canonical_name for one in gone if one.canonical]


@read("alias.list")
def list_aliases(shelf: Shelf, params: AliasListParams, call: Call) -> dict[str, Any]:
    """Return a page of aliases by type and name."""
    wanted = None if params.type is None else family(checked_type(params.type, "type", call))
    stored = shelf.view.entities.aliases(limit=ALIASES_KNOWN)
    found: dict[tuple[str, str], dict[str, Any]] = {
        name: {"type": name.type, "alias": step.alias, "canonical": shown(name.type, step.name), "source": "built_in"}
        for name, step in built_in().items()
    }
    given: set[tuple[str, str]] = set()
    known = Aliases(stored)
    notes = shelf.view.notes.by_rows([alias.note for alias in stored if alias.note])
    for alias in stored:
        name = EntityName(alias.family, alias.alias)
        if name in given or known.chain(alias.type, alias.name)[:1] != [alias.canonical][: bool(alias.canonical)]:
            continue
        given.add(name)
        found.pop(name, None)
        if alias.canonical:
            source: dict[str, Any] = {"source": "note" if alias.note else "caller"}
            if alias.note in notes:
                source["note_id"] = notes[alias.note].id
            names = {"alias": shown(alias.type, alias.name), "canonical": shown(alias.type, alias.canonical_name)}
            found[name] = {"type": alias.type, **names, **source}
    return _page(found, wanted, params)


def _page(found: dict[tuple[str, str], dict[str, Any]], wanted: str | None, params: AliasListParams) -> dict[str, Any]:
    after = tuple((cursor.decode_text(params.cursor) or "").split("\n", 1))
    names = sorted(name for name in found if wanted in (None, name[0]) and tuple(name) > after)
    result: dict[str, Any] = {"aliases": [found[name] for name in names[: params.limit]]}
    if len(names) > params.limit:
        result["next_cursor"] = cursor.encode("\n".join(names[params.limit - 1]))
    return result
