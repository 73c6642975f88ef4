"""The changes of one note, each with what it found and what it left."""

from collections.abc import Sequence
from typing import NamedTuple

from shelfd.memory.log.history import rewind
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import LogRow


class Played(NamedTuple):
    """One change of a note, with what it found and what it left."""

    row: LogRow
    before: Note  #: of a note that was created, the same as *after*
    after: Note

    @property
    def is_creation(self) -> bool:
        """Whether the change created the note."""
        return self.row.kind == "note.created"

    @property
    def is_known(self) -> bool:
        """Whether the log still says what the change replaced, which a purge may have redacted."""
        return not (self.row.before and self.row.before.get("redacted"))


def moments_of(note: Note, rows: Sequence[LogRow]) -> list[Played]:
    """Return a note's changes in order; *note* is what the last of them left."""
    found: list[Played] = []
    after = note
    for row in reversed(rows):
        before = after if row.kind == "note.created" else rewind(after, row.before)
        found.append(Played(row, before, after))
        after = before
    found.reverse()
    return found
