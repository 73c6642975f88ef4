"""Methods on conflicts: notes that cannot both be true."""

from typing import Literal

from pydantic import Field

from shelfd.protocol.base import ChangeParams, NuggetName, PageParams, Result, Token
from shelfd.protocol.registry import define


class ConflictingNote(Result):
    """A note in a conflict."""

    id: str
    content: str = Field(description="Its beginning.")
    at: str = Field(description="The time it tells of: when it occurred, else when it was written.")


class ConflictView(Result):
    """Two notes that cannot both be true, and nothing tells which is: both stay until somebody decides."""

    id: str
    nugget: str
    a: ConflictingNote = Field(description="The older note.")
    b: ConflictingNote = Field(description="The newer one.")
    reason: str
    found_at: str
    resolved_at: str | None = None
    resolution: Literal["a", "b", "both", "hidden", "superseded", "quarantined", "changed", "undone"] | None = Field(
        default=None,
        description="Which was kept; or what became of one of them without a decision, as changed: it says something"
        " else that the other one does not exclude.",
    )


class ConflictListParams(PageParams):
    """Params of ``conflict.list``."""

    nugget: NuggetName | None = None
    resolved: bool = Field(default=False, description="Those that are resolved, instead of the open ones.")


class ConflictListResult(Result):
    """Conflicts, the last found first."""

    conflicts: list[ConflictView]
    next_cursor: str | None = None


class ConflictResolveParams(ChangeParams):
    """Params of ``conflict.resolve``."""

    id: Token
    keep: Literal["a", "b", "both"] = Field(description="a or b: it supersedes the other one. both: they stay.")


class ConflictResolveResult(Result):
    """Answer of ``conflict.resolve``."""

    conflict: ConflictView
    superseded: list[str]
    replayed: bool | None = None


define(
    "conflict.list", ConflictListParams, ConflictListResult, need="read", summary="Notes that contradict each other."
)
define(
    "conflict.resolve",
    ConflictResolveParams,
    ConflictResolveResult,
    need="write",
    summary="Decide which of two contradicting notes counts.",
)
