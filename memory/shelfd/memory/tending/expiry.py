"""Tells when notes expire: one change in the log for each, which makes it an event, and nothing of the note changes.

What has expired is left out of recall by its time alone, whether that was told yet or not. So is what holds no longer,
of which nobody is told; but either contradicts nothing any more, and its conflicts are closed.
"""

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from shelfd.memory.errors import ShelfError
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.evolution import CHANGED, EDITED_APART, ONE_KEY, StoredConflict
from shelfd.memory.ports.log import Entry, Origin
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.shelf import Shelf

log = structlog.get_logger("shelfd.memory")

#: Notes told of in one transaction: a few milliseconds of the writer.
AT_ONCE: Final = 128
#: Conflicts of one note that are looked at.
_CONFLICTS: Final = 256
#: Open conflicts whose notes are read without yielding to other tasks.
_READ: Final = 16
#: Between two looks. A note's life is counted in days.
_PERIOD: Final = timedelta(seconds=60)
_ORIGIN: Final = Origin("shelfd", "note.expire")


def tell_expired(tx: Transaction) -> int:
    """Tell of notes that have expired and of which nobody was told, and close their conflicts; return of how many.

    That they were told of is stored with it: each is told of once, also after a crash, unless its time is set again.
    """
    notes = tx.rows.notes.expired(tx.now, limit=AT_ONCE)
    for note in notes:
        # Not a change of the note: it has no rev of its own, and there is nothing to take back.
        tx.log(Entry("note.expired", note.nugget, (note.id,), None, {"expires_at": note.expires_at}))
        _close(tx, tx.rows.conflicts.of_note(note.row, limit=_CONFLICTS))
    tx.rows.notes.forget_expiry(notes)
    return len(notes)


def _close(tx: Transaction, conflicts: Iterable[StoredConflict]) -> None:
    for conflict in conflicts:
        if _can_close(conflict):
            tx.put_conflict(conflict._replace(resolved_at=tx.now, resolution=CHANGED))


def _can_close(conflict: StoredConflict) -> bool:
    return conflict.resolution is None and conflict.reason not in (EDITED_APART, ONE_KEY)


def _past(view: View, conflicts: Iterable[StoredConflict], now: int) -> list[StoredConflict]:
    """Those of some conflicts one of whose notes holds no longer."""
    found = [one for one in conflicts if _can_close(one)]
    notes = view.notes.by_rows([row for one in found for row in (one.a, one.b)])
    past = {row for row, note in notes.items() if note.valid_to is not None and note.valid_to <= now}
    return [one for one in found if not past.isdisjoint((one.a, one.b))]


def _close_past(tx: Transaction, ids: Iterable[str]) -> None:
    known = (tx.rows.conflicts.get(one) for one in ids)
    _close(tx, _past(tx.rows, (one for one in known if one is not None), tx.now))


async def _close_all_past(shelf: Shelf) -> None:
    """Close the conflicts of notes that hold no longer."""
    before: int | None = None
    while found := shelf.view.conflicts.page(nugget=None, resolved=False, before=before, limit=_READ):
        before = found[-1].number
        if past := [one.id for one in _past(shelf.view, found, shelf.clock.now())]:
            await shelf.commit(_ORIGIN, partial(_close_past, ids=past))
        await asyncio.sleep(0)


async def tell_as_they_expire(shelf: Shelf) -> None:
    """Look every minute, for as long as the shelf is open, whether notes have expired or hold no longer."""
    while True:
        try:
            while shelf.view.notes.expired(shelf.clock.now(), limit=1):
                await shelf.commit(_ORIGIN, tell_expired)
                await asyncio.sleep(0)
            await _close_all_past(shelf)
        except ShelfError as error:  # the next look tries again
            log.warning("expiry.telling_failed", shelf=shelf.name, error=type(error).__name__)
        await shelf.clock.sleep(_PERIOD)
