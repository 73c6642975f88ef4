"""Job: hide all notes of a nugget, and remove the nugget if that is wanted."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from shelfd.memory.jobs.work import JobKind, Work
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.shelf.nuggets import remove_nugget
from shelfd.memory.tending.nuggets import is_written_later, notes_in

#: Notes hidden in one step, and notes looked at: a few milliseconds of the writer.
AT_ONCE: Final = 64
_LOOKED_AT: Final = 256


def hide_some(tx: Transaction, cursor: dict[str, Any], params: Mapping[str, Any]) -> None:
    """Take one step: hide the next notes.

    They are looked at by when they were last changed, which is how the nugget's index has them. What is hidden so
    moves to the end, and is passed over there.

    Args:
        cursor: ``done`` notes are hidden; all up to ``after`` (changed at, row) were looked at; ``is_over`` says that
            none is left.
        params: ``nugget``; ``drop``, whether its name goes, unless something in it is visible; what was written after
            ``seq`` stays visible.
    """
    hidden = 0
    notes = notes_in(tx, params["nugget"], after=tuple(cursor["after"]), limit=_LOOKED_AT)
    for place, note in notes:
        if hidden == AT_ONCE:
            return
        cursor["after"] = list(place)
        if not note.hidden and not is_written_later(tx, note, params["seq"]):
            tx.hide(note)
            hidden += 1
            cursor["done"] += 1
    if len(notes) < _LOOKED_AT:
        cursor["is_over"] = True
        _remove_empty(tx, params)


def _remove_empty(tx: Transaction, params: Mapping[str, Any]) -> None:
    nugget = tx.rows.nuggets.get(params["nugget"]) if params["drop"] else None
    counts = None if nugget is None else tx.rows.nuggets.counts(nugget.name)
    if nugget is not None and counts is not None and counts.notes == counts.hidden:
        remove_nugget(tx, nugget)


def new_cursor(*, total: int) -> dict[str, Any]:
    """Return where the hiding of *total* notes begins."""
    return {"done": 0, "total": total, "after": [-1, 0], "is_over": False}


async def run(work: Work) -> Mapping[str, Any]:
    """Hide what is left; return how many were hidden and under which run that can be taken back."""
    while not work.cursor["is_over"]:
        await work.step(lambda tx, cursor: hide_some(tx, cursor, work.job.params))
        await work.shelf.reach(None)  # no faster than recall follows
        await asyncio.sleep(0)
    return {"hidden": work.cursor["done"]}


HIDE: Final = JobKind("hide", can_end_early=True)
