"""How notes are used: hits by distinct session, accesses, last times.

A visible note that others were merged into has their hits, too: it counts the sessions that used it or any of them.
Each keeps its own, and the count is made on demand, by their ``merged_into`` links; so it ends with the
merge.

Counters live outside the change log. They are held here for up to a second and written in one go, so that a recall
costs no commit; ``kill -9`` may lose that second of them and nothing else.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import structlog

from shelfd.memory.errors import ShelfError
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note, Usage
from shelfd.memory.notes.room import make_room
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.projection import PurgedNote
from shelfd.memory.ports.store import Applied, Change, Clock, Store
from shelfd.memory.ports.view import View, Writer
from shelfd.memory.shelf.queries import QueryBuffer

#: Session ids kept per note; beyond that only the counter grows.
SESSIONS_KEPT = 1000

_NEVER_USED = Usage()
#: Makes a named tuple of all its values in a third of the time: one for each result of a recall.
_made: Final = tuple.__new__
#: Notes whose hits one note counts with its own, at most.
_MERGED = 1000
#: Notes whose stored usage is kept: as many as there are hot notes.
_KEPT = 16_384
#: Sessions known to have hit notes, of all notes together: 2 MiB.
_KEPT_SESSIONS = 16_384


class UsageBuffer:
    """Usage of one shelf's notes: what is stored, and what waits to be."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._stored: dict[int, Usage] = {}  # as it was read or written; nothing else writes it
        self._hit_by: defaultdict[int, set[str]] = defaultdict(set)  # sessions by row, those known here
        self._hit_by_count = 0
        self._pending: dict[int, Usage] = {}
        self._sessions: defaultdict[int, set[str]] = defaultdict(set)  # by row, those not stored yet
        self._writing: dict[int, Usage] = {}
        self._writing_sessions: defaultdict[int, set[str]] = defaultdict(set)
        self._is_written_alone = True  # nothing was forgotten since what is being written was set aside

    @property
    def is_dirty(self) -> bool:
        """Whether anything waits to be written."""
        return bool(self._pending)

    def of(self, notes: Iterable[Note]) -> dict[int, Usage]:
        """Return the usage of *notes* by row, what waits to be written included.

        What was merged into a note counts, too, while the note is visible: a hidden one stands for nothing, and in
        a long chain of merges each would have to be counted with all before it.
        """
        notes = list(notes)
        found = self._of([note.row for note in notes])
        for note in notes:
            if not note.extra.provenance or note.hidden:
                continue
            if sources := self._view.links.merged_rows(note.id, limit=_MERGED):
                found[note.row] = self._united(note, sources, found.get(note.row, _NEVER_USED))
        return found

    def _united(self, note: Note, sources: Sequence[int], own: Usage) -> Usage:
        """*own* with the hits of the distinct sessions of all these notes; what is no longer kept is added."""
        rows = [note.row, *sources]
        usage = self._of(rows)
        stored = self._view.usage.hit_sessions(rows)
        sessions: set[str] = set()
        beyond = 0
        for row in rows:
            kept = stored.get(row, frozenset()) | self._pending_sessions(row)
            beyond += max(0, usage.get(row, _NEVER_USED).hits - len(kept))
            sessions |= kept
        last = max((usage[row] for row in rows if row in usage), key=lambda used: used.last_accessed_at, default=own)
        return own._replace(hits=len(sessions) + beyond, last_hit_session=own.last_hit_session or last.last_hit_session)

    def _pending_sessions(self, row: int) -> set[str]:
        return self._sessions.get(row, set()) | self._writing_sessions.get(row, set())

    def _of(self, rows: Sequence[int]) -> dict[int, Usage]:
        usages = dict(zip(rows, map(self._stored.get, rows), strict=True))
        for waiting in (self._writing, self._pending):
            for row in waiting.keys() & usages.keys() if waiting else ():
                usages[row] = waiting[row]
        found = {row: usage for row, usage in usages.items() if usage is not None and usage is not _NEVER_USED}
        if None in usages.values():
            unknown = [row for row, usage in usages.items() if usage is None]
            if len(self._stored) + len(unknown) > _KEPT:
                make_room(self._stored)
            read = self._view.usage.by_rows(unknown)
            self._stored |= dict.fromkeys(unknown, _NEVER_USED) | read
            found |= read
        return found

    def know(self, rows: Sequence[int]) -> None:
        """Read the stored usage of these notes as far as it is not known."""
        self._of(rows)

    def apply(self, group: Sequence[Applied[Any]]) -> None:
        """Know that new notes were never used. Only imports add use, which they have counted by :meth:`raise_to`."""
        stored = self._stored
        for applied in group:
            created = [row.row for row in applied.rows if row.kind == "note.created"]
            new = [row for row in created if row is not None and row not in stored]
            stored |= dict.fromkeys(new[: max(_KEPT - len(stored), 0)], _NEVER_USED)

    def clear(self) -> None:
        """Read again what is stored."""
        self._is_written_alone = False
        self._stored.clear()
        self._hit_by.clear()
        self._hit_by_count = 0

    def record(self, notes: Sequence[Note], *, session_id: str | None, now: int) -> None:
        """Count that *notes* were returned, and a hit where *session_id* is new to the note."""
        rows, pending = [note.row for note in notes], self._pending
        current = self._of(rows)
        known = self._hit_in(session_id, current) if session_id is not None else set(rows)
        for row in rows:
            usage = current.get(row, _NEVER_USED)
            hits, last_session = usage.hits, usage.last_hit_session
            if session_id is not None:
                # The last one is known even when no more are kept.
                if session_id != last_session and row not in known and session_id not in self._pending_sessions(row):
                    hits += 1
                    self._sessions[row].add(session_id)
                    self._note_hit(row, session_id)
                last_session = session_id
            pending[row] = _made(Usage, (hits, usage.access_count + 1, now, last_session))

    def _hit_in(self, session_id: str, usages: Mapping[int, Usage]) -> set[int]:
        """Return which notes are known to be hit in a session.

        Of those never hit, last hit in it, or all of whose sessions are known, nothing is read.
        """
        hit: set[int] = set()
        unknown: list[int] = []
        for row, usage in usages.items():
            if usage.hits and usage.last_hit_session != session_id:
                known = self._hit_by.get(row, ())
                if session_id in known:
                    hit.add(row)
                elif len(known) != usage.hits:
                    unknown.append(row)
        if unknown:
            for row in (found := self._view.usage.was_hit(unknown, session_id)):
                self._note_hit(row, session_id)
            hit |= found
        return hit

    def _note_hit(self, row: int, session_id: str) -> None:
        if self._hit_by_count >= _KEPT_SESSIONS:
            self._hit_by.clear()
            self._hit_by_count = 0
        self._hit_by[row].add(session_id)
        self._hit_by_count += 1

    def _forget_hits(self, row: int) -> None:
        self._hit_by_count -= len(self._hit_by.pop(row, ()))

    def touch(self, note: Note, *, now: int) -> None:
        """Set a note's last access and nothing else."""
        usage = self._of([note.row]).get(note.row, _NEVER_USED)
        self._pending[note.row] = usage._replace(last_accessed_at=now)

    def raise_to(self, known: Mapping[int, Usage]) -> bool:
        """Count at least the use that another memory knew of, by row; what is counted here never becomes less.

        Returns:
            Whether that was any more than was known.
        """
        current = self._of(list(known))
        raised: dict[int, Usage] = {}
        for row, theirs in known.items():
            own = current.get(row, _NEVER_USED)
            if (new := own.raised_to(theirs)) != own:
                raised[row] = new
            if theirs.hits > own.hits and theirs.last_hit_session:
                self._sessions[row].add(theirs.last_hit_session)
                self._forget_hits(row)
        self._pending |= raised
        return bool(raised)

    def purge(self, purged: Iterable[PurgedNote]) -> None:
        """Drop what waits to be written about purged notes."""
        for row, _ in purged:
            self._stored.pop(row, None)
            self._pending.pop(row, None)
            self._sessions.pop(row, None)
            self._forget_hits(row)

    def begin_write(self) -> None:
        """Set aside what waits; it is what :meth:`write` stores."""
        self._writing, self._pending = self._pending, {}
        self._writing_sessions, self._sessions = self._sessions, defaultdict(set)
        self._is_written_alone = True

    def write(self, writer: Writer) -> None:
        """Store what was set aside. Runs inside the store's transaction."""
        writer.usage.put(self._writing)
        kept = [row for row in sorted(self._writing_sessions) if self._writing[row].hits <= SESSIONS_KEPT]
        writer.usage.add_hit_sessions(
            [(row, session) for row in kept for session in sorted(self._writing_sessions[row])]
        )

    def end_write(self, *, stored: bool) -> None:
        """Release what was stored, or take it back to try again."""
        if not stored:
            self._pending = {**self._writing, **self._pending}
            for row, sessions in self._writing_sessions.items():
                self._sessions[row] |= sessions
        elif self._is_written_alone and len(self._stored) + len(self._writing) <= _KEPT:
            self._stored |= self._writing
        else:
            for row in self._writing:
                self._stored.pop(row, None)
        self._writing, self._writing_sessions = {}, defaultdict(set)


