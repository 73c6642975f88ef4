"""Methods on rollups: notes that represent others of their type."""

from typing import Annotated

from pydantic import Field

from shelfd.protocol.base import Content, Count, Fields, ListLimit, NoteId, ReadParams, Result, Title, Token, Word
from shelfd.protocol.methods.session_writing import SessionChangeParams
from shelfd.protocol.registry import define

_MOST_CHILDREN = 100


class CompactionCandidatesParams(ReadParams):
    """Params of ``session.compaction_candidates``."""

    session_id: Token
    type: Word
    depth: Annotated[int, Field(ge=0, le=64)] = Field(default=0, description="Of the notes to be rolled up.")
    limit: ListLimit = Field(default=1000, description="Groups returned; the oldest come first.")


class CompactionGroup(Result):
    """Notes that would become one rollup, the oldest first."""

    depth: int = Field(description="Of the rollup.")
    child_ids: list[str]
    fan_in: int


class CompactionCandidatesResult(Result):
    """Answer of ``session.compaction_candidates``: just what a compaction would roll up now."""

    groups: list[CompactionGroup]
    total: int = Field(description="How many groups there are.")


class CompactNodesParams(SessionChangeParams):
    """Params of ``session.compact_nodes``."""

    type: Word
    child_ids: Annotated[list[NoteId], Field(max_length=_MOST_CHILDREN)] = Field(
        description="Visible notes of one type and depth that nothing represents, two or more, each once."
    )
    summary: Content
    fields: Fields = Field(default_factory=dict)
    title: Title | None = Field(default=None, description="Else its type, its depth and a number.")


class CompactNodesResult(Result):
    """Answer of ``session.compact_nodes``."""

    rollup_node_id: str
    depth: int
    replayed: bool | None = None


class CompactParams(SessionChangeParams):
    """Params of ``session.compact``."""


class CompactResult(Result):
    """Answer of ``session.compact``."""

    run_id: str
    rollups: Count
    notes: Count = Field(description="How many notes they represent.")
    replayed: bool | None = None


define(
    "session.compaction_candidates",
    CompactionCandidatesParams,
    CompactionCandidatesResult,
    need="read",
    summary="Groups of notes that are due to be rolled up.",
)
define(
    "session.compact_nodes",
    CompactNodesParams,
    CompactNodesResult,
    need="write",
    summary="Make one note that represents others; they leave the frontier and stay as they are.",
)
define(
    "session.compact",
    CompactParams,
    CompactResult,
    need="write",
    summary="Roll up now what is due in the session's nugget, as the daily compaction does.",
)
