"""Job: undo what a run or a transaction changed, field by field, without touching later work.

A field goes back to what it was only while it still says what the run wrote; otherwise it stays and is reported.
What is taken back is a change like any other, in the log with a run of its own, and can be undone itself.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from shelfd.memory.errors import DuplicateKey
from shelfd.memory.jobs.work import JobKind, Work
from shelfd.memory.log.superseding import can_stand_for, superseded_as, superseded_with
from shelfd.memory.log.transaction import Transaction, changed_fields
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.ports.log import Entry, LogRow
from shelfd.memory.shelf.nuggets import ensure_nugget, remove_nugget, rename_nugget, restore_nugget
from shelfd.memory.tending.former_fields import EDITED, PURGED, Retained, restored_fields

#: Notes, links and nuggets that go back in one step, and log rows looked at: some milliseconds of the writer.
AT_ONCE: Final = 32
_LOOKED_AT: Final = 256
#: Fields that stay and are named one by one; the cursor holds them, which each step writes.
_NAMED: Final = 1_000
#: Changes of a note read at once to find the first that is to be taken back.
_PAGE: Final = 8


def new_params(*, first: int, until: int, run_id: str | None) -> dict[str, Any]:
    """Return what is to be taken back: all changes from *first* to before *until*, or a run's of these."""
    return {"first": first, "until": until, "run_id": run_id}


def params_of(tx: Transaction, first: LogRow) -> dict[str, Any]:
    """Return what is to be taken back: the transaction that begins with *first*.

    The log will say so. Of a run that is nothing but this transaction it will say that the run was taken back, too.
    """
    of: dict[str, Any] = {"undone_tx": first.tx}
    if (run_id := first.origin.run_id) is not None:
        ends = (*tx.rows.log.of_run(run_id, limit=1), *tx.rows.log.of_run_back(run_id, before=None, limit=1))
        if {row.tx for row in ends} == {first.tx}:
            of["undone_run_id"] = run_id
    return {**new_params(first=first.tx, until=first.tx + first.tx_size, run_id=None), "of": of}


