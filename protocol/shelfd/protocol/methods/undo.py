"""Methods that take back what a transaction or a reflection did."""

from typing import Annotated, Literal

from pydantic import Field

from shelfd.protocol.base import ChangeParams, Result
from shelfd.protocol.registry import define

RunId = Annotated[str, Field(min_length=1, max_length=128)]


class UndoParams(ChangeParams):
    """Params of ``undo``."""

    tx: Annotated[int, Field(ge=1, le=2**53)] = Field(description="First sequence number of one of your transactions.")


class ReflectionUndoParams(ChangeParams):
    """Params of ``reflection.undo``."""

    run_id: RunId


class KeptField(Result):
    """A field that stays as it is, because it no longer says what is to be taken back."""

    note_id: str = Field(description="The note; the name of the nugget if the field is `nugget`.")
    field: str
    why: Literal["edited", "later_run", "purged"]


class UndoResult(Result):
    """What went back. ``run_id`` names this undo itself, which can be undone in turn."""

    run_id: str
    undone: int = Field(description="Fields, links and nuggets that are what they were before.")
    kept: list[KeptField] = Field(description="The first 1,000.")
    more_kept: int | None = Field(default=None, description="How many more stay, if there are.")
    replayed: bool | None = None


define("undo", UndoParams, UndoResult, need="write", summary="Take back one transaction of your own.")
define(
    "reflection.undo",
    ReflectionUndoParams,
    UndoResult,
    need="write",
    summary="Take back what a reflection or an undo did, but for what was changed since.",
)
