"""A job as the store keeps it: durable work that takes several transactions."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

from shelfd.memory.notes.note import EMPTY
from shelfd.memory.ports.log import Origin

#: States of a job that has work left. Others are ``done``, ``failed`` (refused) and ``dead`` (given up).
UNFINISHED: Final = ("queued", "running", "waiting")


class Job(NamedTuple):
    """Work that goes on where it was after a crash: each step is one transaction that also moves the cursor.

    Nothing in it is memory text, which a purge would have to find here: ids, names and counts only. Times are
    microseconds since 1970 UTC.
    """

    id: str
    kind: str
    state: str  #: queued, running, waiting (for another attempt), done, failed or dead
    principal: str
    method: str
    request_id: str | None
    run_id: str  #: in the change log, of everything the job changes
    params: Mapping[str, Any]
    cursor: Mapping[str, Any] = EMPTY  #: how far it has come; ``done`` and ``total`` are its progress
    attempts: int = 0  #: that ended in an error
    error: str | None = None  #: the kind of the last error
    result: Mapping[str, Any] | None = None
    created_at: int = 0
    updated_at: int = 0

    @property
    def is_unfinished(self) -> bool:
        """Whether there is work left that the daemon does by itself."""
        return self.state in UNFINISHED

    def origin(self) -> Origin:
        """Who and what the log rows of its steps name."""
        return Origin(self.principal, self.method, self.request_id, run_id=self.run_id)


def draw_job_id() -> str:
    """Return a random id for a job."""
    return f"job-{os.urandom(6).hex()}"


class JobsView(Protocol):
    """Reads of jobs. Part of the store's port."""

    def get(self, job_id: str) -> Job | None:
        """Return a job."""

    def page(self, *, unfinished: bool, before: int | None, limit: int) -> list[tuple[int, Job]]:
        """Return jobs with their numbers, the last begun first, below number *before*."""


class JobsWriter(JobsView, Protocol):
    """Reads and writes of jobs."""

    def put(self, job: Job) -> None:
        """Add a job, or replace the one with its id."""

    def forget(self, before: int, *, limit: int) -> int:
        """Drop those of the *limit* oldest jobs that ended before that time; return how many."""
