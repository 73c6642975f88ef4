"""Methods on reflection: the bounded run that tidies notes."""

from typing import Annotated, Literal

from pydantic import Field

from shelfd.protocol.base import ChangeParams, NuggetName, PageParams, Result
from shelfd.protocol.limits import MAX_INTEGER
from shelfd.protocol.registry import define


class ReflectParams(ChangeParams):
    """Params of ``reflect``."""

    nugget: NuggetName | None = Field(default=None, description="Only this nugget; all of them without it.")
    limit: Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)] | None = Field(
        default=None,
        description="Notes to inspect, moved into 1 to the configured MEMORY_REFLECTION_MAX_NOTES; that without it.",
    )
    dry_run: bool = Field(default=False, description="Report what would be done and do nothing.")


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
    held_back: int = Field(description="Changes left out because they would push away what was recalled lately.")
    remaining: int = Field(
        default=0,
        description="Notes that further runs have to look at: left for want of room, changed by this run, or new and"
        " not looked at yet. 0 when there is nothing more to do.",
    )
    changes: list[ReflectionChange]
    replayed: bool | None = None


class PastChange(Result):
    """One thing a past reflection did. Its sentence for people is not kept, for that may hold words of a note."""

    type: Literal["rewrite", "merge", "hide", "tag", "link"]
    nugget: str
    note_id: str
    other_id: str | None = Field(default=None, description="The second note of a merge or a link.")


class PastReflection(Result):
    """One reflection that ran to its end."""

    run_id: str
    ran_at: str
    nugget: str | None = Field(description="The only nugget it looked at; null for all.")
    principal: str = Field(description="The principal that requested it.")
    inspected: int
    rewritten: int
    merged: int
    hidden: int
    tagged: int
    linked: int
    changes: list[PastChange] = Field(description="In the order they were done.")
    undone_by: str | None = Field(default=None, description="Run of the undo that took it back and itself stands.")


class ReflectionHistoryResult(Result):
    """Past reflections, the last first."""

    runs: list[PastReflection]
    next_cursor: str | None = None


define("reflect", ReflectParams, ReflectResult, need="write", summary="Tidy notes: archive, rewrite, tag, merge, link.")
define("reflect_and_clean_memory", ReflectParams, ReflectResult, need="write", summary="Another name of reflect.")
define("reflection.history", PageParams, ReflectionHistoryResult, need="read", summary="What past reflections did.")
