"""Methods on durable background work: what is under way, what ended how."""

from typing import Annotated, Any

from pydantic import Field

from shelfd.protocol.base import ChangeParams, PageParams, ReadParams, Result
from shelfd.protocol.registry import define

JobId = Annotated[str, Field(min_length=1, max_length=64)]


class JobProgress(Result):
    """How far a job is."""

    done: int
    total: int | None = Field(description="Null while it is not known.")


class JobView(Result):
    """A job: work of several transactions that survives a crash."""

    id: str
    kind: str = Field(description="hide, import, promotion, purge, reflection or undo")
    note_ids: list[str] = Field(description="The notes it was begun for; empty for an entire nugget.")
    nugget: str | None = None
    state: str = Field(
        description="queued, running, waiting (for another attempt), done, failed (refused) or dead (given up)"
    )
    attempts: int = Field(description="How many ended in an error or were cut short.")
    progress: JobProgress
    error: str | None = Field(default=None, description="The kind of the last error.")
    result: dict[str, Any] | None = Field(
        default=None, description="Counts, ids and paths; what its method reports item by item is left out."
    )
    run_id: str = Field(description="In the change log, of everything it changed.")
    method: str
    created_at: str
    updated_at: str


class JobListParams(PageParams):
    """Params of ``job.list``."""

    unfinished: bool = Field(default=False, description="Only those with work left.")


class JobListResult(Result):
    """Jobs, the last begun first. Those that ended are kept for 30 days, the scheduler's for 400."""

    jobs: list[JobView]
    next_cursor: str | None = None


class JobGetParams(ReadParams):
    """Params of ``job.get``."""

    id: JobId


class JobResult(Result):
    """One job."""

    job: JobView
    replayed: bool | None = None


class JobChangeParams(ChangeParams):
    """Params of a change of one job."""

    id: JobId


define("job.list", JobListParams, JobListResult, need="read", summary="Background work and how far it is.")
define("job.get", JobGetParams, JobResult, need="read", summary="One job.")
define("job.retry", JobChangeParams, JobResult, need="write", summary="Begin a job again that was given up.")
define(
    "job.cancel",
    JobChangeParams,
    JobResult,
    need="write",
    summary="End a job where it is; a purge cannot be ended, for half of it would be none, nor a promotion.",
)
