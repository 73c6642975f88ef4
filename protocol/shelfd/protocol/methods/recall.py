"""Methods that find notes: recall and get_context."""

from typing import Annotated, Literal

from pydantic import Field

from shelfd.protocol.base import (
    ChangeParams,
    NoteId,
    NuggetName,
    Positive,
    Query,
    ReadParams,
    Result,
    Scope,
    Span,
    Tags,
    Token,
    Word,
)
from shelfd.protocol.limits import RECALL_LIMIT
from shelfd.protocol.moments import AsOf, KnownAt
from shelfd.protocol.note import NoteView
from shelfd.protocol.registry import define

Mode = Literal["auto", "lexical", "dense", "hybrid", "fhrr", "route"]


class RecallQuery(ReadParams):
    """What is to be found."""

    query: Query
    nugget: NuggetName | None = None
    domain: Word | None = None
    scope: Scope | None = None
    type: Word | None = None
    subject: Word | None = None
    author: Word | None = None
    tags: Tags = Field(default_factory=list, description="Notes that have all of them.")
    k: Annotated[int, Field(ge=1, le=RECALL_LIMIT)] = 10
    include_links: bool = Field(default=True, description="Notes linked from results compete for a place.")
    exclude_superseded: bool = True
    include_hidden: bool = False
    include_expired: bool = False
    session_id: Token | None = Field(default=None, description="Whose hit this is; null counts none.")
    as_of: AsOf = None
    known_at: KnownAt = None
    max_age: Span | None = Field(default=None, description="Leave out older notes: seconds, or 30d, 12h, P7D.")
    focus: Literal["auto", "off"] = Field(
        default="auto", description="Leave out what is clearly not meant; `off` leaves out nothing."
    )
    collapse: bool = Field(
        default=True,
        description="Of notes that say the same, by the same author and in the same nugget, only the best is a result,"
        " and names the others; k counts different ones. Turns of a conversation, and what happened at different times,"
        " are always different. Nothing is collapsed with focus `off`.",
    )
    min_score: Annotated[float, Field(ge=0, le=1)] | None = None


class RecallParams(RecallQuery):
    """Params of ``recall``."""

    count_hits: bool = True
    mode: Mode = Field(
        default="auto",
        description="`auto`: as `hybrid` with an embedder, else as `lexical`. `dense`: by meaning alone. `fhrr`: only"
        " the fact whose key is like the query, and what it links to. `route`: with a session_id and a language model"
        " that may see its nugget, what that chooses from the session's notes, most useful first; else, and when it"
        " fails, as `auto`.",
    )
    max_content_chars: Positive | None = None
    explain: bool = False
    full: bool = False


class WhyNotParams(RecallQuery):
    """Params of ``why_not``: those of the recall that did not return a note, and the note."""

    id: NoteId


class RecallHit(Result):
    """One note that recall found."""

    note: NoteView
    score: float = Field(
        ge=0,
        le=1,
        description="How well it fits. That of the first result depends on the note, what stands beside it in its"
        " session, and the query alone, not on what else is on the shelf; the others have a share of it.",
    )
    relevant: bool = Field(description="Whether it probably says what is asked; if not, it counts no hit.")
    vector_score: float = Field(ge=0, le=1, description="Share of the dense tier; 0 without one.")
    text_score: float = Field(ge=0, le=1, description="Share of the lexical tier.")
    via: str | None = Field(default=None, description="The result whose link led here.")
    collapsed: list[str] | None = Field(
        default=None, description="Ids of notes that say the same, for which this one stands."
    )
    conflicts: list[str] | None = Field(
        default=None,
        description="Ids of the open conflicts it is in: another note contradicts it, nothing tells which is right.",
    )
    redacted: bool | None = Field(
        default=None, description="With known_at: a purge took out of the history some of what the note said then."
    )
    signals: dict[str, float] | None = Field(default=None, description="With explain: parts that add up to the score.")
    coverage: float | None = Field(
        default=None, ge=0, le=1, description="With explain: share of the query's weight that its words match."
    )
    relevance: float | None = Field(
        default=None, ge=0, le=1, description="With explain: how probable it is that it says what is asked."
    )
    order: dict[str, float] | None = Field(
        default=None,
        description="With explain: what decides between notes that score about the same, each 0 to 1: text, entities (a"
        " name of it stands in the query), graph (it is linked with another result) and time (how late it is), weighted"
        " by the intent; tier, importance and confidence. None of it enters the score.",
    )


