"""The change log: what happened, in order, with what is needed to take it back."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

#: What stands in a log row's ``before`` once a purge has taken away what was there.
REDACTED: Final[Mapping[str, Any]] = {"redacted": True}


class Origin(NamedTuple):
    """Who asked for a change, and on whose behalf."""

    principal: str
    method: str
    request_id: str | None = None
    session_id: str | None = None
    turn: int | None = None
    run_id: str | None = None


class Entry(NamedTuple):
    """One change before it has a sequence number.

    ``before`` holds what the change replaced: the former values of a note's changed fields, or a removed link
    or nugget whole. Something new needs nothing to be undone but its ids.
    """

    kind: str
    nugget: str | None
    ids: tuple[str, ...]
    row: int | None = None
    before: Mapping[str, Any] | None = None


class LogRow(NamedTuple):
    """One change as it stands in the log."""

    seq: int
    tx: int
    tx_size: int
    at: int
    origin: Origin
    kind: str
    nugget: str | None
    ids: tuple[str, ...]
    row: int | None
    before: Mapping[str, Any] | None
