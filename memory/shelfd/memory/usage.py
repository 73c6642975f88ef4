"""How notes are used: hits by distinct session, accesses, last times.

Counters live outside the change log. They are held here for up to a second and written in one go, so that a recall
costs no commit; ``kill -9`` may lose that second of them and nothing else.
"""

from collections.abc import Iterable, Sequence

from shelfd.memory.note import Note, Usage
from shelfd.memory.view import View, Writer

#: Session ids kept per note; beyond that only the counter grows.
SESSIONS_KEPT = 1000

_NEVER_USED = Usage()


class UsageBook:
    """Usage of one shelf's notes: what is stored, and what waits to be."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._pending: dict[int, Usage] = {}
        self._sessions: set[tuple[int, str]] = set()
        self._writing: dict[int, Usage] = {}
        self._writing_sessions: set[tuple[int, str]] = set()

    @property
    def is_dirty(self) -> bool:
        """Whether anything waits to be written."""
        return bool(self._pending)

    def of(self, notes: Iterable[Note]) -> dict[int, Usage]:
        """Return the usage of *notes* by row, what waits to be written included."""
        return self._of([note.row for note in notes])

    def _of(self, rows: Sequence[int]) -> dict[int, Usage]:
        found = {row: usage for row in rows if (usage := self._pending.get(row) or self._writing.get(row)) is not None}
        if len(found) < len(rows):
            found |= self._view.usage([row for row in rows if row not in found])
        return found

    def record(self, notes: Sequence[Note], *, session_id: str | None, now: int) -> None:
        """Count that *notes* were returned, and a hit where *session_id* is new to the note."""
        rows = [note.row for note in notes]
        current = self._of(rows)
        known = self._view.was_hit(rows, session_id) if session_id is not None else set(rows)
        for row in rows:
            usage = current.get(row, _NEVER_USED)
            hits, last_session = usage.hits, usage.last_hit_session
            if session_id is not None:
                mark = (row, session_id)
                seen = row in known or mark in self._sessions or mark in self._writing_sessions
                if not seen and session_id != last_session:  # the last one is known even when no more are kept
                    hits += 1
                    self._sessions.add(mark)
                last_session = session_id
            self._pending[row] = Usage(hits, usage.access_count + 1, now, last_session)

    def touch(self, note: Note, *, now: int) -> None:
        """Set a note's last access and nothing else."""
        usage = self._of([note.row]).get(note.row, _NEVER_USED)
        self._pending[note.row] = usage._replace(last_accessed_at=now)

    def drop(self, row: int) -> None:
        """Forget what waits to be written about a note that is gone."""
        self._pending.pop(row, None)
        self._sessions = {mark for mark in self._sessions if mark[0] != row}

    def begin_write(self) -> None:
        """Set aside what waits; it is what :meth:`write` stores."""
        self._writing, self._pending = self._pending, {}
        self._writing_sessions, self._sessions = self._sessions, set()

    def write(self, writer: Writer) -> None:
        """Store what was set aside. Runs inside the store's transaction."""
        writer.put_usages(self._writing)
        kept = [mark for mark in self._writing_sessions if self._writing[mark[0]].hits <= SESSIONS_KEPT]
        writer.add_hit_sessions(sorted(kept))

    def end_write(self, *, stored: bool) -> None:
        """Let go of what was stored, or take it back to try again."""
        if not stored:
            self._pending = {**self._writing, **self._pending}
            self._sessions |= self._writing_sessions
        self._writing, self._writing_sessions = {}, set()
