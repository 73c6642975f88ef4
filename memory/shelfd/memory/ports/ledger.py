"""The ledger: which run of a job claimed which slot, and what came of it."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

from shelfd.memory.notes.note import EMPTY


class Run(NamedTuple):
    """One run of a scheduled job. Times are microseconds since 1970 UTC.

    Job and slot together identify it: a slot is run once, however often somebody tries.
    """

    run_id: str
    job: str
    slot: str  #: the planned local time, as ``2026-10-25T02:30 Europe/Berlin``; ``manual:<run_id>`` without a plan
    reason: str  #: cron, heartbeat or manual
    planned_at: int
    started_at: int
    finished_at: int | None = None
    status: str = "running"  #: running, done, failed, interrupted or missed
    attempts: int = 1
    error: str | None = None  #: the kind of the last failure
    result: Mapping[str, Any] = EMPTY  #: counts and ids, never memory text


#: As whom the scheduler calls methods; no transport can claim this name.
SCHEDULER: Final = "scheduler"


def run_by_hand(job: str, run_id: str, *, started_at: int, finished_at: int, result: Mapping[str, Any]) -> Run:
    """Return the entry of a run that a caller began, once it is over."""
    return Run(
        run_id, job, f"manual:{run_id}", "manual", started_at, started_at, finished_at, status="done", result=result
    )


def draw_run_id() -> str:
    """Return a random id for a run."""
    return f"run-{os.urandom(6).hex()}"


class RunsView(Protocol):
    """Reads of the ledger. Part of the store's port."""

    def get(self, job: str, slot: str) -> Run | None:
        """Return the run that claimed a job's slot."""

    def page(self, *, job: str | None, before: int | None, limit: int) -> list[tuple[int, Run]]:
        """Return runs with their numbers, the last claimed first, below number *before*."""


class RunsWriter(RunsView, Protocol):
    """Reads and writes of the ledger."""

    def claim(self, run: Run) -> bool:
        """Add a run unless its job's slot is taken; return whether it was added."""

    def put(self, run: Run) -> None:
        """Replace the run with this job and slot."""

    def forget(self, before: int) -> int:
        """Drop runs that were claimed before that time; return how many."""
