"""Methods on reflection: the bounded run that tidies notes."""

from typing import Annotated, Literal

from pydantic import Field

from shelfd.protocol.base import ChangeParams, NuggetName, Result
from shelfd.protocol.limits import MAX_INTEGER
from shelfd.protocol.registry import define


class ReflectParams(ChangeParams):
    """Params of ``reflect``."""

    nugget: NuggetName | None = Field(default=None, description="Only this nugget; all of them without it.")
    limit: Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)] | None = Field(
        default=None,
        description="Notes to inspect, moved into 1 to the configured MEMORY_REFLECTION_MAX_NOTES; that without it.",
    )
    dry_run: bool = Field(default=False, description="Tell what would be done and do nothing.")


class ReflectionChange(Result):
    """One thing a reflection did."""

    type: Literal["rewrite", "merge", "hide", "tag", "link"]
    nugget: str
    note_id: str
    detail: str


class ReflectResult(Result):
    """What a reflection did, in the order it was done."""

    run_id: str | None = Field(description="By which the log knows the run; null for a dry run, which leaves no trace.")
    ran_at: str
    inspected: int = Field(description="Notes looked at one by one; notes to merge and link are sought among more.")
    rewritten: int
    merged: int
    hidden: int
    tagged: int
    linked: int
    changes: list[ReflectionChange]
    replayed: bool | None = None


define("reflect", ReflectParams, ReflectResult, need="write", summary="Tidy notes: archive, rewrite, tag, merge, link.")
define("reflect_and_clean_memory", ReflectParams, ReflectResult, need="write", summary="Another name of reflect.")
