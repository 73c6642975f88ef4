"""Promotion: notes that are recalled again and again, written to MEMORY.md."""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from shelfd.protocol.base import ChangeParams, Result
from shelfd.protocol.registry import define


def _absolute(path: str) -> str:
    if not path.startswith("/") or "\x00" in path:
        raise PydanticCustomError("absolute_path", "is not an absolute path")
    return path


class PromoteParams(ChangeParams):
    """Params of ``promote``."""

    project: Annotated[str, Field(max_length=4096), AfterValidator(_absolute)] | None = Field(
        default=None,
        description="Directory of a project: write to its MEMORY.md under ~/.claude/projects of the daemon's user.",
    )
    dry_run: bool = Field(default=False, description="Only say what would happen.")


class PromoteResult(Result):
    """What a promotion came to."""

    added: int = Field(description="Lines that did not exist before.")
    updated: int = Field(description="Lines that say something else now, or stand in another section.")
    removed: int = Field(description="Lines taken out: no longer true, or no room for them.")
    fell_out: int = Field(description="Notes for which the file's budget leaves no room.")
    path: str | None = Field(description="The file; null when there is none to write to.")
    sections: dict[str, int] = Field(description="How many promoted lines each section has, in their order.")
    reason: str | None = Field(default=None, description="Why there is no path.")
    replayed: bool | None = None


define(
    "promote",
    PromoteParams,
    PromoteResult,
    need="write",
    summary="Write what was recalled in three or more sessions to MEMORY.md.",
)
define("promote_facts", PromoteParams, PromoteResult, need="write", summary="The same as `promote`.")
