"""Which note stands for another, and what one is again for which none does."""

from collections.abc import Iterable

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.view import View


def unsuperseded(note: Note, changes: Iterable[LogRow]) -> Note:
    """Return *note* as it is if no other stands for it: it holds as long as it did before it was superseded.

    Args:
        changes: Those of the note, the newest first.
    """
    valid_to = note.valid_to
    for row in changes:
        before = row.before or {}
        if "superseded_by" in before:
            valid_to = before.get("valid_to", valid_to)
        is_before = "superseded_by" in before and before["superseded_by"] is None
        if is_before or "valid_to" in before or before.get("redacted"):
            break
    return note._replace(superseded_by=None, valid_to=valid_to, extra=note.extra._replace(superseded_reason=None))


def superseded_as(other: Note, note: Note) -> Note:
    """Return *note* superseded, or not, as *other* is: by which one, why, and until when it held."""
    extra = note.extra._replace(superseded_reason=other.extra.superseded_reason)
    return note._replace(superseded_by=other.superseded_by, valid_to=other.valid_to, extra=extra)


def leads_to(view: View, start: str | None, goal: str) -> bool:
    """Return whether following replacements from note *start* leads to note *goal*."""
    seen: set[str] = set()
    at = start
    while at is not None and at not in seen:
        if at == goal:
            return True
        seen.add(at)
        note = view.notes.get(at)
        at = None if note is None else note.superseded_by
    return False


def can_stand_for(view: View, heir: str, note_id: str) -> bool:
    """Return whether there is a note *heir*, and it is not itself replaced by note *note_id*."""
    return view.notes.get(heir) is not None and not leads_to(view, heir, note_id)