log = structlog.get_logger("shelfd.memory")

_DELAY = timedelta(milliseconds=700)
#: Expired outcomes of idempotency keys deleted in one write: some milliseconds.
_FORGOTTEN = 200
Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]


class UsageSaver:
    """Stores what the usage and query buffers hold, and deletes expired outcomes of idempotency keys.

    Args:
        spawn: Starts a task of the shelf.
        retention: How long an idempotency key is remembered.
    """

    def __init__(
        self,
        book: UsageBuffer,
        queries: QueryBuffer,
        store: Store,
        clock: Clock,
        *,
        shelf: str,
        spawn: Spawn,
        retention: timedelta,
    ) -> None:
        self._book = book
        self._queries = queries
        self._store = store
        self._clock = clock
        self._shelf = shelf
        self._spawn = spawn
        self._retention_micros = retention // timedelta(microseconds=1)
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self._writing = asyncio.Lock()  # what is set aside belongs to one write at a time

    def write_soon(self) -> None:
        """Make sure that what is buffered is stored within a second."""
        if self._task is None and not self._is_closed:
            self._task = self._spawn(self._write_later(), "usage")

    def close(self) -> None:
        """Start nothing more by itself; :meth:`write` still works."""
        self._is_closed = True

    async def _write_later(self) -> None:
        try:
            await self._clock.sleep(_DELAY)
            await self.write()
        except ShelfError as error:
            log.warning("usage.write_failed", shelf=self._shelf, error=type(error).__name__)
        finally:
            self._task = None
        if self._is_dirty:
            self.write_soon()

    @property
    def _is_dirty(self) -> bool:
        return self._book.is_dirty or self._queries.is_dirty

    async def write(self) -> None:
        """Store what is buffered now, after what is being stored already.

        Raises:
            Unavailable: If the store did not take it; it stays buffered.
        """
        async with self._writing:
            if self._is_dirty:
                await self._write()

    async def _write(self) -> None:
        self._book.begin_write()
        self._queries.begin_write()
        stored = False

        def transact(writer: Writer, now: int) -> tuple[None, Transaction]:
            self._book.write(writer)
            self._queries.write(writer, now)
            writer.recorded.delete_before(now - self._retention_micros, now=now, limit=_FORGOTTEN)
            return None, Transaction(writer, now)

        try:
            await self._store.commit(Change(Origin("shelfd", "usage.write"), transact))
            stored = True
        finally:
            self._book.end_write(stored=stored)
            self._queries.end_write(stored=stored)
