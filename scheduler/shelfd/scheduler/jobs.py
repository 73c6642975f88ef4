"""Scheduled jobs: what the scheduler runs, without knowing what it does."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

#: Does a job's work: (shelf, run_id, reason) to a small result of counts and ids, never memory text. It may be tried
#: again under the same run_id after it failed or was cancelled, and goes on then where it was.
Work: TypeAlias = Callable[[str, str, str], Coroutine[Any, Any, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """Something to be done on each shelf in each slot.

    Attributes:
        name: As the ledger and callers know it: the kind of its job in the shelf.
        run: Does it.
        follows: The job behind which it runs in the same slot, also when that one failed.
        method: What the change log names; its name if there is none.
    """

    name: str
    run: Work
    follows: str | None = None
    method: str = ""


def in_order(jobs: Sequence[ScheduledJob]) -> tuple[ScheduledJob, ...]:
    """Return *jobs*, each behind the one it follows.

    Raises:
        ValueError: If two have one name, or one follows a job that is not there or itself.
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
