"""Which notes of a shelf may be promoted, read some at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from shelfd.memory.notes.digest import is_digest
from shelfd.memory.notes.note import Note, Usage
from shelfd.memory.ports.tending import Promoted
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.promotion.entries import MIN_HITS

#: Notes that are read, or whose hits are counted with those of their parts, without giving others a turn: some 5 ms.
_AT_ONCE: Final = 64

Candidates: TypeAlias = Callable[[Shelf, Sequence[Promoted]], Awaitable[list[Note]]]


async def none(_shelf: Shelf, _recorded: Sequence[Promoted]) -> list[Note]:
    """Return no notes."""
    return []


async def known(shelf: Shelf, recorded: Sequence[Promoted]) -> list[Note]:
    """Return the notes that may be promoted, of those that are on record."""
    ids = {row.note_id for row in recorded}
    return [note for note in await promotable(shelf, recorded) if note.id in ids]


async def promotable(shelf: Shelf, _recorded: Sequence[Promoted]) -> list[Note]:
    """Return the visible notes that enough sessions used, counting what became part of them."""
    notes: dict[int, Note] = {}
    place = (0, 0)
    while places := shelf.view.notes.with_hits(after=place, limit=_AT_ONCE):
        found = shelf.view.notes.by_rows([row for _, row in places])
        notes |= {row: note for row, note in found.items() if _may_stand(note)}
        place = places[-1]
        await asyncio.sleep(0)
    after = ""
    while ids := shelf.view.links.merge_targets(after=after, limit=_AT_ONCE):
        targets = [note for note in shelf.view.notes.by_ids(ids).values() if _may_stand(note)]
        usage = shelf.usage.of(targets)
        notes |= {note.row: note for note in targets if note.row in usage and usage[note.row].hits >= MIN_HITS}
        after = ids[-1]
        await asyncio.sleep(0)
    return [notes[row] for row in sorted(notes)]


def _may_stand(note: Note) -> bool:
    """Whether a note may be promoted at all: it is visible, and says what no other note does, unlike a digest."""
    return not note.hidden and note.superseded_by is None and not note.quarantined and not is_digest(note)


async def usage_of(shelf: Shelf, notes: Sequence[Note]) -> dict[int, Usage]:
    """Return the usage of *notes* by row, what became part of them counted."""
    usage: dict[int, Usage] = {}
    for first in range(0, len(notes), _AT_ONCE):
        usage |= shelf.usage.of(notes[first : first + _AT_ONCE])
        await asyncio.sleep(0)
    return usage
