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


def superseded_with(other: Note, note: Note) -> Note:
    """Return *note* superseded by what stands for *other*, which stood for *note* itself: it held as long at most.

    Args:
        other: What replaced *note* and counts no more.
        note: As it is if nothing stands for it.
    """
    end = superseded_as(other, note).valid_to
    if end is not None and note.valid_to is not None:
        end = min(end, note.valid_to)
    if end is not None and note.valid_from is not None and end <= note.valid_from:
        end = None
    return superseded_as(other, note)._replace(valid_to=end)


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
