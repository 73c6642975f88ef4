"""Methods on what a prompt held: to record it, and to ask for it later."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from shelfd.protocol.base import (
    ChangeParams,
    Count,
    Fields,
    NoteId,
    Positive,
    Result,
    Token,
    Word,
    limits_of,
)
from shelfd.protocol.limits import LIST_LIMIT
from shelfd.protocol.methods.session_reading import NodesResult, SessionPageParams, SessionReadParams
from shelfd.protocol.note import Timestamp
from shelfd.protocol.registry import define


def _check_blocks(value: dict[str, str], info: ValidationInfo) -> dict[str, str]:
    limit = limits_of(info).content_bytes
    if sum(len(name.encode()) + len(text.encode()) for name, text in value.items()) > limit:
        raise PydanticCustomError("too_large", "is larger than {limit} bytes", {"limit": limit})
    return value


Ids = Annotated[list[NoteId], Field(max_length=LIST_LIMIT)]
Blocks = Annotated[dict[Word, str], Field(max_length=32), AfterValidator(_check_blocks)]


class RecordInjectionParams(ChangeParams):
    """Params of ``session.record_injection``."""

    session_id: Token
    turn: Positive = Field(description="The turn whose prompt it is, from 1.")
    pinned: Ids = Field(default=[], description="Notes that stand in every prompt.")
    recalled: Ids = Field(default=[], description="Notes that were chosen for this one.")
    frontier: Ids | None = Field(default=[], description="Notes that could be chosen from; null for the frontier.")
    blocks: Blocks | None = Field(default=None, description="The text that was handed over, by name.")
    tokens: Count | None = None
    trace: Fields | None = Field(default=None, description="How the recalled notes were chosen.")


class RecordInjectionResult(Result):
    """Where it was recorded."""

    session_id: str
    turn: int
    seq: int = Field(description="The change that published it.")
    replayed: bool | None = None


class ContextAtParams(SessionReadParams):
    """Params of ``session.context_at``."""

    turn: Positive


class InjectionView(Result):
    """What a prompt held. A list that was not reported is left out."""

    turn: int = Field(description="Its turn; 0 if none was known then.")
    at: Timestamp
    seq: int = Field(description="The shelf's last change then.")
    pinned: list[str] | None = None
    recalled: list[str]
    frontier: list[str] | None = None
    blocks: dict[str, str] | None = Field(default=None, description="Left out once a note it may quote was purged.")
    tokens: int | None = None
    trace: dict[str, Any] | None = None


class ContextAtResult(Result):
    """The last record of that turn, or of the last turn before it that has one."""

    context: InjectionView | None


class InjectionState(Result):
    """What the prompt holds, by the last record that was not taken back; what that does not say, as it would be now."""

    always_inject_ids: list[str] = Field(description="Not recorded: all that `session.list_always_inject` lists.")
    recall_selected_ids: list[str] = Field(description="Not recorded: none.")
    visible_ids: list[str] = Field(description="Not recorded: the frontier.")


class ListAlwaysInjectParams(SessionPageParams):
    """Params of ``session.list_always_inject``."""

    recent_raw_turns: Annotated[int, Field(ge=0, le=10_000)] = Field(
        default=0,
        description="The last turns of the session that the prompt holds in full: what they touched last is left out,"
        " unless of a type of which only the latest note of each thing is visible.",
    )
    max_seq_distance: Count = Field(
        default=0, description="Only what the nugget's last so many turns touched; 0 for all, however long past."
    )


define(
    "session.get_injection_state",
    SessionReadParams,
    InjectionState,
    need="read",
    summary="Which notes the prompt holds.",
)
define(
    "session.list_always_inject",
    ListAlwaysInjectParams,
    NodesResult,
    need="read",
    summary="Notes that stand in every prompt, by time.",
)
define(
    "session.record_injection",
    RecordInjectionParams,
    RecordInjectionResult,
    need="write",
    summary="Record which notes a prompt holds.",
)
define("session.context_at", ContextAtParams, ContextAtResult, need="read", summary="What the prompt of a turn held.")
