"""Decides what to do next on a shelf in a slot, from its jobs. Changes nothing itself."""

from collections.abc import Container, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from shelfd.memory.ports.job import MISSED, Job
from shelfd.memory.ports.view import View
from shelfd.scheduler.settings import ScheduledJob
from shelfd.scheduler.slots import Slot

ATTEMPTS: Final = 3
#: How long after its first and its second failure a run is tried again.
BACK_OFF: Final = (timedelta(minutes=1), timedelta(minutes=5))
#: How long after its start a run continues by itself; later that is left to the heartbeat, which respects quiet hours.
CONTINUES: Final = timedelta(hours=1)
#: Slots up to this time are over: their runs were deleted. An entry of the shelf's own properties.
FLOOR: Final = "scheduler.floor"
_AHEAD: Final = timedelta(days=2)
_MICROSECOND = timedelta(microseconds=1)


class Decision(NamedTuple):
    """What comes next.

    A *job* to be run at once: as the *run* that is tried again, or as a new one for *reason*. Without a job there is
    nothing to do now; *wait* says when a run may be tried again, *is_settled* that the slot is over.
    """

    job: ScheduledJob | None = None
    run: Job | None = None
    reason: str = ""
    wait: timedelta | None = None
    is_settled: bool = False


def decide_next(
    view: View, jobs: Sequence[ScheduledJob], slot: Slot, *, trigger: str | None, now: int, at_work: Container[str]
) -> Decision:
    """Return what to do on a shelf in *slot*.

    Args:
        view: The shelf's rows.
        jobs: In the order they run in.
        slot: The latest one due.
        trigger: ``cron`` or ``heartbeat`` when a run may begin now; None when only what began may go on.
        now: Microseconds since 1970 UTC.
        at_work: Ids of runs that are being worked on.
    """
    if is_before_time(view, slot, now):
        return Decision(is_settled=True)
    runs: dict[str, Job] = {}
    for job in jobs:
        run = view.jobs.in_slot(job.name, slot.key)
        if run is None:
            reason = trigger or _inherited(runs.get(job.follows or ""), now)
            return Decision(job, reason=reason) if reason else Decision()
        if run.run_id in at_work or (run.is_unfinished and not run.is_scheduled):  # a person had it begun again
            return Decision()
        if run.is_unfinished:
            return _again(job, run, trigger=trigger, now=now)
        runs[job.name] = run
    return Decision(is_settled=True)


def is_before_time(view: View, slot: Slot, now: int) -> bool:
    """Return whether *slot* lies before the shelf, or before what its ledger remembers."""
    return slot.planned_at <= beginning(view, now)


def beginning(view: View, now: int) -> int:
    """Return the time up to which a shelf can have missed nothing; 0 if that is not known."""
    times = (int(view.meta.get(name) or 0) for name in ("created_at", FLOOR))
    return max((time for time in times if is_credible(time, now)), default=0)


def is_credible(time: int, now: int) -> bool:
    """Return whether *time* was written by a clock that was right: one that is far ahead was set back since."""
    return time <= now + _AHEAD // _MICROSECOND


def _inherited(followed: Job | None, now: int) -> str | None:
    """The reason for which a job's run begins after the one it follows, some time after the slot."""
    return followed.reason if followed is not None and _continues(followed, now) else None


def _continues(run: Job, now: int) -> bool:
    return now - (run.started_at or 0) <= CONTINUES // _MICROSECOND and run.error != MISSED


def _again(job: ScheduledJob, run: Job, *, trigger: str | None, now: int) -> Decision:
    if trigger != "heartbeat" and not _continues(run, now):
        return Decision()
    since = now - (run.finished_at or run.started_at or 0)
    left = BACK_OFF[min(max(run.attempts, 1), len(BACK_OFF)) - 1] - timedelta(microseconds=since)
    if since >= 0 and left > timedelta(0):  # a clock set back must not make it wait for hours
        return Decision(wait=left)
    return Decision(job, run, run.reason or "")
