"""Follows a shelf's log and keeps the vectors of its notes: in the background, in batches, after the callers."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final, NamedTuple
from zlib import crc32

import structlog

from shelfd.memory.errors import EmbedderUnavailable, NoEmbedder, ShelfError
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.dense import NOTHING_ALIKE, Likeness, Neighbours
from shelfd.memory.ports.embedder import Embedder, Vectors
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.projection import PURGED
from shelfd.memory.ports.store import Applied
from shelfd.memory.ports.vectors import NoteVectors
from shelfd.memory.recall.held_vectors import HeldVectors, VectorsHeld, compared, picture_of, stored
from shelfd.memory.recall.shelf_index import ShelfIndex, document_of
from shelfd.memory.shelf.shelf import Shelf

log = structlog.get_logger("shelfd.memory")

#: Notes whose vectors are held in memory: some 3 KB each. Beyond, those of the notes that words find are read.
HELD: Final = 20_000
#: Changes, or notes, that are read at once: some milliseconds; notes that are embedded and stored together.
_BATCH: Final = 64
_STORED: Final = 32
_PAGE: Final = 128
#: Nothing is done until no change came for so long; while changes keep coming, one batch after each so many of these.
_QUIET: Final = timedelta(milliseconds=200)
_PATIENCE: Final = 25
_REST: Final = timedelta(milliseconds=5)
#: After a failure; twice as long after each further one.
_RETRY: Final = timedelta(seconds=10)
_LONGEST_RETRY: Final = timedelta(minutes=10)
_ORIGIN: Final = Origin("shelfd", "vectors.embed")


class _Position(NamedTuple):
    """How far the shelf was read.

    Attributes:
        seq: The last change of the log whose notes were read.
        model: By which they were given vectors.
        below: Of the notes from before that model, those with a row below this one are left; 0: none.
    """

    seq: int = 0
    model: str = ""
    below: int = 0


class _Embedded(NamedTuple):
    """What a transaction stored."""

    vectors: Sequence[NoteVectors]


class ShelfDense:
    """Implements ``Dense`` for one open shelf.

    It writes transactions of its own, which are not in the log. How far it is is stored with what it has done; after a
    crash it goes on there. A note whose text stayed as it was keeps its vectors.

    Args:
        shelf: The shelf.
        embedder: Makes the vectors.
        deadline: For the vectors of a query.
    """

    def __init__(self, shelf: Shelf, embedder: Embedder, deadline: timedelta) -> None:
        self.model = embedder.model
        self._shelf = shelf
        self._view = shelf.view
        self._embedder = embedder
        self._deadline = deadline
        self._held: HeldVectors | None = None
        self._is_read = False
        self._task: asyncio.Task[None] | None = None
        self._last_seq = 0
        shelf.at_close(shelf.store.follow(self._followed))

    # ------------------------------------------------------------ when

    def wake(self) -> None:
        """Read what is stored, and go on in the background with what is left to do. See the port."""
        self._last_seq = self._view.log.last_seq
        if self._task is None:
            self._task = self._shelf.spawn(self._work(), "dense")

    def _followed(self, group: Sequence[Applied[Any]]) -> None:
        for applied in group:
            if isinstance(applied.value, _Embedded):
                self._hold(applied.value.vectors)
            elif self._held is not None:
                self._held.remove(row.row for row in applied.rows if row.kind == PURGED and row.row is not None)
                self._held.remove(note.row for note in applied.notes.values() if self._is_other(note))
        if group[-1].last_seq > self._last_seq:
            self._last_seq = group[-1].last_seq
            if self._task is None:
                self._task = self._shelf.spawn(self._work(), "dense")

    def _is_other(self, note: Note) -> bool:
        known = None if self._held is None else self._held.text(note.row)
        return known is not None and known != _crc(text_of(note))

    def _hold(self, vectors: Sequence[NoteVectors]) -> None:
        if self._held is None:
            return
        for one in vectors:
            self._held.put(one)
        if len(self._held) > HELD:
            self._held = None

    async def _work(self) -> None:
        wait = _RETRY
        try:
            while True:
                try:
                    if not self._is_read:
                        await self._read()
                    if not self._is_behind(position := self._position()):
                        return
                    await self._until_quiet()
                    await self._step(position)
                    wait = _RETRY
                except ShelfError as error:
                    log.warning("vectors.embed_failed", shelf=self._shelf.name, error=type(error).__name__)
                    await self._shelf.clock.sleep(wait)
                    wait = min(2 * wait, _LONGEST_RETRY)
        finally:
            self._task = None

    async def _read(self) -> None:
        """Hold what is stored, a page at a time.

        Raises:
            ShelfError: If it cannot be read; then nothing is held.
        """
        if self._view.vectors.count(self.model) <= HELD:
            self._held = HeldVectors()
            after = 0
            try:
                while self._held is not None and (
                    page := self._view.vectors.page(self.model, after=after, limit=_PAGE)
                ):
                    self._hold(page)
                    after = page[-1].note
                    await asyncio.sleep(0)
            except BaseException:
                self._held = None  # part of them would be taken for all
                raise
        self._is_read = True

    async def _until_quiet(self) -> None:
        """Wait until no change came for a while, but not for ever."""
        await self._shelf.clock.sleep(_REST)
        for _ in range(_PATIENCE):
            seen = self._last_seq
            if self._position().seq == seen:
                return
            await self._shelf.clock.sleep(_QUIET)
            if seen == self._last_seq:
                return

    def _position(self) -> _Position:
        known = self._view.vectors.position()
        position = _Position() if known is None else _Position(**known)
        last = self._view.log.last_seq
        if position.model != self.model or self._view.log.first_seq > position.seq + 1:
            return _Position(last, self.model, 2**62)  # every note anew; what changes meanwhile comes by the log
        return position

    def _is_behind(self, position: _Position) -> bool:
        return position.below > 0 or position.seq < self._view.log.last_seq

    # ------------------------------------------------------------ what

    async def _step(self, position: _Position) -> None:
        """Give vectors to the next notes."""
        if position.seq < self._view.log.last_seq:
            rows = self._view.log.page(since_seq=position.seq, limit=_BATCH)
            wanted = {row.row for row in rows if row.row is not None and row.kind.startswith("note.")}
            notes: Sequence[Note] = list(self._view.notes.by_rows(sorted(wanted)).values())
            position = position._replace(seq=rows[-1].seq)
        else:
            notes = self._view.notes.scan(before_row=position.below, limit=_BATCH)
            position = position._replace(below=notes[-1].row if notes else 0)
        known = self._view.vectors.texts([note.row for note in notes], self.model)
        texts = {note.row: text_of(note) for note in notes if self._may_leave(note)}
        left = [row for row, text in texts.items() if known.get(row) != _crc(text)]
        for first in range(0, len(left), _STORED):
            await self._embed({row: texts[row] for row in left[first : first + _STORED]})
        await self._shelf.commit(_ORIGIN, partial(_move, position))

    async def _embed(self, texts: Mapping[int, str]) -> None:
        made = await self._embedder.texts(list(texts.values()), permit=partial(self._permit, list(texts)))
        pairs = zip(texts.items(), made, strict=True)
        vectors = [stored(row, self.model, _crc(text), one) for (row, text), one in pairs]

        def apply(tx: Transaction) -> _Embedded:
            now = tx.rows.notes.by_rows(list(texts))  # what was purged or edited meanwhile is not what these are of
            kept = [one for one in vectors if one.note in now and _crc(text_of(now[one.note])) == one.text]
            tx.rows.vectors.put(kept)
            return _Embedded(kept)

        await self._shelf.commit(_ORIGIN, apply)

    def _may_leave(self, note: Note) -> bool:
        return self._embedder.is_local or not self._is_local_only(note.nugget)

    def _permit(self, rows: Sequence[int]) -> None:
        """Look once more before texts leave this machine."""
        if not all(map(self._may_leave, self._view.notes.by_rows(rows).values())):
            raise EmbedderUnavailable("a nugget was marked local_only meanwhile", reason="LOCAL_ONLY")

    def _is_local_only(self, name: str | None) -> bool:
        nugget = None if name is None else self._view.nuggets.get(name)
        return nugget is not None and nugget.local_only

    # ------------------------------------------------------------ comparing

    def state(self) -> dict[str, Any]:
        """Return the model, and which share of the notes has its vectors. See the port."""
        notes = len(self._shelf.projection(ShelfIndex).index)
        known = len(self._held) if self._held is not None else self._view.vectors.count(self.model)
        return {"model": self.model, "share": round(min(1.0, known / notes), 4) if notes else 1.0}

    async def query(self, text: str, nugget: str | None) -> Vectors:
        """Return the vectors of a query, in time or not at all. See the port."""
        if not self._embedder.is_local and self._is_local_only(nugget):
            raise NoEmbedder("the nugget is marked local_only, and the embedder is elsewhere", reason="LOCAL_ONLY")
        try:
            async with asyncio.timeout(self._deadline.total_seconds()):
                return await self._embedder.query(text)
        except TimeoutError:
            raise EmbedderUnavailable("the embedder took too long", reason="EMBEDDER_TIMEOUT") from None

    @property
    def is_held(self) -> bool:
        """Whether the vectors of all notes are in memory. See the port."""
        return self._held is not None

    async def likeness(self, query: Vectors, rows: Sequence[int], neighbours: Neighbours) -> Likeness:
        """Return how like a query notes are. See the port."""
        is_whole = self._held is not None
        picture = self._picture(rows)
        if picture is None or not len(query) or query.shape[1] != picture.vectors.shape[1]:
            return NOTHING_ALIKE._replace(is_whole=is_whole)
        beside = neighbours(picture.rows)
        found = await asyncio.to_thread(compared, picture, query, *beside)
        return Likeness(*found, is_whole, self._embedder.weight)

    def _picture(self, rows: Sequence[int]) -> VectorsHeld | None:
        if self._held is not None:
            return self._held.picture()
        return picture_of(self._view.vectors.of(rows, self.model))


def text_of(note: Note) -> str:
    """Return what of a note is embedded: what recall indexes, after the author, who is asked for by name."""
    text = document_of(note).text
    return f"{note.author}: {text}" if note.author and text else text


def _crc(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


def _move(position: _Position, tx: Transaction) -> None:
    tx.rows.vectors.put_position(position._asdict())