class CutHit(Result):
    """One note that focus left out."""

    note_id: str
    score: float = Field(ge=0, le=1)
    coverage: float = Field(ge=0, le=1, description="Share of the query's weight that its words match.")
    reason: Literal["another_name", "little_in_common"] = Field(
        description="The query names another note; or it names none and has little in common with this one."
    )


class Answer(Result):
    """The fact that answers the query, by its key or by one that is like the query.

    Confidence is 1 for the key itself. With mode ``auto`` a key that is only like the query answers from a confidence
    of 0.5 on; with ``fhrr`` any does, and what is not found is said by ``found``.
    """

    found: bool
    value: str | None = None
    key: str | None = None
    confidence: float = Field(ge=0, le=1, description="How probable it is that this is the fact meant.")
    margin: float = Field(ge=0, le=1, description="By how much it beats the next fact of another value.")
    nugget: str | None = None
    note_id: str | None = None
    confirmed: bool | None = Field(
        default=None,
        description="With mode fhrr: whether the nugget's superposed facts give this value for this key by themselves.",
    )


class IndexState(Result):
    """How far the recall index follows the shelf; ``skipped`` notes could not be indexed, left out when none."""

    state: Literal["ready", "warming"]
    share: float = Field(ge=0, le=1)
    seq: int
    skipped: int | None = None


class RouteStep(Result):
    """One step of a route: numbers and ids."""

    step: str = Field(
        description="collect_root_candidates, plan_pass_1, plan_early_finalize_1, expand_from_plan_1,"
        " drill_stagnated_1, finalize_pass, skip_recall_route_no_candidates or ranked_instead; passes are numbered."
    )
    candidates: int | None = Field(default=None, description="Rows that the model was shown.")
    of: int | None = Field(default=None, description="How many notes of the frontier they are taken from.")
    always_inject: int | None = Field(default=None, description="Notes that the prompt has anyway, left out.")
    action: Literal["finalize", "drill"] | None = None
    selected: list[str] | None = None
    unknown: int | None = Field(default=None, description="Numbers that the model named and that are no rows.")
    added: int | None = Field(default=None, description="Rows that were shown next, beside those before.")
    why: str | None = None
    error: str | None = None


class DenseState(Result):
    """What recall knows of the meaning of notes, where an embedder is configured."""

    model: str = Field(description="Whose vectors are compared. Those of other models are not.")
    share: float = Field(ge=0, le=1, description="Of the notes, how many have such vectors; the rest follows.")
    skipped: str | None = Field(
        default=None,
        description="Why words alone decided: EMBEDDER_TIMEOUT, EMBEDDER_FAILED, LOCAL_ONLY or another reason.",
    )


class RecallResult(Result):
    """Answer of ``recall``."""

    results: list[RecallHit]
    dropped: int = Field(ge=0, description="How many of the best notes focus left out.")
    cut: list[CutHit] | None = Field(default=None, description="With explain: those notes.")
    score_version: int | None = Field(
        default=None,
        description="With explain: by which table of how rare words are the scores are made, 0 for none. Scores of one"
        " language and version compare, on any shelf and at any time; others do not.",
    )
    answer: Answer | None = None
    intent: Literal["factual", "temporal", "relational", "causal", "exploratory"]
    abstained: bool = Field(description="No result is relevant.")
    mode: Mode
    index: IndexState
    dense: DenseState | None = Field(default=None, description="With an embedder.")
    trace: list[RouteStep] | None = Field(default=None, description="With mode route and explain: how it went.")
    took_ms: float


