"""Job: back a shelf up. The store copies; after a crash the job begins the copy anew."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from shelfd.memory.jobs.work import JobKind, Work
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.backups import BackupPlan, NewBackup
from shelfd.memory.ports.store import ended

#: How often what is done is recorded.
_TELL: Final = timedelta(seconds=1)

BACKUP: Final = JobKind("backup", can_end_early=True, has_slot=True)


async def run(work: Work) -> Mapping[str, Any]:
    """Back the shelf up; return which backup that is, and which made way.

    Raises:
        InvalidParams: If it cannot be where it is wanted.
        BackupFailed: If it cannot be written.
        Cancelled: If the job was cancelled; there is no backup.
    """
    shelf, params = work.shelf, work.job.params
    await shelf.write_usage()  # what was counted in the last second
    to = params.get("to")
    keep = params.get("keep") or (shelf.settings.backup_keep if to is None else None)
    plan = BackupPlan(shelf.name, shelf.settings.instance, work.job.run_id, work.job.id, to, keep)
    told: dict[str, int] = {}

    def report(done: int, total: int) -> None:
        told.update(done=done, total=total)

    making = asyncio.ensure_future(shelf.store.backup(plan, report))
    try:
        made = await _told_now_and_then(work, making, told)
    finally:
        if not making.done():
            making.cancel()
            await ended(making)
    return {"backup": made.backup.view(), "removed": list(made.removed)}


async def _told_now_and_then(work: Work, making: "asyncio.Future[NewBackup]", told: Mapping[str, int]) -> NewBackup:
    def record(_tx: Transaction, cursor: dict[str, Any]) -> None:
        cursor.update(told)

    while not making.done():
        pause = asyncio.ensure_future(work.shelf.clock.sleep(_TELL))
        try:
            await asyncio.wait((making, pause), return_when=asyncio.FIRST_COMPLETED)
        finally:
            pause.cancel()
        if not making.done():
            await work.step(record)
    return making.result()
