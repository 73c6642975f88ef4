"""Undo: what a run or a transaction changed is taken back field by field, and nobody's later work with it.

A field goes back to what it was only while it still says what the run wrote; otherwise it stays and is reported.
What is taken back is a change like any other, in the log with a run of its own, and can be undone itself.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from shelfd.memory.errors import DuplicateKey
from shelfd.memory.log.history import rewind
from shelfd.memory.log.transaction import Transaction, changed_fields
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Extra, Link, Note, Nugget
from shelfd.memory.ports.log import LogRow
from shelfd.memory.shelf.composing import ensure_nugget
from shelfd.memory.shelf.naming import drop_nugget, rename_nugget

EDITED: Final = "edited"
LATER_RUN: Final = "later_run"
PURGED: Final = "purged"


class Kept(NamedTuple):
    """A field that stays as it is, and why: ``edited``, ``later_run`` or ``purged``."""

    note_id: str  #: or a nugget's name, if *field* is ``nugget``
    field: str
    why: str


class Undone(NamedTuple):
    """What came of it: how many fields, links and nuggets went back, and which did not."""

    undone: int
    kept: list[Kept]


def undo(tx: Transaction, rows: Sequence[LogRow]) -> Undone:
    """Take back the changes in *rows*, which are those of one run or transaction, in order."""
    kept: list[Kept] = []
    undone = 0
    for row in reversed(rows):
        if row.kind in _UNDO_NUGGET:
            undone += _UNDO_NUGGET[row.kind](tx, row, kept)
    by_note: dict[int, list[LogRow]] = {}
    for row in rows:
        if row.row is not None:
            by_note.setdefault(row.row, []).append(row)
    for row in reversed(rows):
        if row.kind.startswith("link."):
            undone += _undo_link(tx, row, kept)
    # The last note first: a merge gives its source back before its target, as each came about.
    for changes in reversed(by_note.values()):
        undone += _undo_note(tx, changes, kept)
    return Undone(undone + _forsaken(tx, rows), kept)


def is_redacted(row: LogRow) -> bool:
    """Return whether a purge has taken away what a change replaced."""
    return bool(row.before and row.before.get("redacted"))


# --------------------------------------------------------------------- notes


def _undo_note(tx: Transaction, changes: list[LogRow], kept: list[Kept]) -> int:
    note_id = changes[0].ids[0]
    note = tx.rows.notes.get(note_id)
    if note is None or any(is_redacted(row) for row in changes):
        kept.append(Kept(note_id, "note", PURGED))
        return 0
    if changes[0].kind == "note.created":
        if note.hidden:
            return 0
        tx.hide(note)
        return 1
    later = tx.rows.log.of_note(note.row, since_seq=changes[0].seq - 1)
    if any(is_redacted(row) for row in later):
        kept.append(Kept(note_id, "note", PURGED))
        return 0
    new, restored = _restored(note, changes, later, kept)
    if new.superseded_by is not None and tx.rows.notes.get(new.superseded_by) is None:
        new = new._replace(superseded_by=note.superseded_by)
        kept.append(Kept(note_id, "superseded_by", PURGED))
        restored -= 1
    if not changed_fields(note, new):
        return 0
    kind = "note.updated"
    if note.hidden != new.hidden:
        kind = "note.hidden" if new.hidden else "note.restored"
    try:
        tx.change_note(note, new, kind=kind)
    except DuplicateKey:
        kept.append(Kept(note_id, "key", EDITED))
        return 0
    if not new.hidden:
        ensure_nugget(tx, new.nugget)  # it may have been removed since
    return restored


def _restored(note: Note, changes: list[LogRow], later: list[LogRow], kept: list[Kept]) -> tuple[Note, int]:
    """The note with every field back that still says what *changes* wrote, and how many those are."""
    own = {row.seq for row in changes}
    states = _states(note, later)
    values: dict[str, Any] = {}
    restored = 0
    for name, was in _originals(changes).items():
        if name == "extra":
            values[name], count = _restored_extra(note, was, states, own, kept)
            restored += count
            continue
        wrote = next(getattr(state, name) for row, state in reversed(states) if row.seq in own and _has(row, name))
        if getattr(note, name) == wrote:
            values[name] = was
            restored += 1
        elif name == "content" and (rest := _without_received(note.content, was, wrote)) is not None:
            values[name] = rest
            restored += 1
            if not _lines_gained(was, wrote) <= set(note.content.split("\n")):
                kept.append(Kept(note.id, name, _why(later, own, name)))  # some of the lines are somebody's now
        else:
            kept.append(Kept(note.id, name, _why(later, own, name)))
    return note._replace(**values), restored


def _states(note: Note, later: list[LogRow]) -> list[tuple[LogRow, Note]]:
    """Each of the note's changes with the state it left, oldest first."""
    found: list[tuple[LogRow, Note]] = []
    state = note
    for row in reversed(later):
        found.append((row, state))
        state = rewind(state, row.before)
    found.reverse()
    return found


