"""note.search: notes by the published formula, without the machinery of recall."""

from typing import Annotated

from pydantic import Field

from shelfd.protocol.base import NuggetName, Query, ReadParams, Result, Scope, Word
from shelfd.protocol.limits import RECALL_LIMIT
from shelfd.protocol.note import NoteView
from shelfd.protocol.registry import define


class NoteSearchParams(ReadParams):
    """Params of ``note.search``."""

    query: Query
    nugget: NuggetName | None = None
    limit: Annotated[int, Field(ge=1, le=RECALL_LIMIT)] = 5
    include_hidden: bool = False
    exclude_superseded: bool = True
    subject: Word | None = None
    scope: Scope | None = None
    type: Word | None = None


class NoteMatch(Result):
    """A note that has something of the query."""

    note: NoteView
    score: float = Field(ge=0, le=1, description="Its share of the softmax (T = 0.35) over all notes considered.")
    raw_score: float = Field(
        description="0.42 vector_score + 0.48 text_score / 1.5 (at most 0.48) + up to 0.13 for durable, personal and "
        "believed notes. Compares across queries."
    )
    vector_score: float = Field(ge=0, le=1, description="(cosine + 1) / 2 of the note's vector with the query's.")
    text_score: float = Field(description="0.75 if the note contains the query, and the share of its words that do.")


class NoteSearchResult(Result):
    """Answer of ``note.search``, best first."""

    results: list[NoteMatch]


define("note.search", NoteSearchParams, NoteSearchResult, need="read", summary="Notes like a query, with their scores.")