def new_cursor(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return where an undo begins."""
    total = None if params["run_id"] else params["until"] - params["first"]
    return {
        "done": 0, "total": total, "phase": 0, "before": params["until"],
        "rows": 0, "undone": 0, "kept": [], "more_kept": 0, "is_over": False,
    }  # fmt: skip


def undo_some(tx: Transaction, cursor: dict[str, Any], params: Mapping[str, Any]) -> None:
    """Take one step: take back the next changes, the last one first, in as many phases as there are kinds of rows.

    Args:
        cursor: ``undone`` fields, links and nuggets went back, ``kept`` (and ``more_kept``) stayed; of this ``phase``,
            the changes from ``before`` on were gone through, in all phases ``rows``; how many a run has is known, as
            ``total``, after the first.
        params: See :func:`new_params`.
    """
    left, looked = AT_ONCE, 0
    kept: list[Retained] = []
    while cursor["phase"] < len(_PHASES) and left and looked < _LOOKED_AT:
        rows = _rows_back(tx, params, before=cursor["before"])
        for row in rows:
            worked, undone = _PHASES[cursor["phase"]](tx, row, params, kept)
            cursor["before"] = row.seq
            cursor["rows"] = cursor.get("rows", 0) + 1
            cursor["undone"] += undone
            left -= worked
            if not left:
                break
        else:
            looked += len(rows)
            if len(rows) < _LOOKED_AT:
                cursor["phase"] += 1
                cursor["total"] = cursor["total"] or cursor.get("rows", 0)  # each phase goes through all changes
                cursor["before"] = params["until"]
    cursor["done"] = cursor["total"] if cursor["phase"] == len(_PHASES) else cursor.get("rows", 0) // len(_PHASES)
    room = _NAMED - len(cursor["kept"])
    cursor["kept"] += [list(one) for one in kept[:room]]
    cursor["more_kept"] += len(kept[room:])
    if cursor["phase"] == len(_PHASES):
        _end(tx, cursor, params)


def _rows_back(tx: Transaction, params: Mapping[str, Any], *, before: int) -> list[LogRow]:
    """The changes to be taken back next, the last first."""
    if params["run_id"]:
        return tx.rows.log.of_run_back(params["run_id"], before=before, limit=_LOOKED_AT)
    since = max(params["first"], before - _LOOKED_AT) - 1
    return tx.rows.log.page(since_seq=since, limit=before - 1 - since)[::-1]


def _end(tx: Transaction, cursor: dict[str, Any], params: Mapping[str, Any]) -> None:
    cursor["is_over"] = True
    of = {"undone_run_id": params["run_id"]} if params["run_id"] else params.get("of")
    if of is not None:
        kept = len(cursor["kept"]) + cursor["more_kept"]
        summary = {**of, "undone": cursor["undone"], "kept": kept}
        tx.log(Entry("reflection.undone", None, (), None, summary))


def result_of(cursor: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of an undo."""
    result = {"undone": cursor["undone"], "kept": [Retained(*one)._asdict() for one in cursor["kept"]]}
    return result | {"more_kept": cursor["more_kept"]} if cursor["more_kept"] else result


async def run(work: Work) -> Mapping[str, Any]:
    """Undo what is left; return what went back and what stayed."""
    while not work.cursor["is_over"]:
        await work.step(lambda tx, cursor: undo_some(tx, cursor, work.job.params))
        await work.shelf.reach(None)  # no faster than recall follows
        await asyncio.sleep(0)
    return result_of(work.cursor)


def is_redacted(row: LogRow) -> bool:
    """Return whether a purge has redacted what a change replaced."""
    return bool(row.before and row.before.get("redacted"))


# --------------------------------------------------------------------- notes


def _undo_note_at(tx: Transaction, row: LogRow, params: Mapping[str, Any], kept: list[Retained]) -> "_Reverted":
    """Undo all changes of a note when the first of them is reached.

    The last note goes first so: a merge gives its source back before its target, as each came about.
    """
    if row.row is None or not _is_first(tx, row.row, row.seq, params):
        return _NOTHING
    later = tx.rows.log.of_note(row.row, since_seq=row.seq - 1)
    return _Reverted(1, _undo_note(tx, [one for one in later if _is_own(one, params)], later, params, kept))


def _is_own(row: LogRow, params: Mapping[str, Any]) -> bool:
    """Whether a change is one of those to be taken back."""
    return params["first"] <= row.seq < params["until"] and params["run_id"] in (None, row.origin.run_id)


def _is_first(tx: Transaction, note_row: int, seq: int, params: Mapping[str, Any]) -> bool:
    since = params["first"] - 1
    while rows := tx.rows.log.of_note(note_row, since_seq=since, limit=_PAGE):
        for row in rows:
            if _is_own(row, params):
                return row.seq == seq
        since = rows[-1].seq
    return False


def _undo_note(
    tx: Transaction, changes: list[LogRow], later: list[LogRow], params: Mapping[str, Any], kept: list[Retained]
) -> int:
    note_id = changes[0].ids[0]
    note = tx.rows.notes.get(note_id)
    if note is None or any(is_redacted(row) for row in changes):
        kept.append(Retained(note_id, "note", PURGED))
        return 0
    if changes[0].kind == "note.created":
        if note.hidden:
            return 0
        tx.hide(note)
        return 1
    if any(is_redacted(row) for row in later):
        kept.append(Retained(note_id, "note", PURGED))
        return 0
    new, restored = restored_fields(note, changes, later, kept)
    if new.superseded_by is None and (successor := _successor(tx, note, params)) is not None:
        wanted, new = new, superseded_with(successor, new)
        restored -= len(changed_fields(new, wanted))
        kept.append(Retained(note_id, "superseded_by", EDITED))
    heir = new.superseded_by
    if heir is not None and heir != note.superseded_by and not can_stand_for(tx.rows, heir, note_id):
        wanted, new = new, superseded_as(note, new)
        restored -= len(changed_fields(new, wanted))
        kept.append(Retained(note_id, "superseded_by", PURGED if tx.rows.notes.get(heir) is None else EDITED))
    if not changed_fields(note, new):
        return 0
    try:
        tx.change_note(note, new)
    except DuplicateKey:
        kept.append(Retained(note_id, "key", EDITED))
        return 0
    if not new.hidden:
        ensure_nugget(tx, new.nugget)  # it may have been removed since
    return restored


def _successor(tx: Transaction, note: Note, params: Mapping[str, Any]) -> Note | None:
    """Return the note that stands for *note* no more, if another one stands for that: then it does for *note*."""
    by, one = note.superseded_by, None
    seen = {note.id}
    while by is not None and by not in seen and (following := tx.rows.notes.get(by)) is not None:
        seen.add(by)
        first = tx.rows.log.of_note(following.row, since_seq=0, limit=1)
        if not first or first[0].kind != "note.created" or not _is_own(first[0], params):
            return one  # it stays
        one, by = following, following.superseded_by
    return None


# ------------------------------------------------------------------- nuggets


def _undo_nugget(tx: Transaction, row: LogRow, _params: Mapping[str, Any], kept: list[Retained]) -> "_Reverted":
    if row.kind == "nugget.removed":
        return _Reverted(1, _undo_removed(tx, row))
    if row.kind == "nugget.renamed":
        return _Reverted(1, _undo_renamed(tx, row, kept))
    if row.kind == "nugget.updated":
        return _Reverted(1, _undo_edited(tx, row, kept))
    return _NOTHING


def _undo_removed(tx: Transaction, row: LogRow) -> int:
    if row.nugget is None or tx.rows.nuggets.get(row.nugget) is not None:
        return 0  # it was created again
    restore_nugget(tx, row.before or {})
    return 1


def _undo_renamed(tx: Transaction, row: LogRow, kept: list[Retained]) -> int:
    before = row.before or {}
    old, new = before["old_name"], before["new_name"]
    if tx.rows.nuggets.get(new) is None or tx.rows.nuggets.get(old) is not None:
        kept.append(Retained(new, "nugget", EDITED))
        return 0
    rename_nugget(tx, new, old)
    return 1


def _undo_edited(tx: Transaction, row: LogRow, kept: list[Retained]) -> int:
    before, name = row.before or {}, row.nugget or ""
    nugget = tx.rows.nuggets.get(name)
    if nugget is None or any(getattr(nugget, field) != value for field, value in before["new"].items()):
        kept.append(Retained(name, "nugget", EDITED))
        return 0
    tx.change_nugget(nugget._replace(**before["old"]))
    return 1


def _remove_empty_nugget(
    tx: Transaction, row: LogRow, _params: Mapping[str, Any], _kept: list[Retained]
) -> "_Reverted":
    """Remove a nugget that was created and holds nothing, hidden notes included.

    One that only came back goes again once none of its notes is visible, as when it was removed.
    """
    nugget = tx.rows.nuggets.get(row.nugget) if row.kind == "nugget.created" and row.nugget is not None else None
    if nugget is None:
        return _NOTHING
    holds = NoteFilter(nugget=nugget.name, include_hidden=not (row.before or {}).get("again"))
    if tx.rows.notes.page(holds, order="row", descending=False, after=None, limit=1):
        return _Reverted(1, 0)
    remove_nugget(tx, nugget)
    return _Reverted(1, 1)


# --------------------------------------------------------------------- links


def _undo_link_at(tx: Transaction, row: LogRow, _params: Mapping[str, Any], kept: list[Retained]) -> "_Reverted":
    return _Reverted(1, _undo_link(tx, row, kept)) if row.kind.startswith("link.") else _NOTHING


def _undo_link(tx: Transaction, row: LogRow, kept: list[Retained]) -> int:
    if row.before is None or is_redacted(row):
        kept.append(Retained(row.ids[0], "links", PURGED))
        return 0
    link = Link(*row.before["link"])
    nugget = row.nugget or ""
    now = tx.rows.links.get(link.source, link.target, link.relation)
    if row.kind == "link.removed":
        if now is not None:
            return 0  # it was created again
        if tx.rows.notes.get(link.source) is None or tx.rows.notes.get(link.target) is None:
            kept.append(Retained(link.source, "links", PURGED))
            return 0
        tx.put_link(link, nugget, is_restored=True)
        return 1
    if now is None:
        return 0
    if now != link:
        kept.append(Retained(link.source, "links", EDITED))
        return 0
    tx.delete_link(link, nugget)
    if "old" in row.before:
        tx.put_link(Link(*row.before["old"]), nugget, is_restored=True)
    return 1


# ----------------------------------------------------------------- conflicts


def _undo_conflict(tx: Transaction, row: LogRow, _params: Mapping[str, Any], _kept: list[Retained]) -> "_Reverted":
    """Open a conflict again that was decided, or close one that was found, unless its notes did so already."""
    said = row.before or {}
    conflict = tx.rows.conflicts.get(said["conflict"]) if row.kind in ("conflict.found", "conflict.resolved") else None
    if conflict is None or conflict.resolution != said["resolution"] or not tx.is_contested(conflict):
        return _NOTHING
    is_open = conflict.resolution is None
    resolution = "undone" if is_open else None
    tx.put_conflict(conflict._replace(resolved_at=tx.now if is_open else None, resolution=resolution))
    return _Reverted(1, 1)


# --------------------------------------------------------------------- phases


class _Reverted(NamedTuple):
    """Whether a change was worked on, as 1 or 0, and how much of it went back."""

    worked: int
    undone: int


_NOTHING: Final = _Reverted(0, 0)
_Phase: TypeAlias = Callable[[Transaction, LogRow, Mapping[str, Any], list[Retained]], _Reverted]
_PHASES: Final[tuple[_Phase, ...]] = (_undo_nugget, _undo_link_at, _undo_note_at, _undo_conflict, _remove_empty_nugget)

UNDO: Final = JobKind("undo", can_end_early=True)
