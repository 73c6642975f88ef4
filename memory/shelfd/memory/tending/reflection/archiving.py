"""Step: hide notes that are worth nothing. They can be restored."""

from typing import Final

from shelfd.memory.notes.inference import is_passing
from shelfd.memory.notes.note import MEMORY_TYPES, Note
from shelfd.memory.tending.reflection.action import Action, Revision
from shelfd.memory.tending.reflection.picture import Picture
from shelfd.memory.tending.reflection.step import each

_TINY: Final = 2  # characters


def is_low_value(note: Note, hits: int) -> bool:
    """Return whether *note* has no value.

    Empty, or a note (no fact: a short value is a value) of two characters at most, or one whose title says that it
    is for the moment only; that of a character or a place says who or what it is. Never one that is pinned, was ever
    returned, or is the assistant's own.
    """
    if note.pinned or hits or note.scope == "self":
        return False
    content = note.content.strip()
    if not content or (note.kind == "note" and len(content) <= _TINY):
        return True
    return note.type in MEMORY_TYPES and is_passing(note.title)


def improve(note: Note, hits: int, picture: Picture) -> Action | None:
    """Hide *note* if it is worth nothing."""
    if not is_low_value(note, hits):
        return None
    hidden = note._replace(archived_at=picture.now)
    return Action(
        type="hide",
        note=note,
        detail="Archived low-value note",
        revisions=(Revision(note, hidden, "note.hidden"),),
    )


ARCHIVE: Final = each("archive", improve)
