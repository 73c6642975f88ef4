"""What a frozen session reads: its nugget as it was after a change.

Its graph is filled once, as a live one is, from the rows of now and what the log says has changed since; then it only
follows purges. Two are kept of a shelf. A note is rewound when it is read.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Final
from weakref import WeakKeyDictionary

from shelfd.memory.errors import Conflict
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.projection import PURGED, PurgedNote, ScanPosition
from shelfd.memory.sessions.dead import Dead
from shelfd.memory.sessions.nugget_graph import NuggetGraph
from shelfd.memory.sessions.replaying import Replay
from shelfd.memory.shelf.shelf import Shelf

#: Changes since then that are read; further back nothing is shown.
MOST_CHANGES: Final = 200_000
#: Graphs kept of a shelf: those that were read last.
_KEPT: Final = 2
#: Log rows, and notes, read before other tasks have their turn.
_ROWS: Final = 500
_NOTES: Final = 100


class FrozenGraph(NuggetGraph):
    """A nugget's notes and links as they were after a change.

    Attributes:
        at_seq: That change.
    """

    def __init__(self, shelf: Shelf, nugget: str, at_seq: int) -> None:
        super().__init__(shelf.view, shelf.settings, nugget)
        self.at_seq = at_seq
        self._rows = shelf.view
        self._seen = at_seq
        self._changed: dict[str, None] = {}  # in the order of the log
        self._links: dict[str, set[tuple[str, str, str]]] = {}
        self._filling = asyncio.Lock()
        self._is_filled = False

    async def catch_up(self) -> None:
        """Fill it if it is not yet, and follow what was purged since.

        Raises:
            Conflict: If too much has changed since.
        """
        async with self._filling:
            if not self._is_filled:
                await self._fill()
            await self._follow(moves=False)

    async def _fill(self) -> None:
        self.clear()
        at = self._rows.log.page(since_seq=self.at_seq - 1, limit=1)
        self.expire(at[0].at if at else 0)
        self._seen = self.at_seq
        await self._follow(moves=False)
        place: ScanPosition | None = ScanPosition()
        while place is not None:
            part = self.read(self._rows, place)
            await self._put_as_were([note.id for note in part.notes])
            place = part.place
        await self._put_as_were(list(self._changed))  # some are in another nugget now
        await self._follow(moves=True)  # what was changed meanwhile
        self._is_filled = True

    async def _follow(self, *, moves: bool) -> None:
        """Take note of what has changed since this was called last; *moves* says to put that where it was."""
        while rows := self._rows.log.page(since_seq=self._seen, limit=_ROWS):
            self._seen = rows[-1].seq
            if self._seen - self.at_seq > MOST_CHANGES and not self._is_filled:
                text = f"more than {MOST_CHANGES} changes came since {self.at_seq}; freeze the session later"
                raise Conflict(text, reason="TOO_LONG_AGO", limit=MOST_CHANGES)
            self.purge([PurgedNote(row.row, row.ids[0]) for row in rows if row.kind == PURGED and row.row is not None])
            self._mark(rows)
            if moves:
                await self._put_as_were([row.ids[0] for row in rows if row.ids])
            await asyncio.sleep(0)

    def _mark(self, rows: Sequence[LogRow]) -> None:
        for row in rows:
            if row.row is not None:
                self._changed[row.ids[0]] = None
            elif row.kind.startswith("link.") and row.before and "link" in row.before:
                self._links.setdefault(row.ids[0], set()).add((row.ids[0], row.ids[1], row.before["link"][2]))

    async def _put_as_were(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _NOTES):
            self._put_as_was(ids[start : start + _NOTES])
            await asyncio.sleep(0)

    def _put_as_was(self, ids: Sequence[str]) -> None:
        replay = self._replay()
        notes = [note for note_id in dict.fromkeys(ids) if (note := replay.target(note_id)) is not None]
        self.apply([note for note in notes if note.nugget == self.nugget])
        now = self._rows.links.leaving([note.id for note in notes])
        self.link({note.id: self._links_of(replay, note.id, now.get(note.id, ())) for note in notes})

    def _links_of(self, replay: Replay, note_id: str, now: Sequence[Link]) -> list[Link]:
        changed = self._links.get(note_id, set())
        kept = [link for link in now if link[:3] not in changed]
        return [*kept, *(link for name in sorted(changed) if (link := replay.link(*name)) is not None)]

    def _replay(self) -> Replay:
        return Replay(self._rows, Dead((), frozenset(), self.at_seq + 1), until=self.at_seq)

    def notes(self, ids: Sequence[str]) -> Mapping[str, Note]:
        """Return notes as they were."""
        replay = self._replay()
        return {note_id: note for note_id in ids if (note := replay.target(note_id)) is not None}

    def unindexed(self) -> Collection[int]:
        """Return the nodes of notes that have changed since: recall's index has them as they are now."""
        return [node for note_id in self._changed if (node := self.node(note_id)) is not None]


_graphs: WeakKeyDictionary[Shelf, OrderedDict[tuple[str, int], FrozenGraph]] = WeakKeyDictionary()


async def frozen_graph(shelf: Shelf, nugget: str, at_seq: int) -> FrozenGraph:
    """Return the graph of a nugget as it was after a change.

    Raises:
        Conflict: If too much has changed since.
    """
    kept = _graphs.setdefault(shelf, OrderedDict())
    graph = kept.get((nugget, at_seq))
    if graph is None:
        graph = kept[nugget, at_seq] = FrozenGraph(shelf, nugget, at_seq)
    kept.move_to_end((nugget, at_seq))
    if len(kept) > _KEPT:
        kept.popitem(last=False)
    await graph.catch_up()
    return graph
