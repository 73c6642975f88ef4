"""The method that gives a shelf away: ``shelf.export``."""

from typing import Any

from pydantic import Field

from shelfd.protocol.base import ListLimit, ReadParams, Result
from shelfd.protocol.registry import define


class ShelfExportParams(ReadParams):
    """Params of ``shelf.export``."""

    cursor: str | None = Field(
        default=None, max_length=64, description="The answer's `next_cursor`, within 30 s; without it, from the start."
    )
    limit: ListLimit = Field(default=500, description="Lines of a page, at most; of the first page's call.")
    marks: bool = Field(
        default=False, description="Add to each note marks of what it says, by which an edited copy of it is known."
    )
    states: bool = Field(
        default=False, description="Add to each note which states it has had, and what is gone: `shelf.merge` needs it."
    )


class ShelfExportResult(Result):
    """Some of the lines of an export. All pages are of one moment; hidden notes are among them."""

    lines: list[dict[str, Any]] = Field(
        description="A note each, as a snapshot has it but for what follows from the rest; at the end, nuggets without "
        "notes. `shelf.import` with the format `shelfd` reads them."
    )
    notes: int = Field(description="How many there are on all pages.")
    last_seq: int = Field(description="The last change that they know of.")
    next_cursor: str | None = None


define(
    "shelf.export",
    ShelfExportParams,
    ShelfExportResult,
    need="admin",
    summary="Every note, link and nugget of one moment, page by page; shelf.import reads them back.",
)