def _originals(changes: list[LogRow]) -> dict[str, Any]:
    """What each field was before the first of *changes* that set it."""
    originals: dict[str, Any] = {}
    for row in changes:
        for name, value in (row.before or {}).items():
            originals.setdefault(name, value)
    return originals


def _has(row: LogRow, name: str) -> bool:
    return name in (row.before or {})


def _restored_extra(
    note: Note, was: Extra, states: list[tuple[LogRow, Note]], own: set[int], kept: list[Kept]
) -> tuple[Extra, int]:
    """The rare fields, each back that still says what was written, and how many those are."""
    wrote = next(state.extra for row, state in reversed(states) if row.seq in own and _has(row, "extra"))
    values: dict[str, Any] = {}
    for name in sorted(Extra._fields):
        old, new = getattr(was, name), getattr(wrote, name)
        if old == new:
            continue
        if getattr(note.extra, name) == new:
            values[name] = old
        else:
            kept.append(Kept(note.id, name, _why([row for row, _ in states], own, "extra")))
    return note.extra._replace(**values), len(values)


def _without_received(content: str, was: str, wrote: str) -> str | None:
    """A content that was edited since, without the lines it had received; None if none of those is left."""
    received = _lines_gained(was, wrote)
    lines = content.split("\n")
    rest = [line for line in lines if line not in received]
    if not received or len(rest) == len(lines) or not any(line.strip() for line in rest):
        return None
    return "\n".join(rest)


def _lines_gained(was: str, wrote: str) -> set[str]:
    before = set(was.split("\n"))
    return {line for line in wrote.split("\n") if line.strip() and line not in before}


def _why(later: Iterable[LogRow], own: set[int], name: str) -> str:
    """Why a field stays: the last change of it that is not ours says whose it is now."""
    others = [row for row in later if row.seq not in own and _has(row, name)]
    return LATER_RUN if others and others[-1].origin.run_id is not None else EDITED


# ------------------------------------------------------------------- nuggets


def _undo_removed(tx: Transaction, row: LogRow, _kept: list[Kept]) -> int:
    if row.nugget is None or tx.rows.nuggets.get(row.nugget) is not None:
        return 0  # somebody made it again
    tx.create_nugget(Nugget(*(row.before or {})["options"]), again=True)
    return 1


def _undo_renamed(tx: Transaction, row: LogRow, kept: list[Kept]) -> int:
    before = row.before or {}
    old, new = before["old_name"], before["new_name"]
    if tx.rows.nuggets.get(new) is None or tx.rows.nuggets.get(old) is not None:
        kept.append(Kept(new, "nugget", EDITED))
        return 0
    rename_nugget(tx, new, old)
    return 1


def _forsaken(tx: Transaction, rows: Iterable[LogRow]) -> int:
    """Drop the nuggets that were made in *rows* and hold nothing, hidden notes included; return how many.

    One that only came back goes again once nothing of it is in sight, as when it was removed.
    """
    count = 0
    for row in rows:
        nugget = tx.rows.nuggets.get(row.nugget) if row.kind == "nugget.created" and row.nugget is not None else None
        if nugget is None:
            continue
        holds = NoteFilter(nugget=nugget.name, include_hidden=not (row.before or {}).get("again"))
        if not tx.rows.notes.page(holds, order="row", descending=False, after=None, limit=1):
            drop_nugget(tx, nugget)
            count += 1
    return count


_UNDO_NUGGET: Final = {"nugget.removed": _undo_removed, "nugget.renamed": _undo_renamed}


# --------------------------------------------------------------------- links


def _undo_link(tx: Transaction, row: LogRow, kept: list[Kept]) -> int:
    if row.before is None or is_redacted(row):
        kept.append(Kept(row.ids[0], "links", PURGED))
        return 0
    link = Link(*row.before["link"])
    nugget = row.nugget or ""
    now = tx.rows.links.get(link.source, link.target, link.relation)
    if row.kind == "link.removed":
        if now is not None:
            return 0  # somebody made it again
        if tx.rows.notes.get(link.source) is None or tx.rows.notes.get(link.target) is None:
            kept.append(Kept(link.source, "links", PURGED))
            return 0
        tx.put_link(link, nugget)
        return 1
    if now is None:
        return 0
    if now != link:
        kept.append(Kept(link.source, "links", EDITED))
        return 0
    tx.delete_link(link, nugget)
    if "old" in row.before:
        tx.put_link(Link(*row.before["old"]), nugget)
    return 1
