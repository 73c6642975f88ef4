"""What the scheduler is given: the jobs it runs, and when."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple, TypeAlias

#: Does a job's work: (shelf, run_id, reason) to a small result of counts and ids, never memory text. It may be tried
#: again under the same run_id after it failed or was cancelled, and then continues where it stopped.
Work: TypeAlias = Callable[[str, str, str], Coroutine[Any, Any, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """Something to be done on each shelf in each slot.

    Attributes:
        name: Its name in the ledger and for callers: the kind of its job in the shelf.
        run: Does it.
        follows: The job after which it runs in the same slot, even if that one failed.
        method: What the change log names; its name if there is none.
    """

    name: str
    run: Work
    follows: str | None = None
    method: str = ""


def in_order(jobs: Sequence[ScheduledJob]) -> tuple[ScheduledJob, ...]:
    """Return *jobs*, each after the one it follows.

    Raises:
        ValueError: If two share a name, or one follows itself or a job that does not exist.
    """
    waiting = {job.name: job for job in jobs}
    if len(waiting) < len(jobs):
        raise ValueError("two jobs have one name")
    ordered: dict[str, ScheduledJob] = {}
    while waiting:
        ready = [job for job in waiting.values() if job.follows is None or job.follows in ordered]
        if not ready:
            raise ValueError(f"jobs that cannot follow anything: {', '.join(waiting)}")
        for job in ready:
            ordered[job.name] = waiting.pop(job.name)
    return tuple(ordered.values())


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class QuietHours(NamedTuple):
    """Local hours, 0 to 23, from *start* up to and without *end*; they may wrap around midnight.

    The same hour twice or a negative one means that no hour is quiet.
    """

    start: int = 22
    end: int = 8

    def is_quiet(self, hour: int) -> bool:
        """Return whether that hour of the day is quiet."""
        if self.start < 0 or self.end < 0:
            return False
        if self.start <= self.end:
            return self.start <= hour < self.end
        return hour >= self.start or hour < self.end

    def is_waking(self, now: int, zone: tzinfo) -> bool:
        """Return whether *now*, microseconds since 1970 UTC, lies in waking hours of *zone*."""
        return not self.is_quiet((_EPOCH + timedelta(microseconds=now)).astimezone(zone).hour)


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """When the daemon tends its shelves.

    Attributes:
        cron: Five fields or an alias, in *zone*.
        zone: Where hours are, those of the cron text as well as quiet ones.
        heartbeat: How often to look for a slot that was missed; None or nothing for never.
        quiet: Hours in which a missed slot is not made up for. The cron text's own hours are meant as written.
        run_limit: How long one attempt of a job may take.
        parallel: How many shelves are tended at a time.
    """

    cron: str = "0 9 * * *"
    zone: tzinfo = UTC
    heartbeat: timedelta | None = timedelta(minutes=30)
    quiet: QuietHours = field(default_factory=QuietHours)
    run_limit: timedelta = timedelta(minutes=10)
    parallel: int = 2
