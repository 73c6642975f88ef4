"""The method that takes in what another memory kept: ``shelf.import``.

The caller parses files as JSON and nothing more; what their members mean is for the daemon to know.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from shelfd.protocol.base import ChangeParams, Result, Wire, max_count
from shelfd.protocol.errors import ErrorObject
from shelfd.protocol.registry import define

#: Kinds of items, in the order in which they are best sent: links need both of their ends.
Part = Literal["gone", "nuggets", "sessions", "types", "notes", "facts", "links"]


class ImportSource(Wire):
    """Where items come from."""

    name: Annotated[str, Field(max_length=255)] = Field(default="", description="Name of the file, without folders.")
    header: dict[str, Any] = Field(
        default_factory=dict, description="The file's other members beside its list of items."
    )


class ImportPart(Wire):
    """Items of one kind from one file."""

    part: Part
    source: ImportSource = Field(default_factory=ImportSource)
    items: Annotated[list[Any], max_count("remember_many_count")] = Field(
        description="As the file has them. Each of `nuggets` is a file's header, of `sessions` turns of a chat, of "
        "`links` a note that links leave."
    )


class ShelfImportParams(ChangeParams):
    """Params of ``shelf.import``.

    More than 168 items, or 336 of a snapshot, 150 links or 512 KiB are several transactions, each of which is complete
    in itself.
    """

    format: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")] = Field(
        default="nuggets", description="Whose files they are: `nuggets`, `luker` or `sillytavern`."
    )
    parts: Annotated[list[ImportPart], Field(min_length=1, max_length=1000)]
    known: Annotated[dict[str, str], max_count("remember_many_count")] = Field(
        default_factory=dict, description="What earlier requests of the same import answered under this name."
    )
    run_id: Annotated[str, Field(pattern=r"^run-[0-9a-f]{12}$")] | None = Field(
        default=None,
        description="What an earlier request of the same import answered under this name: this one is part of that "
        "run, and taken back with it.",
    )
    dry_run: bool = Field(default=False, description="Say what would be done and do nothing.")


class ImportRejected(Result):
    """An item that was not taken."""

    index: int
    error: ErrorObject


class ImportKept(Result):
    """An item that says something else than its note, which was changed here since: the note stays as it is."""

    index: int
    id: str
    fields: list[str]


class ImportLoss(Result):
    """Something of items that were taken that could not be kept, or not as it was."""

    field: str
    why: str
    indexes: list[int] = Field(description="Of the items concerned.")


class ImportPartResult(Result):
    """The result of one part. Of ``links``, the counts are of links and the indexes of notes."""

    part: Part
    created: int
    updated: int
    unchanged: int
    kept: list[ImportKept]
    rejected: list[ImportRejected]
    purge: list[str] = Field(
        default_factory=list,
        description="Of a merge: notes to purge, as another copy did, or of a conflict gone by.",
    )
    not_kept: list[ImportLoss]


class ShelfImportResult(Result):
    """The result of each part, in order."""

    parts: list[ImportPartResult]
    known: dict[str, str] = Field(
        description="Notes that are here under another id or key; opaque, to be sent with what follows."
    )
    run_id: str | None = Field(
        description="By which the log knows what was taken in, and `reflection.undo` takes it back."
    )
    dry_run: bool
    last_seq: int
    replayed: bool | None = None


class ShelfMergeParams(ShelfImportParams):
    """Params of ``shelf.merge``: the lines of an export with states, of another copy of the shelf."""

    format: Literal["merge"] = "merge"  # pyright: ignore[reportIncompatibleVariableOverride] - it is frozen


define(
    "shelf.merge",
    ShelfMergeParams,
    ShelfImportResult,
    need="admin",
    summary="Bring another copy of the shelf, edited apart, together with this one; nothing is overwritten.",
    is_change=True,
    is_barrier=True,
)
define(
    "shelf.import",
    ShelfImportParams,
    ShelfImportResult,
    need="admin",
    summary="Take in what another memory kept; again, it changes nothing.",
    is_change=True,
    is_barrier=True,
)
