"""Use cases on entities: notes that mention one, and names that mean the same."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from heapq import merge
from types import MappingProxyType
from typing import Any, Final

from shelfd.memory.call import Call
from shelfd.memory.errors import InvalidParams
from shelfd.memory.knowledge.entities.kinds import ENTITY_TYPES, shown
from shelfd.memory.knowledge.entities.phrases import (
    FOUND_BY_SURROUNDINGS,
    is_name_of_its_own,
    is_said,
    words_of,
    words_of_name,
)
from shelfd.memory.methods.caught_up import is_partial, read_for_entities
from shelfd.memory.methods.recall import session_of_hits
from shelfd.memory.methods.registry import read
from shelfd.memory.methods.render import NoteRenderer
from shelfd.memory.methods.spelled import as_spelled
from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.notes.note import Note
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.shelf.nuggets import get_nugget
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.entities import (
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
