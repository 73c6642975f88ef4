"""Promotion: notes that are recalled again and again, written to MEMORY.md."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from shelfd.protocol.base import ChangeParams, ReadParams, Result
from shelfd.protocol.registry import define


def _absolute(path: str) -> str:
    if not path.startswith("/") or "\x00" in path:
        raise PydanticCustomError("absolute_path", "is not an absolute path")
    return path


Project = Annotated[str, Field(max_length=4096), AfterValidator(_absolute)]


class PromoteParams(ChangeParams):
    """Params of ``promote``."""

    project: Project | None = Field(
        default=None,
        description="Directory of a project: write to its MEMORY.md under ~/.claude/projects of the daemon's user. For"
        " administrators, unless promotion.projects lists it.",
    )
    dry_run: bool = Field(default=False, description="Only say what would happen.")


class PromoteResult(Result):
    """The result of a promotion."""

    added: int = Field(description="Lines that did not exist before.")
    updated: int = Field(description="Lines that say something else now, or stand in another section.")
    removed: int = Field(description="Lines taken out: no longer true, or no room for them.")
    fell_out: int = Field(description="Notes for which the file's budget leaves no room.")
    path: str | None = Field(description="The file; null when there is none to write to.")
    sections: dict[str, int] = Field(description="How many promoted lines each section has, in their order.")
    reason: str | None = Field(default=None, description="Why there is no path.")
    replayed: bool | None = None


class PreviewParams(ReadParams):
    """Params of ``promotion.preview``."""

    project: Project | None = Field(default=None, description="As in `promote`.")


class PreviewLine(Result):
    """One line that promotion has a say in."""

    note_id: str
    section: str
    line: str = Field(description="As promotion would write it; for one that leaves, as it wrote it.")
    sessions: int = Field(description="In how many sessions the note was returned.")
    since: str | None = Field(description="When the line was first promoted to this file; null if it never was.")
    status: Literal["in_file", "updated", "new", "fell_out", "edited", "taken_out", "leaves"] = Field(
        description="What a promotion would find or do now: the line stands; would be brought up to date; would be"
        " written; has no room; was changed by hand and is that person's; was taken out by hand and stays out; would"
        " be removed because it is no longer true."
    )


class PreviewResult(Result):
    """What a promotion would do now, line by line: by section, in each the notes made first before others."""

    path: str | None = Field(description="The file; null when there is none to write to.")
    tokens: int = Field(description="Length of the file as it would be, four characters a token.")
    budget_tokens: int
    lines: list[PreviewLine]
    reason: str | None = Field(default=None, description="Why there is no path.")


define(
    "promote",
    PromoteParams,
    PromoteResult,
    need="write",
    summary="Write what was recalled in three or more sessions to MEMORY.md.",
    is_barrier=True,
)
define("promote_facts", PromoteParams, PromoteResult, need="write", summary="The same as `promote`.", is_barrier=True)
define(
    "promotion.preview",
    PreviewParams,
    PreviewResult,
    need="read",
    summary="Which line of MEMORY.md is which note's, and what a promotion would do to it.",
)
