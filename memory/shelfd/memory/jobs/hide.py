"""Job: take all notes of a nugget out of sight, and its name away if that is wanted."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from shelfd.memory.jobs.work import JobKind, Work
from shelfd.memory.naming import drop_nugget
from shelfd.memory.note import Note
from shelfd.memory.transaction import Transaction
from shelfd.memory.view import NoteFilter

#: Notes hidden in one step: a few milliseconds of the writer.
AT_ONCE: Final = 64
_WRITTEN: Final = ("note.created", "note.restored")


def hide_some(tx: Transaction, cursor: dict[str, Any], params: Mapping[str, Any]) -> None:
    """Take one step: hide the next notes.

    Args:
        cursor: ``done`` notes are hidden; all up to row ``row`` were looked at; ``is_over`` says that none is left.
        params: ``nugget``; ``drop``, whether its name goes; notes that were written behind ``seq``, by others than
            this job, stay in sight unless the name goes too.
    """
    after = (cursor["row"], cursor["row"])
    wanted = NoteFilter(nugget=params["nugget"])
    notes = tx.rows.list_notes(wanted, order="row", descending=False, after=after, limit=AT_ONCE)
    for note in notes:
        cursor["row"] = note.row
        if params["drop"] or not _is_later(tx, note, params["seq"]):
            tx.hide(note)
            cursor["done"] += 1
    cursor["is_over"] = len(notes) < AT_ONCE
    nugget = tx.rows.nugget(params["nugget"])
    if cursor["is_over"] and params["drop"] and nugget is not None:
        drop_nugget(tx, nugget)


def new_cursor(*, total: int) -> dict[str, Any]:
    """Return where the hiding of *total* notes begins."""
    return {"done": 0, "total": total, "row": 0, "is_over": False}


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
