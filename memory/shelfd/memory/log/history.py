"""What a note was: earlier states, read backwards from the present one through the change log."""

from collections.abc import Iterable, Mapping
from typing import Any

from shelfd.memory.notes.note import NO_EXTRA, Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.view import View

#: Fields that a revert leaves as they are: identity, place in the shelf, and the count of writes.
KEPT_BY_REVERT = frozenset({"row", "id", "nugget", "kind", "created_at", "updated_at", "rev"})

#: What the history shows of a note's first version.
_FIRST = ("title", "content", "tags", "type", "subject", "scope", "source", "confidence", "stability")
_NOTHING = {**dict.fromkeys(_FIRST), "extra": NO_EXTRA}
#: Stored fields that are never shown.
_INTERNAL = frozenset({"key", "rendered", "imported"})


def rewind(note: Note, before: Mapping[str, Any] | None, *, rev: int | None = None) -> Note:
    """Return *note* as it was before one change that replaced the fields in *before*.

    Args:
        rev: The rev it had then; one less when not given.
    """
    values = {} if before is None or before.get("redacted") else before
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


def with_log(view: View, note_id: str, *, since_seq: int = 0) -> tuple[Note, list[LogRow]] | None:
    """Return a note and its changes after *since_seq*, oldest first, of one and the same moment.

    Changes may become durable on another thread between two reads; then both are read again.
    """
    while (note := view.notes.get(note_id)) is not None:
        changes = view.log.of_note(note.row, since_seq=since_seq)
        again = view.notes.get(note_id)
        if again is not None and again.rev == note.rev:
            return note, changes
    return None


def states_after(rows: Iterable[LogRow], view: View) -> dict[int, Note]:
    """Return by sequence number the state that each note was left in by its changes among *rows*, oldest first.

    Reads each note's later changes once, however many of *rows* are about it.
    """
    first: dict[int, LogRow] = {}
    wanted: set[int] = set()
    for row in rows:
        if row.row is not None:
            first.setdefault(row.row, row)
            wanted.add(row.seq)
    states: dict[int, Note] = {}
    for number, row in first.items():
        seq = row.seq
        found = with_log(view, row.ids[0], since_seq=seq)
        if found is None or found[0].row != number:  # it was purged, and its id may be another's now
            continue
        state, later = found
        for change in reversed(later):
            if change.seq in wanted:
                states[change.seq] = state
            state = rewind(state, change.before)
        states[seq] = state
    return states


def changed_values(before: Mapping[str, Any], after: Note) -> dict[str, Any]:
    """Return the fields that a change set, with their values after it; rarely used fields by their own names.

    Of a change that a purge has redacted nothing is known any more.
    """
    if before.get("redacted"):
        return {}
    values = {name: getattr(after, name) for name in before if name != "extra"}
    if "extra" in before:
        old, new = before["extra"].as_mapping(), after.extra.as_mapping()
        values |= {name: new.get(name) for name in {**old, **new} if old.get(name) != new.get(name)}
    return {name: value for name, value in values.items() if name not in _INTERNAL}


def versions(note: Note, changes: list[LogRow]) -> list[tuple[int, LogRow, dict[str, Any]]]:
    """Return (rev, change, fields it set with their values then) for each of a note's changes, oldest first.

    Args:
        changes: All changes of the note, oldest first.
    """
    found: list[tuple[int, LogRow, dict[str, Any]]] = []
    state = note
    for change in reversed(changes):
        # A new note set all of its fields: as many of them as differ from none.
        before = _NOTHING if change.kind == "note.created" else change.before or {}
        found.append((state.rev, change, changed_values(before, state)))
        state = rewind(state, change.before)
    found.reverse()
    return found
