"""Job: take all notes of a nugget out of sight, and its name away if that is wanted."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from shelfd.memory.jobs.work import JobKind, Work
from shelfd.memory.naming import drop_nugget
from shelfd.memory.note import Note
from shelfd.memory.transaction import Transaction

#: Notes hidden in one step, and notes looked at: a few milliseconds of the writer.
AT_ONCE: Final = 64
_LOOKED_AT: Final = 256
_WRITTEN: Final = ("note.created", "note.restored")


def hide_some(tx: Transaction, cursor: dict[str, Any], params: Mapping[str, Any]) -> None:
    """Take one step: hide the next notes.

    They are looked at by when they were last changed, which is how the nugget's index has them. What is hidden so
    moves to the end, and is passed over there.

    Args:
        cursor: ``done`` notes are hidden; all up to ``after`` (changed at, row) were looked at; ``is_over`` says that
            none is left.
        params: ``nugget``; ``drop``, whether its name goes; notes that were written after ``seq``, by others than
            this job, stay in sight unless the name goes too.
    """
    hidden = 0
    places = tx.rows.changed_positions(params["nugget"], after=tuple(cursor["after"]), limit=_LOOKED_AT)
    notes = tx.rows.notes_at([row for _, row in places])
    for place in places:
        if hidden == AT_ONCE:
            return
        note = notes[place[1]]
        cursor["after"] = list(place)
        if not note.hidden and (params["drop"] or not _is_later(tx, note, params["seq"])):
            tx.hide(note)
            hidden += 1
            cursor["done"] += 1
    if len(places) == _LOOKED_AT:
        return
    cursor["is_over"] = True
    nugget = tx.rows.nugget(params["nugget"])
    if params["drop"] and nugget is not None:
        drop_nugget(tx, nugget)


def new_cursor(*, total: int) -> dict[str, Any]:
    """Return where the hiding of *total* notes begins."""
    return {"done": 0, "total": total, "after": [-1, 0], "is_over": False}


def _is_later(tx: Transaction, note: Note, seq: int) -> bool:
    """Whether somebody wrote the note after the request that all be hidden: that change came later, and holds."""
    later = tx.rows.note_log(note.row, since_seq=seq)
    return any(row.kind in _WRITTEN or "content" in (row.before or {}) for row in later)


async def run(work: Work) -> Mapping[str, Any]:
    """Hide what is left; return how many were hidden and under which run that can be taken back."""
    while not work.cursor["is_over"]:
        await work.step(lambda tx, cursor: hide_some(tx, cursor, work.job.params))
        await work.shelf.reach(None)  # no faster than recall follows
        await asyncio.sleep(0)
    return {"hidden": work.cursor["done"]}


HIDE: Final = JobKind("hide", run)
