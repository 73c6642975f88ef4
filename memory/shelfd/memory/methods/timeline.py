"""Use case on time: what happened, and which note replaced which, in order."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Final, NamedTuple

from shelfd.memory.call import Call
from shelfd.memory.methods import cursor
from shelfd.memory.methods.entities import checked_type, mentioning
from shelfd.memory.methods.entity_graph import wanted_of
from shelfd.memory.methods.recalling import replay
from shelfd.memory.methods.registry import read
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note
from shelfd.memory.notes.text import cut, first_sentence
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import from_micros
from shelfd.protocol.limits import RECALL_LIMIT
from shelfd.protocol.methods.entity_graph import TimelineParams
from shelfd.protocol.methods.recall import RecallParams

#: Notes that are looked at: those that are most about an entity, then the newest; what a query finds.
_MOST_NOTES: Final = 1000
_TEXT: Final = 200
#: Notes read at once; after so many other tasks run.
_PAGE: Final = 100
#: Microseconds from the first year to 1970: cursors hold no negative numbers.
_ERA: Final = 62_135_596_800_000_000


class _Entry(NamedTuple):
    at: int
    row: int
    is_replaced: bool
    basis: str
    note: Note
    by: str | None

    @property
    def place(self) -> tuple[int, int, int]:
        return self.at + _ERA, self.row, int(self.is_replaced)


@read("graph.timeline")
async def timeline(shelf: Shelf, params: TimelineParams, call: Call) -> dict[str, Any]:
    """Return what notes about an entity or a query say in the order in which it happened, replaced ones among them."""
    after = cursor.decode_numbers(params.cursor, 3)
    wanted = wanted_of(shelf, params.nugget, params.session_id)._replace(include_superseded=True)
    notes, is_truncated = await _notes(shelf, params, wanted, call)
    entries = sorted([entry async for entry in _entries(shelf, notes, wanted)], key=lambda entry: entry.place)
    if after is not None:
        entries = [entry for entry in entries if entry.place > after]
    page = entries[: params.limit]
    result: dict[str, Any] = {"entries": [_view(entry) for entry in page], "truncated": is_truncated}
    if len(entries) > params.limit:
        result["next_cursor"] = cursor.encode(*page[-1].place)
    return result


async def _notes(shelf: Shelf, params: TimelineParams, wanted: NoteFilter, call: Call) -> tuple[list[Note], bool]:
    """The notes to look at, and whether there are more."""
    if params.query is not None:
        asked = RecallParams.model_construct(
            query=params.query,
            nugget=params.nugget,
            session_id=params.session_id,
            k=RECALL_LIMIT,
            exclude_superseded=False,
            include_links=False,
        )
        found = shelf.view.notes.by_ids(replay(shelf, asked))
        return [note for note in found.values() if wanted.admits(note)], len(found) == RECALL_LIMIT
    type_ = checked_type(params.entity_type or "", "entity_type", call)
    await shelf.enrichment.reach()
    notes: list[Note] = []
    async for some in mentioning(shelf, shelf.enrichment.same(type_, params.entity_value or ""), wanted):
        notes += some
        if len(notes) > _MOST_NOTES:
            break
    return notes[:_MOST_NOTES], len(notes) > _MOST_NOTES


async def _entries(shelf: Shelf, notes: Sequence[Note], wanted: NoteFilter) -> AsyncIterator[_Entry]:
    for begin in range(0, len(notes), _PAGE):
        some = notes[begin : begin + _PAGE]
        replacing = shelf.view.notes.by_ids([note.superseded_by for note in some if note.superseded_by is not None])
        for note in some:
            for entry in _entries_of(note, replacing.get(note.superseded_by or ""), wanted):
                yield entry
        await asyncio.sleep(0)


def _entries_of(note: Note, by: Note | None, wanted: NoteFilter) -> Iterator[_Entry]:
    by = by if by is not None and wanted.admits(by) else None
    name = None if by is None else by.id
    at, basis = _dated(note)
    yield _Entry(at, note.row, False, basis, note, name)
    if by is not None:
        # Not before what it replaced: a correction may speak of the same day, or of one before.
        replaced_at, basis = _dated(by)
        yield _Entry(max(at, replaced_at), note.row, True, basis, note, name)


def _dated(note: Note) -> tuple[int, str]:
    """When what a note says happened, and how that is known."""
    if note.occurred_at is not None:
        return note.occurred_at, "occurred_at"
    if note.valid_from is not None:
        return note.valid_from, "valid_from"
    return note.created_at, "created_at"


def _view(entry: _Entry) -> dict[str, Any]:
    note = entry.note
    view: dict[str, Any] = {
        "at": from_micros(entry.at),
        "basis": entry.basis,
        "event": "superseded" if entry.is_replaced else "noted",
        "note_id": note.id,
        "text": cut(first_sentence(note.content) or note.content, _TEXT),
    }
    if note.title:
        view["title"] = note.title
    return view if entry.by is None else {**view, "superseded_by": entry.by}
