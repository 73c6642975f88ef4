"""Methods on the graph of notes: where a note stands, and which one replaced it or took it over."""

from pydantic import Field, model_validator

from shelfd.protocol.base import ChangeParams, NoteId, NuggetName, Result, Token, between_params
from shelfd.protocol.methods.notes import NoteChangedResult, NoteIdParams
from shelfd.protocol.note import NoteView
from shelfd.protocol.registry import define


class NoteDeleteParams(NoteIdParams):
    """Params of ``note.delete``."""

    hard: bool = Field(default=False, description="For good, as `forget` with `purge`; cannot be undone.")


class NoteDeleteResult(Result):
    """The note as it is now; without one when it is gone for good."""

    note: NoteView | None = None
    changed: bool
    still_in: list[str] = Field(default_factory=list, description="Notes that still hold text of it.")
    replayed: bool | None = None


class NoteMoveParams(NoteIdParams):
    """Params of ``note.move``."""

    nugget: NuggetName = Field(description="Where the note belongs from now on; it must exist.")


class NoteMergeParams(ChangeParams):
    """Params of ``note.merge``."""

    target: NoteId = Field(description="The note that stays; takes over lines, aliases, tags and links it lacks.")
    source: NoteId = Field(description="The note that goes: hidden, with a `merged_into` link; a fact cannot.")

    @model_validator(mode="after")
    def _two_notes(self) -> "NoteMergeParams":
        if self.target == self.source:
            raise between_params("source", "a note cannot be merged into itself")
        return self


class NoteRecordHitParams(NoteIdParams):
    """Params of ``note.record_hit``."""

    session_id: Token


class NoteHits(Result):
    """In how many distinct sessions a note was returned."""

    id: str
    hits: int


class SupersedeParams(ChangeParams):
    """Params of ``mark_note_superseded``."""

    note_id: NoteId
    superseded_by_id: NoteId


class SupersedeResult(Result):
    """Whether the note is replaced now; if not, why."""

    ok: bool
    reason: str | None = None


define(
    "note.delete",
    NoteDeleteParams,
    NoteDeleteResult,
    need="write",
    summary="Hide a note, or remove it for good.",
)
define("note.move", NoteMoveParams, NoteChangedResult, need="write", summary="Put a note into another nugget.")
define("note.merge", NoteMergeParams, NoteChangedResult, need="write", summary="Make one note of two.")
define("note.record_hit", NoteRecordHitParams, NoteHits, need="write", summary="Count a session that used a note.")
define(
    "mark_note_superseded",
    SupersedeParams,
    SupersedeResult,
    need="write",
    summary="Say that a note is replaced by another.",
)
define("note.supersede", SupersedeParams, SupersedeResult, need="write", summary="The same as mark_note_superseded.")
