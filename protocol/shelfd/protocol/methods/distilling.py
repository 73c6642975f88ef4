"""remember_with_extraction and remember_report: a text becomes the facts in it, and these become notes."""

import re
from datetime import date, datetime, time
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from shelfd.protocol.base import (
    ChangeParams,
    Content,
    Instant,
    NuggetName,
    Positive,
    Result,
    Scope,
    SourceType,
    Tags,
    Tier,
    Token,
    Word,
)
from shelfd.protocol.note import NoteView
from shelfd.protocol.registry import define

_DAYS = re.compile(r"\d{4}(-\d{2}){0,2}")


def published_at(text: str) -> datetime:
    """Return the moment that a date of publication means, the first of its year, month or day; perhaps without a zone.

    Raises:
        ValueError: If it is none.
    """
    if _DAYS.fullmatch(text):
        return datetime.combine(date.fromisoformat(f"{text}-01-01"[:10]), time())
    moment = datetime.fromisoformat(text)
    if not 1 < moment.year < 9999:  # a day is left at either end, so that it can be expressed in every zone
        raise ValueError
    return moment


def _check_published(text: str) -> str:
    text = text.strip()
    try:
        if text:
            published_at(text)
    except ValueError:
        raise PydanticCustomError(
            "date", "is not a date like 2026-01-31, or a time like 2026-01-31T09:00:00Z"
        ) from None
    return text


Importance = Annotated[int, Field(ge=1, le=10)]
_Facts = Annotated[int, Field(ge=1, le=50)]
_Ref = Annotated[str, Field(max_length=2000)]


class DistilParams(ChangeParams):
    """What both methods take: the text, and what is said of each note that is made of it."""

    content: Content
    nugget: NuggetName = "memory"
    tags: Tags = Field(default_factory=list)
    scope: Scope | None = None
    tier: Tier = "B"
    author: Word | None = None
    session_id: Token | None = None
    turn: Positive | None = None
    min_importance: Importance = Field(default=3, description="Facts that matter less are dropped.")
    max_facts: _Facts


class RememberWithExtractionParams(DistilParams):
    """Params of ``remember_with_extraction``."""

    source_type: SourceType = "conversation"
    source_ref: _Ref = Field(default="", description="Each note's is this, then :extraction: and its number from 0.")
    domain: Word = "general"
    context: Annotated[str, Field(max_length=2000)] = Field(
        default="", description="Helps a language model to understand the text; nothing is taken from it."
    )
    max_facts: _Facts = Field(default=5, description="The most important are kept.")
    occurred_at: Instant | None = None
    valid_from: Instant | None = None


class RememberReportParams(DistilParams):
    """Params of ``remember_report``."""

    source_url: _Ref = Field(default="", description="Each note's source_ref begins with it, or with report.")
    published_date: Annotated[str, Field(max_length=64), AfterValidator(_check_published)] = Field(
        default="",
        description="When it was published, as 2026-01-31 or RFC 3339: when its notes occurred and hold from.",
    )
    domain: Word = "cti"
    max_facts: _Facts = Field(default=10, description="Of each chunk the most important are kept.")
    chunk_size: Annotated[int, Field(ge=500, le=32_000)] = Field(
        default=3000, description="Characters that are read at a time; chunks end where sentences do."
    )
    sync: bool = Field(default=True, description="Wait for the end of the job that a report of several chunks is.")


class DistilledNote(Result):
    """What became of one fact."""

    note: NoteView | None = Field(default=None, description="Of a noop, the one that says it already.")
    status: Literal["added", "updated", "corrected", "noop"]
    importance: int
    superseded: list[str] = Field(default_factory=list)
    conflicts: list[str] = Field(default_factory=list)


class DistilResult(Result):
    """What became of the text."""

    results: list[DistilledNote] = Field(description="The facts, the most important first.")
    engine: str = Field(description="What found them: llm or rules; of a report of several chunks perhaps mixed.")
    pending: list[str] = Field(default_factory=list, description="Jobs that have not ended.")
    job: str | None = Field(default=None, description="The job that a report of several chunks is.")
    run_id: str | None = Field(default=None, description="By which what was stored can be taken back: undo.")
    replayed: bool | None = None


define(
    "remember_with_extraction",
    RememberWithExtractionParams,
    DistilResult,
    need="write",
    summary="Store the facts of a text, each as a note that updates, corrects or repeats what is known.",
    is_barrier=True,
)
define(
    "remember_report",
    RememberReportParams,
    DistilResult,
    need="write",
    summary="Store the facts of a report, chunk by chunk.",
    is_barrier=True,
)
