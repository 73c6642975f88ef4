"""Entries in a shelf's ledger of runs: claimed, begun again, finished, given up, forgotten."""

from collections.abc import Container, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from shelfd.memory import Shelf
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.ledger import SCHEDULER, Run
from shelfd.memory.ports.log import Entry, Origin
from shelfd.scheduler.outlook import FLOOR

KEPT: Final = timedelta(days=400)
#: More runs than this are not kept, however young: a schedule by the minute must not fill the shelf.
KEPT_COUNT: Final = 10_000
_PAGE = 1000
_LOOKED_FOR = 200  #: among so many last runs are those that a dead daemon left behind


async def claim(shelf: Shelf, run: Run) -> bool:
    """Claim the run's slot; return False if somebody did before."""
    applied = await shelf.commit(_origin("scheduler.claim", run), lambda tx: tx.rows.runs.claim(run))
    return applied.value


async def put(shelf: Shelf, run: Run) -> None:
    """Write down how a claimed run stands."""
    await shelf.commit(_origin("scheduler.record", run), lambda tx: tx.rows.runs.put(run))


async def mark_orphans(shelf: Shelf, at_work: Container[str], now: int) -> int:
    """Mark runs as interrupted whose daemon is gone; return how many."""
    orphans = [
        run
        for _, run in shelf.view.runs.page(job=None, before=None, limit=_LOOKED_FOR)
        if run.status == "running" and run.run_id not in at_work
    ]
    for run in orphans:
        await put(shelf, run._replace(status="interrupted", finished_at=now))
    return len(orphans)


async def give_up(shelf: Shelf, runs: Sequence[Run], told: Mapping[str, Any]) -> bool:
    """Claim slots as missed, or mark what was interrupted in them so, and tell of it in the shelf's change log.

    Args:
        runs: One per job, with status missed; the first one's job and slot are told.
        told: What else the event says.

    Returns:
        Whether anything was given up: a slot that was claimed meanwhile is not.
    """

    def apply(tx: Transaction) -> bool:
        missed = [run for run in runs if tx.rows.runs.claim(run) or _mark_missed(tx, run)]
        if not missed:
            return False
        data = {"job": missed[0].job, "jobs": [run.job for run in missed], "slot": missed[0].slot, **told}
        tx.log(Entry("schedule.missed", None, (), None, data))
        return True

    applied = await shelf.commit(Origin(SCHEDULER, "scheduler.give_up"), apply)
    return applied.value


def _mark_missed(tx: Transaction, run: Run) -> bool:
    known = tx.rows.runs.get(run.job, run.slot)
    if known is None or known.run_id != run.run_id or known.status != "interrupted":
        return False
    tx.rows.runs.put(run)
    return True


async def forget_old(shelf: Shelf, now: int) -> None:
    """Forget runs of long ago, and remember up to which slot, so that none is run again when a clock is set back."""

    def apply(tx: Transaction) -> None:
        runs = list(_all_runs(tx))
        begin = now - KEPT // timedelta(microseconds=1)
        if len(runs) > KEPT_COUNT:
            begin = max(begin, runs[KEPT_COUNT - 1].started_at)
        old = [run.planned_at for run in runs if run.started_at < begin and run.reason != "manual"]
        if tx.rows.runs.forget(begin) and old:
            tx.rows.meta.put(FLOOR, str(max(*old, int(tx.rows.meta.get(FLOOR) or 0))))

    if not shelf.view.runs.page(job=None, before=None, limit=1):
        return  # a shelf that nobody writes to is not to be written to by this either
    await shelf.commit(Origin(SCHEDULER, "scheduler.forget"), apply)


def _all_runs(tx: Transaction) -> Sequence[Run]:
    found: list[Run] = []
    before: int | None = None
    while page := tx.rows.runs.page(job=None, before=before, limit=_PAGE):
        found += [run for _, run in page]
        before = page[-1][0]
    return found


def _origin(method: str, run: Run) -> Origin:
    return Origin(SCHEDULER, method, run_id=run.run_id)
