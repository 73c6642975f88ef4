"""Tells when notes expire: one change in the log for each, which makes it an event, and nothing of the note changes.

What has expired is left out of recall by its time alone, whether that was told yet or not.
"""

import asyncio
from datetime import timedelta
from typing import Final

import structlog

from shelfd.memory.errors import ShelfError
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.evolution import CHANGED, EDITED_APART, ONE_KEY
from shelfd.memory.ports.log import Entry, Origin
from shelfd.memory.shelf.shelf import Shelf

log = structlog.get_logger("shelfd.memory")

#: Notes told of in one transaction: a few milliseconds of the writer.
AT_ONCE: Final = 128
#: Conflicts of one note that are looked at.
_CONFLICTS: Final = 256
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
        for conflict in tx.rows.conflicts.of_note(note.row, limit=_CONFLICTS):
            if conflict.resolution is None and conflict.reason not in (EDITED_APART, ONE_KEY):
                tx.put_conflict(conflict._replace(resolved_at=tx.now, resolution=CHANGED))
    tx.rows.notes.forget_expiry(notes)
    return len(notes)


async def tell_as_they_expire(shelf: Shelf) -> None:
    """Look every minute, for as long as the shelf is open, whether notes have expired, and tell of them."""
    while True:
        try:
            while shelf.view.notes.expired(shelf.clock.now(), limit=1):
                await shelf.commit(_ORIGIN, tell_expired)
                await asyncio.sleep(0)
        except ShelfError as error:  # the next look tries again
            log.warning("expiry.telling_failed", shelf=shelf.name, error=type(error).__name__)
        await shelf.clock.sleep(_PERIOD)
