"""What can be set about the scheduler."""

from dataclasses import dataclass, field
from datetime import UTC, timedelta, tzinfo

from shelfd.scheduler.waking import QuietHours


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
