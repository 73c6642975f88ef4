"""Use case on time: what happened, and which note replaced which, in order."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, Final, NamedTuple

from shelfd.memory.call import Call
from shelfd.memory.knowledge.synthesis.dates import days_said
from shelfd.memory.methods import cursor
from shelfd.memory.methods.caught_up import is_partial, read_for_entities
from shelfd.memory.methods.entities import checked_type, mentioning_any, read_now
from shelfd.memory.methods.entity_graph import wanted_of
from shelfd.memory.methods.recalling import replay
from shelfd.memory.methods.registry import read
from shelfd.memory.methods.spelled import as_spelled
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note
from shelfd.memory.notes.text import cut, first_sentence
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import from_micros, to_micros
from shelfd.protocol.limits import RECALL_LIMIT
from shelfd.protocol.methods.entity_graph import TimelineParams
from shelfd.protocol.methods.recall import RecallParams

#: Notes that are looked at: those that are most about an entity, then the newest.
_MOST_NOTES: Final = 1000
_TEXT: Final = 200
#: Notes read at once; after so many other tasks run.
_PAGE: Final = 32
#: Microseconds from the first year to 1970: cursors hold no negative numbers.
_ERA: Final = 62_135_596_800_000_000


class _Entry(NamedTuple):
    """What a reply shows of a note; its content is not kept, for there may be a thousand long ones."""

    at: int
    row: int
    is_replaced: bool
    basis: str
    said: str
    note_id: str
    title: str
    text: str
    by: str | None

    @property
    def place(self) -> tuple[int, int, int]:
        return self.at + _ERA, self.row, int(self.is_replaced)


@read("graph.timeline")
async def timeline(shelf: Shelf, params: TimelineParams, call: Call) -> dict[str, Any]:
    """Return what notes about an entity or a query say in the order in which it happened, replaced ones among them."""
    after = cursor.decode_numbers(params.cursor, 3)
    wanted = wanted_of(shelf, params.nugget, params.session_id)._replace(include_superseded=True)
    type_ = None if params.query is not None else checked_type(params.entity_type or "", "entity_type", call)
    state = shelf.index_state() if type_ is None else await read_for_entities(shelf, params.min_seq)
    entries: list[_Entry] = []
    most = _MOST_NOTES if params.query is None else RECALL_LIMIT - 1  # one more says that there are more
    looked_at, is_truncated = 0, is_partial(state)
    found = _of_query(shelf, params, wanted) if type_ is None else _of_entity(shelf, params, wanted, type_, state)
    async for notes in found:
        is_full = looked_at + len(notes) > most
        entries += _entries(shelf, notes[: most - looked_at], wanted)
        looked_at += len(notes)
        if is_full:
            is_truncated = True
            break
    entries.sort(key=lambda entry: entry.place)
    if after is not None:
        entries = [entry for entry in entries if entry.place > after]
    page = entries[: params.limit]
    result: dict[str, Any] = {"entries": [_view(entry) for entry in page], "truncated": is_truncated, "index": state}
    if len(entries) > params.limit:
        result["next_cursor"] = cursor.encode(*page[-1].place)
    return result


async def _of_query(shelf: Shelf, params: TimelineParams, wanted: NoteFilter) -> AsyncIterator[Sequence[Note]]:
    """Yield the notes that recall finds, some at a time."""
    asked = RecallParams.model_construct(
        query=params.query or "",
        nugget=params.nugget,
        session_id=params.session_id,
        k=RECALL_LIMIT,
        exclude_superseded=False,
        include_links=False,
    )
    ids = replay(shelf, asked)
    for begin in range(0, len(ids), _PAGE):
        found = shelf.view.notes.by_ids(ids[begin : begin + _PAGE])
        yield [note for note in found.values() if wanted.admits(note)]
        await asyncio.sleep(0)


async def _of_entity(
    shelf: Shelf, params: TimelineParams, wanted: NoteFilter, type_: str, state: Mapping[str, Any]
) -> AsyncIterator[Sequence[Note]]:
    """Yield the notes that mention an entity, some at a time; those that were not read yet are, as far as may be."""
    value = await as_spelled(shelf, type_, params.entity_value or "", wanted)
    unread = await read_now(shelf, type_, value, wanted) if is_partial(state) else {}
    async for notes in mentioning_any(shelf, type_, value, wanted, unread=unread):
        yield notes


def _entries(shelf: Shelf, notes: Sequence[Note], wanted: NoteFilter) -> Iterator[_Entry]:
    analyzer = shelf.projection(ShelfIndex).index.analyzer
    replacing = shelf.view.notes.by_ids([note.superseded_by for note in notes if note.superseded_by is not None])
    for note in notes:
        by = replacing.get(note.superseded_by or "")
        by = by if by is not None and wanted.admits(by) else None
        text = cut(first_sentence(note.content) or note.content, _TEXT)
        shown = (note.id, note.title, text, None if by is None else by.id)
        at, basis = _dated(note)
        said = ""
        if basis == "created_at" and note.superseded_by is None:
            said = next(days_said(text, analyzer.day(at)), "")
        if said:
            yield _Entry(_begin_of(said, analyzer.timezone), note.row, False, "text", said, *shown)
        else:
            yield _Entry(at, note.row, False, basis, "", *shown)
        if by is not None:
            # Not before what it replaced: a correction may speak of the same day, or of one before.
            replaced_at, basis = _dated(by)
            yield _Entry(max(at, replaced_at), note.row, True, basis, "", *shown)


def _begin_of(said: str, zone: tzinfo) -> int:
    """When a day, month or year begins, in microseconds since 1970 UTC."""
    year, month, day = [*map(int, said.split("-")), 1, 1][:3]
    return to_micros(datetime(year, month, day, tzinfo=zone))


def _dated(note: Note) -> tuple[int, str]:
    """When what a note says happened, as it was told or written, and how that is known."""
    if note.occurred_at is not None:
        return note.occurred_at, "occurred_at"
    if note.valid_from is not None:
        return note.valid_from, "valid_from"
    return note.created_at, "created_at"


def _view(entry: _Entry) -> dict[str, Any]:
    view: dict[str, Any] = {
        "at": from_micros(entry.at),
        "basis": entry.basis,
        "event": "superseded" if entry.is_replaced else "noted",
        "note_id": entry.note_id,
        "text": entry.text,
    }
    if entry.said:
        view["said"] = entry.said
    if entry.title:
        view["title"] = entry.title
    return view if entry.by is None else {**view, "superseded_by": entry.by}
