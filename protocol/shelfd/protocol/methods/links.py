"""Methods on links between notes."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from shelfd.protocol.base import (
    ChangeParams,
    Instant,
    NoteId,
    PageParams,
    Relation,
    Result,
    between_params,
    check_validity,
)
from shelfd.protocol.registry import define

Direction = Literal["bidirectional", "outgoing", "incoming"]


class LinkUpsertParams(ChangeParams):
    """Params of ``link.upsert``."""

    source: NoteId
    target: NoteId
    relation: Relation = "related"
    reason: Annotated[str, Field(max_length=512)] = ""
    direction: Direction = "bidirectional"
    valid_from: Instant | None = None
    valid_to: Instant | None = None

    @model_validator(mode="after")
    def _two_notes(self) -> "LinkUpsertParams":
        if self.source == self.target:
            raise between_params("target", "source and target are the same note")
        check_validity(self.valid_from, self.valid_to)
        return self


class LinkUpsertResult(Result):
    """How many directed links are new, and how many were there and say something else now."""

    added: int = Field(ge=0, le=2)
    updated: int = Field(
        default=0, ge=0, le=2, description="Took over a new reason or validity; what they said before is in the log."
    )
    replayed: bool | None = None


class LinkDeleteParams(ChangeParams):
    """Params of ``link.delete``; without a relation every link between the two goes."""

    source: NoteId
    target: NoteId
    relation: Relation | None = None
    direction: Direction = "bidirectional"


class LinkDeleteResult(Result):
    """How many directed links are gone."""

    removed: int
    replayed: bool | None = None


class LinkListParams(PageParams):
    """Params of ``link.list``."""

    id: NoteId | None = Field(default=None, description="Links that leave or reach this note; all links without it.")
    relation: Relation | None = None


class LinkView(Result):
    """A directed link."""

    source: str
    target: str
    relation: str
    reason: str
    created_at: str
    valid_from: str | None = None
    valid_to: str | None = None
    seq_to: int | None = Field(default=None, description="The nugget's number of the turn in which it was made.")


class LinkListResult(Result):
    """A page of links."""

    links: list[LinkView]
    next_cursor: str | None = None


define("link.upsert", LinkUpsertParams, LinkUpsertResult, need="write", summary="Link two notes.")
define("link.delete", LinkDeleteParams, LinkDeleteResult, need="write", summary="Take links between two notes away.")
define("link.list", LinkListParams, LinkListResult, need="read", summary="Links of a note, or of the shelf.")
