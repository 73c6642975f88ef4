"""Methods that rewind conversations: take turns back, switch between alternatives of a turn, branch."""

from typing import Literal

from pydantic import Field

from shelfd.protocol.base import ChangeParams, Count, NuggetName, Positive, Result, Token
from shelfd.protocol.registry import define


class RetractTurnsParams(ChangeParams):
    """Params of ``session.retract_turns``."""

    session_id: Token
    from_turn: Positive = Field(description="The first turn to take back; all after it go as well.")
    dry_run: bool = Field(default=False, description="Say what would be taken back and change nothing.")


class LeftField(Result):
    """A field that stays as it is, because somebody else wrote it since, or because what it was is purged."""

    note_id: str
    field: str
    why: Literal["edited", "later_run", "purged"]


class RewindResult(Result):
    """What a rewind changed. ``run_id`` names it, for ``reflection.undo``; null for a dry run."""

    run_id: str | None
    session_id: str
    undone: int = Field(description="Fields and links that changed; a note that went or came back counts once.")
    notes: int = Field(description="Notes that changed, came back or went.")
    kept: list[LeftField] = Field(description="The first 1,000.")
    more_kept: int | None = Field(default=None, description="How many more stay, if there are.")
    cancelled: list[str] = Field(description="Extractions of these turns that were under way: their jobs, now ended.")
    dry_run: bool
    replayed: bool | None = None


class SelectVariantParams(ChangeParams):
    """Params of ``session.select_variant``."""

    session_id: Token
    turn: Positive
    variant: Count = Field(description="From 0, what was written first; at most the next one that was not used yet.")
    dry_run: bool = Field(default=False, description="Say what would change and change nothing.")


class SelectVariantResult(RewindResult):
    """What changed with the variant."""

    turn: int
    variant: int = Field(description="The one that is live now, or would be.")
    was: int = Field(description="The one that was live before.")


class BranchParams(ChangeParams):
    """Params of ``session.branch``."""

    session_id: Token
    at_turn: Positive = Field(description="The last turn that the branch has in common with this session.")
    new_session_id: Token
    nugget: NuggetName | None = Field(
        default=None, description="A new nugget for the copies; `<nugget>-<new_session_id>` if not given."
    )
    dry_run: bool = Field(default=False, description="Say what would be copied and copy nothing.")


class BranchResult(Result):
    """The new session and what was copied for it."""

    session_id: str
    nugget: str
    notes: int = Field(
        description="Notes that were copied, with the links among them: those to be seen, and of superseded ones those "
        "that what stands for them was copied with."
    )
    links: int
    run_id: str | None
    dry_run: bool
    replayed: bool | None = None


define(
    "session.retract_turns",
    RetractTurnsParams,
    RewindResult,
    need="write",
    summary="Take back what a conversation's turns added and changed.",
)
define(
    "session.select_variant",
    SelectVariantParams,
    SelectVariantResult,
    need="write",
    summary="Put away what one alternative of a turn wrote for another.",
)
define(
    "session.branch",
    BranchParams,
    BranchResult,
    need="write",
    summary="Copy a conversation's memory as it was at a turn.",
)
