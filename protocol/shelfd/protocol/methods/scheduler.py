"""Methods on what the daemon does by itself: jobs, their slots and runs."""

from typing import Annotated, Any

from pydantic import Field

from shelfd.protocol.base import ChangeParams, PageParams, ReadParams, Result
from shelfd.protocol.registry import define

JobName = Annotated[str, Field(pattern=r"^[a-z][a-z_-]{0,63}$", description="`reflection` or `promotion`.")]


class ScheduledRun(Result):
    """One run of a scheduled job: a job of the shelf that has claimed a slot."""

    job: str
    shelf: str
    slot: str = Field(
        description="The planned local time and zone, `2026-10-25T02:30 Europe/Berlin`; one run per job and slot."
    )
    reason: str = Field(description="cron, heartbeat or manual")
    planned_at: str
    started_at: str = Field(description="Of the last attempt.")
    finished_at: str | None
    status: str = Field(description="running, done, failed, interrupted or missed")
    run_id: str
    attempts: int
    error: str | None = Field(default=None, description="The kind of the last failure.")
    result: dict[str, Any] | None = Field(default=None, description="Counts and ids, as the job reports them.")


class ScheduleEntry(Result):
    """One job of a shelf."""

    job: str
    shelf: str
    cron: str
    tz: str
    next_at: str | None
    last: ScheduledRun | None


class SchedulerJobsResult(Result):
    """Every job of the shelf."""

    jobs: list[ScheduleEntry]


class SchedulerRunParams(ChangeParams):
    """Params of ``scheduler.run``."""

    job: JobName


class SchedulerRunResult(Result):
    """The run that was claimed; ``scheduler.history`` shows how it ends."""

    run_id: str
    replayed: bool | None = None


class SchedulerHistoryParams(PageParams):
    """Params of ``scheduler.history``."""

    job: JobName | None = None


class SchedulerHistoryResult(Result):
    """Runs, the last claimed first."""

    runs: list[ScheduledRun]
    next_cursor: str | None = None


define("scheduler.jobs", ReadParams, SchedulerJobsResult, need="read", summary="What runs by itself, and when next.")
define(
    "scheduler.run",
    SchedulerRunParams,
    SchedulerRunResult,
    need="write",
    summary="Run a job now; answers when the run is claimed.",
)
define(
    "scheduler.history", SchedulerHistoryParams, SchedulerHistoryResult, need="read", summary="Which runs there were."
)
