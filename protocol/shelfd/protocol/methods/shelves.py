"""Methods on shelves."""

from pydantic import Field

from shelfd.protocol.base import Count, ListLimit, Params, ReadParams, Result, ShelfName, ShelfParams
from shelfd.protocol.registry import define


class ShelfCreateParams(Params):
    """Params of ``shelf.create``."""

    shelf: ShelfName


class ShelfCreateResult(Result):
    """The new shelf."""

    shelf: str


class ShelfInfo(Result):
    """A shelf the caller may read."""

    shelf: str
    owner: str
    state: str = Field(description="open, closed, corrupt, newer or failed")


class ShelfListResult(Result):
    """Every shelf the caller may read."""

    shelves: list[ShelfInfo]


class ShelfDropParams(Params):
    """Params of ``shelf.drop``; `confirm` repeats the name."""

    shelf: ShelfName
    confirm: ShelfName = Field(description="The name once more: dropping removes the file.")


class ShelfDropResult(Result):
    """The shelf that is gone."""

    dropped: str
    still_in: list[str] = Field(description="Paths of files that still hold lines of it, or may.")


class ShelfCheckResult(Result):
    """What a full integrity check found; an empty list is a sound shelf."""

    ok: bool
    problems: list[str]
    notes: int
    last_seq: int


class ShelfLogParams(ReadParams):
    """Params of ``shelf.log``."""

    since_seq: Count = Field(default=0, description="Only changes after this one.")
    limit: ListLimit = 100
    cursor: str | None = Field(default=None, max_length=1024)


class LoggedChange(Result):
    """One change."""

    seq: int
    tx: int
    tx_size: int
    at: str
    principal: str
    method: str
    request_id: str | None = None
    session_id: str | None = None
    turn: int | None = None
    variant: int | None = Field(default=None, description="Of the turn, once it has more than one.")
    run_id: str | None = None
    kind: str
    nugget: str | None = None
    ids: list[str]


class ShelfLogResult(Result):
    """Changes in order."""

    log: list[LoggedChange]
    last_seq: int
    next_cursor: str | None = None


class EntityIndex(Result):
    """Counts of one entity type."""

    unique_entities: int
    total_mappings: int


class Governed(Result):
    """What did not come in as it was said, since the shelf was opened: how often, by rule."""

    refused: dict[str, int]
    redacted: dict[str, int]
    quarantined: int


class UnfinishedJobs(Result):
    """How many jobs are not done, by state."""

    queued: int
    running: int
    waiting: int


class StatsResult(Result):
    """Counts of one shelf; the first three since the daemon started."""

    notes_created: int
    retrievals: int
    entity_index_hits: int
    total_notes: int
    total_facts: int
    hidden_notes: int
    superseded_notes: int
    nuggets: int
    links: int
    sessions: int = Field(description="Closed ones included.")
    last_seq: int
    conflicts: int = Field(description="Open ones, counted up to 1,000.")
    governance: Governed
    jobs: UnfinishedJobs = Field(description="Of the last 1,000 that are not done.")
    entity_index: dict[str, EntityIndex] = Field(
        description="By type, of the notes that were read for entities so far: a moment after their change."
    )


class SnapshotResult(Result):
    """Where the snapshot is."""

    path: str = Field(description="Of the file, on the daemon's machine: one note a line, in ZettelForge's shape.")
    notes: int


define(
    "shelf.create",
    ShelfCreateParams,
    ShelfCreateResult,
    need="open",
    summary="Make a shelf; it is yours.",
    is_change=True,
    is_barrier=True,
)
define("shelf.list", Params, ShelfListResult, need="open", summary="The shelves you may read.")
define(
    "shelf.drop",
    ShelfDropParams,
    ShelfDropResult,
    need="admin",
    summary="Remove a shelf for good.",
    is_change=True,
    is_barrier=True,
)
define("shelf.check", ShelfParams, ShelfCheckResult, need="admin", summary="Check a shelf's file and index in full.")
define("shelf.log", ShelfLogParams, ShelfLogResult, need="read", summary="Who changed what.")
define(
    "snapshot",
    ReadParams,
    SnapshotResult,
    need="admin",
    summary="Write all notes of the shelf, as they are at one moment, to a file beside it.",
)
define("get_stats", ReadParams, StatsResult, need="read", summary="Counts of the shelf.")
