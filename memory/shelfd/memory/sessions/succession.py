"""Which note stands for another by the changes that count.

A note that is gone stands for no other: what replaced it does then, as it replaced what that had replaced. Where
nothing did, the other counts again. Of notes that would replace each other in a circle, the one counts that was
replaced first.
"""
# A protocol's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from shelfd.memory.log.superseding import superseded_with, unsuperseded
from shelfd.memory.notes.note import EMPTY, Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.view import View
from shelfd.memory.sessions.dead import Dead, covers
from shelfd.memory.sessions.moments import Played

#: Log rows of a rewind that are read at once.
_PAGE: Final = 256


class _Successor(NamedTuple):
    """What stands for a note.

    Attributes:
        id: The note that does.
        said: What says so, with why and until when it held: the note itself, or one that is gone and stood for it.
        seq: The change by which it was replaced; 0 if that was long ago.
    """

    id: str
    said: Note
    seq: int


class Changes(Protocol):
    """What has become of notes, and which of their changes count."""

    view: View
    dead: Dead

    def note(self, note_id: str) -> Note | None:
        """Return a note as it stands."""

    def moments(self, note_id: str) -> Sequence[Played]:
        """Return a note's changes that may matter, in order."""

    def is_gone(self, note_id: str) -> bool:
        """Return whether a note is not there by the changes that count."""

    def is_played(self, row: LogRow) -> bool:
        """Return whether a change is one of those that count or were taken back."""


class Succession:
    """Which notes stand for others. Knows what it has found out once; of no use after a write.

    Args:
        changes: Those of all notes.
    """

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._found: dict[str, _Successor | None] = {}

    def applied(self, note: Note) -> Note:
        """Return a note, by those of its changes that count, as others leave it: superseded, or counting again.

        One that is gone is left as it is: nobody sees it, and to follow each of many would take long.
        """
        if self._changes.is_gone(note.id) or next(self._told(note.id), None) is None:
            return note
        found = self._of(note.id)
        if found is not None and self._gives_way(note.id):
            found = None
        if found is not None and found.said.id == note.id and found.id == note.superseded_by:
            return note
        if self._wrote(note.id) is not None:
            log = reversed(self._changes.view.log.of_note(note.row))
            note = unsuperseded(note, (row for row in log if self._counts(row)))
        return note if found is None else superseded_with(found.said, note)

    def circle(self, note_id: str) -> list[str]:
        """Return the notes that would replace each other in a circle with this one; none if it is in none."""
        found, at = {note_id: None}, self._of(note_id)
        while at is not None and at.id not in found:
            found[at.id] = None
            at = self._of(at.id)
        return list(found) if at is not None and at.id == note_id else []

    def predecessors(self, note_id: str) -> Iterator[str]:
        """Yield what a note that is gone stood for, itself or by others that are, until rewinding took it away."""
        seen, waiting = {note_id}, [note_id]
        while waiting:
            for other in self._left_by(waiting.pop()):
                if other not in seen:
                    seen.add(other)
                    waiting += [other] if self._changes.is_gone(other) else []
                    yield other

    def _left_by(self, note_id: str) -> Iterator[str]:
        """Yield the notes of which a rewind that took this one away said that it stands for them no more."""
        moments = self._changes.moments(note_id)
        for one in self._changes.dead.retractions if moments and moments[0].is_creation else ():
            since = 0 if one.run_id and covers(one, moments[0].row) else None
            while since is not None:
                rows = self._changes.view.log.of_run(one.run_id, since_seq=since, limit=_PAGE)
                yield from (row.ids[0] for row in rows if (row.before or EMPTY).get("superseded_by") == note_id)
                since = rows[-1].seq if rows else None

    def _gives_way(self, note_id: str) -> bool:
        replaced = {one: found.seq for one in self.circle(note_id) if (found := self._of(one)) is not None}
        return bool(replaced) and replaced[note_id] == min(replaced.values())

    def _of(self, note_id: str) -> _Successor | None:
        if note_id not in self._found:
            self._found[note_id] = next(self._successors(note_id), None)
        return self._found[note_id]

    def _successors(self, note_id: str) -> Iterator[_Successor]:
        """Yield what stands for a note by the last change that says so, and by earlier ones until one denies it."""
        for told in self._told(note_id):
            if told.after.superseded_by is None:
                return
            if (found := self._followed(note_id, told.after)) is not None:
                yield found._replace(seq=told.row.seq)
        if (found := self._followed(note_id, self._first(note_id))) is not None:
            yield found

    def _followed(self, note_id: str, said: Note | None) -> _Successor | None:
        """Return the first note that is there of those that stand for each other, by *said* and by what these say."""
        seen = {note_id}
        while said is not None and (by := said.superseded_by) is not None and by not in seen:
            if not self._changes.is_gone(by):
                return _Successor(by, said, 0)
            seen.add(by)
            if self._changes.note(by) is None:  # purged: what replaced it was said of the other one then
                moments = self._changes.moments(said.id)
                others = (one.after for one in moments if by == one.before.superseded_by != one.after.superseded_by)
                said = next(others, None)
            else:
                said = next((one.after for one in self._told(by)), None)
        return None

    def _told(self, note_id: str) -> Iterator[Played]:
        """Yield the changes of what stands for a note that count, or named one that is gone; the last one first."""
        for moment in reversed(self._changes.moments(note_id)):
            if moment.is_creation or "superseded_by" not in (moment.row.before or EMPTY):
                continue
            by = moment.after.superseded_by
            is_of_gone = by is not None and self._changes.is_played(moment.row) and self._changes.is_gone(by)
            if is_of_gone or self._counts(moment.row):
                yield moment

    def _counts(self, row: LogRow) -> bool:
        return self._changes.is_played(row) and not self._changes.dead.has(row)

    def _wrote(self, note_id: str) -> str | None:
        """Return what stands for a note by the last of its changes that counts, whether that is there or not."""
        said = next((one.after for one in self._told(note_id) if self._counts(one.row)), self._first(note_id))
        return None if said is None else said.superseded_by

    def _first(self, note_id: str) -> Note | None:
        moments = self._changes.moments(note_id)
        return moments[0].before if moments else self._changes.note(note_id)