class LosingFilter(Result):
    """A filter that a note does not pass."""

    filter: str = Field(
        description="A param of recall, or hidden, quarantined, superseded, expired, private, not_yet_known, not_valid."
    )
    wanted: str | None = Field(default=None, description="What it asks for.")
    actual: str | None = Field(default=None, description="What the note has; of superseded, what replaced it.")
    reason: str | None = Field(default=None, description="Of superseded: the rule that replaced it, if one did.")
    hidden: bool | None = Field(
        default=None, description="Of superseded: what replaced it is hidden itself; note.restore brings this one back."
    )
    expired: bool | None = Field(default=None, description="Of superseded: what replaced it has expired; as hidden.")
    at: str | None = Field(default=None, description="Since when.")
    principal: str | None = Field(default=None, description="Who did it.")


Stage = Literal["returned", "collapsed", "filter", "index", "words", "candidates", "focus", "min_score", "rank"]


class WhyNotResult(Result):
    """Answer of ``why_not``: the first stage that lost the note, and by how much."""

    note_id: str
    found: bool = Field(description="It is among the results.")
    stage: Stage = Field(
        description="returned: it is a result. collapsed: another result says the same and stands for it. filter: a"
        " filter keeps it out. index: the index does not have it yet. words: it has no word of the query. candidates:"
        " others promised so much more that it was not scored. focus: it is clearly about something else. min_score:"
        " its score is below that. rank: k others fit better."
    )
    why: str = Field(description="The same as a sentence.")
    by: str | None = Field(default=None, description="With collapsed: the result that stands for it.")
    filters: list[LosingFilter] | None = Field(default=None, description="All that keep it out.")
    matched_words: int | None = Field(default=None, description="Content words of the query that it holds.")
    score: float | None = Field(default=None, ge=0, le=1)
    rank: int | None = Field(default=None, ge=1, description="Its place among all that pass the filters.")
    of: int | None = Field(default=None, description="How many those are.")
    measure: Literal["score", "coverage"] | None = Field(default=None, description="Of what there is too little.")
    needed: float | None = Field(default=None, description="How much of it would have been enough.")
    missing: float | None = Field(default=None, ge=0, description="By how much the note falls short of that.")
    coverage: float | None = Field(default=None, ge=0, le=1, description="Share of the query that its words match.")
    cut: Literal["another_name", "little_in_common"] | None = Field(default=None, description="Why focus cut it.")
    relevant: bool | None = Field(default=None, description="Of a result: whether it probably says what is asked.")


class GetContextParams(ReadParams):
    """Params of ``get_context``."""

    query: Query
    nugget: NuggetName | None = None
    domain: Word | None = None
    k: Annotated[int, Field(ge=1, le=RECALL_LIMIT)] = 10
    token_budget: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=4000, description="One token is taken for four characters."
    )
    content_chars: Annotated[int, Field(ge=0, le=1_000_000)] = Field(
        default=300, description="0 gives the whole content."
    )
    session_id: Token | None = None
    turn: Positive | None = Field(
        default=None, description="The session's turn that it is for; without it, the last one that is known."
    )
    record: bool = Field(
        default=True, description="Count the notes as returned, and record in the session what its prompt holds."
    )


class ContextResult(Result):
    """Answer of ``get_context``: text for a prompt, and what is in it."""

    text: str
    notes: list[str]
    tokens: int
    truncated: bool = Field(description="Whether there was no room for all.")
    left_out: list[str] = Field(description="Relevant notes for which there was no room; the text names the first.")


class FeedbackParams(ChangeParams):
    """Params of ``recall.feedback``."""

    query: Query = Field(description="What was asked.")
    note_id: NoteId = Field(description="A note that came back, or should have.")
    useful: bool | None = Field(description="Whether it was of use; null takes back what was said of it.")


class FeedbackResult(Result):
    """Answer of ``recall.feedback``."""

    note_id: str
    useful: bool | None = None
    revoked: bool = Field(description="Whether something was taken back.")
    replayed: bool | None = None


define(
    "recall.feedback",
    FeedbackParams,
    FeedbackResult,
    need="write",
    summary="Say whether a note was of use for a query; similar queries are then ranked a little otherwise.",
)
define("recall", RecallParams, RecallResult, need="read", summary="The notes that fit a query, best first.")
define("why_not", WhyNotParams, WhyNotResult, need="read", summary="Which stage of recall lost a note.")
define("get_context", GetContextParams, ContextResult, need="read", summary="Relevant notes as text for a prompt.")
