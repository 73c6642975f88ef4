"""What a note was: earlier states, read backwards from the present one through the change log."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from shelfd.memory.notes.note import NO_EXTRA, Link, Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.view import View

#: Fields that a revert leaves as they are: identity, place in the shelf, and the count of writes.
KEPT_BY_REVERT = frozenset({"row", "id", "nugget", "kind", "created_at", "updated_at", "rev"})

#: What the history shows of a note's first version.
_FIRST = ("title", "content", "tags", "type", "subject", "scope", "source", "confidence", "stability")
_NOTHING = {**dict.fromkeys(_FIRST), "extra": NO_EXTRA}
#: Stored fields that are never shown.
_INTERNAL = frozenset({"key", "rendered", "imported", "lineage"})


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


class KnownThen(NamedTuple):
    """A note as it was after a change."""

    note: Note
    is_redacted: bool  #: a purge took out of the log some of what it said, so that some of this came later


def as_known(view: View, note_id: str, seq: int) -> KnownThen | None:
    """Return a note as it was after change *seq*; None if there is none, or it was created later."""
    found = with_log(view, note_id, since_seq=seq)
    return None if found is None else _known(view, *found, seq)


def all_as_known(view: View, rows: Sequence[int], seq: int) -> list[KnownThen]:
    """Return those of the notes with these rows that there were after change *seq*, as they were then."""
    notes = view.notes.by_rows(rows)
    later = {row: view.log.of_note(row, since_seq=seq) for row in notes}
    found = []
    for row, now in view.notes.by_rows(list(notes)).items():  # they may have changed meanwhile
        known = _known(view, now, later[row], seq) if now == notes[row] else as_known(view, now.id, seq)
        found += [known] if known is not None else []
    return found


def _known(view: View, note: Note, later: Sequence[LogRow], seq: int) -> KnownThen | None:
    """A note as it was before its *later* changes, which are all after change *seq*."""
    if any(row.kind == "note.created" for row in later):
        return None
    if not later:
        return KnownThen(note, is_redacted=False)
    for row in reversed(later):
        note = rewind(note, row.before)
    updated_at = note.created_at
    if note.rev > 1:
        updated_at = max((row.at for row in view.log.of_note(note.row) if row.seq <= seq), default=updated_at)
    is_redacted = any(row.before is not None and row.before.get("redacted", False) for row in later)
    return KnownThen(note._replace(updated_at=updated_at), is_redacted)


def links_then(view: View, source: str, now: Sequence[Link], seq: int) -> Sequence[Link]:
    """Return the links that left a note after change *seq*, in the order they were made; *now* are those of now."""
    changes = view.log.of_links_from(source, since_seq=seq)
    if not changes:
        return now
    links = {(link.target, link.relation): link for link in now}
    for row in reversed(changes):
        before = row.before
        if not before or "link" not in before:  # a purge redacted it
            continue
        link = Link(*before["link"])
        was = before["link"] if row.kind == "link.removed" else before.get("old")
        links.pop((link.target, link.relation), None)
        if was is not None:
            links[link.target, link.relation] = Link(*was)
    return sorted(links.values(), key=lambda link: link.created_at)


def last_change_until(view: View, at: int) -> int:
    """Return the number of the last change made until a time, microseconds; if none is in the log, the one before.

    Of a clock that was set back it may be any change that has later ones before it.
    """
    log = view.log
    first, last = log.first_seq, log.last_seq
    low, high = first - 1, last  # every change up to low is early enough
    while low < high:
        middle = (low + high + 1) // 2
        rows = log.page(since_seq=middle - 1, limit=1)
        if rows and rows[0].at <= at:
            low = middle
        else:
            high = middle - 1
    return low


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
