"""A job as the store keeps it: durable work that takes several transactions."""

import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from shelfd.memory.notes.note import NO_EXTRA
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
    cursor: Mapping[str, Any] = NO_EXTRA  #: how far it has come; ``done`` and ``total`` are its progress
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
