"""A shelf's notes page by page, all of one moment, for a caller that writes them where it likes.

Between two pages nothing is kept but the state that is read: whoever does not come back for the next page within a
while begins again. What holds the state keeps a purge from finishing, so it is not held for long.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from datetime import timedelta
from secrets import token_hex
from typing import Any, Final
from weakref import WeakKeyDictionary

from pydantic_core import to_json

from shelfd.memory.errors import Conflict, InvalidParams, Unavailable
from shelfd.memory.log.transaction import restored_link
from shelfd.memory.moving.lineage import NoteState, state_of
from shelfd.memory.moving.reconciling import marks_of
from shelfd.memory.moving.snapshot import FORMAT, ShelfLines
from shelfd.memory.notes.note import Link
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.shelf import Shelf

#: Bytes of a page's lines: a reply is at most 8 MiB.
_PAGE_BYTES: Final = 1024 * 1024
_TURN_S: Final = 0.004
_PATIENCE: Final = timedelta(seconds=30)
#: Facets of a note that its file in Markdown has, and by which an edit of that is known.
_EDITED: Final = ("title", "content", "tags", "fields", "hidden")
_GONE: Final = "gone "
_RESTORED: Final = "restored "
_GONE_AT_ONCE: Final = 200
_MOST: Final = 4  #: exports of one shelf that are read at a time: each waits for the others

Line = dict[str, Any]
_readings: Final[WeakKeyDictionary[Shelf, dict[str, "_Reading"]]] = WeakKeyDictionary()


async def next_page(
    shelf: Shelf, cursor: str | None, *, limit: int, has_marks: bool, has_states: bool
) -> dict[str, Any]:
    """Return the next page of an export; without a cursor, the first one of a new export.

    Raises:
        InvalidParams: If the cursor is of none that is read.
        Conflict: If the page before is still being read, or too many exports are.
    """
    readings = _readings.setdefault(shelf, {})
    if cursor is None:
        if len(readings) >= _MOST:
            raise Conflict("too many exports of this shelf are read; wait until one has ended")
        cursor = token_hex(16)
        readings[cursor] = _Reading(shelf, cursor, limit=limit, has_marks=has_marks, has_states=has_states)
    reading = readings.get(cursor)
    if reading is None:
        raise InvalidParams("cursor: of no export that is read; begin again", field="cursor")
    return await reading.next()


def _shown(state: NoteState) -> dict[str, Any]:
    return {"now": sorted(state.now), "past": sorted(state.past), "at": state.at, "says": state.says}


class _Reading:
    """One export: its pages, and whether somebody still wants them."""

    def __init__(self, shelf: Shelf, token: str, *, limit: int, has_marks: bool, has_states: bool) -> None:
        self._shelf = shelf
        self._token = token
        self._pages = _pages(shelf, limit=limit, has_marks=has_marks, has_states=has_states)
        self._is_busy = False
        self._waited = 0
        shelf.spawn(self._end_if_forgotten(), "export")

    async def next(self) -> dict[str, Any]:
        """Return the next page; what it has to wait for ends the export if it fails."""
        if self._is_busy:
            raise Conflict("the page before is still being read")
        self._is_busy, self._waited = True, 0
        try:
            page = await anext(self._pages)
        except BaseException:
            await self._end()
            raise
        finally:
            self._is_busy = False
        if page.pop("is_last"):
            await self._end()
            return page
        return {**page, "next_cursor": self._token}

    async def _end(self) -> None:
        _readings.get(self._shelf, {}).pop(self._token, None)
        await self._pages.aclose()

    async def _end_if_forgotten(self) -> None:
        async with aclosing(self._pages):
            while self._token in _readings.get(self._shelf, {}):
                await self._shelf.clock.sleep(_PATIENCE)
                if self._waited and not self._is_busy:
                    await self._end()
                self._waited += 1


async def _pages(shelf: Shelf, *, limit: int, has_marks: bool, has_states: bool) -> AsyncGenerator[dict[str, Any]]:
    """Yield the pages of an export."""
    with suppress(Unavailable):  # where the disk is full, an export to elsewhere may be what is wanted
        await shelf.write_usage()
    async with shelf.store.frozen() as view:
        said = {"notes": view.counts().notes, "last_seq": view.log.last_seq}
        page: list[Line] = []
        size = 0
        until = shelf.clock.monotonic() + _TURN_S
        for line in _lines(view, has_marks=has_marks, has_states=has_states):
            weight = len(to_json(line))
            if page and (len(page) >= limit or size + weight > _PAGE_BYTES):
                yield {**said, "lines": page, "is_last": False}
                page, size = [], 0
                until = shelf.clock.monotonic() + _TURN_S
            page.append(line)
            size += weight
            if shelf.clock.monotonic() >= until:
                await asyncio.sleep(0)
                until = shelf.clock.monotonic() + _TURN_S
        yield {**said, "lines": page, "is_last": True}


def _as_restored(view: View, link: dict[str, Any]) -> dict[str, Any]:
    """A link for another copy, which may know of a removal that was taken back here: it has to be younger than that."""
    since = view.meta.get(restored_link(Link(**link)))
    return link if since is None else {**link, "created_at": max(link["created_at"], int(since))}


def _lines(view: View, *, has_marks: bool, has_states: bool) -> Iterator[Line]:
    lines = ShelfLines(view, is_lean=True)
    after = ""
    while has_states and (gone := view.meta.page(_GONE, after=after, limit=_GONE_AT_ONCE)):
        yield {"shelfd": {"format": FORMAT, "gone": [[name, int(at)] for name, at in gone]}}
        after = gone[-1][0]
    has_restored = has_states and bool(view.meta.page(_RESTORED, after="", limit=1))
    while notes := lines.next_notes():
        for note, line in zip(notes, lines.of(notes), strict=True):
            if has_marks:
                line["shelfd"]["said"] = marks_of(note, _EDITED)
            if has_states:
                line["shelfd"]["state"] = _shown(state_of(view, note))
                if has_restored and "links" in line["shelfd"]:
                    line["shelfd"]["links"] = [_as_restored(view, link) for link in line["shelfd"]["links"]]
            yield line
    after = ""
    while nuggets := list(lines.empty_nuggets(after=after)):
        yield from (line for line in nuggets if "nugget" in line["shelfd"])
        after = nuggets[-1]["id"]
