"""What a note was: earlier states, read backwards from the present one through the change log."""

from collections.abc import Iterable, Mapping
from typing import Any

from shelfd.memory.log import LogRow
from shelfd.memory.note import Note

#: Fields that a revert leaves as they are: identity, place in the shelf, and the count of writes.
KEPT_BY_REVERT = frozenset({"row", "id", "nugget", "kind", "created_at", "updated_at", "rev"})


def rewind(note: Note, before: Mapping[str, Any] | None, *, rev: int | None = None) -> Note:
    """Return *note* as it was before one change that replaced the fields in *before*.

    Args:
        rev: The rev it had then; one less when not given.
    """
    values = dict(before or {})
    if "tags" in values:
        values["tags"] = tuple(values["tags"])
    return note._replace(**values, rev=note.rev - 1 if rev is None else rev)


def at_rev(note: Note, changes: Iterable[LogRow], rev: int) -> Note | None:
    """Return *note* as of *rev*, or None if there was no such rev.

    Args:
        changes: The note's changes, newest first.
    """
    state = note
    for change in changes:
        if state.rev == rev:
            return state
        state = rewind(state, change.before)
    return state if state.rev == rev else None


def at_seq(note: Note, later: Iterable[LogRow]) -> Note:
    """Return *note* as it was before the changes in *later*, newest first."""
    state = note
    for change in later:
        state = rewind(state, change.before)
    return state


def versions(note: Note, changes: list[LogRow]) -> list[tuple[int, LogRow, dict[str, Any]]]:
    """Return (rev, change, fields it set with their values then) for each of a note's changes, oldest first.

    Args:
        changes: All changes of the note, oldest first.
    """
    found: list[tuple[int, LogRow, dict[str, Any]]] = []
    state = note
    for change in reversed(changes):
        values = {name: getattr(state, name) for name in change.before or ()}
        found.append((state.rev, change, values))
        state = rewind(state, change.before)
    found.reverse()
    return found
