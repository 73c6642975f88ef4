"""Pages of notes from a shelf of any size: read off the loop, a slice at a time."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from shelfd.memory.errors import ShuttingDown
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.notes import Listing
from shelfd.memory.ports.store import ended
from shelfd.storage.sqlite.conditions import between, direction, where
from shelfd.storage.sqlite.connection import open_reader
from shelfd.storage.sqlite.database import Database, translated
from shelfd.storage.sqlite.notes import SqliteNotes

#: Notes looked at by one statement: some 5 ms. While it runs the WAL cannot be emptied.
_SLICE: Final = 4_096

_Place = tuple[int, int]


class Page(NamedTuple):
    """A requested page. See :meth:`~shelfd.memory.ports.store.Store.list_notes`."""

    wanted: NoteFilter
    order: str
    descending: bool
    after: _Place | None
    limit: int


class Pages:
    """Reads pages of one shelf, one at a time, each on a thread and a connection of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._free = asyncio.Lock()
        self._closed = False

    async def read(self, page: Page) -> Listing:
        """Return the *page*. A caller that is cancelled waits until the slice at work is done."""
        cancelled = False
        async with self._free:
            reading = asyncio.ensure_future(asyncio.to_thread(self._read, page, lambda: cancelled or self._closed))
            try:
                return await asyncio.shield(reading)
            except asyncio.CancelledError:
                cancelled = True
                await ended(reading)
                raise

    async def close(self) -> None:
        """End the page that is being read."""
        self._closed = True
        async with self._free:
            pass

    def _read(self, page: Page, is_over: Callable[[], bool]) -> Listing:
        # A connection that stayed open would keep a write-ahead log beside a shelf that has no writer.
        try:
            connection = open_reader(self._path)
        except sqlite3.Error as error:
            if known := translated(error):
                raise known from error
            raise
        with closing(connection):
            return _SlicedNotes(Database(connection)).read(page, is_over)


class _SlicedNotes(SqliteNotes):
    """Listings by statements that each look at so many notes at most."""

    def read(self, page: Page, is_over: Callable[[], bool]) -> Listing:
        """Return *page*; ends early, with an error that no caller sees, when *is_over* says so."""
        wanted, order, descending, after, limit = page
        counted = after is None
        if is_over():
            raise ShuttingDown
        if self._has_few(wanted.nugget):
            notes = self.page(wanted, order=order, descending=descending, after=after, limit=limit)
            return Listing(notes, self.count(wanted) if counted else None)
        total: int | None = None
        counting = counted
        if counted and wanted == NoteFilter(nugget=wanted.nugget):  # counted by indexes alone
            total, counting = self.count(wanted), False
        found: dict[int, Note] = {}
        while True:
            until = self._place_behind(page, after)
            if len(found) < limit:
                room = limit - len(found)
                notes = self.listed(_source(page), wanted, order, (after, until), room, descending=descending)
                for note in notes:  # one that was changed meanwhile may come again, further on
                    found.pop(note.row, None)
                    found[note.row] = note
            if counting:
                total = (total or 0) + self._count_between(page, after, until)
            if until is None or (len(found) >= limit and not counting):
                return Listing(list(found.values()), total)
            after = until
            if is_over():
                raise ShuttingDown

    def _has_few(self, nugget: str | None) -> bool:
        condition, params = ("1", ()) if nugget is None else ("nugget = ?", (nugget,))
        sql = f"SELECT count(*) FROM (SELECT 1 FROM note WHERE {condition} LIMIT ?)"  # noqa: S608
        return bool(self._database.value(sql, (*params, _SLICE + 1)) <= _SLICE)

    def _place_behind(self, page: Page, after: _Place | None) -> _Place | None:
        """Return the place of the last note of the slice after *after*; None if no more than a slice is left."""
        left = _SLICE
        by = direction(page.order, descending=page.descending)
        for range_, range_params in between(page.order, after, None, descending=page.descending):
            condition, params = _among(page, range_, range_params)
            notes = f"FROM {_source(page)} WHERE {condition}"
            place = self._database.one(
                f"SELECT updated_at, row {notes} ORDER BY {by} LIMIT 1 OFFSET ?", (*params, left)
            )
            if place is not None:
                return int(place[0]), int(place[1])
            left -= self._database.value(f"SELECT count(*) {notes}", params)
        return None

    def _count_between(self, page: Page, after: _Place | None, until: _Place | None) -> int:
        condition, params = where(page.wanted)
        total = 0
        for range_, range_params in between(page.order, after, until, descending=page.descending):
            sql = f"SELECT count(*) FROM {_source(page)} WHERE {condition} AND {range_}"  # noqa: S608
            total += int(self._database.value(sql, (*params, *range_params)))
        return total


def _source(page: Page) -> str:
    """The table with the index in whose order slices follow each other; with another, each would read all notes."""
    if page.order == "row":
        return "note NOT INDEXED"
    return f"note INDEXED BY {'note_updated' if page.wanted.nugget is None else 'note_nugget'}"


def _among(page: Page, range_: str, params: list[int]) -> tuple[str, tuple[int | str, ...]]:
    """What a slice is cut from: by row from all notes, else from the nugget's."""
    if page.order == "row" or page.wanted.nugget is None:
        return range_, tuple(params)
    return f"nugget = ? AND {range_}", (page.wanted.nugget, *params)
