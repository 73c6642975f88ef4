"""session.extract: what was said in turns of a conversation becomes operations on its graph."""

from typing import Annotated, Any

from pydantic import Field, model_validator

from shelfd.protocol.base import ChangeParams, Content, Instant, Positive, Result, Token, Wire, Word, between_params
from shelfd.protocol.errors import ErrorObject
from shelfd.protocol.limits import TURNS_LIMIT
from shelfd.protocol.registry import define


class TurnMessage(Wire):
    """Something said in a turn."""

    turn: Positive | None = Field(default=None, description="Of the conversation, from 1; else that of the request.")
    role: Word = Field(default="user", description="Who speaks: user, assistant, or another word.")
    author: Token | None = Field(default=None, description="The name of who speaks; a narrator's is nobody's.")
    text: Content
    occurred_at: Instant | None = None


class ExtractParams(ChangeParams):
    """Params of ``session.extract``."""

    session_id: Token
    turns: Annotated[list[TurnMessage], Field(min_length=1, max_length=TURNS_LIMIT)] = Field(
        description="Messages. Those of one turn are taken together; several turns are a job, in order of their turns."
    )
    turn: Positive | None = Field(default=None, description="The turn of messages that name none.")
    again: bool = Field(
        default=False,
        description="If one turn was extracted from another text: take back all that was written in it, and extract it"
        " anew.",
    )
    dry_run: bool = Field(default=False, description="Show the operations of one turn and carry none out.")
    sync: bool = Field(default=True, description="Wait for the end of a job, and not only for its row.")

    @model_validator(mode="after")
    def _consistent(self) -> "ExtractParams":
        if self.turn is None and any(message.turn is None for message in self.turns):
            raise between_params("turns", "each message needs a turn, or the request one")
        if self.dry_run and len({message.turn or self.turn for message in self.turns}) > 1:
            raise between_params("dry_run", "shows one turn at a time")
        if self.again and (self.dry_run or len({message.turn or self.turn for message in self.turns}) > 1):
            raise between_params("again", "is for one turn at a time, and not for a dry run")
        return self


class AppliedOperation(Result):
    """What an operation did."""

    index: int = Field(description="Its place among the operations of its turn.")
    op: str
    type: str | None = None
    effect: dict[str, Any] = Field(description="As in the result of session.apply_extraction_batch.")


class RefusedOperation(Result):
    """An operation that was not carried out, and with it none of its turn."""

    index: int
    op: str
    error: ErrorObject


class ExtractResult(Result):
    """What became of the turns."""

    engine: str = Field(description="What made the operations: rules, model, or, in a job, mixed.")
    extracted: list[int] = Field(description="Turns from which something or nothing was taken, now.")
    skipped: list[int] = Field(description="Turns extracted before, from the same text.")
    refused: list[int] = Field(
        default_factory=list, description="Of a job: turns extracted before, from another text; they were left alone."
    )
    operations: int = Field(description="How many operations were carried out.")
    ops: list[dict[str, Any]] = Field(
        default_factory=list, description="The operations of one turn, if this is no repeated request."
    )
    applied: list[AppliedOperation] = Field(default_factory=list, description="Of one turn.")
    rejected: list[RefusedOperation] = Field(default_factory=list, description="Of one turn.")
    ids: dict[str, str] = Field(default_factory=dict, description="Of one turn: what was created, by ref.")
    job: str | None = Field(default=None, description="The job that several turns are.")
    run_id: str | None = Field(default=None, description="By which the log knows what was taken.")
    taken_back: str | None = Field(default=None, description="The run that took back what the turn had written.")
    dry_run: bool = False
    replayed: bool | None = None


define(
    "session.extract",
    ExtractParams,
    ExtractResult,
    need="write",
    summary="Take notes and links from what was said in turns of a conversation.",
    is_change=True,
    is_barrier=True,
)
