"""Methods that copy a shelf, put a copy in its place, and rename it."""

from typing import Annotated

from pydantic import Field

from shelfd.protocol.base import ChangeParams, Count, Positive, Result, ShelfName, ShelfParams
from shelfd.protocol.registry import define

Path = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00\n]+$")]


class ShelfBackupParams(ChangeParams):
    """Params of ``shelf.backup``."""

    to: Path | None = Field(
        default=None,
        description="Absolute path on the daemon's machine: a directory, or a file that is not there yet. By default"
        " the directory that the configuration names. Only administrators may give one.",
    )
    keep: Positive | None = Field(
        default=None, description="Keep this many backups of the shelf in the directory, the last ones."
    )


class BackupInfo(Result):
    """A backup, as its manifest describes it."""

    path: str
    shelf: str
    seq: int = Field(description="The last change that is in it.")
    schema_version: int
    shelfd: str = Field(description="The version that made it.")
    instance: str
    made_at: str
    bytes: int
    sha256: str
    logical_hash: str = Field(description="Of what the shelf says: notes, links, nuggets.")


class ShelfBackupResult(Result):
    """The backup, whole, checked and durable."""

    backup: BackupInfo
    removed: list[str] = Field(description="Older backups that made way.")
    run_id: str
    replayed: bool | None = None


class ShelfBackupsResult(Result):
    """The backups of a shelf in the configured directory, the last one first."""

    backups: list[BackupInfo]
    directory: str


class ShelfRestoreParams(ShelfParams):
    """Params of ``shelf.restore``."""

    backup: Path | None = Field(
        default=None,
        description="Its path on the daemon's machine, which only administrators may give, or its file's name in the"
        " configured directory. By default the last one there; with `to_seq` alone, the shelf as it is.",
    )
    as_shelf: ShelfName | None = Field(default=None, description="Make a new shelf of it, of this name.")
    to_seq: Count | None = Field(
        default=None, description="Take back what was changed after this change: the last of a transaction."
    )
    keep_replaced: bool = Field(default=True, description="Whether the file that was replaced stays beside the shelf.")
    dry_run: bool = Field(default=False, description="Only check the backup.")


class Stayed(Result):
    """What could not go back to what it was at ``to_seq``."""

    note_id: str
    field: str
    why: str


class ShelfRestoreResult(Result):
    """The shelf as it is now, or would be."""

    shelf: str
    seq: int = Field(description="Its last change.")
    backup: BackupInfo | None = Field(description="Null when the shelf itself was taken back.")
    replaced: str | None = Field(description="Where the file is that was replaced.")
    purged_since: list[str] = Field(
        description="Notes that were purged after the backup was made, and are back: purge them again."
    )
    kept: list[Stayed] = Field(description="Of changes after `to_seq`, those that stayed.")
    untouched: dict[str, int] = Field(
        description="Changes after `to_seq` that are none of notes, links and nuggets, by kind: they stayed."
    )
    dry_run: bool


class ShelfMoveParams(ShelfParams):
    """Params of ``shelf.move``."""

    to: ShelfName = Field(description="The new name.")


class ShelfMoveResult(Result):
    """The shelf under its new name."""

    shelf: str
    moved_from: str


define(
    "shelf.backup",
    ShelfBackupParams,
    ShelfBackupResult,
    need="admin",
    summary="Copy the shelf to a file, consistent and checked, while it is in use.",
    is_change=True,
)
define("shelf.backups", ShelfParams, ShelfBackupsResult, need="admin", summary="The backups there are of a shelf.")
define(
    "shelf.restore",
    ShelfRestoreParams,
    ShelfRestoreResult,
    need="admin",
    summary="Put a backup in a shelf's place, or make a new shelf of it, after checking it.",
    is_change=True,
    is_barrier=True,
)
define(
    "shelf.move",
    ShelfMoveParams,
    ShelfMoveResult,
    need="admin",
    summary="Give a shelf another name.",
    is_change=True,
    is_barrier=True,
)
