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
#: What a result has item by item; it may be very long.
ITEM_BY_ITEM: Final = ("changes", "kept", "known", "parts", "results")
#: As whom the scheduler works; no transport can claim this name.
SCHEDULER: Final = "scheduler"
MANUAL: Final = "manual"
#: The kind of job that removes notes for good, which others look for.
PURGE_KIND: Final = "purge"
#: Errors of a scheduled job that had none: it was cut short, or its slot went by.
INTERRUPTED: Final = "Interrupted"
MISSED: Final = "Missed"


class Job(NamedTuple):
    """Work that continues where it was after a crash: each step is one transaction that also moves the cursor.

    Nothing in it is memory text, which a purge would have to find here: ids, names and counts only. Times are
    microseconds since 1970 UTC.

    What the scheduler does, and what a caller asks for that the scheduler does otherwise, has a slot: a kind of job is
    done once in each.
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
    attempts: int = 0  #: that ended in an error, or were cut short
    error: str | None = None  #: the kind of the last error
    result: Mapping[str, Any] | None = None
    created_at: int = 0
    updated_at: int = 0
    slot: str | None = None  #: planned local time, as ``2026-10-25T02:30 Europe/Berlin``, or ``manual:<run_id>``
    reason: str | None = None  #: of a job with a slot: cron, heartbeat or manual
    planned_at: int | None = None  #: when its slot is
    started_at: int | None = None  #: when its last attempt began
    finished_at: int | None = None  #: when that ended

    @property
    def is_unfinished(self) -> bool:
        """Whether there is work left that the daemon does by itself."""
        return self.state in UNFINISHED

    @property
    def is_scheduled(self) -> bool:
        """Whether the scheduler runs it and decides when it is tried again."""
        return self.slot is not None and self.reason != MANUAL

    def origin(self) -> Origin:
        """Who and what the log rows of its steps name."""
        return Origin(self.principal, self.method, self.request_id, run_id=self.run_id)


def draw_run_id() -> str:
    """Return a random id for a run."""
    return f"run-{os.urandom(6).hex()}"


def job_id_of(run_id: str) -> str:
    """Return the id of the job whose run *run_id* is."""
    return f"job-{run_id.removeprefix('run-')}"


class JobsView(Protocol):
    """Reads of jobs. Part of the store's port."""

    def get(self, job_id: str) -> Job | None:
        """Return a job."""

    def in_slot(self, kind: str, slot: str) -> Job | None:
        """Return the job of this kind that has claimed a slot."""

    def page(
        self,
        *,
        before: int | None,
        limit: int,
        unfinished: bool = False,
        in_slots: bool = False,
        kind: str | None = None,
    ) -> list[tuple[int, Job]]:
        """Return jobs with their numbers, the last begun first, below number *before*.

        What their results have item by item is left out: :data:`ITEM_BY_ITEM`.

        Args:
            unfinished: Only those with work left.
            in_slots: Only those that have a slot.
            kind: Only this kind.
        """

    def pieces(self, job_id: str, *, after: int, limit: int) -> list[tuple[int, Mapping[str, Any]]]:
        """Return pieces of a job's input or outcome with their numbers, in order, after number *after*."""


class JobsWriter(JobsView, Protocol):
    """Reads and writes of jobs."""

    def put(self, job: Job) -> None:
        """Add a job, or replace the one with its id."""

    def delete_ended(self, before: int, *, limit: int, in_slots: bool = False) -> int:
        """Delete those of the *limit* oldest jobs, with or without slots, that ended before that time; return how many.

        Their pieces are deleted, too.
        """

    def put_piece(self, job_id: str, number: int, piece: Mapping[str, Any]) -> None:
        """Add or replace a piece of a job's input or outcome. Unlike the job it may hold memory text."""

    def delete_pieces(self, job_id: str | None) -> None:
        """Delete all pieces of a job; None: of all jobs that have no work left."""
