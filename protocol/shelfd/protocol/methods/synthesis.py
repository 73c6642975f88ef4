"""Methods that make an answer of notes: synthesize, and what says how good an answer is."""

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError, to_json

from shelfd.protocol.base import NuggetName, Params, Query, ReadParams, Result, Tier, Token, Word, limits_of
from shelfd.protocol.limits import SYNTHESIS_LIMIT
from shelfd.protocol.methods.recall import IndexState
from shelfd.protocol.registry import define

SynthesisFormat: TypeAlias = Literal["direct_answer", "synthesized_brief", "timeline_analysis", "relationship_map"]
Engine: TypeAlias = Literal["rules", "llm"]

#: What an answer says that has none.
NO_ANSWER_TEXT: Final = "I don't know."


def _fits(value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    limit = limits_of(info).content_bytes
    if len(to_json(value)) > limit:
        raise PydanticCustomError("too_large", "is larger than {limit} bytes", {"limit": limit})
    return value


class SynthesizeParams(ReadParams):
    """Params of ``synthesize``."""

    query: Query
    format: SynthesisFormat = "direct_answer"
    nugget: NuggetName | None = None
    domain: Word | None = None
    k: Annotated[int, Field(ge=1, le=SYNTHESIS_LIMIT)] = Field(
        default=10, description="At most so many notes are used."
    )
    tier_filter: Annotated[list[Tier], Field(min_length=1, max_length=3)] | None = Field(
        default=None, description="Tiers of notes to use; those of the configuration if not given, A and B."
    )
    session_id: Token | None = Field(
        default=None,
        description='For what a session alone may see, and for queries that go on from its last ("and why?").',
    )


class DirectAnswer(Result):
    """Format ``direct_answer``: the sentences that say most of what is asked."""

    answer: str
    confidence: float = Field(ge=0, le=1)
    sources: list[str] = Field(description="Ids of the notes that say so.")


class ThemeEvidence(Result):
    """What one note says of a theme."""

    note_id: str
    quote: str


class Theme(Result):
    """What several notes have in common."""

    name: str
    evidence: list[ThemeEvidence]


class Brief(Result):
    """Format ``synthesized_brief``: a summary, and themes with what notes say of each."""

    summary: str
    sources: list[str] = Field(description="Ids of the notes that the summary is from.")
    themes: list[Theme]
    confidence: float = Field(ge=0, le=1)


class TimelineEvent(Result):
    """What happened at one time."""

    date: str = Field(description="A day, month or year: 2026-03-04, 2026-03 or 2026.")
    event: str
    basis: Literal["text", "occurred_at", "created_at"] = Field(description="How the time is known.")
    note_id: str


class TimelineAnalysis(Result):
    """Format ``timeline_analysis``: events by time."""

    timeline: list[TimelineEvent]
    confidence: float = Field(ge=0, le=1)


class MappedEntity(Result):
    """Something that notes mention."""

    name: str
    type: str
    note_ids: list[str]


class MappedRelationship(Result):
    """What a note says of two entities."""

    from_: str = Field(alias="from")
    to: str
    type: str
    note_id: str


class RelationshipMap(Result):
    """Format ``relationship_map``: entities, and how they are related."""

    entities: list[MappedEntity]
    relationships: list[MappedRelationship]
    confidence: float = Field(ge=0, le=1)


class SynthesisMetadata(Result):
    """How an answer was made."""

    query_id: str = Field(description="The same for the same query.")
    model_used: str | None = Field(description="The model; null if there was none.")
    tokens_used: int = Field(ge=0, description="Of the model, question and answer.")
    latency_ms: float
    confidence_threshold: float = Field(
        description="How probable it must be that a note says what is asked for it to be used."
    )
    sources_count: int
    tier_filter: list[Tier]


class SynthesisSource(Result):
    """A note that an answer was made of."""

    note_id: str
    quote: str = Field(description="Its sentence that says most of what is asked, at most 200 characters.")
    tier: Tier
    relevance_score: float = Field(ge=0, le=1, description="How probable it is that it says what is asked.")


class SynthesizeResult(Result):
    """Answer of ``synthesize``; without anything relevant it says that it does not know, and has no sources."""

    query: str
    format: SynthesisFormat
    synthesis: DirectAnswer | Brief | TimelineAnalysis | RelationshipMap
    metadata: SynthesisMetadata
    sources: list[SynthesisSource]
    engine: Engine = Field(description="Whether a language model worded it, or it is made of sentences of the notes.")
    index: IndexState = Field(
        description="How far notes are found, as of ``recall``; of a brief and a map how far they were read for what"
        " they mention, too, as of ``recall_entity``."
    )


class SynthesisParams(Params):
    """Params of ``validate_synthesis`` and ``check_synthesis_quality``."""

    response: Annotated[dict[str, Any], AfterValidator(_fits)] = Field(
        description="An answer of `synthesize`; as JSON no larger than a note's content may be."
    )


class ValidateSynthesisResult(Result):
    """Answer of ``validate_synthesis``."""

    is_valid: bool
    errors: list[str]


class QualityComponents(Result):
    """What a score is made of, each from 0 to 1."""

    confidence: float = Field(ge=0, le=1)
    sources: float = Field(ge=0, le=1)
    completeness: float = Field(ge=0, le=1)


class SynthesisQualityResult(Result):
    """Answer of ``check_synthesis_quality``; what gives no answer is NEEDS_WORK, whatever sources it names."""

    score: float = Field(ge=0, le=1)
    grade: Literal["EXCELLENT", "GOOD", "NEEDS_WORK"]
    components: QualityComponents


define("synthesize", SynthesizeParams, SynthesizeResult, need="read", summary="An answer made of relevant notes.")
define(
    "validate_synthesis", SynthesisParams, ValidateSynthesisResult, need="open",
    summary="Whether an answer of synthesize can be used.",
)  # fmt: skip
define(
    "check_synthesis_quality", SynthesisParams, SynthesisQualityResult, need="open",
    summary="How good an answer of synthesize is.",
)  # fmt: skip
