"""What the hooks of an agent say on stdin, and that nothing of ours stops the agent."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from shelfd.client.invocation import Stop, fail
from shelfd.client.texts import from_stdin

_LONGEST_QUERY: Final = 2000  #: characters of a prompt that are looked for: a long one holds files and logs


@contextmanager
def never_fails() -> Iterator[None]:
    """Have what fails in a block be said, and be no reason for the agent that waits for it to stop."""
    try:
        yield
    except Stop:
        return


def prompted(session: str | None) -> dict[str, Any]:
    """Return the query, and the session, that a hook before a prompt says; *session* if that is given.

    Raises:
        Stop: If it says no prompt.
    """
    told = _told()
    prompt, name = told.get("prompt"), session or told.get("session_id")
    if not isinstance(prompt, str) or not prompt.strip():
        fail("stdin names no prompt", os.EX_DATAERR, "NoHook")
    return {"query": prompt.strip()[:_LONGEST_QUERY], **({"session_id": name} if isinstance(name, str) else {})}


def transcript_path() -> tuple[str, str | None]:
    """Return where the transcript is, and the session, that a hook says.

    Raises:
        Stop: If it names no transcript.
    """
    told = _told()
    path, name = told.get("transcript_path"), told.get("session_id")
    if not isinstance(path, str) or not path:
        fail("stdin names no transcript_path", os.EX_DATAERR, "NoHook")
    return path, name if isinstance(name, str) else None


def _told() -> dict[str, Any]:
    try:
        told = json.loads(from_stdin())
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        fail("stdin holds no JSON object, as hooks say it", os.EX_DATAERR, "NoHook")
    return told
